"""An MCP session in either era: what the server said of itself, and requests dressed as the era wants them."""

import asyncio
from collections.abc import Mapping
from typing import cast

from toolvet.transport.introduction import (
    MODERN_VERSION,
    Introduction,
    from_initialize,
    initialize_params,
    request_meta,
)
from toolvet.transport.listing import Listing, read_tools
from toolvet.transport.peer import Era, Peer
from toolvet.transport.reply import Answer, Malformed, Oddity, Reply, RpcError
from toolvet.transport.shape import fields
from toolvet.wire.header import ParameterHeaders, mirror, parameter_headers, request_headers

_NO_HEADERS = ParameterHeaders()


class McpSession:
    """Ask as an MCP client of the server's era; get the same `Reply` as from a Peer, and nothing interpreted.

    `peer` is the raw channel for what a session would never send. `input_required` results are returned as they are.
    """

    def __init__(
        self,
        peer: Peer,
        introduction: Introduction,
        capabilities: Mapping[str, object],
        *,
        waited_before: float = 0.0,
        oddities_before: tuple[Oddity, ...] = (),
    ) -> None:
        self.peer = peer
        self.introduction = introduction
        self._capabilities = capabilities
        self._meta = request_meta(capabilities)
        self._waited_before = waited_before
        self._oddities_before = oddities_before
        self._parameter_headers: dict[str, ParameterHeaders] = {}
        self._renewing = asyncio.Lock()
        self._renewals = 0

    @property
    def era(self) -> Era:
        """Which half of the protocol's history is spoken."""
        return self.introduction.era

    @property
    def protocol_version(self) -> str:
        """The revision that was agreed on; for a legacy server what it answered, whatever that is."""
        return self.introduction.protocol_version

    @property
    def server_name(self) -> str:
        """As the server introduced itself, "" if it did not."""
        return self.introduction.server_name

    @property
    def server_version(self) -> str:
        """As the server introduced itself, "" if it did not."""
        return self.introduction.server_version

    @property
    def capabilities(self) -> Mapping[str, object]:
        """What the server announced."""
        return self.introduction.capabilities

    @property
    def extensions(self) -> Mapping[str, object]:
        """The `extensions` among the capabilities."""
        return self.introduction.extensions

    @property
    def instructions(self) -> str:
        """What the server wants models to know, "" if nothing."""
        return self.introduction.instructions

    @property
    def wait_seconds(self) -> float:
        """How long we waited for the server, attempts at opening included."""
        return self._waited_before + self.peer.wait_seconds

    @property
    def oddities(self) -> tuple[Oddity, ...]:
        """The peer's, preceded by those of attempts at opening on a channel that was given up."""
        return (*self._oddities_before, *self.peer.oddities)

    async def request(
        self,
        method: str,
        params: object = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - a reply that says TimedOut, not an exception.
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request. In the modern era `_meta` is completed, the caller's own keys in it win.

        `params` that are no mapping are sent as they are. A legacy HTTP server that forgot the session gets a new one,
        once per request.
        """
        if self.era == "modern":
            params = self._dressed(params)
            headers = {**request_headers(MODERN_VERSION, method, params), **(headers or {})}
            return await self.peer.request(method, params, timeout=timeout, headers=headers)
        if self._renewing.locked():
            async with self._renewing:
                pass
        renewals, session_id = self._renewals, self.peer.session_id
        reply = await self.peer.request(method, params, timeout=timeout, headers=headers)
        if session_id is not None and _expired(reply) and await self._renewed(renewals, timeout):
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
        """Call a tool. `arguments` may be any JSON value, also an illegal one; None leaves them out."""
        params: dict[str, object] = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        if meta is not None:
            params["_meta"] = dict(meta)
        mirrored = mirror(self._parameter_headers.get(name, _NO_HEADERS), arguments)
        return await self.request("tools/call", params, timeout=timeout, headers=mirrored)

    async def list_tools(self, *, timeout: float | None = None) -> Listing:  # noqa: ASYNC109 - see request.
        """All pages of `tools/list`, each within `timeout` seconds. Learns which parameters are mirrored in headers."""
        listing = await read_tools(self.request, timeout=timeout)
        if self.era == "legacy":
            return listing
        problems: list[Oddity] = []
        for tool in listing.tools:
            definition = fields(tool)
            name = definition.get("name")
            if isinstance(name, str):
                found = parameter_headers(definition.get("inputSchema"))
                self._parameter_headers[name] = found
                problems += [Oddity("bad_parameter_header", f"{name}: {problem}"[:300]) for problem in found.problems]
        return listing.with_problems(problems)

    def _dressed(self, params: object) -> object:
        if params is None:
            return {"_meta": self._meta}
        if not isinstance(params, Mapping):
            return params
        given = cast("Mapping[str, object]", params)
        meta = given.get("_meta", {})
        if not isinstance(meta, Mapping):
            return given
        return {**given, "_meta": {**self._meta, **cast("Mapping[str, object]", meta)}}

    async def _renewed(self, renewals: int, timeout: float | None) -> bool:  # noqa: ASYNC109 - see request.
        """Open another legacy session on the same peer, once for all requests that met the old one's end."""
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


def _expired(reply: Reply) -> bool:
    """HTTP 404 means that the session is gone, unless the error says that it is the method that is unknown."""
    if isinstance(reply, RpcError):
        return reply.status == 404 and reply.code != -32601
    return isinstance(reply, Malformed) and reply.status == 404
