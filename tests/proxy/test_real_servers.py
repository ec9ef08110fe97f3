"""Real servers and the official Python client: through the proxy as without it, except for the better errors."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

import mcp.types as t
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

import mcp

BIN = Path(sys.executable).parent
TIME, GIT = str(BIN / "mcp-server-time"), str(BIN / "mcp-server-git")
Mode = Literal["legacy", "auto"]
pytestmark = pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["legacy", "modern"])


def through(*command: str, flags: tuple[str, ...] = ()) -> tuple[str, ...]:
    return (sys.executable, "-m", "toolvet", "proxy", *flags, "--", *command)


def ask(command: tuple[str, ...], mode: Mode, question: Callable[[mcp.Client], Awaitable[Any]]) -> Any:
    async def asked() -> Any:
        server = StdioServerParameters(command=command[0], args=list(command[1:]))
        async with mcp.Client(stdio_client(server), mode=mode) as client:
            return await question(client)

    return asyncio.run(asked())


def call(command: tuple[str, ...], mode: Mode, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    async def called(client: mcp.Client) -> Any:
        await client.list_tools()
        return (await client.call_tool(tool, arguments)).model_dump(mode="json", by_alias=True, exclude_none=True)

    result: dict[str, Any] = ask(command, mode, called)
    return result


def words(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"])


@pytest.fixture
def repository(tmp_path: Path) -> str:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    for line in (["init", "--initial-branch=main"], ["commit", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", "-C", str(tmp_path), *identity, *line], check=True, capture_output=True)
    return str(tmp_path)


@pytest.mark.parametrize("server", [TIME, GIT], ids=["time", "git"])
def test_what_a_server_says_of_itself_is_the_same_but_for_the_capability(server: str, mode: Mode) -> None:
    async def everything(client: mcp.Client) -> dict[str, Any]:
        tools = await client.list_tools()
        return {
            "version": client.protocol_version,
            "server": client.server_info.model_dump(mode="json", exclude_none=True) if client.server_info else None,
            "instructions": client.instructions,
            "capabilities": client.server_capabilities.model_dump(mode="json", by_alias=True, exclude_none=True),
            "tools": tools.model_dump(mode="json", by_alias=True, exclude_none=True),
        }

    direct = ask((server,), mode, everything)
    proxied = ask(through(server), mode, everything)
    announced = proxied["capabilities"].pop("experimental")
    assert announced["toolValidation"]["supported"] is True
    proxied["capabilities"].pop("extensions", None)
    assert proxied == direct
    assert proxied["version"] == ("2026-07-28" if mode == "auto" else "2025-11-25")


def test_good_calls_give_the_same(repository: str, mode: Mode) -> None:
    for server, tool, arguments in (
        (TIME, "convert_time", {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Kathmandu"}),
        (GIT, "git_log", {"repo_path": repository, "max_count": 1}),
        (GIT, "git_status", {"repo_path": repository}),
    ):
        direct = call((server,), mode, tool, arguments)
        assert call(through(server), mode, tool, arguments) == direct
        assert direct["isError"] is False


@pytest.mark.parametrize(
    ("server", "tool", "arguments"),
    [
        (TIME, "get_current_time", {"timezone": "Mars/Phobos"}),
        (GIT, "git_show", {"repo_path": "{repository}", "revision": "deadbeef"}),
    ],
)
def test_errors_that_the_tools_report_themselves_are_the_same(
    server: str, tool: str, arguments: dict[str, Any], repository: str, mode: Mode
) -> None:
    given = {key: value.format(repository=repository) for key, value in arguments.items()}
    direct = call((server,), mode, tool, given)
    assert direct["isError"] is True
    assert call(through(server), mode, tool, given) == direct


def test_an_unknown_tool_is_refused_in_the_servers_own_words(mode: Mode) -> None:
    async def unknown(client: mcp.Client) -> t.ErrorData:
        with pytest.raises(mcp.MCPError) as refused:
            await client.call_tool("no_such_tool", {})
        return refused.value.error

    assert ask(through(TIME), mode, unknown) == ask((TIME,), mode, unknown)


def test_a_misspelt_argument_is_told_with_the_mending(mode: Mode) -> None:
    arguments = {"zone": "Europe/Berlin"}
    direct, proxied = (
        call((TIME,), mode, "get_current_time", arguments),
        call(through(TIME), mode, "get_current_time", arguments),
    )
    assert "errors.pydantic.dev" in words(direct) or "Field required" in words(direct)
    assert proxied["isError"] is True
    assert "Rename 'zone' to 'timezone'" in words(proxied)


def test_a_wrong_type_is_repaired_where_that_is_asked_for(repository: str, mode: Mode) -> None:
    arguments = {"repo_path": repository, "max_count": "1"}
    refused = call(through(GIT), mode, "git_log", arguments)
    assert refused["isError"] is True
    assert "max_count" in words(refused)
    repaired = call(through(GIT, flags=("--repair", "apply")), mode, "git_log", arguments)
    assert repaired["isError"] is False
    assert "Begin" in words(repaired)
    assert "dev.toolvet/repair" in repaired["_meta"]


def test_a_circle_of_calls_that_work_is_stopped(repository: str, mode: Mode) -> None:
    async def circle(client: mcp.Client) -> list[str]:
        await client.list_tools()
        arguments = {"repo_path": repository, "max_count": 1}
        results = []
        for _ in range(6):
            # As a model does: what calls again at once is a program.
            await asyncio.sleep(0.01)
            results.append(await client.call_tool("git_log", arguments))
        return [words(result.model_dump(mode="json")) for result in results]

    *sent, stopped = ask(through(GIT), mode, circle)
    assert len({*sent}) == 1
    assert "Begin" in sent[0]
    assert "'git_log' was not called again" in stopped
