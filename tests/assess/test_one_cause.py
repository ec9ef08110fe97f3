"""What several tools have for one cause is one finding; formats, the baseline and the user's hand agree on it."""

import asyncio
import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.report import apply_baseline, render
from toolvet.assess.rules import (
    ObservedCall,
    ObservedRequest,
    Outcome,
    ProtocolError,
    Purpose,
    cards,
    judge_call,
    judge_request,
    listed_item,
    share,
    tool_definition,
)
from toolvet.assess.rules.ending import cause_of
from toolvet.core.checks.result import check_result
from toolvet.findings import Finding, Severity
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "scripted.py"
CRASH = "TypeError: {0}() missing 1 required positional argument: 'id'"


def assessed(tmp_path: Path, *tools: str, crash: str = CRASH, **options: Any) -> Report:
    """A server whose tools crash on a missing argument, and answer all else."""
    schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    script = {
        "tools": [{"name": name, "description": "Reads.", "inputSchema": schema} for name in tools],
        "answers": {name: {"validate": True, "refusal": crash.format(name)} for name in tools},
    }
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "script.json")))
    return asyncio.run(assess(target, Options(timeout=10, **options)))


def crashes(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    return [finding.concerns for finding in findings if finding.id == "bad-arguments-crash"]


def test_the_same_crash_of_many_tools_is_one_finding_of_the_server(tmp_path: Path) -> None:
    report = assessed(tmp_path, "get_a", "get_b", "get_c", "get_d")
    (finding,) = [finding for finding in report.findings if finding.id == "bad-arguments-crash"]
    assert (finding.tool, finding.tools) == (None, ("get_a", "get_b", "get_c", "get_d"))
    assert finding.occurrences >= 4
    assert finding.scenario is not None
    assert "get_a" in finding.message


def test_two_tools_share_a_cause_only_in_the_same_words(tmp_path: Path) -> None:
    assert crashes(assessed(tmp_path, "get_a", "get_b").findings) == [("get_a", "get_b")]
    found = [
        Finding(id="x", severity=Severity.ERROR, message=f"{name}: no row {number}", tool=name, cause="no row …")
        for number, name in enumerate("ab")
    ]
    assert [one.concerns for one in share(found)] == [("a",), ("b",)]
    third = msgspec.structs.replace(found[0], tool="c")
    assert [one.concerns for one in share([*found, third])] == [("a", "b", "c")]


def test_other_words_are_another_cause(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    words = ["KeyError: 'id'", "TypeError: unhashable type: 'list'", "AttributeError: no attribute at all"]
    script = {
        "tools": [{"name": f"get_{n}", "inputSchema": schema} for n in "abc"],
        "answers": {f"get_{n}": {"validate": True, "refusal": said} for n, said in zip("abc", words, strict=True)},
    }
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "script.json")))
    found = crashes(asyncio.run(assess(target, Options(timeout=10))).findings)
    assert sorted(found) == [("get_a",), ("get_b",), ("get_c",)]


def test_a_tool_that_is_ignored_is_not_among_them(tmp_path: Path) -> None:
    report = assessed(tmp_path, "get_a", "get_b", "get_c", "get_d", ignore=("bad-arguments-crash:get_b",))
    assert crashes(report.findings) == [("get_a", "get_c", "get_d")]
    assert crashes(report.suppressed) == [("get_b",)]
    fewer = assessed(tmp_path, "get_a", "get_b", "get_c", ignore=("bad-arguments-crash:get_b",))
    assert crashes(fewer.findings) == [("get_a", "get_c")]


def test_formats_exit_code_and_score_agree(tmp_path: Path) -> None:
    report = assessed(tmp_path, "get_a", "get_b", "get_c", severity={"bad-arguments-crash": "error"})
    assert report.summary.findings.error == 1
    assert report.score is not None
    assert report.score <= 50
    junit = ET.fromstring(render("junit", [report], cards()))  # noqa: S314 - our own words
    assert [failure.get("type") for failure in junit.iter("failure")] == ["bad-arguments-crash"]
    sarif = json.loads(render("sarif", [report], cards()))["runs"][0]["results"]
    (result,) = [result for result in sarif if result["level"] == "error"]
    named = [place["name"] for place in result["locations"][0]["logicalLocations"]]
    assert named == ["get_a", "get_b", "get_c"]
    for name in ("html", "markdown", "github", "json"):
        text = render(name, [report], cards())
        assert all(tool in text for tool in ("get_a", "get_b", "get_c"))


