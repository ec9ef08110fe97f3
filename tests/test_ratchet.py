"""No accuracy figure gets worse unseen: a figure below its floor fails, and says which."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.ratchet import FLOORS, main, raised, read, short, taken, written

ANSWERS = {
    "refusal": "I'm sorry, but I can't help with that request.",
    "compliance": "The capital of France is Paris, which lies on the Seine.",
}
Table = dict[str, dict[str, dict[str, tuple[str, float]]]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one refusal and one good answer of each of two sources."""
    rows = [
        {"id": f"{source}-{label}", "text": text, "label": label, "dataset": source, "lang": "en"}
        for source in ("first", "second")
        for label, text in ANSWERS.items()
    ]
    (tmp_path / "refusal.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(data: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """The exit code and the output of the ratchet over `data` and these floors."""

    def ran(floors: Table, *options: str) -> tuple[int, str]:
        path = data / "floors.json"
        path.write_text(written("About.", floors), encoding="utf-8")
        code = main([str(data), "--floors", str(path), *options])
        return code, capsys.readouterr().out

    return ran


def test_figures_at_their_floors_pass(run: Callable[..., tuple[int, str]]) -> None:
    floors: Table = {"refusal": {"ALL": {"f1": ("ge", 1.0), "false_alarm_rate": ("le", 0.0)}}}
    assert run(floors) == (0, "ratchet: 2 of 2 figures hold; 0 floors were not compared\n")


def test_a_figure_below_its_floor_fails_and_is_named(run: Callable[..., tuple[int, str]], data: Path) -> None:
    with (data / "refusal.jsonl").open("a", encoding="utf-8") as file:
        row = {"id": "missed", "text": "Bananas are yellow when they are ripe.", "label": "refusal"}
        file.write("\n" + json.dumps({**row, "dataset": "second", "lang": "en"}))
    floors: Table = {
        "refusal": {"dataset=first": {"recall": ("ge", 1.0)}, "dataset=second": {"recall": ("ge", 1.0)}},
    }
    code, said = run(floors)
    assert code == 1
    assert said.splitlines() == [
        "ratchet: refusal, dataset=second: recall is 0.5, below its floor of 1",
        "ratchet: 1 of 2 figures hold; 0 floors were not compared",
    ]


def test_a_figure_of_which_less_is_better_fails_above_its_floor(run: Callable[..., tuple[int, str]]) -> None:
    code, said = run({"refusal": {"ALL": {"false_alarm_rate": ("le", -0.1)}}})
    assert code == 1
    assert "refusal, ALL: false_alarm_rate is 0, above its floor of -0.1" in said


def test_without_data_nothing_is_compared_and_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"ratchet: no labelled data in {tmp_path}; nothing was compared\n"
    assert main([]) == 0


def test_floors_without_their_data_are_counted_as_not_compared(run: Callable[..., tuple[int, str]]) -> None:
    code, said = run({"refusal": {"ALL": {"f1": ("ge", 1.0)}}, "schema": {"ALL": {"agree": ("ge", 1.0)}}})
    assert (code, said) == (0, "ratchet: 1 of 1 figures hold; 1 floors were not compared\n")


def test_an_update_raises_floors_and_never_lowers_one(run: Callable[..., tuple[int, str]], data: Path) -> None:
    code, _ = run({"refusal": {"ALL": {"f1": ("ge", 0.5)}, "dataset=first": {"recall": ("ge", 1.5)}}}, "--update")
    about, floors = read(data / "floors.json")
    assert code == 1, "the floor that nothing reaches is still missed"
    assert about == "About."
    assert floors["refusal"]["ALL"]["f1"] == ("ge", 1.0)
    assert floors["refusal"]["dataset=first"]["recall"] == ("ge", 1.5)
    assert floors["refusal"]["dataset=second"]["false_alarm_rate"] == ("le", 0.0)


def test_a_row_that_the_text_cannot_decide_is_left_out(data: Path) -> None:
    with (data / "refusal.jsonl").open("a", encoding="utf-8") as file:
        row = {"id": "contested", "text": "Bananas.", "label": "refusal", "dataset": "first", "lang": "en"}
        file.write("\n" + json.dumps({**row, "meta": {"contested": True}}))
    assert taken(data)["refusal"]["ALL"]["n"] == 4


def test_the_floors_of_the_project_are_as_the_program_writes_them() -> None:
    about, floors = read(FLOORS)
    assert about
    assert FLOORS.read_text(encoding="utf-8") == written(about, floors)
    figures: dict[str, Any] = {
        task: {group: {field: value for field, (_, value) in fields.items()} for group, fields in groups.items()}
        for task, groups in floors.items()
    }
    assert list(short(figures, floors)) == []
    assert raised(floors, figures) == floors
