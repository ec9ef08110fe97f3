"""Clients of others against a server with validation: they connect, list and call as if nothing were there."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import fastmcp
import mcp.types as t
import pytest
from fastmcp.client.transports import StdioTransport
from fastmcp.server.dependencies import get_context
from mcp.server import MCPServer, Server
from tests.agents.integrations.flights import with_fastmcp, with_lowlevel, with_mcpserver

import mcp
from mcp import StdioServerParameters
from toolvet.agents.integrations import ToolValidation, fastmcp as for_fastmcp, sdk
from toolvet.core.checks.capability import ValidationReply, announcement, parse_reply
from toolvet.mcp.transport import StdioTarget

# The newest handshake, and the era that the client finds out itself.
MODES = ("legacy", "auto")
SERVERS = ("fastmcp", "mcpserver", "lowlevel")


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


async def with_sdk(server: Any, mode: Any, use: Callable[[Any], Awaitable[None]]) -> None:
    async with mcp.Client(server, mode=mode, cache=None) as client:
        await use(client)


async def normal(client: Any) -> None:
    """Runs an application that does not know validation."""
    listing = await client.list_tools(cursor=None)
    tools = {tool.name for tool in listing.tools}
    while listing.next_cursor is not None:
        listing = await client.list_tools(cursor=listing.next_cursor)
        tools |= {tool.name for tool in listing.tools}
    assert {"book_flight", "validate"} <= tools
    good = await client.call_tool("book_flight", {"city": "Oslo"})
    assert (text_of(good), bool(good.is_error)) == ("1 to Oslo", False)
    bad = await client.call_tool("book_flight", {"seats": 3})
    assert bad.is_error
    assert "**city**" in text_of(bad)
    # The SDK's client judges structured content by the tool's outputSchema, and raises if it does not fit.
    for arguments in ({"tool": "book_flight", "arguments": {"city": "Oslo"}}, {"tool": "x", "arguments": {}}):
        assert isinstance(parse_reply(await client.call_tool("validate", arguments)), ValidationReply)
    one = {"tool": "book_flight", "arguments": {"city": "Oslo"}}
    batch = await client.call_tool("validate", {**one, "calls": [one]})
    assert len(batch.structured_content["results"]) == 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", [with_mcpserver, with_lowlevel])
def test_the_sdks_client_sees_a_normal_server_in_memory(server: Callable[[], Any], mode: str) -> None:
    asyncio.run(with_sdk(server(), mode, normal))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", SERVERS)
def test_the_sdks_client_sees_a_normal_server_over_http(server: str, mode: str, urls: dict[str, str]) -> None:
    asyncio.run(with_sdk(urls[server], mode, normal))


@pytest.mark.parametrize("mode", MODES)
def test_the_sdks_client_sees_a_normal_server_over_pipes(program: StdioTarget, mode: str) -> None:
    parameters = StdioServerParameters(command=program.command, args=list(program.args))
    asyncio.run(with_sdk(parameters, mode, normal))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", SERVERS)
def test_the_sdks_client_reads_the_announcement(server: str, mode: str, urls: dict[str, str]) -> None:
    async def use(client: Any) -> None:
        found = announcement(client.server_capabilities)
        assert found is not None
        assert found.method == "validate"

    asyncio.run(with_sdk(urls[server], mode, use))


async def normal_for_fastmcp(client: "fastmcp.Client[Any]") -> None:
    assert {"book_flight", "validate"} <= {tool.name for tool in await client.list_tools()}
    assert text_of(await client.call_tool("book_flight", {"city": "Oslo"})) == "1 to Oslo"
    bad = await client.call_tool("book_flight", {"city": "Atlantis"}, raise_on_error=False)
    assert bad.is_error
    assert "No airline flies to Atlantis." in text_of(bad)
    reply = parse_reply(await client.call_tool("validate", {"tool": "book_flight", "arguments": {"seats": 1}}))
    assert isinstance(reply, ValidationReply)
    assert not reply.valid


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", SERVERS)
def test_a_fastmcp_client_sees_a_normal_server_over_http(server: str, mode: Any, urls: dict[str, str]) -> None:
    async def use() -> None:
        async with fastmcp.Client(urls[server], mode=mode) as client:
            await normal_for_fastmcp(client)

    asyncio.run(use())


def test_a_fastmcp_client_sees_a_normal_server_over_pipes(program: StdioTarget) -> None:
    async def use() -> None:
        async with fastmcp.Client(StdioTransport(program.command, list(program.args), keep_alive=False)) as client:
            await normal_for_fastmcp(client)

    asyncio.run(use())


@pytest.mark.parametrize("mode", MODES)
def test_a_fastmcp_client_sees_a_normal_server_in_memory(mode: Any) -> None:
    async def use() -> None:
        async with fastmcp.Client(with_fastmcp(), mode=mode) as client:
            await normal_for_fastmcp(client)

    asyncio.run(use())


# What servers do that is not in the book


def used(server: "fastmcp.FastMCP[Any]", use: Callable[["fastmcp.Client[Any]"], Awaitable[None]]) -> None:
    async def run() -> None:
        async with fastmcp.Client(server) as client:
            await use(client)

    asyncio.run(run())


def test_the_middleware_can_be_added_by_itself_and_needs_no_options() -> None:
    server: fastmcp.FastMCP[Any] = fastmcp.FastMCP("plain")
    server.add_middleware(for_fastmcp.ToolValidationMiddleware(ToolValidation(method="check_it")))

    async def use(client: "fastmcp.Client[Any]") -> None:
        assert [tool.name for tool in await client.list_tools()] == ["check_it"]

    used(server, use)


def test_a_listing_in_pages_has_the_tool_once() -> None:
    server: fastmcp.FastMCP[Any] = fastmcp.FastMCP("paged", list_page_size=2)
    for number in range(4):
        server.tool(lambda: "ok", name=f"tool_{number}")
    for_fastmcp.enable_validation(server)

    async def use(client: "fastmcp.Client[Any]") -> None:
        names = [tool.name for tool in await client.list_tools()]
        assert sorted(names) == ["tool_0", "tool_1", "tool_2", "tool_3", "validate"]

    used(server, use)


def test_a_mounted_server_is_validated_by_the_one_that_it_is_mounted_in() -> None:
    inner, outer = fastmcp.FastMCP[Any]("inner"), fastmcp.FastMCP[Any]("outer")

    @inner.tool
    def pay(amount: int) -> str:
        return str(amount)

    outer.mount(inner, namespace="travel")
    validation = for_fastmcp.enable_validation(outer)
    validation.validator("travel_pay")(lambda arguments: "too much" if arguments["amount"] > 9 else None)

    async def use(client: "fastmcp.Client[Any]") -> None:
        for arguments, part in (({"amount": "1"}, "Expected integer"), ({"amount": 10}, "too much")):
            bad = await client.call_tool("travel_pay", arguments, raise_on_error=False)
            assert bad.is_error
            assert part in text_of(bad)
        assert text_of(await client.call_tool("travel_pay", {"amount": 3})) == "3"
        reply = parse_reply(await client.call_tool("validate", {"tool": "travel_pay", "arguments": {"amount": 10}}))
        assert isinstance(reply, ValidationReply)
        assert reply.errors == ("too much",)

    used(outer, use)


def test_the_version_that_is_called_is_the_one_that_is_checked() -> None:
    server: fastmcp.FastMCP[Any] = fastmcp.FastMCP("versions")

    @server.tool(name="book", version="1.0")
    def book_by_name(city: str) -> str:
        return f"by name {city}"

    @server.tool(name="book", version="2.0")
    def book_by_number(city: int) -> str:
        return f"by number {city}"

    for_fastmcp.enable_validation(server)

    async def use(client: "fastmcp.Client[Any]") -> None:
        assert text_of(await client.call_tool("book", {"city": 3})) == "by number 3"
        assert text_of(await client.call_tool("book", {"city": "Oslo"}, version="1.0")) == "by name Oslo"
        wrong = await client.call_tool("book", {"city": "Oslo"}, raise_on_error=False)
        assert wrong.is_error
        reply = parse_reply(await client.call_tool("validate", {"tool": "book", "arguments": {"city": "Oslo"}}))
        assert isinstance(reply, ValidationReply)
        assert not reply.valid

    used(server, use)


def test_a_tool_of_the_same_name_is_hidden_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    server: MCPServer[Any] = MCPServer("taken")

    @server.tool()
    def validate() -> str:
        return "mine"

    sdk.enable_validation(server)

    async def use(client: Any) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["validate"]
        assert isinstance(
            parse_reply(await client.call_tool("validate", {"tool": "x", "arguments": {}})), ValidationReply
        )

    asyncio.run(with_sdk(server, "auto", use))
    assert "'validate' is hidden by the one that validates" in caplog.text


def test_another_announcement_of_the_server_is_kept() -> None:
    class Announcing(Server[Any]):
        def get_capabilities(self, *arguments: Any, **options: Any) -> t.ServerCapabilities:
            found = super().get_capabilities(*arguments, **options)
            return found.model_copy(update={"experimental": {"com.example": {"on": True}}})

    async def list_tools(_ctx: Any, _params: Any) -> t.ListToolsResult:
        return t.ListToolsResult(tools=[])

    server = Announcing("own", version="1", on_list_tools=list_tools)
    sdk.enable_validation(server)

    async def use(client: Any) -> None:
        assert set(client.server_capabilities.experimental) == {"com.example", "toolValidation"}

    for mode in MODES:
        asyncio.run(with_sdk(server, mode, use))


def test_a_server_that_lists_no_tools_keeps_its_own_and_can_still_be_asked() -> None:
    async def call_tool(_ctx: Any, _params: Any) -> t.CallToolResult:
        return t.CallToolResult(content=[t.TextContent(type="text", text="called")])

    server: Server[Any] = Server("silent", version="1", on_call_tool=call_tool)
    sdk.enable_validation(server)

    async def use(client: Any) -> None:
        async def call(name: str, arguments: dict[str, Any]) -> t.CallToolResult:
            request = t.CallToolRequest(params=t.CallToolRequestParams(name=name, arguments=arguments))
            found = await client.session.send_request(request, t.CallToolResult)
            assert isinstance(found, t.CallToolResult)
            return found

        assert text_of(await call("anything", {"a": 1})) == "called"
        reply = parse_reply(await call("validate", {"tool": "anything", "arguments": {"a": 1}}))
        assert isinstance(reply, ValidationReply)
        assert reply.errors == ("There is no tool 'anything'.",)

    asyncio.run(with_sdk(server, "legacy", use))


def test_the_frameworks_own_context_works_inside_validators() -> None:
    server: fastmcp.FastMCP[Any] = fastmcp.FastMCP("context")
    server.tool(lambda city: city, name="book")
    validation = for_fastmcp.enable_validation(server)
    seen: list[str] = []
    validation.validator("book")(lambda _: seen.append(get_context().fastmcp.name))

    async def later(_arguments: object) -> None:
        seen.append(get_context().fastmcp.name)

    validation.validator("book")(later)

    async def use(client: "fastmcp.Client[Any]") -> None:
        await client.call_tool("book", {"city": "Oslo"})

    used(server, use)
    assert seen == ["context", "context"]
