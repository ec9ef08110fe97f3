"""The parts of reports for the tests: tools, scenarios, results, and a report whose summary fits them."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from toolvet.assess.report.document import (
    Category,
    Items,
    Outcome,
    Report,
    Scenario,
    Server,
    Status,
    Summary,
    Tool,
    Verdict,
)
from toolvet.assess.report.gate import count
from toolvet.findings import Finding

NO_ITEMS = Items()
COMMAND = "python examples/bookshop_server.py"


def called(name: str, **facts: Any) -> Tool:
    """A tool whose scenarios have the ids that an assessment gives them."""
    scenarios = [msgspec.structs.replace(item, id=f"{name}/{n}") for n, item in enumerate(facts.pop("scenarios"), 1)]
    return Tool(name=name, scenarios=scenarios, **facts)


def reproduce(tool: str, arguments: str) -> str:
    return f"toolvet call --tool {tool} --arguments '{arguments}' -- {COMMAND}"


def answered(text: str, *, is_error: bool = False) -> dict[str, object]:
    """A tool result with one text block."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def scenario(
    name: str,
    category: Category,
    arguments: object,
    result: object,
    *,
    passed: bool = True,
    outcome: Outcome = "result",
    breaks: str | None = None,
    framework: str | None = None,
    note: str = "",
    tool: str = "find_books",
    duration_ms: float = 6.0,
) -> Scenario:
    is_error = isinstance(result, dict) and cast("dict[str, object]", result).get("isError") is True
    verdict = Verdict(
        classification="fully_working" if passed else "partially_working",
        confidence=100.0 if passed else 45.0,
        is_valid=passed,
        is_error=is_error,
        error_kind="business" if is_error else None,
        issues=[] if passed else [note],
    )
    return Scenario(
        name=name,
        category=category,
        arguments=arguments,
        outcome=outcome,
        passed=passed,
        result=result,
        verdict=verdict if outcome == "result" else None,
        duration_ms=duration_ms,
        breaks=breaks,
        framework=framework,
        note=note,
        origin="generator",
        reproduce=reproduce(tool, msgspec.json.encode(arguments).decode()),
    )


def report(
    server: Server,
    *,
    tools: list[Tool],
    findings: Sequence[Finding],
    score: float | None,
    status: Status,
    stderr: str = "",
    incomplete: str | None = None,
    items: Items = NO_ITEMS,
) -> Report:
    """A report whose summary says what the tools and findings say."""
    scenarios = [item for tool in tools for item in tool.scenarios]
    return Report(
        server=server,
        score=score,
        status=status,
        tools=tools,
        findings=list(findings),
        summary=Summary(
            tools=len(tools),
            tested=sum(bool(tool.scenarios) for tool in tools),
            not_exercised=sum(tool.status == "not_exercised" for tool in tools),
            skipped=sum(tool.skipped is not None for tool in tools),
            scenarios=len(scenarios),
            passed=sum(item.passed for item in scenarios),
            findings=count(findings),
            calls=sum(item.outcome != "not_run" for item in scenarios),
            overhead_share=0.043 if scenarios else None,
        ),
        incomplete=incomplete,
        items=items,
        stderr=stderr,
        toolvet_version="0.1.0",
        started_at="2026-11-21T12:00:00+00:00",
        duration_ms=sum(item.duration_ms for item in scenarios),
        seed=7,
    )
