"""The same bad calls through LangChain's MCP adapters, which start a real MCP server."""

# Installed by `make frameworks` only, so the type checkers of `make lint` do not see them.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.frameworks.scripted import langchain_model
from tests.agents.frameworks.test_adapters import (
    BAD,
    GOOD,
    HERE,
    IN_TABLE,
    by_guard,
    ended,
    found_wrong,
    guard,
    named,
    program,
)

from toolvet.agents.frameworks.guard import AgentGuard

if TYPE_CHECKING:
    from toolvet.proxy.session import Note


def connections(log: Path) -> dict[str, Any]:
    command = {"transport": "stdio", "command": sys.executable, "args": [str(HERE / "order_server.py"), str(log)]}
    return {"orders": command}


def by_interceptor(calls: Sequence[dict[str, Any]], asked: AgentGuard, log: Path) -> list[str]:
    """The messages a model of a LangGraph agent reads that has the tools of the server, and no other guard."""
    answers: list[str] = []
    model = langchain_model(named(calls), answers)
    adapters = pytest.importorskip("langchain_mcp_adapters.client", reason="needs its MCP adapters: make frameworks")
    sessions = pytest.importorskip("langchain_mcp_adapters.tools")
    from langchain.agents import create_agent  # noqa: PLC0415 - where it is installed

    from toolvet.agents.frameworks.langchain_mcp import ToolvetInterceptor  # noqa: PLC0415

    async def run() -> None:
        interceptor = ToolvetInterceptor(asked)
        client = adapters.MultiServerMCPClient(connections(log))
        async with client.session("orders") as session:
            told = {"tool_interceptors": [interceptor], "server_name": "orders"}
            interceptor.tools = tools = await sessions.load_mcp_tools(session, **told)
            agent = create_agent(model, tools=tools)
            thread = {"recursion_limit": 10_000, "configurable": {"thread_id": "run"}}
            await agent.ainvoke({"messages": [("user", "Order it.")]}, thread)

    asyncio.run(run())
    return answers


def called(log: Path) -> list[Any]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


def test_fifty_bad_calls_have_the_same_text_verdict_and_id(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    notes: list[Note] = []
    wanted: list[Note] = []
    answers = by_interceptor([*BAD, GOOD], guard(notes), log)
    assert answers[:50] == by_guard(BAD, guard(wanted))
    assert "ordered Emma" in answers[50]
    assert ended(notes)[:50] == ended(wanted)
    assert found_wrong(notes)[:50] == IN_TABLE
    assert ended(notes)[50][0] == "success"
    assert called(log) == [GOOD]


def test_a_repair_is_applied(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    by_interceptor([{**GOOD, "copies": "2"}], guard(repair="apply"), log)
    assert called(log) == [GOOD]


def test_the_program_of_the_page(tmp_path: Path) -> None:
    pytest.importorskip("langchain_mcp_adapters.client", reason="needs its MCP adapters: make frameworks")
    source = program("frameworks/langchain-mcp")
    assert len(source.splitlines()) <= 20
    log = tmp_path / "calls.jsonl"
    found: dict[str, Any] = {"connections": connections(log)}
    exec(compile(source, "page", "exec"), found)  # noqa: S102 - our own page

    async def run() -> list[str]:
        (tool,) = await found["tools"]()
        said: list[str] = []
        for arguments in (BAD[0], GOOD):
            call = {"name": tool.name, "args": arguments, "id": "c0", "type": "tool_call"}
            said.append(str((await tool.ainvoke(call)).text))
        return said

    refused, made = asyncio.run(run())
    assert "Tool 'order_book' received invalid arguments" in refused
    assert "ordered Emma" in made
    assert called(log) == [GOOD]
