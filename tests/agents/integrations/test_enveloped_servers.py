"""Servers whose tools are enveloped: assessed, and called by clients that hold every result to its output schema."""

import asyncio
import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastmcp
import pytest
from mcp.server import MCPServer, Server
from mcp_types import CallToolResult

import mcp
from mcp import StdioServerParameters
from toolvet import ContentArchive, check_envelope
from toolvet.agents.integrations.enveloped.retrieval import enable_retrieval
from toolvet.assess import assess
from toolvet.mcp.transport import StdioTarget

PROGRAM = str(Path(__file__).parents[3] / "examples" / "enveloped_server.py")
EXAMPLE: dict[str, Any] = runpy.run_path(PROGRAM, run_name="enveloped_server")
KINDS = ("fastmcp", "mcpserver", "lowlevel")
MODES = ("legacy", "auto")


@pytest.mark.parametrize("kind", KINDS)
def test_an_assessment_finds_nothing_wrong_with_the_envelopes(kind: str) -> None:
    report = asyncio.run(assess(StdioTarget(sys.executable, (PROGRAM, kind))))
    assert [finding for finding in report.findings if finding.id.startswith("envelope-")] == []
    statuses = {tool.name: tool.status for tool in report.tools}
    statuses.pop("validate")
    # Nothing was archived, so there is no hash that it could be asked for.
    assert statuses.pop("retrieve_content") == "not_exercised"
    assert set(statuses.values()) == {"fully_working"}
    # A tool that was never seen to work counts half.
    assert report.score == 100 - 50 / (len(statuses) + 1)


def envelope_of(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = result.structured_content
    assert found == json.loads(result.content[0].text)
    assert check_envelope(found) == ()
    assert bool(result.is_error) is (not found["success"])
    return found


async def used(client: Any, *, tools: tuple[str, ...]) -> None:
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {*tools, "retrieve_content"} <= set(listed)
    assert envelope_of(await client.call_tool("get_ship", {"ship_id": "ship-7"}))["data"]["name"] == "Ship 7"
    assert envelope_of(await client.call_tool("get_ship", {"ship_id": ""}))["data"]["error_code"] == "NOT_FOUND"
    gone = await client.call_tool("retrieve_content", {"content_hash": "sha256:" + "0" * 64})
    assert envelope_of(gone)["data"]["error_code"] == "CONTENT_NOT_FOUND"
    refused = await client.call_tool("retrieve_content", {"content_hash": "no hash"})
    assert refused.is_error
    if "list_ships" not in tools:
        return
    fee = {"ship_id": "ship-7", "days": 301}
    assert envelope_of(await client.call_tool("berth_fee", fee))["data"]["error_code"] == "VALIDATION_ERROR"
    assert envelope_of(await client.call_tool("berth_fee", {**fee, "days": 2}))["data"] == {"result": 25.0}
    ships = envelope_of(await client.call_tool("list_ships", {}))
    assert ships["meta"]["content_fidelity"] == "partial"
    missing = ships["meta"]["dropped_content_ids"][0]
    asked = {"content_hash": ships["meta"]["content_archive_hashes"]["archive"], "ids": [missing]}
    found = envelope_of(await client.call_tool("retrieve_content", asked))
    assert found["data"]["items"][missing]["id"] == missing


def tools_of(kind: str) -> tuple[str, ...]:
    return ("get_ship",) if kind == "lowlevel" else ("get_ship", "list_ships", "berth_fee")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_sdks_client_accepts_every_result(kind: str, mode: Any) -> None:
    async def run() -> None:
        program = StdioServerParameters(command=sys.executable, args=[PROGRAM, kind])
        async with mcp.Client(program, mode=mode, cache=None) as client:
            await used(client, tools=tools_of(kind))

    asyncio.run(run())


@pytest.mark.parametrize("mode", MODES)
def test_fastmcps_client_accepts_every_result(mode: Any) -> None:
    async def run() -> None:
        async with fastmcp.Client(EXAMPLE["with_fastmcp"](), mode=mode) as client:
            found = await client.call_tool("get_ship", {"ship_id": "ship-7"})
            assert check_envelope(found.structured_content) == ()
            assert found.data is not None
            failed = await client.call_tool("get_ship", {"ship_id": "nope"}, raise_on_error=False)
            assert failed.is_error
            assert check_envelope(failed.structured_content) == ()
            ships = await client.call_tool("list_ships", {})
            assert ships.structured_content is not None
            assert ships.structured_content["meta"]["content_fidelity"] == "partial"

    asyncio.run(run())


def lowlevel() -> Server[Any]:
    async def list_tools(_ctx: Any, _params: Any) -> mcp.types.ListToolsResult:
        return mcp.types.ListToolsResult(tools=[])

    async def call_tool(_ctx: Any, _params: Any) -> CallToolResult:
        raise mcp.MCPError(code=-32602, message="Unknown tool")

    return Server("x", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", [lambda: MCPServer("x"), lowlevel])
def test_a_server_mounts_the_retrieval_tool_with_one_line(make: Callable[[], Any], mode: Any) -> None:
    async def run() -> None:
        archive, server = ContentArchive(), make()
        enable_retrieval(server, archive, name="fetch_rest")
        content_hash = archive.put({"items": {f"i{n}": n for n in range(70)}})
        async with mcp.Client(server, mode=mode, cache=None) as client:
            (tool,) = (await client.list_tools()).tools
            assert tool.name == "fetch_rest"
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            first = envelope_of(await client.call_tool("fetch_rest", {"content_hash": content_hash}))
            assert len(first["data"]["items"]) == 50
            rest = {"content_hash": content_hash, "offset": int(first["meta"]["pagination"]["cursor"])}
            assert next(iter(envelope_of(await client.call_tool("fetch_rest", rest))["data"]["items"])) == "i50"
            for wrong in (
                {},
                {"content_hash": content_hash, "offset": -1},
                {"content_hash": content_hash, "ids": [3.5]},
            ):
                assert (await client.call_tool("fetch_rest", wrong)).is_error

    asyncio.run(run())


def test_what_is_not_server_is_refused() -> None:
    with pytest.raises(TypeError, match="must be a FastMCP, MCPServer or Server"):
        enable_retrieval(object(), ContentArchive())