def test_the_same_finding_keeps_its_identity_in_sarif_when_a_tool_joins(tmp_path: Path) -> None:
    prints = set[str]()
    for tools in (("get_a", "get_b", "get_c"), ("get_a", "get_b", "get_c", "get_d")):
        for result in json.loads(render("sarif", [assessed(tmp_path, *tools)], cards()))["runs"][0]["results"]:
            if result["ruleId"] == "bad-arguments-crash":
                prints.add(result["partialFingerprints"]["toolvet/v1"])
    assert len(prints) == 1


@pytest.mark.parametrize(
    ("before", "new"),
    [
        (("get_a", "get_b", "get_c", "get_d"), []),
        (("get_a", "get_b", "get_c"), [("get_d",)]),
        (("get_a", "get_b"), [("get_c", "get_d")]),
        ((), [("get_a", "get_b", "get_c", "get_d")]),
    ],
)
def test_a_baseline_knows_the_tools_and_not_their_number(
    tmp_path: Path, before: tuple[str, ...], new: list[tuple[str, ...]]
) -> None:
    base = assessed(tmp_path, *before)
    report = apply_baseline(assessed(tmp_path, "get_a", "get_b", "get_c", "get_d"), [base], "base.json")
    assert crashes(report.findings) == new
    assert report.baseline is not None
    assert {tool for tools in crashes(report.baseline.known) for tool in tools} == set(before)
    assert [entry for entry in report.baseline.stale if entry.id == "bad-arguments-crash"] == []


def test_what_no_longer_occurs_is_stale_for_its_tools(tmp_path: Path) -> None:
    base = assessed(tmp_path, "get_a", "get_b", "get_c", "get_d")
    report = apply_baseline(assessed(tmp_path, "get_a", "get_b", "get_c"), [base], "base.json")
    assert report.baseline is not None
    assert [(entry.id, entry.tool) for entry in report.baseline.stale if entry.id == "bad-arguments-crash"] == [
        ("bad-arguments-crash", "get_d")
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Task 7 of 'a' is gone", "Task 8 of 'b' is gone", True),
        ("no such file: /srv/a.txt", "no such file: /srv/b.txt", True),
        ("f() missing 1 required positional argument: 'x'", "g() got an unexpected keyword argument 'y'", True),
        ("invalid colour: 'example'", "invalid colour: ''", True),
        ('{"error": "Task 7 is gone"}', '{"ok": false, "error": "Task 8 is gone"}', True),
        ('{"error": {"message": "no project"}}', '{"error": {"message": "no task"}}', False),
        ('{"success": false, "error": "no project"}', '{"success": false, "error": "no task"}', False),
        ('{"broken', '{"broke', False),
        ("'NoneType' object is not iterable", "division by zero", False),
    ],
)
def test_a_cause_has_no_values(one: str, other: str, *, same: bool) -> None:
    assert (cause_of(call("get_a", one)) == cause_of(call("get_b", other))) is same


def test_findings_of_other_words_or_other_places_stay_apart() -> None:
    def finding(tool: str | None, message: str = "m", **facts: Any) -> Finding:
        return Finding(id="x", severity=Severity.INFO, message=message, tool=tool, **facts)

    plain = [finding(name, f"{number} parameters") for number, name in enumerate("abcd")]
    assert share([*plain, finding(None), finding(None)]) == [*plain, finding(None), finding(None)]
    places = [finding(name, cause="c", pointer=f"/{name}") for name in "abc"]
    assert [one.tools for one in share(places)] == [(), (), ()]
    assert [one.cause for one in share(places)] == ["", "", ""]


def test_the_same_words_with_the_own_name_of_each_are_one_finding() -> None:
    found = [Finding(id="x", severity=Severity.INFO, message=f"'{name}' has no text.", tool=name) for name in "ab"]
    (joined,) = share(found)
    assert (joined.tools, joined.cause, joined.occurrences) == (("a", "b"), "'…' has no text.", 2)


def prompt(name: str, **facts: Any) -> Finding:
    return Finding(id="p", severity=Severity.ERROR, item=name, item_kind="prompt", **facts)


