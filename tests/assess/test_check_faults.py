"""An exception of a check in an assessment: its tool could not be checked, and the others are."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess import Options, assess, judge as judge_module, run as run_module
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "tasks.py"


@pytest.mark.parametrize(
    ("room", "name"),
    [(judge_module, "judge_tool"), (judge_module, "judge_call"), (run_module, "compiled"), (run_module, "plan_calls")],
    ids=["definition", "call", "schema", "plan"],
)
def test_the_tool_could_not_be_checked_and_the_others_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: Any, name: str
) -> None:
    real = getattr(room, name)
    first: list[object] = []

    def broken(*given: Any, **more: Any) -> Any:
        # Of the first tool that comes here.
        about = getattr(getattr(given[0], "tool", given[0]), "name", str(given[0]))
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
