"""The arithmetic of the benchmarks, on made-up figures, and that docs/performance.md is what they wrote."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from benchmarks import page, ratios as ratios_module
from benchmarks.bench import PROGRAMS
from benchmarks.figures import Figures, merged, read, write
from benchmarks.harness import (
    HAND_IN,
    Clock,
    Report,
    Taken,
    Way,
    compare,
    digits,
    figures_of,
    geometric_mean,
    quartiles,
    shown,
)
from benchmarks.ratio_cases import CASES
from benchmarks.ratios import Ratios, bound_at, judged, landing, main as ratios

TAKEN = {"date": "2026-01-02", "machine": "one core", "cores": 1, "load": 0.1}


def clock(us: float, ran: list[str] | None = None, name: str = "") -> Clock:
    """A clock that claims a fixed number of microseconds for a run, and writes down that it ran."""

    def run(repeats: int) -> Taken:
        if ran is not None:
            ran.append(name)
        return Taken(us * repeats / 1e6, 2 * us * repeats / 1e6)

    return run


def way(name: str, us: float, ran: list[str] | None = None) -> Way:
    return Way.timed(name, [clock(us, ran, name)])


# ── arithmetic ──


def test_quartiles_and_geometric_mean() -> None:
    assert quartiles([5, 1, 2, 4, 3]) == (2, 3, 4)
    assert quartiles([7]) == (7, 7, 7)
    assert geometric_mean([1, 100]) == pytest.approx(10)


def test_a_ratio_is_the_median_of_the_ratios_within_a_round() -> None:
    # The machine was four times as slow in the second half: no single round says anything but three times.
    ours = [Taken(1e-6, 0), Taken(1e-6, 0), Taken(4e-6, 0), Taken(4e-6, 0)]
    theirs = [Taken(3e-6, 0), Taken(3e-6, 0), Taken(12e-6, 0), Taken(12e-6, 0)]
    own, other = figures_of({"ours": ours, "theirs": theirs}, {"theirs": "everything"})
    assert [other.times_low, other.times, other.times_high] == pytest.approx([3, 3, 3])
    assert own.times == 1
    assert (other.lost, own.lost) == ("everything", "")
    assert own.median == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("us", "words"),
    [(0.0222, "0.0222 µs"), (7.14, "7.14 µs"), (1234.5, "1,234 µs"), (72_006, "72.0 ms"), (12_300_000, "12.3 s")],
)
def test_a_time_is_shown_with_three_digits_in_a_unit_that_suits_it(us: float, words: str) -> None:
    assert shown(us) == words


def test_digits_that_count() -> None:
    assert [digits(each) for each in (0, 0.000_05, 0.198, 2, 350.4, 17_521)] == [
        "0",
        "< 0.001",
        "0.198",
        "2.00",
        "350",
        "17,521",
    ]


# ── measuring ──


def test_ways_take_turns_and_have_equally_many_rounds() -> None:
    ran: list[str] = []
    found = compare("case", [way("ours", 100, ran), way("theirs", 300, ran)], rounds=6)
    measured = ran[-12:]
    assert measured == ["ours", "theirs", "theirs", "ours"] * 3
    assert found.rounds == 6
    assert found.times("theirs") == pytest.approx(3)
    assert [each.median for each in found.figures] == [pytest.approx(100), pytest.approx(300)]
    assert found.figures[0].wall == pytest.approx(200)


def test_a_case_that_takes_too_long_has_fewer_rounds_for_all_ways_alike() -> None:
    ran: list[str] = []
    found = compare("slow", [way("ours", 1_000_000, ran), way("theirs", 3_000_000, ran)], rounds=100, case_s=40)
    assert found.rounds == 10
    # Each ran once more to see what it takes, after one that does not count.
    assert ran.count("ours") == ran.count("theirs") == 12


def test_a_figure_of_many_inputs_is_their_geometric_mean() -> None:
    ours, theirs = Way.timed("ours", [clock(1), clock(100)]), Way.timed("theirs", [clock(2), clock(800)])
    found = compare("many", [ours, theirs])
    assert found.inputs == 2
    assert found.figures[0].median == pytest.approx(10)
    assert found.times("theirs") == pytest.approx(4)


def test_a_job_runs_as_often_as_it_is_told_to() -> None:
    runs: list[int] = []
    Way("ours", lambda: runs.append(1)).clocks[0](7)
    assert len(runs) == 7


# ── what is handed in, and where it goes ──


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], object]:
    """The figures that a program has handed in."""
    path = tmp_path / "told.json"
    monkeypatch.setenv(HAND_IN, str(path))
    return lambda: json.loads(path.read_text("utf-8")) if path.exists() else None


def reported() -> None:
    with Report("part", peers=["msgspec", "no-such-package"]) as report:
        report.compare("Times", "a case", [way("ours", 100), way("theirs", 300)], about="how")
        report.table("Counts", ["what", "how many"], [["calls", 3]])


def test_a_report_is_handed_in(told: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> None:
    reported()
    found = told()
    assert isinstance(found, dict)
    assert found["part"] == "part"
    assert list(found["peers"]) == ["msgspec"]
    assert found["tables"]["Counts"] == {"about": "", "columns": ["what", "how many"], "rows": [["calls", "3"]]}
    assert [each["times"] for each in found["tables"]["Times"]["cases"][0]["ways"]] == [1, 3]
    said = capsys.readouterr().out
    assert "no-such-package is not installed" in said
    assert "300 µs" in said


def test_a_program_that_breaks_off_hands_in_nothing(told: Callable[[], object]) -> None:
    with pytest.raises(ZeroDivisionError), Report("part") as report:
        report.table("Counts", ["what"], [[1 // 0]])
    assert told() is None


def figures(*parts: str) -> Figures:
    tables = {
        "Counts": {"about": "", "taken": {**TAKEN, "peers": {}}, "columns": ["a|b"], "rows": [["1|2"]]},
        "By hand": {"about": "", "taken": {**TAKEN, "peers": {}}, "text": "Lots.", "kept": True},
    }
    return {"parts": {part: dict(tables) for part in parts}, "ratios": {}}


def test_a_run_replaces_its_own_part_and_leaves_what_no_program_measures(told: Callable[[], object]) -> None:
    reported()
    handed = told()
    assert isinstance(handed, dict)
    before = figures("other", "part")
    after = merged(before, {**handed, "tables": {"Times": handed["tables"]["Times"]}}, {**TAKEN, "load": 3.0})
    assert after["parts"]["other"] == before["parts"]["other"]
    assert list(after["parts"]["part"]) == ["Times", "By hand"]
    assert after["parts"]["part"]["Times"]["taken"]["load"] == 3
    assert after["parts"]["part"]["By hand"]["taken"]["load"] == 0.1


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(figures("one", "two"), tmp_path / "figures.json")
    assert read(tmp_path / "figures.json") == figures("one", "two")
    assert read(tmp_path / "none.json") == {"parts": {}, "ratios": {}}


# ── the page ──


def test_the_page_shows_each_table_where_its_part_has_a_place(told: Callable[[], object]) -> None:
    reported()
    handed = told()
    assert isinstance(handed, dict)
    found = merged(figures("other"), handed, {**TAKEN, "machine": "two cores", "cores": 2, "load": 3.0})
    said = page.render(found, "# Page\n\n{{machines}}\n\n{{figures part}}\n\n{{figures none}}\n\n{{figures other}}\n")
    assert "- A: one core\n- B: two cores\n" in said
    assert "| a case | **ours** | 100 µs | 100 µs – 100 µs |  |\n|  | theirs | 300 µs |" in said  # noqa: RUF001
    assert "machine B, load 3; msgspec" in said
    assert "The machine was busy" in said
    assert "| a\\|b |\n|---|\n| 1\\|2 |\n\n<sub>2026-01-02, machine A, load 0.1.</sub>" in said
    assert "lost" not in said
    assert "{{" not in said
    assert "\n\n\n" not in said


def test_what_is_lost_has_a_column(told: Callable[[], object]) -> None:
    with Report("part") as report:
        ways = [way("ours", 1), Way.timed("theirs", [clock(2)], lost="all else")]
        report.compare("Times", "a case", ways)
    handed = told()
    assert isinstance(handed, dict)
    said = page.render(merged(figures(), handed, TAKEN), "{{figures part}}")
    assert "| times ours | lost |" in said
    assert "| 2.00 | all else |" in said


def test_docs_performance_is_what_the_figures_say() -> None:
    template = page.TEMPLATE.read_text("utf-8")
    assert page.PAGE.read_text("utf-8") == page.render(read(), template), "python -m benchmarks.page"


def test_every_part_with_figures_has_a_place_in_the_page() -> None:
    found = page.places(page.TEMPLATE.read_text("utf-8"))
    assert len(found) == len(set(found))
    assert set(read()["parts"]) <= set(found)
    assert set(PROGRAMS) <= set(found)


# ── the ratchet of speed ──

Measured = Callable[[Sequence[str]], Ratios]


def taken_in_turn(*runs: Ratios) -> tuple[Measured, list[list[str]]]:
    """Measurements that come out like this one after the other, and what each was asked for."""
    asked: list[list[str]] = []

    def measure(names: Sequence[str]) -> Ratios:
        asked.append(list(names))
        return {name: runs[len(asked) - 1][name] for name in names}

    return measure, asked


def test_what_is_not_30_percent_worse_is_measured_once() -> None:
    measure, asked = taken_in_turn({"a": 1.29, "b": 2.6})
    assert judged({"a": 1.0, "b": 2.0}, measure) == ({"a": 1.29, "b": 2.6}, [])
    assert asked == [["a", "b"]]


def test_what_is_30_percent_worse_once_is_measured_again_and_holds() -> None:
    measure, asked = taken_in_turn({"a": 1.31, "b": 2.0}, {"a": 1.29})
    assert judged({"a": 1.0, "b": 2.0}, measure)[1] == []
    assert asked == [["a", "b"], ["a"]]


def test_what_is_30_percent_worse_twice_fails_and_is_named() -> None:
    measure, _ = taken_in_turn({"a": 1.5, "b": 2.7}, {"a": 1.4, "b": 2.0})
    _, worse = judged({"a": 1.0, "b": 2.0}, measure)
    assert [str(each) for each in worse] == [
        "a: 1.5 and, measured again, 1.4 times its floor; 1 landed (40% worse)",
    ]


def test_on_a_busy_machine_a_ratio_may_rise_by_60_percent() -> None:
    assert [bound_at(load, 2) for load in (0.5, 4.0, 4.1, 12.0)] == [1.3, 1.3, 1.6, 1.6]
    measure, asked = taken_in_turn({"a": 1.59, "b": 1.61}, {"b": 1.61})
    assert [each.name for each in judged({"a": 1.0, "b": 1.0}, measure, bound_at(12.0, 2))[1]] == ["b"]
    assert asked == [["a", "b"], ["b"]]


def test_what_lands_is_what_is_new_clearly_better_or_named() -> None:
    landed = {"same": 1.0, "better": 1.0, "worse": 1.0, "accepted": 1.0}
    found = {"same": 0.95, "better": 0.8, "worse": 1.2, "accepted": 1.2, "new": 7.0}
    assert landing(landed, found) == {"better": 0.8, "new": 7.0}
    assert landing(landed, found, "accepted") == {"better": 0.8, "new": 7.0, "accepted": 1.2}


@pytest.fixture
def landed(tmp_path: Path) -> Path:
    path = tmp_path / "figures.json"
    write({"parts": {}, "ratios": {"a refusal": {"ratio": 2.0, "date": "2026-01-02", "load": 0.1}}}, path)
    return path


@pytest.mark.parametrize(("second", "code"), [(2.5, 0), (2.7, 1)])
def test_the_exit_status_says_whether_all_hold(
    landed: Path, second: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ratios_module, "load", lambda: 0.1)
    measure, _ = taken_in_turn({"a refusal": 2.8}, {"a refusal": second})
    assert ratios([], landed, measure) == code
    said = capsys.readouterr()
    assert f"ratios: {1 - code} of 1 hold" in said.out
    assert ("a refusal: 2.8 and, measured again, 2.7" in said.err) is bool(code)
    assert read(landed)["ratios"]["a refusal"]["ratio"] == 2.0


def test_a_named_case_lands_as_it_is_and_the_others_stay(landed: Path) -> None:
    measure, asked = taken_in_turn({"a refusal": 3.0}, dict.fromkeys(CASES, 1.0) | {"a refusal": 2.9})
    assert ratios(["--land", "a refusal"], landed, measure) == 0
    assert read(landed)["ratios"]["a refusal"]["ratio"] == 3.0
    assert ratios(["--land", "1"], landed, measure) == 0
    assert asked == [["a refusal"], list(CASES)]
    after = {name: entry["ratio"] for name, entry in read(landed)["ratios"].items()}
    assert after == {name: 3.0 if name == "a refusal" else 1.0 for name in CASES}
    assert ratios(["--land", "a typo"], landed, measure) == 2


def test_every_case_has_landed_and_has_a_way_and_a_floor() -> None:
    assert set(read()["ratios"]) == set(CASES)
    for make in CASES.values():
        ours, floor = make()
        assert ours.name == "ours"
        assert len(ours.clocks) == len(floor.clocks) >= 1
