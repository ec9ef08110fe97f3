"""A summary of all rows is the same however they are divided, and it is right."""

import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from toolvet.assess.report.batch.document import BatchReport
from toolvet.batch.kernel.answers import ANSWERS
from toolvet.batch.location import locate
from toolvet.batch.summary.describe import SummaryOptions, summarise
from toolvet.errors import MissingExtraError, UsageError

TYPES = ["refusal", "low_confidence", "tool_failure"]
SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("id", pa.string()),
        ("label", pa.string()),
        ("day", pa.date32()),
        ("length", pa.int64()),
        *ANSWERS,
    ]
)


def made(count: int, seed: int = 1) -> pa.Table:
    """Verdicts on answers as a run writes them, with labels and days."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    rows: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        found = [each for each in TYPES if dice.random() < 0.15]
        row: dict[str, Any] = {
            "row": number,
            "id": f"r{dice.randrange(10**9)}",
            "label": dice.choice(["good", "bad", "Refusal", "odd", None]),
            "day": dice.choice([None, *range(20_000, 20_010)]),
            "length": dice.choice([0, 1, 40, 3000, 99_999]),
        }
        if dice.random() < 0.05:
            rows.append({**row, "problem": f"not JSON: {number}"})
            continue
        score = round(1 - 0.3 * len(found) - dice.choice([0, 0.01, 0.07]), 2)
        signals = [
            {"type": each, "evidence": f"words {dice.randrange(9)}", "weight": dice.random(), "context": "around"}
            for each in found
            for _ in range(dice.randrange(1, 3))
        ]
        row |= {"score": score, "likely_good": round(score * 0.9, 3), "should_escalate": score < 0.7}
        rows.append({**row, "action": "use" if score >= 0.7 else "retry", "signals": signals})
    return pa.Table.from_pylist(rows, SCHEMA)


OPTIONS = SummaryOptions(time="day", label="label")


def whole(table: Any, options: SummaryOptions = OPTIONS, kind: str = "answers") -> BatchReport:
    return divided([table], options, kind)


def divided(parts: list[Any], options: SummaryOptions = OPTIONS, kind: str = "answers") -> BatchReport:
    """The report of an output whose files have these tables."""
    with TemporaryDirectory() as folder:
        files = [f"{folder}/{number}.parquet" for number in range(len(parts))]
        for file, table in zip(files, parts, strict=True):
            is_whole = "problem" in table.column_names
            pq.write_table(
                table if is_whole else table.append_column("problem", pa.nulls(len(table), pa.string())), file
            )
        return summarise([locate(file) for file in files], options, source="out", kind=kind)


@pytest.mark.parametrize("seed", range(4))
def test_however_rows_are_divided_and_ordered_the_report_is_the_same(seed: int) -> None:
    table, dice = made(400), random.Random(seed)  # noqa: S311 - no secret
    parts: list[Any] = []
    start = 0
    while start < table.num_rows:
        size = dice.randrange(1, 90)
        parts.append(table.slice(start, size))
        start += size
    dice.shuffle(parts)
    assert divided(parts) == whole(table)


def test_what_is_said_is_what_is_there() -> None:
    table = made(500, seed=7)
    rows: list[dict[str, Any]] = table.to_pylist()
    judged = [row for row in rows if row["problem"] is None]
    report = whole(table)
    assert (report.rows, report.problems) == (500, 500 - len(judged))
    assert (report.flagged.count, report.flagged.of) == (sum(row["should_escalate"] for row in judged), len(judged))
    for signal in report.signals:
        having = [row for row in judged if any(each["type"] == signal.name for each in row["signals"])]
        assert (signal.rows.count, signal.rows.of) == (len(having), len(judged))
        assert signal.found == sum(each["type"] == signal.name for row in judged for each in row["signals"])
        assert signal.examples[0].score == min(row["score"] for row in having)
        assert len({each.evidence for each in signal.examples}) == len(signal.examples) == 5
    score, length = report.numbers
    assert score.mean == pytest.approx(fmean(row["score"] for row in judged))
    assert sum(each.count for each in score.bins) == len(judged)
    assert score.median == sorted(row["score"] for row in judged)[(len(judged) - 1) // 2]
    assert [(each.low, each.count) for each in length.bins if each.count] == [
        (low, sum(row["length"] == value for row in judged))
        for low, value in ((0, 0), (1, 1), (32, 40), (2048, 3000), (65536, 99_999))
    ]
    assert length.p99 == 99_999
    assert [each.row for each in report.first_problems] == [row["row"] for row in rows if row["problem"]][:5]
    assert report.drift is not None
    days = {row["day"] for row in judged if row["day"]}
    assert [(each.start, each.rows) for each in report.drift.periods] == [
        (day.isoformat(), sum(row["day"] == day for row in judged)) for day in sorted(days)
    ]
    assert report.drift.without_time == sum(row["day"] is None for row in judged)


def files(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    for form in ("parquet", "jsonl", "csv"):
        yield form, tmp_path / f"out.{form}"


def test_each_format_of_an_output_gives_the_same_report(tmp_path: Path, judge: Any, logs: Path) -> None:
    reports = []
    for _, path in files(tmp_path):
        judge(logs, path, keep=("model",))
        report = summarise([locate(str(path))], SummaryOptions(label="model"), source="out")
        reports.append(report)
    assert reports[0] == reports[1] == reports[2]
    assert reports[0].flagged.count == 30
    assert reports[0].signals[0].examples[0].id == "0"


def test_two_files_of_one_output_are_one_report(tmp_path: Path) -> None:
    table = made(200)
    for number, start in enumerate((0, 120)):
        pq.write_table(table.slice(start, 120 if number == 0 else 80), tmp_path / f"{number}.parquet")
    found = summarise([locate(str(tmp_path / f"{number}.parquet")) for number in (1, 0)], OPTIONS, source="out")
    assert found == whole(table)


def test_files_of_an_output_may_differ_in_columns_types_and_odd_names(tmp_path: Path) -> None:
    table = made(200)
    first = table.slice(0, 120).drop_columns("length")
    (tmp_path / "a=1").mkdir()
    # Patterns for files, and a folder that looks like a partition.
    paths = [tmp_path / "a=1" / "out[1]*?.parquet", tmp_path / "out'2.parquet"]
    pq.write_table(first, paths[0])
    numbers = [float(number) for number in range(80)]
    second = table.slice(120, 80).drop_columns("id").append_column("id", pa.array(numbers))
    pq.write_table(second, paths[1])
    found = summarise([locate(str(path)) for path in paths], OPTIONS, source="out")
    assert replace(found, numbers=[], signals=[]) == replace(whole(table), numbers=[], signals=[])
    examples = [each for signal in found.signals for each in signal.examples if (each.row or 0) > 120]
    assert [each.id for each in examples] == [str((each.row or 0) - 121) for each in examples]


def test_names_that_differ_in_case_are_two_columns(tmp_path: Path) -> None:
    table = made(50)
    twins = table.append_column("Score", pa.array(["good"] * 50)).append_column('a "b', pa.array(["2026-03-02"] * 50))
    pq.write_table(twins.select(["Score", 'a "b', *table.column_names]), tmp_path / "out.parquet")
    options = SummaryOptions(time='a "b', label="Score")
    found = summarise([locate(str(tmp_path / "out.parquet"))], options, source="out")
    assert found.numbers == whole(table).numbers
    assert found.labels is not None
    assert [word.word for word in found.labels.words] == ["good"]
    assert found.drift is not None
    assert [each.rows for each in found.drift.periods] == [found.flagged.of]


def test_numbers_that_are_none_are_left_out() -> None:
    rows = [
        {"row": 1, "score": score, "should_escalate": True, "likely_good": score} for score in (0.5, math.nan, None)
    ]
    found = whole(pa.Table.from_pylist([{**row, "label": "bad"} for row in rows], SCHEMA))
    assert [(each.count, each.mean) for each in found.numbers] == [(1, 0.5)]
    assert found.labels is not None
    assert [curve.rows for curve in found.labels.calibration] == [1, 1]


def test_without_duckdb_it_is_said_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(made(3), tmp_path / "out.parquet")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ImportError) as found:
        summarise([locate(str(tmp_path / "out.parquet"))], SummaryOptions(), source="out")
    assert "toolvet[batch]" in str(MissingExtraError.of(found.value))


class TestOddOutputs:
    def test_an_output_without_rows(self) -> None:
        report = whole(made(0))
        assert (report.rows, report.flagged.share, report.signals, report.numbers) == (0, None, [], [])
        assert report.drift is not None
        assert report.drift.periods == []
        assert report.labels is not None
        assert report.labels.note == "no judged row has a label"

    def test_one_row(self) -> None:
        report = whole(made(1, seed=3))
        assert report.flagged.of == 1
        assert report.flagged.high is not None
        assert report.flagged.high - (report.flagged.low or 0) > 0.7

    def test_only_rows_that_could_not_be_judged(self) -> None:
        table = made(40)
        table = table.filter(pa.compute.is_valid(table.column("problem")))
        report = whole(table)
        assert report.rows == report.problems > 0
        assert report.flagged.share is None
        assert report.numbers == []

    def test_a_column_of_labels_that_holds_only_nulls(self) -> None:
        table = made(30).drop_columns("label").append_column("label", pa.nulls(30))
        report = whole(table)
        assert report.labels is not None
        assert (report.labels.labelled, report.labels.precision) == (0, None)
        assert report.labels.note == "no judged row has a label"

    def test_of_many_words_the_most_frequent_are_shown_and_the_others_counted(self) -> None:
        words = [f"word {number % 3000}" for number in range(9000)] + ["often"] * 4
        rows = [
            {"row": number, "score": 1.0, "should_escalate": False, "action": word} for number, word in enumerate(words)
        ]
        (found,) = whole(pa.Table.from_pylist(rows, SCHEMA)).words
        assert (found.words[0].word, found.words[0].rows.count, found.words[1].rows.count) == ("often", 4, 3)
        assert found.others == 9004 - sum(each.rows.count for each in found.words)

    def test_secrets_are_masked_before_words_are_cut(self) -> None:
        secret = "Authorization: Bearer abcdefgh12345678"
        signal = {"type": "refusal", "evidence": f"{'x ' * 90}{secret}", "context": secret, "weight": 1.0}
        row = {"row": 1, "score": 0.1, "should_escalate": True, "signals": [signal]}
        (found,) = whole(pa.Table.from_pylist([row], SCHEMA)).signals
        assert "abcdefgh" not in msgspec.json.encode(found).decode()
        assert "[redacted]" in found.examples[0].detail


class TestBadInput:
    def test_a_column_that_is_missing_is_named_with_those_that_are_there(self, tmp_path: Path) -> None:
        pq.write_table(made(3), tmp_path / "out.parquet")
        with pytest.raises(UsageError, match=r"no column 'when' \(--time\); it has row, id, label, day"):
            summarise([locate(str(tmp_path / "out.parquet"))], SummaryOptions(time="when"), source="out")
        (tmp_path / "out.jsonl").write_text('{"row": 1, "likely_good": 1.0, "score": 1.0, "should_escalate": false}\n')
        with pytest.raises(UsageError, match=r"no column 'when' \(--label\); it has row, likely_good"):
            summarise([locate(str(tmp_path / "out.jsonl"))], SummaryOptions(label="when"), source="out")

    def test_what_is_no_output_is_told(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"text": ["a"]}), tmp_path / "in.parquet")
        with pytest.raises(UsageError, match="not an output of `toolvet batch`; it has text"):
            summarise([locate(str(tmp_path / "in.parquet"))], SummaryOptions(), source="in")
        (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
        with pytest.raises(UsageError, match="not a Parquet file"):
            summarise([locate(str(tmp_path / "broken.parquet"))], SummaryOptions(), source="in")
        pq.write_table(made(2000), tmp_path / "damaged.parquet")
        content = bytearray((tmp_path / "damaged.parquet").read_bytes())
        content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
        (tmp_path / "damaged.parquet").write_bytes(content)
        with pytest.raises(UsageError, match=r"damaged.parquet: cannot be read to its end"):
            summarise([locate(str(tmp_path / "damaged.parquet"))], SummaryOptions(), source="in")
        (tmp_path / "cut.jsonl").write_text('{"row": 1, "likely_good": 1.0, "should_escalate": false}\n{"row"')
        with pytest.raises(UsageError, match="line 2: not JSON"):
            summarise([locate(str(tmp_path / "cut.jsonl"))], SummaryOptions(), source="in")

    def test_files_of_two_kinds_are_no_report(self, tmp_path: Path) -> None:
        pq.write_table(made(3), tmp_path / "a.parquet")
        results = {"classification": ["error"], "error_without_flag": [True], "problem": pa.nulls(1, pa.string())}
        pq.write_table(pa.table(results), tmp_path / "b.parquet")
        with pytest.raises(UsageError, match=r"b\.parquet has verdicts on results, and .*a\.parquet on answers"):
            summarise([locate(str(tmp_path / f"{name}.parquet")) for name in "ab"], SummaryOptions(), source="out")
