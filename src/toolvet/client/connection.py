"""What is connected, whoever made the connection → what it announced, what its tools return, and which it has.

Looked at by what it can do, never by importing its package: whoever hands us an object has that loaded already.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

from toolvet.errors import ToolvetError, UsageError
from toolvet.redact import redact_text
from toolvet.transport import Answer, ConnectionLost, Malformed, McpSession, Reply, RpcError, TimedOut
from toolvet.transport.quote import printable

CallTool: TypeAlias = Callable[[str, Mapping[str, object]], Awaitable[object]]
ListTools: TypeAlias = Callable[[], Awaitable[Sequence[object]]]

_MOST_PAGES = 1000


class Connection(Protocol):
    """A server within reach."""

    @property
    def capabilities(self) -> object:
        """What it announced in its initialize or discover result: the same object as long as it is the same result.

        Raises UsageError when nothing is connected.
        """
        ...

    async def call_tool(self, name: str, arguments: Mapping[str, object]) -> object:
        """The result of one tools/call, as the client hands it out. Raises whatever kept it from coming."""
        ...

    async def list_tools(self) -> Sequence[object]:
        """All pages of tools/list, read anew. Raises whatever kept them from coming."""
        ...


class CallFailedError(ToolvetError):
    """A request of ours brought no result; the message says what came instead."""

    exit_code = 4


def connection_of(connected: object) -> Connection:
    """The connection that `connected` is.

    An open `mcp.Client` or `mcp.ClientSession`, an open `fastmcp.Client`, or a `toolvet.transport.Session`. Raises
    UsageError for anything else, and for a client that is not connected yet.
    """
    if isinstance(connected, McpSession):
        return OfSession(connected)
    # Asked of the class: a property of a client that is not open yet raises.
    kind = type(connected)
    if not (hasattr(kind, "server_capabilities") and hasattr(kind, "list_tools") and hasattr(kind, "call_tool")):
        raise UsageError(
            f"a {kind.__name__} is no client that can be asked; "
            "pass a connected client, or a call_tool callable with capabilities= and tools="
        )
    if hasattr(kind, "call_tool_mcp"):
        return OfFastMCP(connected)
    return OfClient(connected) if hasattr(kind, "session") else OfClientSession(connected)


class OfSession:
    """Our own session, which never raises: what is no answer is raised here."""

    def __init__(self, session: McpSession) -> None:
        self._session = session

    @property
    def capabilities(self) -> object:
        """As the server sent them."""
        return self._session.capabilities

    async def call_tool(self, name: str, arguments: Mapping[str, object]) -> object:
        """One tools/call. Raises CallFailedError."""
        return _opened(await self._session.call_tool(name, dict(arguments)))

    async def list_tools(self) -> Sequence[object]:
        """What could be read of the list. Raises CallFailedError when that is nothing, and there was a problem."""
        listing = await self._session.list_tools()
        if listing.problems and not listing.tools:
            raise CallFailedError(listing.problems[0].evidence)
        return listing.tools


class OfClient:
    """`mcp.Client`, the official SDK's."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def capabilities(self) -> object:
        """Of either era. A client pinned to a modern revision never asked, and knows none."""
        return _announced_by(self._client)

    async def call_tool(self, name: str, arguments: Mapping[str, object]) -> object:
        """One tools/call; raises what the SDK raises (MCPError, RuntimeError, pydantic's ValidationError)."""
        return cast("object", await self._client.call_tool(name, dict(arguments)))

    async def list_tools(self) -> Sequence[object]:
        """Every page. "refresh", because the SDK's own cache may hold the list that just changed."""
        return await _all_pages(lambda cursor: self._client.list_tools(cursor=cursor, cache_mode="refresh"))


class OfClientSession:
    """`mcp.ClientSession`, the layer below."""

    def __init__(self, session: Any) -> None:
        self._session = session

    @property
    def capabilities(self) -> object:
        """Of either era, once `initialize` or `discover` was called."""
        return _announced_by(self._session)

    async def call_tool(self, name: str, arguments: Mapping[str, object]) -> object:
        """One tools/call; raises what the SDK raises."""
        return cast("object", await self._session.call_tool(name, dict(arguments)))

    async def list_tools(self) -> Sequence[object]:
        """Every page."""
        # Imported here, because mcp is an optional dependency that a holder of a ClientSession has loaded already.
        from mcp.types import PaginatedRequestParams  # noqa: PLC0415

        return await _all_pages(
            lambda cursor: self._session.list_tools(
                params=None if cursor is None else PaginatedRequestParams(cursor=cursor)
            )
        )


