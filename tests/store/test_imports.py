"""Files that `toolvet store import` reads: changes in them are kept if possible, or refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolvet.errors import StoreError
from toolvet.server.dashboard.api.stored import show_verdict
from toolvet.server.dashboard.view.entries import entry_view
from toolvet.server.failures import json_response
from toolvet.server.review import review_signals
from toolvet.store import Store, VerdictRecord
from toolvet.store.records import encode_document

HUGE = 10**400


def imported(path: Path) -> list[VerdictRecord]:
    with Store(path.with_name("store.db")) as store:
        list(store.take_in(path))
        assert store.flush()
        return store.verdicts()


@pytest.mark.parametrize(
    "row",
    [
        {"at": 1e306},
        {"at": HUGE},
        {"at": -5},
        {"at": 7, "size": 1e300},
        {"at": 7, "size": -1, "duration": HUGE},
        {"at": 7, "detail": {"verdict": {"confidence": HUGE}}},
    ],
)
def test_numbers_that_nothing_holds_are_left_out_of_the_calls_of_earlier_releases(
    tmp_path: Path, row: dict[str, object]
) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text(json.dumps({"call": {"tool": "find", **row}}) + "\n")
    (verdict,) = imported(path)
    assert (verdict.tool, verdict.size, verdict.duration, verdict.score) == ("find", 0, None, None)
    assert verdict.at == (7 if row["at"] == 7 else 0)


def test_the_numbers_of_earlier_releases_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    row = {"at": 1.5e9, "size": 5, "duration": 0.25, "detail": json.dumps({"verdict": {"confidence": 80}})}
    path.write_text(json.dumps({"call": row}) + "\n")
    (verdict,) = imported(path)
    assert (verdict.at, verdict.size, verdict.duration, verdict.score) == (1.5e9, 5, 0.25, 0.8)


def test_an_answer_with_numbers_that_no_float_holds_is_shown(tmp_path: Path) -> None:
    signal = {"type": "refusal", "evidence": "I cannot", "weight": HUGE, "certainty": HUGE, "position": HUGE}
    document = json.dumps({"signals": [signal]})
    path = tmp_path / "new.jsonl"
    path.write_text(
        f'{{"type":"verdict","id":"{"0" * 32}","at":5.0,"kind":"answer","text":"I cannot","document":{document}}}\n'
    )
    (verdict,) = imported(path)
    assert json.loads(bytes(json_response(show_verdict(verdict)).body))["detail"]["signals"][0]["weight"] == HUGE
    (finding,) = entry_view(verdict).findings
    assert (finding.level, finding.certainty) == ("info", None)
    assert review_signals(verdict)[0].weight is None


def changed(path: Path, column: str, change: Callable[[Any], object]) -> Path:
    """An export with the cells of one column changed, as in a notebook."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    with Store(path / "first.db") as store:
        record = VerdictRecord(id="0" * 32, at=5.0, kind="answer", text="a", document=encode_document({"b": 1}))
        store.add_records([record])
        assert store.flush()
        exported = path / "all.parquet"
        assert list(store.export(exported))[-1] == 1
    rows = parquet.read_table(exported).to_pylist()
    parquet.write_table(pa.Table.from_pylist([{**row, column: change(row[column])} for row in rows]), exported)
    return exported


def test_a_detail_on_several_lines_stays_whole(tmp_path: Path) -> None:
    path = changed(tmp_path, "detail", lambda cell: json.dumps(json.loads(cell), indent=1))
    (verdict,) = imported(path)
    assert verdict.detail == {"b": 1}


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("detail", "{"),
        ("detail", None),
        ("kind", "own"),
        ("at", float("nan")),
        ("text", 5),
        ("failed", None),
        ("id", 5),
    ],
)
def test_a_cell_that_no_verdict_has_is_refused_by_the_name_of_the_file(
    tmp_path: Path, column: str, cell: object
) -> None:
    path = changed(tmp_path, column, lambda _: cell)
    with pytest.raises(StoreError, match=r"all\.parquet"):
        imported(path)
