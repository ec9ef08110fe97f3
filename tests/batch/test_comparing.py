"""Two outputs, row by row: joined by id in any order, every change counted, and what cannot be joined told."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.batch.conftest import Judge
from tests.batch.summary.test_summary import SCHEMA, TYPES, made

from toolvet.assess.report.batch.document import ComparisonReport
from toolvet.batch.comparing import compare_outputs
from toolvet.batch.location import locate
from toolvet.errors import UsageError


def compared(old: Path, new: Path, **options: Any) -> ComparisonReport:
    return compare_outputs([locate(str(old))], [locate(str(new))], old_name="old", new_name="new", **options)


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
    return path


def rows_with_ids(count: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = made(count).to_pylist()
    return [{**row, "id": f"r{row['row']}"} for row in rows]


def verdict(row: dict[str, Any]) -> str:
    return "not judged" if row["problem"] else "to escalate" if row["should_escalate"] else "not to escalate"


def types(row: dict[str, Any]) -> set[str]:
    return {each["type"] for each in row["signals"] or ()}


@pytest.fixture
def changed(tmp_path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Path, Path]:
    """Two outputs of 600 rows: some verdicts changed, some rows are on one side only, and their order differs."""
    dice = random.Random(2)  # noqa: S311 - no secret
    old = rows_with_ids(600)
    new: list[dict[str, Any]] = []
    for row in old[20:]:
        each = dict(row)
        if not row["problem"] and dice.random() < 0.2:
            each["signals"] = [{"type": dice.choice(TYPES), "evidence": "new", "weight": 0.5}]
            each["score"] = round(dice.random(), 2)
            each["should_escalate"] = each["score"] < 0.7
        new.append(each)
    new += [{**each, "id": f"n{each['row']}"} for each in rows_with_ids(7)]
    dice.shuffle(new)
    return old, new, written(tmp_path / "old.parquet", old), written(tmp_path / "new.parquet", new)


def test_every_change_is_counted(changed: Any) -> None:
    old, new, old_file, new_file = changed
    found = compared(old_file, new_file)
    after = {row["id"]: row for row in new}
    pairs = [(row, after[row["id"]]) for row in old if row["id"] in after]
    assert (found.compared, found.only_old, found.only_new) == (580, 20, 7)
    assert found.added_ids == [f"n{number}" for number in range(1, 8)]
    same = [a for a, b in pairs if (verdict(a), a["score"], types(a)) == (verdict(b), b["score"], types(b))]
    assert found.same == len(same)
    for move in found.moves:
        own = [(a, b) for a, b in pairs if (verdict(a), verdict(b)) == (move.old, move.new)]
        assert move.rows == sum(a not in same for a, _ in own)
        assert all(example.id in {a["id"] for a, _ in own} for example in move.examples)
    assert sum(move.rows for move in found.moves) == 580 - len(same)
    for signal in found.signals:
        gained = sum(signal.name in types(b) - types(a) for a, b in pairs)
        lost = sum(signal.name in types(a) - types(b) for a, b in pairs)
        assert (signal.gained, signal.lost) == (gained, lost)
    assert found.newly_flagged == sum(bool(b["should_escalate"]) > bool(a["should_escalate"]) for a, b in pairs)
    assert found.score_up == sum(not a["problem"] and b["score"] > a["score"] for a, b in pairs)
    assert sum(each.count for each in found.score_changes) == found.score_up + found.score_down


def test_an_output_beside_itself_is_the_same(changed: Any) -> None:
    _, _, old, _ = changed
    found = compared(old, old)
    assert (found.same, found.moves, found.p) == (600, [], None)


def test_ids_that_are_there_twice_are_not_compared_and_told(tmp_path: Path) -> None:
    rows = rows_with_ids(6)
    old = written(tmp_path / "old.parquet", [*rows, rows[0], {**rows[1], "id": None}])
    found = compared(old, written(tmp_path / "new.parquet", rows))
    assert (found.compared, found.old_double, found.new_double) == (5, 2, 0)
    assert (found.only_new, found.double_ids, found.without_id) == (0, ["r1"], 1)


def test_without_ids_the_numbers_of_the_rows_join(tmp_path: Path) -> None:
    rows = pa.Table.from_pylist(rows_with_ids(30), SCHEMA)
    pq.write_table(rows.drop_columns("id"), tmp_path / "old.parquet")
    pq.write_table(rows, tmp_path / "new.parquet")
    found = compared(tmp_path / "old.parquet", tmp_path / "new.parquet")
    assert (found.by, found.same) == ("row", 30)
    with pytest.raises(UsageError, match=r"old.parquet has no column 'id' to join the rows by; it has row, label"):
        compared(tmp_path / "old.parquet", tmp_path / "new.parquet", by="id")


def test_formats_and_types_of_ids_may_differ(tmp_path: Path, logs: Path, judge: Judge) -> None:
    judge(logs, tmp_path / "old.parquet")
    judge(logs, tmp_path / "new.jsonl")
    judge(logs, tmp_path / "new.csv")
    for name in ("new.jsonl", "new.csv"):
        assert compared(tmp_path / "old.parquet", tmp_path / name).same == 300
        assert compared(tmp_path / "old.parquet", tmp_path / name, by="row").same == 300


def test_another_option_changes_the_verdicts_that_it_should(tmp_path: Path, logs: Path) -> None:
    from toolvet.batch.job import Job  # noqa: PLC0415
    from toolvet.batch.run import run_batch  # noqa: PLC0415

    run_batch(Job(kind="answers"), str(logs), str(tmp_path / "old.parquet"), jobs=1)
    high = Job(kind="answers", options={"min_length": 500, "threshold": 1.0})
    run_batch(high, str(logs), str(tmp_path / "new.parquet"), jobs=1)
    found = compared(tmp_path / "old.parquet", tmp_path / "new.parquet")
    assert ("not to escalate", "to escalate", 270) in [(move.old, move.new, move.rows) for move in found.moves]
    assert (found.newly_flagged, found.no_longer_flagged) == (270, 0)
    assert found.p is not None
    assert found.p < 1e-8


def test_an_output_without_rows_is_compared(tmp_path: Path) -> None:
    none = written(tmp_path / "none.parquet", [])
    some = written(tmp_path / "some.parquet", rows_with_ids(3))
    assert (compared(none, some).only_new, compared(none, none).compared) == (3, 0)


def test_examples_and_ids_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    old = rows_with_ids(400)
    new = [{**row, "score": 0.0, "should_escalate": True} if row["score"] else row for row in old[30:]]
    first = compared(written(tmp_path / "old.parquet", old), written(tmp_path / "new.parquet", new))
    second = compared(
        written(tmp_path / "old.parquet", old[::-1]), written(tmp_path / "new.parquet", new[7:] + new[:7])
    )
    assert first == second
    assert len(first.missing_ids) == 10


def test_verdicts_of_two_kinds_are_not_compared(tmp_path: Path) -> None:
    answers = written(tmp_path / "a.parquet", rows_with_ids(2))
    results = {
        "id": ["1"],
        "classification": ["error"],
        "error_without_flag": [True],
        "problem": pa.nulls(1, pa.string()),
    }
    pq.write_table(pa.table(results), tmp_path / "b.parquet")
    with pytest.raises(UsageError, match=r"b\.parquet has verdicts on results, and .*a\.parquet on answers"):
        compared(answers, tmp_path / "b.parquet")
