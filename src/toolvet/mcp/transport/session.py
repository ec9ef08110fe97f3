"""An MCP session in either era: the server's introduction, and requests in the form that the era demands.

`Introduction` and the functions around it have the opening messages of both eras: what we send, and what the server's
answers say. `read_list` reads all pages of a list, and says what was wrong with them.
"""

import asyncio
from collections.abc import Awaitable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, cast

from toolvet.core.json_value import is_array, is_object, members, names
from toolvet.core.meta import MCP_META_PREFIX, PROTOCOL_VERSION_KEY, SERVER_INFO_KEY
from toolvet.mcp.transport.peer import Era, Peer
from toolvet.mcp.transport.reply import Anomaly, Answer, Malformed, Reply, RpcError, describe_reply
from toolvet.mcp.transport.target import printable
from toolvet.mcp.wire import without_half_characters
from toolvet.mcp.wire.header import ParameterHeaders, mirror, parameter_headers, request_headers
from toolvet.version import __version__

MODERN_VERSION: Final = "2026-07-28"
LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REQUESTED_LEGACY_VERSION: Final = LEGACY_VERSIONS[-1]
# HeaderMismatch, MissingRequiredClientCapability, UnsupportedProtocolVersion: only a modern server knows these.
MODERN_ERRORS: Final = frozenset({-32020, -32021, -32022})

_CLIENT: Final = {"name": "toolvet", "title": "toolvet", "version": __version__}
MAX_PAGES: Final = 1000
# Entries of one list that are kept: no client can offer this many to a model, and what is judged must end.
MAX_ENTRIES: Final = 20_000
# Bytes of all pages of a list together.
MAX_BYTES: Final = 64 * 1024 * 1024
_NO_HEADERS: Final = ParameterHeaders()


@dataclass(frozen=True)
class Introduction:
    """How a server introduced itself. A part that it omitted, or gave in another shape, is an empty string or map."""

    era: Era
    protocol_version: str
    server_name: str = ""
    server_version: str = ""
    capabilities: Mapping[str, object] = field(default_factory=dict[str, object])
    instructions: str = ""
    extensions: Mapping[str, object] = field(default_factory=dict[str, object])
    supported_versions: tuple[str, ...] = ()


def initialize_params(capabilities: Mapping[str, object]) -> dict[str, object]:
    """Return the params of a legacy `initialize` that announces `capabilities`."""
    return {"protocolVersion": REQUESTED_LEGACY_VERSION, "capabilities": dict(capabilities), "clientInfo": _CLIENT}


def request_meta(capabilities: Mapping[str, object]) -> dict[str, object]:
    """Return the `_meta` of every modern request of a client with these `capabilities`."""
    return {
        PROTOCOL_VERSION_KEY: MODERN_VERSION,
        f"{MCP_META_PREFIX}clientInfo": _CLIENT,
        f"{MCP_META_PREFIX}clientCapabilities": dict(capabilities),
    }


def from_initialize(result: object) -> Introduction | None:
    """Read an InitializeResult; None for a value that is not an object."""
    if not is_object(result):
        return None
    info, capabilities = members(result.get("serverInfo")), members(result.get("capabilities"))
    return Introduction(
        era="legacy",
        protocol_version=_string_at(result, "protocolVersion"),
        server_name=_string_at(info, "name"),
        server_version=_string_at(info, "version"),
        capabilities=capabilities,
        instructions=_string_at(result, "instructions"),
        extensions=members(capabilities.get("extensions")),
    )


def from_discover(result: object) -> Introduction | None:
    """Read a DiscoverResult; None for a value that is not an object with an array of strings `supportedVersions`."""
    if not is_object(result):
        return None
    versions = names(result.get("supportedVersions"))
    if not versions:
        return None
    info = members(members(result.get("_meta")).get(SERVER_INFO_KEY))
    capabilities = members(result.get("capabilities"))
    return Introduction(
        era="modern",
        protocol_version=MODERN_VERSION,
        server_name=_string_at(info, "name"),
        server_version=_string_at(info, "version"),
        capabilities=capabilities,
        instructions=_string_at(result, "instructions"),
        extensions=members(capabilities.get("extensions")),
        supported_versions=versions,
    )


