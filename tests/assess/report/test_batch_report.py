"""The report of a batch and the comparison of two: pages that no row can write markup into, documents, the terminal."""

import io
import json
import os
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped] # ships no types; the tests want an independent judge
import pyarrow as pa
import pytest
from rich.console import Console
from tests.assess.report.structure import Page, check_page
from tests.batch.summary.test_summary import SCHEMA, made, whole

from toolvet.assess.report import batch as room
from toolvet.assess.report.batch.document import (
    BATCH_FILE,
    COMPARISON_FILE,
    BatchReport,
    ComparisonReport,
    MoveExample,
    ShareFigure,
    SignalMove,
    VerdictMove,
    batch_schema,
    comparison_schema,
)
from toolvet.assess.report.batch.formats import print_batch, print_comparison, render_batch_page
from toolvet.assess.report.renderers.json import encode_document
from toolvet.batch.summary.describe import SummaryOptions

HOSTILE = "<script>alert(1)</script>\u202e\x1b[31m\x00\"'><img src=x onerror=1> [red]" + "A" * 100_000
SNAPSHOTS = Path(__file__).parent / "batch_snapshots"
DAYS = SummaryOptions(time="day", label="label")


def drifting() -> BatchReport:
    """Four days of a hundred answers, the last with many refusals."""
    rows: list[dict[str, Any]] = []
    for day in range(4):
        for number in range(100):
            bad = number < (60 if day == 3 else 8)
            row = {"row": len(rows) + 1, "id": f"r{len(rows)}", "day": date(2026, 3, 2) + timedelta(days=day)}
            row |= {"label": "bad" if number < 30 else "good", "length": 10 * number}
            row |= {"score": 0.25 if bad else 1.0, "likely_good": 0.05 if bad else 0.97, "should_escalate": bad}
            signal = {"type": "refusal", "evidence": f"I cannot do {number % 7}", "context": "Sorry", "weight": 0.75}
            rows.append({**row, "action": "route" if bad else "use", "signals": [signal] if bad else []})
    return whole(pa.Table.from_pylist(rows, SCHEMA), DAYS)


def hostile() -> BatchReport:
    signal = {"type": HOSTILE, "evidence": HOSTILE, "context": HOSTILE, "weight": 1.0}
    row = {"row": 1, "id": HOSTILE, "label": HOSTILE, "score": 0.1, "should_escalate": True, "action": HOSTILE}
    bad = {"row": 2, "problem": HOSTILE}
    report = whole(pa.Table.from_pylist([{**row, "signals": [signal]}, bad], SCHEMA), DAYS)
    return BatchReport(**{name: getattr(report, name) for name in report.__struct_fields__} | {"source": HOSTILE})


def comparison(name: str = "r1") -> ComparisonReport:
    example = MoveExample(id=name[:300], old_row=1, new_row=2, old_score=1.0, new_score=0.25, gained=[name[:300]])
    return ComparisonReport(
        kind="answers",
        old=name,
        new="new",
        by="id",
        old_rows=3,
        new_rows=3,
        compared=2,
        same=1,
        only_old=1,
        only_new=1,
        old_double=0,
        new_double=0,
        missing_ids=[name[:300]],
        added_ids=["r9"],
        flag="to escalate",
        old_flagged=ShareFigure(count=0, of=3, share=0.0, low=0.0, high=0.56),
        new_flagged=ShareFigure(count=1, of=3, share=0.333, low=0.06, high=0.79),
        newly_flagged=1,
        no_longer_flagged=0,
        p=1.0,
        moves=[VerdictMove(old="not to escalate", new="to escalate", rows=1, examples=[example])],
        signals=[SignalMove(name=name[:300], old=0, new=1, gained=1, lost=0)],
        score_down=1,
    )


def odd() -> list[BatchReport]:
    """No rows, one, rows without a finding, rows that are all bad, and rows that could not be judged."""
    clean = {"score": 1.0, "should_escalate": False, "signals": []}
    bad = {"score": 0.0, "should_escalate": True, "signals": [{"type": "refusal", "evidence": "no", "weight": 1.0}]}
    return [
        whole(pa.Table.from_pylist([{"row": number, **each} for number in range(count)], SCHEMA), DAYS)
        for count, each in ((0, clean), (1, clean), (90, clean), (90, bad), (9, {"problem": "no"}))
    ]


def page_of(report: BatchReport | ComparisonReport) -> Page:
    source = render_batch_page(report)
    page = check_page(source)
    assert "url(" not in page.code["style"]
    assert not re.search("[\x00\x1b\u202e]", source)
    return page


def printed(report: BatchReport | ComparisonReport, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False, color_system=None)
    with console.capture() as capture:
        print_batch(report, console) if isinstance(report, BatchReport) else print_comparison(report, console)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def check_snapshot(name: str, actual: str) -> None:
    """`TOOLVET_UPDATE_SNAPSHOTS=1 pytest tests/assess/report` rewrites them."""
    if os.environ.get("TOOLVET_UPDATE_SNAPSHOTS"):
        (SNAPSHOTS / name).write_text(actual, encoding="utf-8", newline="")
    assert actual == (SNAPSHOTS / name).read_bytes().decode()