class OfFastMCP:
    """`fastmcp.Client`."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def capabilities(self) -> object:
        """Of either era."""
        return _announced_by(self._client)

    async def call_tool(self, name: str, arguments: Mapping[str, object]) -> object:
        """One tools/call, uninterpreted: `call_tool` would raise for isError and parse the content."""
        return cast("object", await self._client.call_tool_mcp(name, dict(arguments)))

    async def list_tools(self) -> Sequence[object]:
        """Every page."""
        return await _all_pages(lambda cursor: self._client.list_tools_mcp(cursor=cursor, cache_mode="refresh"))


class Informed:
    """A connection whose user knows better what it announces, or which tools it has."""

    def __init__(
        self, connection: Connection, capabilities: object, tools: Sequence[object] | ListTools | None
    ) -> None:
        self._connection = connection
        self._capabilities = capabilities
        self._tools = tools

    @property
    def capabilities(self) -> object:
        """As given, or else the connection's own."""
        return self._connection.capabilities if self._capabilities is None else self._capabilities

    async def call_tool(self, name: str, arguments: Mapping[str, object]) -> object:
        """The connection's own."""
        return await self._connection.call_tool(name, arguments)

    async def list_tools(self) -> Sequence[object]:
        """As given, or else the connection's own."""
        return await (self._connection.list_tools() if self._tools is None else _listed(self._tools))


class OfCallables:
    """Functions and what is known besides: for every client that is none of the above."""

    def __init__(self, call_tool: CallTool, capabilities: object, tools: Sequence[object] | ListTools) -> None:
        self._call_tool = call_tool
        self._capabilities = capabilities
        self._tools = tools

    @property
    def capabilities(self) -> object:
        """As given."""
        return self._capabilities

    async def call_tool(self, name: str, arguments: Mapping[str, object]) -> object:
        """Whatever the callable returns or raises; one of our replies is opened, or raised as CallFailedError."""
        found = await self._call_tool(name, arguments)
        return _opened(found) if isinstance(found, Answer | RpcError | TimedOut | ConnectionLost | Malformed) else found

    async def list_tools(self) -> Sequence[object]:
        """As given, or as the callable given says now."""
        return await _listed(self._tools)


async def _listed(tools: Sequence[object] | ListTools) -> Sequence[object]:
    return await tools() if callable(tools) else tools


def _announced_by(client: Any) -> object:
    """The capabilities that an SDK or FastMCP client negotiated. Raises UsageError when it is not connected."""
    try:
        found: object = client.server_capabilities
    except RuntimeError:
        found = None
    if found is None:
        raise UsageError(f"this {type(client).__name__} is not connected: open it before it is asked to validate")
    return found


async def _all_pages(page: Callable[[str | None], Awaitable[Any]]) -> Sequence[object]:
    """Follow `next_cursor` until it is missing (an empty one is a cursor), comes back, or never ends."""
    tools: list[object] = []
    cursors: set[str] = set()
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        listed = await page(cursor)
        tools += listed.tools
        cursor = listed.next_cursor
        if cursor is None or cursor in cursors:
            break
        cursors.add(cursor)
    return tools


def _opened(reply: Reply) -> object:
    if isinstance(reply, Answer):
        return reply.result
    raise CallFailedError(_in_words(reply))


def _in_words(reply: RpcError | TimedOut | ConnectionLost | Malformed) -> str:
    match reply:
        case RpcError():
            return f"error {reply.code}: {reply.message}"
        case TimedOut():
            return f"no answer within {reply.duration:.3g} s"
        case ConnectionLost() | Malformed():
            return reply.reason


_LONGEST = 300


def reason_of(problem: str | BaseException) -> str:
    """On one line, printable, without secrets, and not long; an exception without words has its name."""
    words = problem if isinstance(problem, str) else str(problem) or type(problem).__name__
    return printable(" ".join(redact_text(words[: 4 * _LONGEST]).split()), _LONGEST)