def _string_at(source: Mapping[str, object], key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class Listing:
    """The tools of a server, or what else it lists, and what was wrong with the pages.

    `tools` are any JSON values, as the server sent them; `pages` counts the pages, `problems` are in the order of
    reading. `failure` is the reply that ended the listing early, None when all pages came.
    """

    tools: tuple[object, ...]
    pages: int
    problems: tuple[Anomaly, ...] = ()
    failure: Reply | None = None

    def with_problems(self, problems: Iterable[Anomaly]) -> "Listing":
        """Return the same listing with more problems."""
        return replace(self, problems=(*self.problems, *problems))


class Ask(Protocol):
    """The type of `McpSession.request`, which reads the pages."""

    def __call__(self, method: str, params: object = None, *, timeout: float | None = None) -> Awaitable[Reply]:
        """Send a request and return its reply."""
        ...


async def read_list(
    ask: Ask,
    method: str = "tools/list",
    member: str = "tools",
    *,
    timeout: float | None = None,  # noqa: ASYNC109 - see Peer.request.
    gathered: list[object] | None = None,
) -> Listing:
    """Return the entries of a list, following `nextCursor` until it is missing.

    At most `MAX_PAGES` pages with `MAX_ENTRIES` entries and `MAX_BYTES` bytes are read; a list with more has a problem
    that says so. An empty string is a cursor, too (specification, server/utilities/pagination).

    Args:
        ask: Sends a request.
        method: The method that lists them.
        member: Where the result has them: `resources/list` has `resources`.
        timeout: Seconds for each page, None for no end.
        gathered: Receives the entries page by page, for a caller that may be cancelled before the last page.
    """
    tools: list[object] = [] if gathered is None else gathered
    read = 0
    problems: list[Anomaly] = []
    cursors: set[str] = set()
    cursor: str | None = None
    for page in range(MAX_PAGES):
        reply = await ask(method, None if cursor is None else {"cursor": cursor}, timeout=timeout)
        # One tool must not hide the others: where half characters are the only fault, the reply is read without them.
        if isinstance(reply, Malformed) and (whole := without_half_characters(reply.raw)) is not None:
            evidence = f"page {page + 1} contains half of a surrogate pair, which is not a character"
            problems.append(Anomaly("half_character", evidence))
            reply = Answer(result=whole, raw=reply.raw, duration=reply.duration)
        if not isinstance(reply, Answer):
            problems.append(Anomaly("page_failed", f"page {page + 1}: {describe_reply(reply)}"))
            return Listing(tuple(tools), page, tuple(problems), reply)
        result = members(reply.result)
        found = result.get(member)
        if is_array(found):
            tools += found
        else:
            problems.append(Anomaly("bad_page", f"page {page + 1}: {printable(reply.raw, 200)}"))
        read += len(reply.raw)
        more, entries, too_many = "nextCursor" in result, len(tools), ""
        if entries > MAX_ENTRIES or (entries == MAX_ENTRIES and more):
            too_many = f"more than {MAX_ENTRIES:,} entries; only the first {MAX_ENTRIES:,} were read"
        elif read > MAX_BYTES and more:
            too_many = f"more than {MAX_BYTES // 2**20} MiB; only the first {entries:,} entries were read"
        if too_many:
            del tools[MAX_ENTRIES:]
            problems.append(Anomaly("too_many_entries", too_many))
            return Listing(tuple(tools), page + 1, tuple(problems))
        cursor, problem = _next_cursor(result, cursors)
        if problem is not None:
            problems.append(Anomaly(problem.kind, f"page {page + 1}: {problem.evidence}"))
        if cursor is None:
            return Listing(tuple(tools), page + 1, tuple(problems))
        cursors.add(cursor)
    problems.append(Anomaly("too_many_pages", f"after {MAX_PAGES} pages there is still a next one"))
    return Listing(tuple(tools), MAX_PAGES, tuple(problems))


def _next_cursor(result: Mapping[str, object], seen: Container[str]) -> tuple[str | None, Anomaly | None]:
    following = result.get("nextCursor")
    if following is None:
        return None, Anomaly("bad_cursor", "nextCursor is null instead of missing") if "nextCursor" in result else None
    if not isinstance(following, str):
        return None, Anomaly("bad_cursor", f"nextCursor is {printable(repr(following), 100)}")
    if following in seen:
        return None, Anomaly("cursor_cycle", f"{printable(repr(following), 100)} came before")
    return following, None


class McpSession:
    """Speak to a server as an MCP client of its era. Replies are those of `Peer.request`, not interpreted.

    `open_session` makes it. `peer` is the raw channel, for messages that a session would never send. `input_required`
    results are returned as they are.
    """

    def __init__(
        self,
        peer: Peer,
        introduction: Introduction,
        capabilities: Mapping[str, object],
        *,
        waited_before: float = 0.0,
        anomalies_before: tuple[Anomaly, ...] = (),
    ) -> None:
        self.peer = peer
        self.introduction = introduction
        self._capabilities = capabilities
        self._meta = request_meta(capabilities)
        self._waited_before = waited_before
        self._anomalies_before = anomalies_before
        self._parameter_headers: dict[str, ParameterHeaders] = {}
        self._renewing = asyncio.Lock()
        self._renewals = 0

    @property
    def era(self) -> Era:
        """The half of the protocol's history that the server speaks."""
        return self.introduction.era

    @property
    def protocol_version(self) -> str:
        """The revision that was agreed on; for a legacy server the string that it answered, legal or not."""
        return self.introduction.protocol_version

    @property
    def server_name(self) -> str:
        """The name that the server gave, "" if none."""
        return self.introduction.server_name

    @property
    def server_version(self) -> str:
        """The version that the server gave, "" if none."""
        return self.introduction.server_version

    @property
    def capabilities(self) -> Mapping[str, object]:
        """The capabilities that the server announced."""
        return self.introduction.capabilities

    @property
    def extensions(self) -> Mapping[str, object]:
        """The `extensions` among the capabilities."""
        return self.introduction.extensions

    @property
    def instructions(self) -> str:
        """The server's instructions for models, "" if none."""
        return self.introduction.instructions

    @property
    def wait_seconds(self) -> float:
        """Seconds that we waited for the server, including all attempts to open the session."""
        return self._waited_before + self.peer.wait_seconds

    @property
    def anomalies(self) -> tuple[Anomaly, ...]:
        """Return the anomalies of the channel, preceded by those of a channel that we gave up while opening."""
        return (*self._anomalies_before, *self.peer.anomalies)

    async def request(
        self,
        method: str,
        params: object = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - a reply that says TimedOut, not an exception.
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request and return its reply.

        A legacy HTTP server that forgot the session gets a new one, once per request.

        Args:
            method: the JSON-RPC method.
            params: a mapping, to which the modern era adds its `_meta` (the caller's keys in it win); any other value
                is sent as it is.
            timeout: seconds to wait, None for no end.
            headers: HTTP headers of this request, beside those that the era demands.
        """
        if self.era == "modern":
            params = self._add_meta(params)
            headers = {**request_headers(MODERN_VERSION, method, params), **(headers or {})}
            return await self.peer.request(method, params, timeout=timeout, headers=headers)
        if self._renewing.locked():
            async with self._renewing:
                pass
        renewals, session_id = self._renewals, self.peer.session_id
        reply = await self.peer.request(method, params, timeout=timeout, headers=headers)
        # The server forgot the session: HTTP 404, unless the error says that the method is unknown.
        is_unknown = isinstance(reply, RpcError) and reply.code == -32601
        is_expired = isinstance(reply, Malformed | RpcError) and reply.status == 404 and not is_unknown
        if session_id is not None and is_expired and await self._renew(renewals, timeout):
            return await self.peer.request(method, params, timeout=timeout, headers=headers)
        return reply

    async def call_tool(
        self,
        name: str,
        arguments: object = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - see request.
        meta: Mapping[str, object] | None = None,
    ) -> Reply:
        """Call a tool and return the server's reply.

        Args:
            name: the tool.
            arguments: any JSON value, also an illegal one; None leaves the member out.
            timeout: seconds to wait, None for no end.
            meta: the `_meta` of the call.

        Example:
            reply = await session.call_tool("get_time", {"zone": "UTC"}, timeout=10)
            if isinstance(reply, Answer): ...
        """
        params: dict[str, object] = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        if meta is not None:
            params["_meta"] = dict(meta)
        mirrored = mirror(self._parameter_headers.get(name, _NO_HEADERS), arguments)
        return await self.request("tools/call", params, timeout=timeout, headers=mirrored)

    async def list_tools(
        self,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - see request.
        gathered: list[object] | None = None,
    ) -> Listing:
        """Return all tools, following `nextCursor`; each page has `timeout` seconds.

        Over modern HTTP later calls repeat some parameters in headers; which ones is read from these definitions.
        `gathered` receives the tools page by page, as in `read_list`, which also has the limits.
        """
        listing = await read_list(self.request, timeout=timeout, gathered=gathered)
        if self.era == "legacy":
            return listing
        problems: list[Anomaly] = []
        for tool in listing.tools:
            definition = members(tool)
            name = definition.get("name")
            if isinstance(name, str):
                found = parameter_headers(definition.get("inputSchema"))
                self._parameter_headers[name] = found
                problems += [Anomaly("bad_parameter_header", f"{name}: {problem}"[:300]) for problem in found.problems]
        return listing.with_problems(problems)

    def _add_meta(self, params: object) -> object:
        if params is None:
            return {"_meta": self._meta}
        if not isinstance(params, Mapping):
            return params
        given = cast("Mapping[str, object]", params)
        meta = given.get("_meta", {})
        if not isinstance(meta, Mapping):
            return given
        return {**given, "_meta": {**self._meta, **cast("Mapping[str, object]", meta)}}

    async def _renew(self, renewals: int, timeout: float | None) -> bool:  # noqa: ASYNC109 - see request.
        """Open another legacy session on the same peer, once for all requests that found the old one expired."""
        async with self._renewing:
            if self._renewals > renewals:
                return True
            self.peer.note("session_expired", "HTTP 404 to a request with a session id")
            self.peer.forget_session()
            opened = await self.peer.request("initialize", initialize_params(self._capabilities), timeout=timeout)
            if not isinstance(opened, Answer) or from_initialize(opened.result) is None:
                return False
            await self.peer.notify("notifications/initialized")
            self._renewals += 1
            return True
