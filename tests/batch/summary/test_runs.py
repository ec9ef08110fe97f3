"""The report of real runs: all kinds of rows, and a run that was stopped and went on."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.assess.report.structure import check_page
from tests.batch.conftest import GOOD, REFUSAL, Judge

from toolvet.assess.report.batch.document import BatchReport
from toolvet.assess.report.batch.formats import render_batch_page
from toolvet.batch import output as output_parts
from toolvet.batch.location import locate
from toolvet.batch.reading import lines
from toolvet.batch.run import Interrupted
from toolvet.batch.summary.describe import SummaryOptions, summarise

TOOL = {"name": "get", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
ERROR = {"isError": True, "content": [{"type": "text", "text": "Error: connection refused by db:5432"}]}
CALL = {"id": "c", "type": "function", "function": {"name": "get", "arguments": "{}"}}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Get it."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "Error: order 17 not found"},
    {"role": "assistant", "content": REFUSAL},
]


def report_of(path: Path, **options: Any) -> BatchReport:
    return summarise([locate(str(path))], SummaryOptions(**options), source="out")


@pytest.mark.parametrize(
    ("kind", "bad", "good", "signal", "words"),
    [
        ("answers", {"text": REFUSAL}, {"text": GOOD}, "refusal", "I cannot help with"),
        (
            "results",
            {"result": ERROR},
            {"result": {"content": [{"type": "text", "text": "42"}]}},
            "unreachable",
            "refused by db",
        ),
        (
            "arguments",
            {"tool": TOOL, "arguments": {"n": "x"}},
            {"tool": TOOL, "arguments": {"n": 1}},
            "type",
            "n: Expected integer",
        ),
        (
            "envelopes",
            {"envelope": {"success": "yes"}},
            {"envelope": {"success": True, "data": 1}},
            None,
            "missing",
        ),
        ("conversations", {"messages": TALK}, {"messages": TALK[:1]}, "failed_call", "get"),
    ],
)
def test_each_kind_of_rows_has_a_report(  # noqa: PLR0917 - a table of cases
    kind: str, bad: Any, good: Any, signal: str | None, words: str, tmp_path: Path, judge: Judge
) -> None:
    rows: list[Any] = [{"id": f"r{number}", "said": "bad", **bad} for number in range(3)]
    rows += [{"id": "g", "said": "good", **good}, "no object"]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows).replace('"no object"', "{"), encoding="utf-8")
    judge(path, tmp_path / "out.parquet", kind=kind, keep=("said",))
    report = report_of(tmp_path / "out.parquet", label="said")
    assert (report.kind, report.rows, report.problems) == (kind, 5, 1)
    assert report.flagged.count >= 3
    assert [each.row for each in report.first_problems] == [5]
    found = next(each for each in report.signals if signal is None or each.name == signal)
    assert found.rows.count >= 3
    assert found.examples[0].id == "r0"
    assert words in f"{found.examples[0].evidence} {found.examples[0].detail}"
    assert report.labels is not None
    assert report.labels.flagged_bad == 3
    assert any(number.name == "length" and number.count for number in report.numbers)
    check_page(render_batch_page(report))
    # The other formats leave out what is null, and write lists as JSON.
    judge(path, tmp_path / "out.csv", kind=kind, keep=("said",))
    judge(path, tmp_path / "out.jsonl", kind=kind, keep=("said",))
    assert report_of(tmp_path / "out.csv", label="said") == report
    assert report_of(tmp_path / "out.jsonl", label="said") == report


def test_the_report_of_a_run_that_was_stopped_is_that_of_one_that_was_not(
    tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_parts, "_PART_BYTES", 1)
    monkeypatch.setattr(lines, "CHUNK_BYTES", 2_000)
    source = tmp_path / "in.jsonl"
    source.write_text(
        "".join(json.dumps({"id": row, "text": REFUSAL if row % 7 == 0 else GOOD}) + "\n" for row in range(200)),
        encoding="utf-8",
    )
    judge(source, tmp_path / "whole.parquet")

    def stop(tally: Any, share: float | None) -> None:
        del share
        if tally.rows > 60:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        judge(source, tmp_path / "out.parquet", progress=stop)
    assert judge(source, tmp_path / "out.parquet").resumed
    assert report_of(tmp_path / "out.parquet") == report_of(tmp_path / "whole.parquet")
    assert report_of(tmp_path / "out.parquet").flagged.count == 29
