"""An MCP session in either era: the server's introduction, and requests in the form that the era demands."""

import asyncio
from collections.abc import Mapping
from typing import Final, cast

from toolvet.core.json_value import members
from toolvet.mcp.transport.introduction import (
    MODERN_VERSION,
    Introduction,
    from_initialize,
    initialize_params,
    request_meta,
)
from toolvet.mcp.transport.listing import Listing, read_list
from toolvet.mcp.transport.peer import Era, Peer
from toolvet.mcp.transport.reply import Anomaly, Answer, Malformed, Reply, RpcError
from toolvet.mcp.wire.header import ParameterHeaders, mirror, parameter_headers, request_headers

_NO_HEADERS: Final = ParameterHeaders()


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
        """What was odd on the channel, preceded by what was odd on a channel that we gave up while opening."""
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
        if session_id is not None and _is_expired(reply) and await self._renew(renewals, timeout):
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


def _is_expired(reply: Reply) -> bool:
    """Whether the server forgot the session: HTTP 404, unless the error says that the method is unknown."""
    if isinstance(reply, RpcError):
        return reply.status == 404 and reply.code != -32601
    return isinstance(reply, Malformed) and reply.status == 404
