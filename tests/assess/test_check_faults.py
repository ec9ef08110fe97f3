"""An exception of a check in an assessment: its tool could not be checked, and the others are."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.assess.test_items import run as run_shelf

from toolvet.assess import (
    Options,
    Report,
    assemble,
    assess,
    harvest,
    items,
    judge as judge_module,
    run as run_module,
    waves,
)
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "tasks.py"


@pytest.mark.parametrize(
    ("room", "name"),
    [
        *((judge_module, name) for name in ("tool_definition", "judge_tool", "judge_call", "judge_calls")),
        *((run_module, name) for name in ("compiled", "plan_calls", "assess_call", "why_not_called")),
        *((waves, name) for name in ("guessed_parameters", "name_of")),
        *((harvest, name) for name in ("_read_payloads", "_leaves")),
        *((assemble, name) for name in ("exercise_of", "tool_message_score")),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_the_tool_could_not_be_checked_and_the_others_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: Any, name: str
) -> None:
    real = getattr(room, name)
    first: list[object] = []

    def broken(*given: Any, **more: Any) -> Any:
        # Of the first tool that comes here.
        about = f"{getattr(getattr(given[0], 'tool', given[0]), 'name', given[0])}"
        first.append(about)
        if about == first[0]:
            raise KeyError("secret")
        return real(*given, **more)

    monkeypatch.setattr(room, name, broken)
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "calls")))
    report = asyncio.run(assess(target, Options(timeout=5.0)))
    why = [tool.skipped for tool in report.tools if tool.skipped is not None and "bug in toolvet" in tool.skipped]
    assert why
    assert len(why) < len(report.tools)
    assert all("secret" not in words for words in why)


def broken(*_: object, **__: object) -> Any:
    raise KeyError("secret")


def is_said(words: str | None) -> bool:
    return (words or "").startswith("could not be checked, because of a bug in toolvet: KeyError at test_check_faults")


@pytest.mark.parametrize(
    ("room", "name"), [(judge_module, "judge_server"), (run_module, "habits_of"), (run_module, "observe")]
)
def test_what_concerns_the_whole_server_costs_only_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: Any, name: str
) -> None:
    monkeypatch.setattr(room, name, broken)
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "calls")))
    report = asyncio.run(assess(target, Options(timeout=5.0)))
    assert is_said(report.incomplete)
    assert any(finding.tool for finding in report.findings)
    # Without knowing which tools are safe, none is called.
    assert any(tool.scenarios for tool in report.tools) == (name == "judge_server")


@pytest.mark.parametrize("room", ["judge_item", "plan_resource", "observe_request", "assess_request"])
def test_an_item_could_not_be_checked_and_the_others_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: str
) -> None:
    real = getattr(items, room)

    def odd(about: Any, *given: Any, **more: Any) -> Any:
        about_item = getattr(about, "item", about)
        return broken() if getattr(about_item, "kind", "") == "resource" else real(about, *given, **more)

    monkeypatch.setattr(items, room, odd)
    report = run_shelf(tmp_path, {})
    (resource,), (prompt,) = report.items.resources, report.items.prompts
    assert is_said(resource.why_not) or room == "judge_item"
    assert prompt.exercised
    assert report.findings == []


@pytest.mark.parametrize("room", ["judge_items", "find_in_items"])
def test_all_items_together_cost_only_that(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: str) -> None:
    monkeypatch.setattr(assemble, room, broken)
    report: Report = run_shelf(tmp_path, {})
    assert is_said(report.incomplete)
    assert [item.exercised for item in (*report.items.resources, *report.items.prompts)] == [True, True]