class TestPage:
    def test_a_page_has_what_the_document_has(self) -> None:
        words = " ".join(page_of(drifting()).text.split())
        for expected in (
            "400 answers",
            "21.0 %",
            "17.3 to 25.3 %",
            "84 of 400",
            "+52 points",
            "8.00 % of 100 (2026-03-04) → 60.0 % of 100 (2026-03-05)",
            "I cannot do 0",
            "Precision",
            "expected calibration error",
        ):
            assert expected in words

    def test_each_chart_says_in_words_what_it_shows(self) -> None:
        page = page_of(drifting())
        charts = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("class") == "chart"]
        said = [each["aria-label"] or "" for each in charts]
        assert all(each["role"] == "img" for each in charts)
        assert "to escalate, share of rows per day: from 8.00 % to 60.0 %, last 60.0 %" in said
        assert any(text.startswith("Score of 400 rows: 0.25 to 1.00, median 1.00") for text in said)
        # Two axes with words, and a table beside each.
        axes = sum(tag == "text" and attributes.get("class") == "axis" for tag, attributes in page.tags)
        assert axes == 2 * len(charts)

    def test_hostile_rows_write_no_markup_and_little_of_it(self) -> None:
        for report in (hostile(), comparison(HOSTILE)):
            page = page_of(report)
            assert [tag for tag, _ in page.tags].count("script") == 1
            assert "<script>alert(1)</script>" in page.text
        assert len(render_batch_page(hostile())) < 200_000

    @pytest.mark.parametrize("number", range(5))
    def test_odd_outputs_say_something_sensible(self, number: int) -> None:
        words = " ".join(page_of(odd()[number]).text.split())
        assert "nan" not in words.lower().split()
        assert (
            "The output has no rows.",
            "nothing was found in any of them. Show",
            "Of 90 rows that makes a share of at most 4.09 %.",
            "100 % 95.9 to 100 %",
            "No row could be judged.",
        )[number] in words

    def test_of_three_rows_there_are_findings_and_no_statistics(self) -> None:
        rows = [
            {"row": number, "score": 0.2, "length": 9, "should_escalate": True, "signals": [each]}
            for number, each in enumerate([{"type": "refusal", "evidence": "I cannot", "weight": 1.0}] * 3)
        ]
        for count in (3, 40):
            report = whole(pa.Table.from_pylist((rows * 14)[:count], SCHEMA), DAYS)
            page = page_of(report)
            (signal,) = [each for tag, each in page.tags if tag == "details" and each.get("class") == "signal"]
            assert "open" in signal
            assert ("Distributions" in page.text) == (count == 40)
            assert ("median" in page.text) == (count == 40)
            assert ("median" in printed(report)) == (count == 40)
            assert printed(report).startswith("3 answers: 3 of 3 to" if count == 3 else "40 answers: 100 % (91.2 to")

    def test_a_comparison_shows_what_moved(self) -> None:
        words = " ".join(page_of(comparison()).text.split())
        for expected in ("1 of 2 verdicts changed", "not to escalate → to escalate", "score 1.00 → 0.25", "+ r1"):
            assert expected in words


class TestDocument:
    def test_the_published_schemas_are_up_to_date(self) -> None:
        # `python -m tests.assess.report.publish` writes them.
        folder = Path(room.__file__).parent
        assert json.loads((folder / BATCH_FILE).read_bytes()) == batch_schema()
        assert json.loads((folder / COMPARISON_FILE).read_bytes()) == comparison_schema()

    def test_reports_satisfy_them(self) -> None:
        validator = jsonschema.Draft202012Validator(batch_schema())
        for report in (drifting(), hostile(), whole(made(200), DAYS), *odd()):
            validator.validate(json.loads(encode_document(report)))
        jsonschema.Draft202012Validator(comparison_schema()).validate(json.loads(encode_document(comparison(HOSTILE))))
        assert not validator.is_valid({"schema": "toolvet-report/1"})


class TestTerminal:
    @pytest.mark.parametrize("width", [80, 120])
    def test_the_summary_reads_as_it_was_reviewed(self, width: int) -> None:
        check_snapshot(f"batch.{width}.txt", printed(drifting(), width))

    def test_the_comparison_reads_as_it_was_reviewed(self) -> None:
        check_snapshot("batch-comparison.80.txt", printed(comparison(), 80))

    def test_hostile_rows_write_no_escape_codes_and_stay_short(self) -> None:
        for text in (printed(hostile()), printed(comparison(HOSTILE))):
            assert not re.search("[\x00\x1b\u202e]", text)
            assert len(text) < 5000

    def test_odd_outputs_say_something_sensible(self) -> None:
        texts = [printed(each) for each in odd()]
        assert texts[0].startswith("0 answers: no rows to escalate\n")
        assert "Nothing was found: at most 4.09 % are flagged." in texts[2]
        assert "No row could be judged." in texts[4]
