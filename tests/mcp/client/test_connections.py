"""Every client that people hold, against every kind of server, in both eras, over a real pipe or in memory."""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import fastmcp
import pytest
from fastmcp.client.transports import StdioTransport
from mcp.client.stdio import stdio_client
from tests.mcp.client.clinic_server import fastmcp_server, low_level_server, mcp_server, validation
from tests.mcp.client.recording import PATH, announced

import mcp
from toolvet.agents.integrations import ToolValidation, fastmcp as for_fastmcp
from toolvet.errors import UsageError
from toolvet.mcp.client import NativeValidationError, Validator
from toolvet.mcp.transport import StdioTarget, open_session

Era = Literal["legacy", "modern"]
Open = Callable[[list[str], Era], AbstractAsyncContextManager[Any]]
CLINIC = Path(__file__).with_name("clinic_server.py")
SCRIPTED = Path(__file__).parents[2] / "servers" / "scripted.py"
VERSION = "2026-07-28"


def parameters(arguments: list[str]) -> mcp.StdioServerParameters:
    return mcp.StdioServerParameters(command=sys.executable, args=arguments)


@asynccontextmanager
async def sdk_client(arguments: list[str], era: Era) -> AsyncIterator[Any]:
    async with mcp.Client(stdio_client(parameters(arguments)), mode="legacy" if era == "legacy" else "auto") as client:
        assert (client.protocol_version == VERSION) == (era == "modern")
        yield client


@asynccontextmanager
async def sdk_session(arguments: list[str], era: Era) -> AsyncIterator[Any]:
    async with stdio_client(parameters(arguments)) as (read, write), mcp.ClientSession(read, write) as session:
        await (session.initialize() if era == "legacy" else session.discover())
        yield session


@asynccontextmanager
async def fastmcp_client(arguments: list[str], era: Era) -> AsyncIterator[Any]:
    transport = StdioTransport(sys.executable, arguments, keep_alive=False)
    async with fastmcp.Client(transport, mode="legacy" if era == "legacy" else "auto") as client:
        assert (client.protocol_version == VERSION) == (era == "modern")
        yield client


@asynccontextmanager
async def own_session(arguments: list[str], era: Era) -> AsyncIterator[Any]:
    async with open_session(StdioTarget(sys.executable, tuple(arguments)), era=era) as session:
        yield session


CLIENTS: dict[str, Open] = {
    "mcp.Client": sdk_client,
    "mcp.ClientSession": sdk_session,
    "fastmcp.Client": fastmcp_client,
    "toolvet Session": own_session,
}


