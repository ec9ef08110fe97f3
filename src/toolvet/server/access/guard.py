"""Which requests get in at all, by the host that they name and by the page that sent them; and the record of refusals.

A page in a browser can send requests to any address that the browser reaches, loopback included; with DNS rebinding it
can even read the answers. Such requests are known by their `Host` and `Origin` (Fetch standard, "Origin header";
Fetch metadata, `Sec-Fetch-Site`). Unlike the proxy, the dashboard holds what people said to agents: a page of another
port of this machine is foreign, too.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolvet.core.envelope import forbidden_error, not_found_error
from toolvet.errors import StoreError
from toolvet.proxy.http import host_of, is_loopback
from toolvet.server.access.gate import Throttle, address_of
from toolvet.server.context import ServerContext
from toolvet.server.failures import ApiError, failure

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What our pages may load: scripts and styles from this server alone, none of them inline."""

_HEADERS: Final = {
    # A store's content is private: after a logout, a browser's "back" must not show it.
    "cache-control": "no-store",
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class BrowserGuard:
    """ASGI middleware: refuses requests of foreign hosts and pages with 403, and adds the security headers.

    Args:
        app: The application behind it.
        server: Where refusals are written down.
        host: The address that the server listens on.
        hosts: Further names that it is reached by.
        refuse: Makes the answer to a request with these headers that is refused.
    """

    def __init__(
        self,
        app: ASGIApp,
        server: ServerContext,
        host: str,
        hosts: Iterable[str] = (),
        refuse: Callable[[Headers, ApiError], Response] | None = None,
    ) -> None:
        self._app = app
        self._server = server
        self._refuse = refuse or _refuse
        self._is_loopback = is_loopback(host)
        self._hosts = frozenset({host.lower(), *(name.lower() for name in hosts)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a foreign request, pass on any other."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        why = self.denies(headers)
        if why is not None:
            await note_refusal(self._server, HTTPConnection(scope), why)
            await self._refuse(headers, ApiError(403, forbidden_error(why)))(scope, receive, send_guarded)
        elif "\x00" in scope["path"]:
            # No path has one, and no database takes it.
            await failure(404, not_found_error("page", scope["path"]))(scope, receive, send_guarded)
        else:
            await self._app(scope, receive, send_guarded)

    def denies(self, headers: Headers) -> str | None:
        """Return why a request with these headers is refused; None for one that may pass."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return "the Host header names another server; --allow-host NAME admits it"
        origins = headers.getlist("origin")
        if origins and (len(origins) > 1 or origins[0].partition("://")[2].lower() != hosts[0].lower()):
            return "pages of another origin may not use this server"
        # Another port of this machine is of the same site, and of another origin; what it embeds has no Origin.
        site = headers.get("sec-fetch-site", "none")
        if site not in {"same-origin", "none"} and headers.get("sec-fetch-mode") != "navigate":
            return "pages of another origin may not use this server"
        return None

    def _is_ours(self, value: str) -> bool:
        host = host_of(value)
        if host is None:
            return False
        if host in self._hosts:
            return True
        if self._is_loopback:
            return is_loopback(host)
        # DNS rebinding needs a name: an address in the URL is the address that was reached.
        try:
            ip_address(host)
        except ValueError:
            return False
        return True


def _refuse(_: Headers, error: ApiError) -> Response:
    return failure(error.status, error.envelope)


_AT_ONCE: Final = 50
_A_SECOND: Final = 0.1


class RefusalQuota:
    """Says which refusals are written into the audit log: fifty at once for each action, then one in ten seconds."""

    def __init__(self) -> None:
        self._throttle = Throttle(_A_SECOND, _AT_ONCE)
        self._left_out: dict[str, int] = {}

    def admit(self, action: str) -> int | None:
        """Return how many were left out since the last one; None if this one is left out, too."""
        if self._throttle.wait(action):
            self._left_out[action] = self._left_out.get(action, 0) + 1
            return None
        return self._left_out.pop(action, 0)


async def note_refusal(
    server: ServerContext, request: HTTPConnection, why: str, *, who: str = "", action: str = "refused"
) -> None:
    """Write down what was refused. It is refused as well where the store cannot be reached."""
    left_out = server.kept(RefusalQuota).admit(action)
    if left_out is None:
        return
    more = f" ({left_out:,} more before it)" if left_out else ""
    target = f"{request.scope.get('method', '')} {request.scope['path'][:200]}: {why}{more}"
    with suppress(StoreError):
        await run_in_threadpool(server.note, who, action, target, address=address_of(request))