def test_prompts_and_resources_join_by_cause_too() -> None:
    found = [prompt(name, message=f"{name} fails: row {n}", cause="row …") for n, name in enumerate("abc")]
    (joined,) = share(found)
    assert (joined.item, joined.items, joined.tools) == (None, ("a", "b", "c"), ())
    assert joined.subjects == ("prompt a", "prompt b", "prompt c")
    assert joined.concerns == ()
    resource = msgspec.structs.replace(found[0], item_kind="resource")
    assert [one.items for one in share([*found[:2], resource])] == [(), (), ()]


def test_words_of_an_error_are_the_cause_of_a_request_that_failed() -> None:
    found: list[Finding] = []
    for number, name in enumerate(("plan", "review", "sum")):
        item = listed_item("prompt", {"name": name}, number)
        error = ProtocolError(code=-32603, message=f"no column '{name}'")
        request = ObservedRequest(
            method="prompts/get",
            params={"name": name},
            purpose=Purpose.LISTED,
            outcome=Outcome.PROTOCOL_ERROR,
            item=item,
            error=error,
        )
        found += [one for one in judge_request(request) if one.id == "prompt-get-failed"]
    assert [one.items for one in share(found)] == [("plan", "review", "sum")]


def test_formats_and_the_baseline_know_each_prompt_of_a_shared_finding(tmp_path: Path) -> None:
    found = share([prompt(name, message=f"{name} fails.") for name in ("plan", "review")])
    report = msgspec.structs.replace(assessed(tmp_path, "get_a"), findings=found)
    for name in ("html", "markdown", "github", "json", "junit", "sarif"):
        text = render(name, [report], cards())
        assert "plan" in text
        assert "review" in text
    before = msgspec.structs.replace(report, findings=[found[0].of_one("plan")])
    assert [one.item for one in apply_baseline(report, [before], "base.json").findings] == ["review"]


def call(tool: str, words: str) -> ObservedCall:
    result = {"content": [{"type": "text", "text": words}], "isError": True}
    return ObservedCall(tool=tool_definition({"name": tool}), arguments={}, outcome=Outcome.RESULT, result=result)


UNWRITABLE = "ENOENT: no such file or directory, mkdir '/opt/shop/data'"


def test_the_same_folder_is_one_cause_in_whatever_sentence() -> None:
    calls = [
        ObservedCall(
            tool=tool_definition({"name": name}),
            arguments={"query": "books"},
            outcome=Outcome.RESULT,
            result={"content": [{"type": "text", "text": words}], "isError": True},
            verdict=check_result({"name": name}, {}, {"content": [{"type": "text", "text": words}], "isError": True}),
        )
        for name, words in (
            ("list_a", f"Error occurred: {UNWRITABLE}"),
            ("get_b", f"## Error\nOnce more: {UNWRITABLE}"),
        )
    ]
    assert {cause_of(call) for call in calls} == {"missing: the folder /opt/shop/data"}
    leaks = [
        msgspec.structs.replace(finding, tool=call.tool.name)
        for call in calls
        for finding in judge_call(call)
        if finding.id == "path-leaked"
    ]
    assert [finding.concerns for finding in share(leaks)] == [("list_a", "get_b")]
    other = msgspec.structs.replace(leaks[1], cause="the same path /srv/shop")
    assert len(share([leaks[0], other])) == 2


def test_a_server_that_cannot_write_is_told_once_and_its_tools_are_not_exercised(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    said = {"content": [{"type": "text", "text": f"## System error\n{UNWRITABLE}"}], "isError": True}
    script = {
        "tools": [{"name": name, "description": "Reads.", "inputSchema": schema} for name in ("get_a", "get_b")],
        "answers": dict.fromkeys(("get_a", "get_b"), said),
    }
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "script.json")))
    report = asyncio.run(assess(target, Options(timeout=10)))
    (outage,) = [finding for finding in report.findings if finding.id == "environment-outage"]
    assert "the folder /opt/shop/data" in outage.message
    assert [tool.status for tool in report.tools] == ["not_exercised", "not_exercised"]
    assert [tool.error_message_score for tool in report.tools] == [None, None]
    assert {finding.id for finding in report.findings if finding.severity is not Severity.INFO} <= {
        "environment-outage",
        "path-leaked",
    }
