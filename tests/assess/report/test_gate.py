"""JUnit, SARIF, baseline, score and the exit code agree: what fails a run is decided once, in the document."""

import itertools
import xml.etree.ElementTree as ET

import msgspec
import orjson
import pytest
from tests.assess.report.samples import CARDS, bookshop

from toolvet.assess.report import apply_baseline, render, why_failed, wording
from toolvet.assess.report.document import Report
from toolvet.findings import Severity

LEVELS = (None, Severity.ERROR, Severity.WARNING, Severity.INFO)
COMBINATIONS = list(itertools.product(LEVELS, (None, 10.0, 99.0), (False, True)))


def gated(fail_on: Severity | None, fail_under: float | None, *, baselined: bool) -> Report:
    report = bookshop()
    if baselined:
        report = apply_baseline(report, [report], "base.json")
    return msgspec.structs.replace(report, fail_on=fail_on.value if fail_on else "never", fail_under=fail_under)


def junit(report: Report) -> ET.Element:
    return ET.fromstring(render("junit", [report], CARDS))  # noqa: S314 - our own text


@pytest.mark.parametrize(("fail_on", "fail_under", "baselined"), COMBINATIONS)
def test_junit_is_red_exactly_when_the_run_fails(
    fail_on: Severity | None, fail_under: float | None, *, baselined: bool
) -> None:
    report = gated(fail_on, fail_under, baselined=baselined)
    document = junit(report)
    failures = document.findall(".//failure")
    assert bool(failures) == bool(why_failed(report))
    assert document.get("failures") == str(len(failures))


@pytest.mark.parametrize(("fail_on", "fail_under", "baselined"), COMBINATIONS)
def test_sarif_has_the_findings_that_count_and_says_why_the_run_failed(
    fail_on: Severity | None, fail_under: float | None, *, baselined: bool
) -> None:
    report = gated(fail_on, fail_under, baselined=baselined)
    (run,) = orjson.loads(render("sarif", [report], CARDS))["runs"]
    assert run["properties"]["failures"] == list(why_failed(report))
    assert len(run["results"]) == len(report.findings)
    level = {
        Severity.ERROR: {"error"},
        Severity.WARNING: {"error", "warning"},
        Severity.INFO: {"error", "warning", "note"},
    }
    reached = fail_on is not None and any(result["level"] in level[fail_on] for result in run["results"])
    assert reached == any("--fail-on" in reason for reason in why_failed(report))


def test_known_findings_fail_nothing_and_the_score_stays() -> None:
    report = gated(Severity.INFO, None, baselined=True)
    assert (report.findings, why_failed(report), report.score) == ([], (), bookshop().score)


def test_a_low_score_says_so_in_every_report() -> None:
    report = gated(None, 99.0, baselined=True)
    (reason,) = why_failed(report)
    assert reason.endswith("is below --fail-under 99")
    for name in ("markdown", "html", "junit", "github"):
        assert "is below --fail-under 99" in render(name, [report], CARDS)


def test_no_score_does_not_reach_any_threshold() -> None:
    report = msgspec.structs.replace(bookshop(), score=None, fail_under=1.0)
    assert "no tool was exercised" in why_failed(report)[-1]


def priced(**tokens: int) -> Report:
    report = bookshop()
    tools = [
        msgspec.structs.replace(tool, tokens=tokens.get(tool.name, 0), description_tokens=3) for tool in report.tools
    ]
    summary = msgspec.structs.replace(report.summary, list_tokens=sum(tokens.values()))
    return msgspec.structs.replace(report, tools=tools, summary=summary, fail_on="never")


@pytest.mark.parametrize(("most", "fails"), [(None, False), (1_300, False), (1_299, True)])
def test_a_list_that_costs_too_much_fails_in_every_report(most: int | None, *, fails: bool) -> None:
    report = msgspec.structs.replace(priced(find_books=1_000, order_book=300), max_tools_tokens=most)
    reason = "tools/list costs about 1,300 tokens, more than --max-tools-tokens 1299"
    assert why_failed(report) == ((reason,) if fails else ())
    assert len(junit(report).findall(".//failure")) == int(fails)
    for name in ("markdown", "html", "junit", "github", "sarif"):
        assert (reason in render(name, [report], CARDS)) == fails


def test_the_cost_is_compared_with_the_baseline_tool_by_tool() -> None:
    before = priced(find_books=900, order_book=300)
    report = apply_baseline(priced(find_books=1_000, order_book=300, get_loan=50), [before], "base.json")
    assert wording.cost(report) == "tools/list costs a model about 1,350 tokens, +150 since the baseline"
    assert wording.costliest(report) == [
        ("find_books", "1,000", "3", "+100"),
        ("order_book", "300", "3", ""),
        ("get_loan", "50", "3", "new"),
    ]
    for name in ("markdown", "html"):
        assert "+150 since the baseline" in render(name, [report], CARDS)


def test_a_baseline_that_knows_no_cost_changes_nothing() -> None:
    report = apply_baseline(priced(find_books=1_000), [bookshop()], "base.json")
    assert wording.cost(report) == "tools/list costs a model about 1,000 tokens"
    assert wording.costliest(report) == [("find_books", "1,000", "3", "")]


def test_an_error_is_red_unless_another_threshold_is_given() -> None:
    assert junit(bookshop()).findall(".//failure")
