"""The policies of the proxy as a middleware: FastMCP's and the SDK's, both eras, answered like by the proxy itself."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Literal

import fastmcp
import fastmcp.exceptions
import mcp.server.mcpserver.exceptions
import mcp.types as t
import pytest
from mcp.server import MCPServer
from pydantic import Field

import mcp
from toolvet.agents.integrations.enveloped import enveloped
from toolvet.agents.integrations.proxy.fastmcp import ProxyMiddleware as ForFastMCP
from toolvet.agents.integrations.proxy.sdk import ProxyMiddleware as ForSDK
from toolvet.proxy.session import CallEnded, Note, Policies, ProxySettings, ToolSettings

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
Seats = Annotated[int, Field(ge=1, le=9)]
Make = Callable[[ProxySettings | None, list[Note]], Any]


def book_flight(city: str, seats: Seats = 1) -> str:
    """Book seats."""
    return "Database error: no such table: flights" if city == "Silent" else f"{seats} to {city}"


@enveloped(output="none")
def find_flight(city: str) -> dict[str, str]:
    """Find a flight."""
    return {"to": city}


def failing_with(error: type[Exception]) -> Callable[[str], str]:
    """Each framework shows the words of its own kind of error alone."""

    def fail(city: str) -> str:
        """Fail."""
        raise error(f"No airline flies to {city}.")

    return fail


def with_fastmcp(settings: ProxySettings | None, notes: list[Note]) -> Any:
    server: fastmcp.FastMCP[Any] = fastmcp.FastMCP("flights")
    server.tool(book_flight)
    server.tool(find_flight)
    server.tool(failing_with(fastmcp.exceptions.ToolError))
    server.add_middleware(ForFastMCP(Policies(settings), notes.append))
    return server


def with_sdk(settings: ProxySettings | None, notes: list[Note]) -> Any:
    server: MCPServer[Any] = MCPServer("flights")
    server.tool()(book_flight)
    server.tool()(find_flight)
    server.tool()(failing_with(mcp.server.mcpserver.exceptions.ToolError))
    server.middleware.append(ForSDK(Policies(settings), notes.append))
    return server


KINDS: dict[str, Make] = {"fastmcp": with_fastmcp, "sdk": with_sdk}
pytestmark = [
    pytest.mark.parametrize("make", KINDS.values(), ids=KINDS),
    pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["legacy", "modern"]),
]


def calls(
    server: Any, mode: Literal["legacy", "auto"], *wanted: tuple[str, dict[str, Any]], meta: Any = None
) -> list[t.CallToolResult]:
    """The results of these calls, one after the other on one connection, by the SDK's client."""

    async def made() -> list[t.CallToolResult]:
        app = server._mcp_server if isinstance(server, fastmcp.FastMCP) else server
        async with mcp.Client(app, mode=mode) as client:
            return [await client.call_tool(name, arguments, meta=meta) for name, arguments in wanted]

    return asyncio.run(made())


def words(result: t.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, t.TextContent))


def ends(notes: list[Note]) -> list[CallEnded]:
    return [note for note in notes if isinstance(note, CallEnded)]


def test_a_valid_call_gives_what_it_gives_without_us(make: Make, mode: Any) -> None:
    notes: list[Note] = []
    (result,) = calls(make(None, notes), mode, ("book_flight", {"city": "Oslo", "seats": 2}))
    assert (words(result), result.is_error) == ("2 to Oslo", False)
    (end,) = ends(notes)
    assert (end.tool, end.outcome, end.era) == ("book_flight", "success", "legacy" if mode == "legacy" else "modern")
    assert end.verdict is not None


def test_a_bad_call_is_refused_with_the_repair_and_never_made(make: Make, mode: Any) -> None:
    notes: list[Note] = []
    (result,) = calls(make(None, notes), mode, ("book_flight", {"city": "Oslo", "seats": "two"}))
    assert result.is_error
    assert "Tool 'book_flight' received invalid arguments" in words(result)
    (end,) = ends(notes)
    assert (end.outcome, end.blocked) == ("refused", "arguments")


