"""Connected clients of every library behind one interface: capabilities, tool calls, tool list.

Objects are recognised by their attributes, without importing their packages, which are optional dependencies.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, cast

from toolvet.core.redact import redact_text
from toolvet.errors import ToolvetError, UsageError
from toolvet.mcp.transport import Answer, ConnectionLost, Malformed, McpSession, Reply, RpcError, TimedOut
from toolvet.mcp.transport.target import printable

CallTool: TypeAlias = Callable[[str, Mapping[str, object]], Awaitable[object]]
OnProgress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
ListTools: TypeAlias = Callable[[], Awaitable[Sequence[object]]]

_MOST_PAGES: Final = 1000
_LONGEST: Final = 300


class Connection(Protocol):
    """A connection to one server."""

    @property
    def capabilities(self) -> object:
        """The capabilities in the server's initialize or discover result: the same object for the same result.

        Raises UsageError if nothing is connected.
        """
        ...

    async def call_tool(
        self, name: str, arguments: Mapping[str, object], on_progress: OnProgress | None = None
    ) -> object:
        """The result of one tools/call, as the client returns it. Raises what the client raises.

        `on_progress` gets the progress, the total and the message of each progress notification, where the client
        passes them on.
        """
        ...

    async def list_tools(self) -> Sequence[object]:
        """All pages of tools/list, read again. Raises what the client raises."""
        ...


class CallFailedError(ToolvetError):
    """A request brought no result; the message says what came instead."""

    exit_code = 4


def connection_of(connected: object) -> Connection:
    """The connection of an open `mcp.Client`, `mcp.ClientSession`, `fastmcp.Client` or toolvet's own `McpSession`.

    Raises UsageError for anything else, and for a client that is not connected yet.
    """
    if isinstance(connected, McpSession):
        return OfSession(connected)
    # Attributes of the class: a property of a client that is not open yet raises.
    kind = type(connected)
    if not (hasattr(kind, "server_capabilities") and hasattr(kind, "list_tools") and hasattr(kind, "call_tool")):
        raise UsageError(
            f"a {kind.__name__} is not a client that toolvet can use; "
            "pass a connected client, or a call_tool callable with capabilities= and tools="
        )
    if hasattr(kind, "call_tool_mcp"):
        return OfFastMCP(connected)
    return OfClient(connected) if hasattr(kind, "session") else OfClientSession(connected)


class OfSession:
    """A session of `toolvet.mcp.transport`, which never raises: a reply that is not an answer is raised here."""

    def __init__(self, session: McpSession) -> None:
        self._session = session

    @property
    def capabilities(self) -> object:
        """As the server sent them."""
        return self._session.capabilities

    async def call_tool(
        self, name: str, arguments: Mapping[str, object], on_progress: OnProgress | None = None
    ) -> object:
        """One tools/call; its progress is not passed on. Raises CallFailedError."""
        del on_progress
        return _unwrap(await self._session.call_tool(name, dict(arguments)))

    async def list_tools(self) -> Sequence[object]:
        """The tools that could be read. Raises CallFailedError if a problem prevented all of them."""
        listing = await self._session.list_tools()
        if listing.problems and not listing.tools:
            raise CallFailedError(listing.problems[0].evidence)
        return listing.tools


class _OfLibrary:
    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def capabilities(self) -> object:
        """Those of either era. A client pinned to a modern revision has not asked, and has none."""
        return _capabilities_of(self._client)

    async def call_tool(
        self, name: str, arguments: Mapping[str, object], on_progress: OnProgress | None = None
    ) -> object:
        """One tools/call; raises what the SDK raises (MCPError, RuntimeError, pydantic's ValidationError)."""
        return cast(
            "object",
            await self._client.call_tool(name, dict(arguments), **_listening("progress_callback", on_progress)),
        )


class OfClient(_OfLibrary):
    """`mcp.Client`, of the official SDK."""

    async def list_tools(self) -> Sequence[object]:
        """All tools, following `next_cursor`. "refresh", because the SDK's own cache may hold the old list."""
        return await _all_pages(lambda cursor: self._client.list_tools(cursor=cursor, cache_mode="refresh"))


class OfClientSession(_OfLibrary):
    """`mcp.ClientSession`, the layer below `mcp.Client`; `initialize` or `discover` has to be called first."""

    async def list_tools(self) -> Sequence[object]:
        """All tools, following `next_cursor`."""
        # Imported here, because mcp is an optional dependency; a caller with a ClientSession has loaded it.
        from mcp.types import PaginatedRequestParams  # noqa: PLC0415

        return await _all_pages(
            lambda cursor: self._client.list_tools(
                params=None if cursor is None else PaginatedRequestParams(cursor=cursor)
            )
        )


class OfFastMCP(_OfLibrary):
    """`fastmcp.Client`."""

    async def call_tool(
        self, name: str, arguments: Mapping[str, object], on_progress: OnProgress | None = None
    ) -> object:
        """One tools/call, not interpreted: `call_tool` would raise for isError and parse the content."""
        return cast(
            "object",
            await self._client.call_tool_mcp(name, dict(arguments), **_listening("progress_handler", on_progress)),
        )

    async def list_tools(self) -> Sequence[object]:
        """All tools, following `next_cursor`."""
        return await _all_pages(lambda cursor: self._client.list_tools_mcp(cursor=cursor, cache_mode="refresh"))


class OverriddenConnection:
    """A connection with capabilities or tools that its user gave instead of the server's."""

    def __init__(
        self, connection: Connection, capabilities: object, tools: Sequence[object] | ListTools | None
    ) -> None:
        self._connection = connection
        self._capabilities = capabilities
        self._tools = tools

    @property
    def capabilities(self) -> object:
        """The given ones, or else those of the connection."""
        return self._connection.capabilities if self._capabilities is None else self._capabilities

    async def call_tool(
        self, name: str, arguments: Mapping[str, object], on_progress: OnProgress | None = None
    ) -> object:
        """One tools/call of the connection."""
        return await self._connection.call_tool(name, arguments, on_progress)

    async def list_tools(self) -> Sequence[object]:
        """The given ones, or else those of the connection."""
        return await (self._connection.list_tools() if self._tools is None else _resolve_tools(self._tools))


class OfCallables:
    """A function that makes calls, with the given capabilities and tools: for any other client."""

    def __init__(self, call_tool: CallTool, capabilities: object, tools: Sequence[object] | ListTools) -> None:
        self._call_tool = call_tool
        self._capabilities = capabilities
        self._tools = tools

    @property
    def capabilities(self) -> object:
        """The given ones."""
        return self._capabilities

    async def call_tool(
        self, name: str, arguments: Mapping[str, object], on_progress: OnProgress | None = None
    ) -> object:
        """The function's result. A reply of `toolvet.mcp.transport` is unwrapped, or raised as CallFailedError.

        A function gets no progress.
        """
        del on_progress
        found = await self._call_tool(name, arguments)
        return _unwrap(found) if isinstance(found, Answer | RpcError | TimedOut | ConnectionLost | Malformed) else found

    async def list_tools(self) -> Sequence[object]:
        """The given ones, or those that the given function returns now."""
        return await _resolve_tools(self._tools)


def _listening(option: str, on_progress: OnProgress | None) -> dict[str, Any]:
    return {} if on_progress is None else {option: on_progress}


async def _resolve_tools(tools: Sequence[object] | ListTools) -> Sequence[object]:
    return await tools() if callable(tools) else tools


def _capabilities_of(client: Any) -> object:
    try:
        found: object = client.server_capabilities
    except RuntimeError:
        found = None
    if found is None:
        raise UsageError(f"this {type(client).__name__} is not connected: open it before it is asked to validate")
    return found


async def _all_pages(page: Callable[[str | None], Awaitable[Any]]) -> Sequence[object]:
    """The tools of at most 1,000 pages, until `next_cursor` is missing (an empty one is a cursor) or repeats."""
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


def _unwrap(reply: Reply) -> object:
    match reply:
        case Answer():
            return reply.result
        case RpcError():
            raise CallFailedError(f"error {reply.code}: {reply.message}")
        case TimedOut():
            raise CallFailedError(f"no answer within {reply.duration:.3g} s")
        case ConnectionLost() | Malformed():
            raise CallFailedError(reply.reason)


def reason_of(problem: str | BaseException) -> str:
    """The text of a foreign failure for a sentence or a log: one printable line, without secrets, cut if it is long.

    For an exception without a text it is the name of the class.
    """
    words = problem if isinstance(problem, str) else str(problem) or type(problem).__name__
    return printable(" ".join(redact_text(words[: 4 * _LONGEST]).split()), _LONGEST)
