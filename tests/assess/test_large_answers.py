"""Answers and definitions over 1 MiB: what is read of them is bounded, they leak nothing, and the report says so."""

import asyncio
import gc
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.exchange import MOST_WHOLE, LargeExcerpt, PlannedCall, assess_call, is_heavy, mask_of, observe
from toolvet.assess.report import formats, render
from toolvet.assess.rules import ObservedCall, cards, judge_call, tool_definition
from toolvet.core.json_value import count_values
from toolvet.core.redact import secret
from toolvet.mcp.transport import Answer, RpcError, StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "large.py"
TOOL = {"name": "get_page", "description": "Gets a page.", "inputSchema": {"type": "object"}}
PLAN = PlannedCall(name="minimal", category="progressive", arguments={}, origin="schema")
LARGE = 3 * MOST_WHOLE


def text(words: str, **more: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}], **more}


def seen(result: object, tool: Mapping[str, object] = TOOL, size: int = LARGE) -> ObservedCall:
    """The call that brought this; `size` is that of the message, whatever the result is in memory."""
    reply = Answer(result=result, raw=b" " * size, duration=0.0)
    return observe(tool_definition(tool), PLAN, reply, protocol_version="2025-11-25")


def characters(value: object) -> int:
    return len(json.dumps(value))


@pytest.fixture(name="read")
def _read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many characters each search for secrets has read: it takes longer than all the rest."""
    lengths: list[int] = []
    whole = secret.redact_text

    def noted(words: str) -> str:
        lengths.append(len(words))
        return whole(words)

    monkeypatch.setattr(secret, "redact_text", noted)
    return lengths


LARGE_RESULTS: dict[str, Callable[[], object]] = {
    "a text": lambda: text("not found " * (LARGE // 10), isError=True),
    "one line of base64": lambda: text("QUJD" * (LARGE // 4)),
    "many parts": lambda: {"content": [{"type": "text", "text": "x" * 30}] * (LARGE // 60)},
    "parts that are none": lambda: {"content": [["x" * 30]] * (LARGE // 60)},
    "many members": lambda: text("ok", structuredContent={f"k{number}": "v" * 20 for number in range(LARGE // 30)}),
    "a long name": lambda: text("ok", structuredContent={"k" * LARGE: 1}),
    "lists in lists": lambda: text("ok", structuredContent={"rows": [[["x"] * 30] * 30] * (LARGE // 4_000)}),
}


@pytest.mark.parametrize("result", LARGE_RESULTS.values(), ids=list(LARGE_RESULTS))
def test_what_is_searched_and_shown_of_a_large_answer_is_bounded(read: list[int], result: Callable[[], object]) -> None:
    call = seen(result())
    assessed = assess_call(1, PLAN, call, StdioTarget(command="server"))
    list(judge_call(call))
    assert sum(read) <= 2 * MOST_WHOLE
    assert characters(call.result) < MOST_WHOLE
    assert characters(assessed.scenario.result) < MOST_WHOLE
    assert f"of {LARGE:,} bytes an excerpt is" in assessed.scenario.note


def test_a_verdict_quotes_no_more_than_a_report_shows(read: list[int]) -> None:
    """A violation quotes the value that is wrong, which may be all of the answer."""
    schema = {"type": "object", "properties": {"page": {"type": "integer"}}}
    call = seen(text("ok", structuredContent={"page": "x" * LARGE}), {**TOOL, "outputSchema": schema})
    verdict = assess_call(1, PLAN, call, StdioTarget(command="server")).scenario.verdict
    assert verdict is not None
    assert characters([verdict.issues, verdict.evidence]) < 50_000
    assert sum(read) <= MOST_WHOLE


def test_an_answer_below_the_bound_is_judged_as_it_is() -> None:
    words = "not found " * 90_000
    call = seen(text(words, isError=True), size=MOST_WHOLE)
    assert call.excerpt is None
    assert call.result == text(words, isError=True)


def test_structured_content_is_compared_with_the_schema_as_a_whole() -> None:
    """The last of a million members breaks the schema; an excerpt would lack nine of ten that it requires."""
    rows = {f"k{number}": "v" for number in range(100_000)}
    schema = {"type": "object", "additionalProperties": {"type": "string"}, "required": ["k99999"]}
    tool = {**TOOL, "outputSchema": schema}
    good, bad = (seen(text("ok", structuredContent={**rows, **last}), tool) for last in ({}, {"z": 1}))
    found: dict[str, list[tuple[bool, str]]] = {}
    for call in (good, bad):
        for finding in judge_call(call):
            found.setdefault(finding.id, []).append((call is bad, finding.message))
    assert [is_bad for is_bad, _ in found["output-schema-broken"]] == [True]
    assert "/z" in found["output-schema-broken"][0][1]
    assert all("for the verdict the whole" in words for _, words in found["answer-oversized"])


def test_of_too_many_values_only_the_excerpt_is_judged_and_the_finding_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolvet.assess.exchange.MOST_VALUES", 1_000)
    tool = {**TOOL, "outputSchema": {"type": "object", "required": ["k1999"]}}
    call = seen(text("ok", structuredContent={f"k{number}": 1 for number in range(2_000)}), tool)
    said = [finding.message for finding in judge_call(call) if finding.id == "answer-oversized"]
    assert "not whether its structured content satisfies the outputSchema" in said[0]
    assert not [finding for finding in judge_call(call) if finding.id == "output-schema-broken"]


def test_two_answers_that_differ_at_the_end_differ_in_their_excerpts() -> None:
    one, other = (LargeExcerpt(text("x" * LARGE + end)).value for end in "ab")
    assert one != other
    assert one == LargeExcerpt(text("x" * LARGE + "a")).value


def test_an_excerpt_keeps_types_and_the_small_members() -> None:
    whole = text("x" * LARGE, isError=True, structuredContent={"rows": list(range(10**6))}, _meta={"a": None})
    part: Any = LargeExcerpt(whole).value
    assert (part["isError"], part["_meta"], part["content"][0]["type"]) == (True, {"a": None}, "text")
    assert part["structuredContent"]["rows"] == list(range(200))
    assert part["content"][0]["text"].endswith("characters in all; BLAKE2 " + part["content"][0]["text"][-17:])
    assert f"({LARGE:,} characters in all" in part["content"][0]["text"]


@pytest.mark.parametrize("before", range(0, 80, 7))
def test_a_secret_at_the_place_of_the_cut_is_not_shown_in_half(before: int) -> None:
    """200 parts have little room each, so the report shows the places where they were cut."""
    password = "Zq7" * 12
    words = f"{'x ' * 600}{'y' * before}postgres://bob:{password}@host.example/shop {'z ' * 9_000}"
    call = seen({"content": [{"type": "text", "text": words}] * 200})
    assessed = assess_call(1, PLAN, call, StdioTarget(command="server"))
    assert password[:6] not in json.dumps(assessed.scenario.result)
    assert mask_of(call)


def test_a_large_protocol_error_is_an_excerpt_too(read: list[int]) -> None:
    reply = RpcError(code=-32000, message="not found " * 10**6, data="x" * 10**7, raw=b" " * LARGE, duration=0.0)
    call = observe(tool_definition(TOOL), PLAN, reply, protocol_version="2025-11-25")
    assess_call(1, PLAN, call, StdioTarget(command="server"))
    assert call.error is not None
    assert characters([call.error.message, call.error.data]) < MOST_WHOLE
    assert sum(read) <= 2 * MOST_WHOLE


def test_the_weight_of_a_value_is_told_without_reading_all_of_it() -> None:
    endless: list[object] = []
    endless.append([endless, endless])
    assert is_heavy(endless, 10_000)
    assert count_values(endless, 10_000) > 10_000
    assert not is_heavy({"a": [1, 2, {"b": "c"}]}, 100)
    assert is_heavy({"a": {"k" * 100: 1}}, 100)


def run(kind: str) -> Report:
    target = StdioTarget(command=sys.executable, args=(str(SERVER), kind))
    return asyncio.run(assess(target, Options(timeout=60)))


def test_every_report_says_that_only_an_excerpt_was_judged() -> None:
    report = run("answers")
    # A badge has the score and no findings.
    for name in sorted({*formats()} - {"badge"}):
        assert "2.0 MiB" in render(name, (report,), cards()), name
    assert len(render("json", (report,), cards())) < MOST_WHOLE


def test_a_definition_that_no_client_could_use_is_not_called_and_the_others_are() -> None:
    report = run("definitions")
    skipped = {tool.name: tool.skipped for tool in report.tools}
    assert "more than 1 MiB" in (skipped["described"] or "")
    assert "more than 1 MiB" in (skipped["declared"] or "")
    assert skipped["get_page"] is None
    assert max(len(tool.description) for tool in report.tools) < 30_000


def test_resources_and_their_entries_are_bounded_as_well() -> None:
    report = run("resources")
    large, listed = report.items.resources
    assert "bytes an excerpt is shown" in large.requests[0].note
    assert [finding.id for finding in report.findings if finding.item == large.identity] == ["resource-oversized"]
    assert "more than 1 MiB" in (listed.why_not or "")
    assert len(render("json", (report,), cards())) < MOST_WHOLE


def test_an_answer_is_gone_before_the_next_one_comes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A million blocks are a third of a gigabyte in memory."""
    alive: list[int] = []

    def counted(*given: Any, **more: Any) -> ObservedCall:
        gc.collect()
        alive.append(sum(type(each) is Answer for each in gc.get_objects()))
        return observe(*given, **more)

    monkeypatch.setattr("toolvet.assess.run.observe", counted)
    tasks = Path(__file__).parents[1] / "servers" / "tasks.py"
    target = StdioTarget(command=sys.executable, args=(str(tasks), str(tmp_path / "calls")))
    report = asyncio.run(assess(target, Options(timeout=20)))
    assert report.summary.calls > 5
    assert max(alive) == 1