@pytest.mark.parametrize("framework", ["fastmcp", "sdk"])
@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_server_that_announces_validation_is_asked(
    client: Open, era: Era, framework: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with client([str(CLINIC), framework], era) as connected:
            validator = Validator(connected, require_native=True)
            assert validator.announcement is not None
            assert validator.announcement.method == "check_call"
            full = await validator.validate("clinic:book", {"day": "monday"})
            assert (full.valid, full.method, full.errors) == (False, "native", ("No bed is free on a monday.",))
            assert (await validator.validate("book", {"day": "friday"})).valid
            bad = await validator.validate("book", {"day": "friday", "patients": 9})
            assert not bad.valid
            assert "patients" in bad.errors[0]
            assert not (await validator.validate("bok", {})).valid
            several = [("book", {"day": day}) for day in ("monday", "tuesday", "friday", "sunday")]
            assert [one.valid for one in await validator.validate_many(several)] == [False, True, True, True]

    asyncio.run(run())
    assert [record for record in caplog.records if record.name == "toolvet.mcp.client"] == []


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_server_that_announces_nothing_is_judged_by_its_schemas(client: Open, era: Era) -> None:
    async def run() -> None:
        async with client([str(CLINIC), "sdk", "plain"], era) as connected:
            validator = Validator(connected)
            assert validator.announcement is None
            found = await validator.validate_many(
                [("book", {"day": "monday"}), ("book", {}), ("book", {"day": "x", "patients": 9}), ("bok", {})]
            )
            assert [one.valid for one in found] == [True, False, False, False]
            assert {(one.method, one.native_error) for one in found} == {("schema", None)}
            assert "did you mean 'book'" in found[-1].errors[0]
            with pytest.raises(NativeValidationError):
                await Validator(connected, require_native=True).validate("book", {"day": "monday"})

    asyncio.run(run())


BROKEN = {
    "missing": {},
    "fails": {"error": {"code": -32603, "message": "out of order"}},
    "babbles": {"content": [{"type": "text", "text": "fine with me"}]},
    "is not a result": {"answer": 42},
    "hangs": {"hang": True},
    "dies": {"die": 3},
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_validator_that_is_announced_and_broken_is_reported(
    client: Open, era: Era, broken: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tool = {"name": "book", "inputSchema": {"type": "object", "required": ["day"]}}
    script = tmp_path / "script.json"
    capabilities = {"tools": {}, "experimental": {"toolValidation": {"supported": True}}}
    answers = {"validate": BROKEN[broken]} if BROKEN[broken] else {}
    script.write_text(
        json.dumps(
            {
                "tools": [tool],
                "answers": answers,
                "capabilities": capabilities,
                "marker": str(tmp_path / "marker"),
                **({"era": "modern"} if era == "modern" else {}),
            }
        ),
        encoding="utf-8",
    )

    async def run() -> None:
        async with client([str(SCRIPTED), str(script)], era) as connected:
            validator = Validator(connected, timeout=0.5 if broken == "hangs" else 10)
            found = await validator.validate("book", {})
            assert not found.valid
            assert (found.method, found.announced) == ("schema", True)
            assert found.native_error
            assert found.native_error in found.warnings[0]

    asyncio.run(run())
    assert any((record.name, record.levelno) == ("toolvet.mcp.client", logging.WARNING) for record in caplog.records)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("make", [fastmcp_server, low_level_server, mcp_server])
def test_servers_in_memory_are_as_good_as_any(
    make: Callable[[list[str]], Any], mode: Literal["legacy", "auto"]
) -> None:
    async def run() -> None:
        in_memory: Any = fastmcp.Client if make is fastmcp_server else mcp.Client
        async with in_memory(make([]), mode=mode) as client:
            found = await Validator(client, require_native=True).validate("book", {"day": "monday"})
            assert found.errors == ("No bed is free on a monday.",)

    asyncio.run(run())


def test_verdicts_are_kept_until_an_event_that_the_server_announced() -> None:
    async def run() -> None:
        checked: list[object] = []
        remembering = ToolValidation(ttl=60, invalidate_on=["calendar"])

        @remembering.validator("book")
        def watch(arguments: Mapping[str, Any], context: Mapping[str, Any]) -> None:
            del context
            checked.append(arguments)

        server = fastmcp_server(["plain"])
        for_fastmcp.enable_validation(server, remembering)
        async with fastmcp.Client(server) as client:
            validator = Validator(client, context={"shift": "night"})
            for _ in range(3):
                await validator.validate("book", {"day": "friday"})
            assert len(checked) == 1
            remembering.invalidate("calendar")
            validator.invalidate("calendar")
            await validator.validate("book", {"day": "friday"})
            assert len(checked) == 2

    asyncio.run(run())


@pytest.mark.parametrize(
    "client",
    [mcp.Client(stdio_client(parameters([]))), fastmcp.Client(StdioTransport(sys.executable, []))],
    ids=["mcp.Client", "fastmcp.Client"],
)
def test_a_client_that_is_not_open_is_a_mistake_of_the_caller(client: object) -> None:
    with pytest.raises(UsageError, match="is not connected"):
        Validator(client)


def test_a_client_pinned_to_a_modern_revision_knows_no_announcement_and_uses_the_schema() -> None:
    async def run() -> None:
        async with mcp.Client(stdio_client(parameters([str(CLINIC), "sdk"])), mode="2026-07-28") as client:
            found = await Validator(client).validate("book", {"day": "monday"})
            assert (found.valid, found.method, found.announced) == (True, "schema", False)
            known = {"experimental": {"toolValidation": {"supported": True, "method": "check_call"}}}
            found = await Validator(client, capabilities=known).validate("book", {"day": "monday"})
            assert (found.valid, found.method) == (False, "native")
            found = await Validator(client, tools=[]).validate("book", {"day": "monday"})
            assert found.errors == ("The server has no tool 'book'.",)

    asyncio.run(run())


def test_a_client_that_was_opened_anew_is_asked_what_it_found_there() -> None:
    async def run() -> None:
        server = fastmcp_server(["plain"])
        client = fastmcp.Client(server)
        async with client:
            validator = Validator(client)
            assert (await validator.validate("book", {"day": "monday"})).method == "schema"
        with pytest.raises(UsageError, match="is not connected"):
            await validator.validate("book", {"day": "monday"})
        for_fastmcp.enable_validation(server, validation())
        async with client:
            assert (await validator.validate("book", {"day": "monday"})).method == "native"

    asyncio.run(run())


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_the_call_tool_of_any_client_will_do(client: Open) -> None:
    async def run() -> None:
        async with client([str(CLINIC), "sdk"], "modern") as connected:
            known = announced(method="check_call")
            validator = Validator(connected.call_tool, capabilities=known, tools=[PATH])
            found = await validator.validate("book", {"day": "monday"})
            assert (found.method, found.errors) == ("native", ("No bed is free on a monday.",))
            lost = Validator(connected.call_tool, capabilities=announced(method="nothing"), tools=[PATH])
            found = await lost.validate("read", {"path": "a"})
            assert (found.valid, found.method) == (True, "schema")
            assert found.native_error

    asyncio.run(run())


def test_a_list_that_the_sdk_cannot_read_makes_nothing_valid_and_ours_reads_it(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    tools = [{"name": "book", "inputSchema": {"type": "object"}}, {"name": "odd", "inputSchema": {"type": "array"}}]
    script.write_text(json.dumps({"tools": tools, "answers": {}}), encoding="utf-8")

    async def run() -> None:
        async with sdk_client([str(SCRIPTED), str(script)], "legacy") as client:
            found = await Validator(client).validate("book", {})
            assert not found.valid
            assert "could not be read" in found.errors[0]
        async with own_session([str(SCRIPTED), str(script)], "legacy") as session:
            assert (await Validator(session).validate("book", {})).valid

    asyncio.run(run())
