"""What real servers sent, and the findings that a person agreed with: no more, no fewer.

The tool lists and literal answers are kept next to the developers' checkout, and are not part of the project.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.labelled import SERVERS

from toolvet.assess.rules import (
    ObservedCall,
    ObservedServer,
    Outcome,
    ProtocolError,
    ToolDefinition,
    judge_call,
    judge_calls,
    judge_server,
    judge_tool,
    tool_definition,
)
from toolvet.assess.rules.ending import words_of
from toolvet.assess.rules.message import score_message, tool_message_score
from toolvet.core.checks.result import check_result
from toolvet.core.schema import compiled
from toolvet.core.tool_rules import habits_of, why_not_called
from toolvet.findings import Finding

pytestmark = pytest.mark.labelled

DEFINED = {
    "everything": {"parameter-undescribed: get-resource-reference"},
    "everything.fullcaps": {"parameter-undescribed: get-resource-reference"},
    "git": {
        f"parameter-undescribed: git_{name}"
        for name in [
            "add",
            "checkout",
            "commit",
            "create_branch",
            "diff",
            "diff_staged",
            "diff_unstaged",
            "log",
            "reset",
            "show",
            "status",
        ]
    },
    "sqlite": {"annotations-missing: None"},
    "time": set[str](),
}
ANSWERED = {
    "everything": {
        "extra_prop: unknown-argument-ignored info",
        "ref_bad: valid-refused info",
        "unknown_tool: unknown-tool-answer info",
    },
    "git": {"extra_prop: unknown-argument-ignored info", "coerce_str_int: invalid-accepted info"},
    "sqlite": {
        "extra_prop: unknown-argument-ignored info",
        "domain_missing: error-without-flag error",
        "wrong_stmt: error-without-flag error",
        "unknown_tool: unknown-tool-answer error",
    },
    "time": {"extra_prop: unknown-argument-ignored info", "bad_value: valid-refused info"},
}
SKIPPED = {
    "everything": {
        "gzip-file-as-resource",
        "simulate-research-query",
        "toggle-simulated-logging",
        "toggle-subscriber-updates",
    },
    "git": {"git_add", "git_checkout", "git_commit", "git_create_branch", "git_reset"},
    "sqlite": {"write_query", "create_table", "append_insight"},
    "time": set[str](),
}
SCORES = {"everything": (71, 71), "git": (71, 76), "sqlite": (71, 47), "time": (71, 76)}


@pytest.mark.parametrize("server", DEFINED)
def test_the_definitions_have_these_findings_only(server: str) -> None:
    found = [*judge_server(ObservedServer(tools=tuple(tools(server)), protocol_version="2025-11-25"))]
    for tool in tools(server):
        found += judge_tool(tool)
    assert {f"{finding.id}: {finding.tool}" for finding in found} == DEFINED[server]


@pytest.mark.parametrize("server", ANSWERED)
def test_the_answers_have_these_findings_only(server: str) -> None:
    found = {f"{probe}: {finding.id} {finding.severity.value}" for probe, finding in answered(server)}
    assert found == ANSWERED[server]


@pytest.mark.parametrize("server", SKIPPED)
def test_these_tools_are_not_called_without_consent(server: str) -> None:
    habits = habits_of(tools(server))
    assert {tool.name for tool in tools(server) if why_not_called(tool, habits)} == SKIPPED[server]


@pytest.mark.parametrize("server", SCORES)
def test_the_errors_for_a_missing_and_a_wrong_argument_have_these_scores(server: str) -> None:
    probes = dict(calls(server))
    chosen = (probes["missing_required"], probes["wrong_type"])
    assert tuple(score_message(words_of(call), call).score for call in chosen) == SCORES[server]


@pytest.mark.parametrize("server", SCORES)
def test_words_that_a_framework_wrote_are_not_held_against_the_author(server: str) -> None:
    probes = dict(calls(server))
    assert tool_message_score([probes["missing_required"], probes["wrong_type"]]) is None


def tools(server: str) -> list[ToolDefinition]:
    listed = json.loads((SERVERS / f"{server}.json").read_text(encoding="utf-8"))["tools"]
    return [tool_definition(raw, position) for position, raw in enumerate(listed)]


def answered(server: str) -> Iterator[tuple[str, Finding]]:
    for probe, call in calls(server):
        if probe == "unknown_tool":
            found = judge_server(ObservedServer(tools=tuple(tools(server)), unknown_tool=call))
        else:
            seen = ObservedServer(tools=tuple(tools(server)), calls=(call,))
            found = (*judge_call(call), *judge_calls(call.tool, [call]), *judge_server(seen))
        # One recorded probe is not a tool's whole story, and annotations are not an answer.
        others = (finding for finding in found if finding.id not in {"never-succeeded", "annotations-missing"})
        yield from ((probe, finding) for finding in others)


def calls(server: str) -> Iterator[tuple[str, ObservedCall]]:
    recorded = json.loads((SERVERS / f"{server}.responses.json").read_text(encoding="utf-8"))
    by_name = {tool.name: tool for tool in tools(server)}
    errors = recorded["errors"]
    probed = by_name[errors["_tool"]]
    yield "missing_required", call_of(probed, {}, errors["missing_required"])
    yield "wrong_type", call_of(probed, {probed.required[0]: {"nested": ["wrong"]}}, errors["wrong_type"])
    yield "unknown_tool", call_of(tool_definition({"name": "no_such_tool"}), {}, errors["unknown_tool"])
    for probe, more in recorded["more"].items():
        yield probe, call_of(by_name[more["tool"]], more["arguments"], more["response"])


def call_of(tool: ToolDefinition, arguments: object, response: Mapping[str, Any]) -> ObservedCall:
    violations = compiled(tool.input_schema).violations(arguments)
    if "error" in response:
        error = ProtocolError(code=response["error"]["code"], message=response["error"]["message"])
        return ObservedCall(
            tool=tool, arguments=arguments, outcome=Outcome.PROTOCOL_ERROR, error=error, violations=violations
        )
    result = response["result"]
    verdict = check_result(tool.raw, arguments, result)
    return ObservedCall(
        tool=tool, arguments=arguments, outcome=Outcome.RESULT, result=result, verdict=verdict, violations=violations
    )