def test_a_repair_is_applied_and_reported_where_the_policy_says_so(make: Make, mode: Any) -> None:
    server = make(ProxySettings(repair="apply"), [])
    (result,) = calls(server, mode, ("book_flight", {"city": "Oslo", "seats": "2"}))
    assert words(result) == "2 to Oslo"
    assert "dev.toolvet/repair" in (result.meta or {})


def test_a_turn_has_one_id_in_notes_results_and_envelopes(make: Make, mode: Any) -> None:
    notes: list[Note] = []
    server = make(None, notes)
    asked = {"traceparent": TRACE, "dev.toolvet/trace": True}
    answered, refused = calls(
        server, mode, ("find_flight", {"city": "Oslo"}), ("book_flight", {"city": "Oslo", "seats": "two"}), meta=asked
    )
    assert words(answered).count(TRACE[3:35]) == 1
    assert [(result.meta or {})["dev.toolvet/trace"] for result in (answered, refused)] == [TRACE[3:35]] * 2
    assert [note.trace_id for note in ends(notes)] == [TRACE[3:35]] * 2
    (made,) = calls(server, mode, ("find_flight", {"city": "Oslo"}))
    assert ends(notes)[-1].trace_id in words(made)


def test_a_policy_holds_for_the_tools_it_names(make: Make, mode: Any) -> None:
    settings = ProxySettings(tools={"book_*": ToolSettings(arguments="audit")})
    notes: list[Note] = []
    calls(make(settings, notes), mode, ("book_flight", {"city": "Oslo", "seats": "2"}))
    (end,) = ends(notes)
    assert (end.blocked, end.would_block) == (None, "arguments")


def test_a_silent_error_is_flagged_where_results_are_enforced(make: Make, mode: Any) -> None:
    silent = ("book_flight", {"city": "Silent"})
    assert not calls(make(None, []), mode, silent)[0].is_error
    (result,) = calls(make(ProxySettings(results="enforce"), []), mode, silent)
    assert result.is_error
    assert "no such table" in words(result)


def test_a_verdict_comes_with_the_result_when_it_is_asked_for(make: Make, mode: Any) -> None:
    call = ("book_flight", {"city": "Oslo"})
    assert "dev.toolvet/verdict" not in (calls(make(None, []), mode, call)[0].meta or {})
    (result,) = calls(make(None, []), mode, call, meta={"dev.toolvet/verdict": True})
    assert (result.meta or {})["dev.toolvet/verdict"]["classification"] == "fully_working"
    assert result.structured_content == {"result": "1 to Oslo"}


def test_a_call_that_keeps_failing_is_broken_off_and_another_is_not(make: Make, mode: Any) -> None:
    notes: list[Note] = []
    failing = ("fail", {"city": "Atlantis"})
    results = calls(make(ProxySettings(break_after=2), notes), mode, failing, failing, failing, ("fail", {"city": "x"}))
    assert all(result.is_error for result in results)
    assert [end.blocked for end in ends(notes)] == [None, None, "repeated", None]
    assert "No airline flies to Atlantis." in words(results[1])
    assert "No airline flies to Atlantis." not in words(results[2])


def test_an_unknown_tool_is_left_to_the_server(make: Make, mode: Any) -> None:
    notes: list[Note] = []

    async def asked() -> str:
        server = make(None, notes)
        app = server._mcp_server if isinstance(server, fastmcp.FastMCP) else server
        async with mcp.Client(app, mode=mode) as client:
            try:
                return words(await client.call_tool("nope", {"city": 1}))
            except mcp.MCPError as error:
                return error.error.message

    assert "nope" in asyncio.run(asked())
    (end,) = ends(notes)
    assert end.outcome in ("protocol_error", "tool_error")
    assert end.blocked is None


def test_the_trace_of_the_caller_reaches_the_record(make: Make, mode: Any) -> None:
    notes: list[Note] = []
    calls(make(None, notes), mode, ("book_flight", {"city": "Oslo"}), meta={"traceparent": TRACE})
    assert ends(notes)[0].meta["traceparent"] == TRACE
