"""Validation that streams: each validator's findings are sent as soon as they are known, to clients that ask."""

import asyncio
from typing import Any

import fastmcp
import pytest
from mcp.server import MCPServer

import mcp
from toolvet.agents.integrations import ToolValidation, fastmcp as for_fastmcp, sdk as for_sdk
from toolvet.agents.integrations.validation.answer import answered
from toolvet.core.checks.capability import announcement
from toolvet.mcp.client import ValidationProgress, Validator

MODES = ("legacy", "auto")
GOOD, BAD = {"city": "Oslo"}, {"city": "Atlantis"}


def validation(*, streaming: bool = True) -> ToolValidation:
    found = ToolValidation(streaming=streaming)

    @found.validator("book_flight")
    def flown_to(arguments: Any) -> str | None:
        return "No airline flies to Atlantis." if arguments["city"] == "Atlantis" else None

    @found.validator("book_flight", level="runtime")
    async def open_now(_arguments: Any) -> None:
        await asyncio.sleep(0)

    return found


def book_flight(city: str) -> str:
    """Book a flight."""
    return city


def with_fastmcp(rules: ToolValidation) -> Any:
    server = fastmcp.FastMCP("flights")
    server.tool(book_flight)
    for_fastmcp.enable_validation(server, rules)
    return server


def with_sdk(rules: ToolValidation) -> Any:
    server = MCPServer("flights")
    server.tool()(book_flight)
    for_sdk.enable_validation(server, rules)
    return server


def connected(client: str, server: Any, mode: Any) -> Any:
    return fastmcp.Client(server, mode=mode) if client == "fastmcp" else mcp.Client(server, mode=mode, cache=None)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("client", "make"), [("mcp", with_sdk), ("fastmcp", with_fastmcp)])
def test_a_client_hears_of_each_step(client: str, make: Any, mode: str) -> None:
    heard: list[ValidationProgress] = []

    async def run() -> None:
        async with connected(client, make(validation()), mode) as open_client:
            validator = Validator(open_client, on_progress=heard.append)
            assert validator.announcement is not None
            assert validator.announcement.streaming
            verdict = await validator.validate("book_flight", BAD)
            assert (verdict.method, verdict.errors) == ("native", ("No airline flies to Atlantis.",))

    asyncio.run(run())
    assert [(each.tools, each.done, each.total) for each in heard] == [(("book_flight",), n, 3) for n in (1, 2, 3)]
    assert heard[0].message == "the schema allows the arguments"
    assert {each.message for each in heard[1:]} == {"No airline flies to Atlantis.", "'open_now' found nothing"}


@pytest.mark.parametrize("streaming", [True, False])
def test_nothing_is_streamed_that_is_not_announced_or_not_wanted(streaming: bool) -> None:  # noqa: FBT001 - a parameter
    heard: list[ValidationProgress] = []

    async def run() -> None:
        async with mcp.Client(with_sdk(validation(streaming=streaming)), mode="auto", cache=None) as client:
            listener = None if streaming else heard.append
            assert (await Validator(client, on_progress=listener).validate("book_flight", GOOD)).valid

    asyncio.run(run())
    assert heard == []


def test_a_batch_tells_of_each_call() -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        steps.append((done, total, message))

    tools = {"book_flight": {"name": "book_flight", "inputSchema": {"type": "object", "required": ["city"]}}}
    asked = {"tool": "book_flight", "arguments": GOOD, "calls": [{"tool": "book_flight", "arguments": {}}]}
    result = asyncio.run(answered(validation(), asked, tools, on_progress))
    assert [reply["valid"] for reply in result["structuredContent"]["results"]] == [True, False]  # type: ignore[index]
    assert [step[:2] for step in steps] == [(1, 2), (2, 2)]
    assert {str(step[2]).partition(":")[0] for step in steps} == {"book_flight"}


def test_a_listener_that_raises_changes_no_verdict(caplog: pytest.LogCaptureFixture) -> None:
    async def listener(_progress: ValidationProgress) -> None:
        raise RuntimeError("I am busy")

    async def broken(_done: float, _total: float | None, _message: str | None) -> None:
        raise ConnectionError("the client is gone")

    async def run() -> None:
        async with mcp.Client(with_sdk(validation()), mode="auto", cache=None) as client:
            assert (await Validator(client, on_progress=listener).validate("book_flight", GOOD)).valid
        tool = {"name": "book_flight", "inputSchema": {"type": "object"}}
        assert (await validation().judge(tool, GOOD, on_progress=broken)).valid

    asyncio.run(run())
    assert {"on_progress raised", "the progress of a validation could not be reported"} <= set(caplog.messages)


def test_the_announcement_says_whether_there_is_streaming() -> None:
    for streaming in (True, False):
        capabilities = validation(streaming=streaming).announced_in({}, "modern")
        found = announcement(capabilities)
        assert found is not None
        assert found.streaming is streaming
