"""The example server has its faults planted on purpose; an assessment finds each, and nothing in what is fine."""

import asyncio
import sys
from functools import cache
from pathlib import Path

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[2] / "examples" / "bookshop_server.py"
FINE = ("search_books", "get_book", "order_book")

PLANTED = {
    "recommend_books": {"valid-call-failed", "crash-leaked"},
    "check_stock": {"error-without-flag"},
    "quote_shipping": {"invalid-accepted"},
    "get_price": {"output-schema-broken"},
    "opening_hours": {"structured-content-missing"},
    "read_reviews": {"call-timeout"},
    "export_catalog": {"server-died"},
    "convert_price": {"tool-undescribed", "parameter-untyped", "arguments-protocol-error"},
    "find_author": {"unhelpful-error"},
    "gift_card": {"schema-unsatisfiable"},
    "loyalty_points": {"empty-success"},
    "clear_shelf": {"annotations-contradict"},
    None: {"unknown-tool-answer", "stdout-noise"},
}


def target() -> StdioTarget:
    return StdioTarget(command=sys.executable, args=(str(SERVER),))


@cache
def report() -> Report:
    return asyncio.run(assess(target(), Options(timeout=1.5)))


@pytest.mark.parametrize(
    ("tool", "ids"), PLANTED.items(), ids=lambda value: str(value) if not isinstance(value, set) else ""
)
def test_every_planted_fault_is_found(tool: str | None, ids: set[str]) -> None:
    assert ids <= {finding.id for finding in report().findings if finding.tool == tool}


@pytest.mark.parametrize("tool", FINE)
def test_a_fine_tool_gets_no_finding(tool: str) -> None:
    assert [finding for finding in report().findings if finding.tool == tool] == []


def test_each_called_tool_has_a_happy_path_of_its_own_that_counts_once() -> None:
    for tool in report().tools:
        if tool.status == "untested" or tool.skipped is not None:
            continue
        happy = [scenario for scenario in tool.scenarios if scenario.category == "happy_path"]
        assert happy, tool.name
        made = {scenario.id: scenario for scenario in tool.scenarios}
        for again in (scenario for scenario in happy if scenario.same_as is not None):
            first = made[again.same_as or ""]
            assert (again.arguments, again.outcome, again.passed) == (first.arguments, first.outcome, first.passed)
            assert f"the same call as '{first.name}'" in again.note
    shared = [s for tool in report().tools for s in tool.scenarios if s.same_as is not None]
    sent = [s for tool in report().tools for s in tool.scenarios if s.outcome != "not_run"]
    assert shared
    assert report().summary.scenarios == len(sent) - len(shared)


def test_fine_tools_work_fully_and_their_error_messages_help() -> None:
    for tool in report().tools:
        if tool.name in {"search_books", "get_book"}:
            assert (tool.status, tool.confidence) == ("fully_working", 100.0)
            assert tool.error_message_score is not None
            assert tool.error_message_score >= 90


def test_tools_that_change_the_world_are_not_called_and_the_report_says_why() -> None:
    skipped = {tool.name: tool.skipped for tool in report().tools if tool.skipped}
    assert {"order_book", "clear_shelf", "gift_card"} == set(skipped)
    assert "destructive" in (skipped["order_book"] or "")
    assert all(not tool.scenarios for tool in report().tools if tool.skipped)


def test_a_tool_that_takes_the_server_down_does_not_hide_those_after_it() -> None:
    after = report().tools[[tool.name for tool in report().tools].index("export_catalog") + 1 :]
    assert any(tool.status == "fully_working" or tool.scenarios for tool in after)


def test_the_isbn_that_a_search_returned_is_used_for_the_tools_that_need_one() -> None:
    book = next(tool for tool in report().tools if tool.name == "get_book")
    minimal = book.scenarios[0]
    assert minimal.arguments == {"isbn": "978-0141439518"}
    assert "earlier result" in minimal.origin


def test_the_servers_last_words_on_stderr_are_kept() -> None:
    assert "cannot map the catalogue" in report().stderr


def test_every_finding_says_what_why_and_what_now() -> None:
    for finding in report().findings:
        assert finding.message, finding.id
        assert finding.why, finding.id
        assert finding.remedy, finding.id
        assert finding.reproduce.startswith("toolvet assess"), finding.id


def test_the_same_run_gives_the_same_report() -> None:
    options = Options(timeout=1.5, exclude=("read_reviews", "export_catalog"))
    first, second = (asyncio.run(assess(target(), options)) for _ in range(2))
    assert [(f.id, f.tool, f.pointer) for f in first.findings] == [(f.id, f.tool, f.pointer) for f in second.findings]
    assert [[s.arguments for s in tool.scenarios] for tool in first.tools] == [
        [s.arguments for s in tool.scenarios] for tool in second.tools
    ]


def test_calling_several_tools_at_once_blames_the_same_tools() -> None:
    together = asyncio.run(assess(target(), Options(timeout=1.5, concurrency=4)))
    assert {(f.id, f.tool) for f in together.findings} == {(f.id, f.tool) for f in report().findings}
