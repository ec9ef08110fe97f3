"""What the rules of HTTP share: exchanges, their words, and the setting of each SDK that checks Host and Origin."""

from collections.abc import Sequence
from typing import Final

from toolvet.assess.rules.quote import quote
from toolvet.core.tool_rules import HttpExchange, HttpSeen, ServerSeen

# From the SDKs' own documentation: FastMCP 4 (`run`, `http_app`), the Python SDK 2 (`run`, `streamable_http_app`), and
# the TypeScript SDK 1 (`server/express`, `server/middleware/hostHeaderValidation`).
_SETTINGS: Final = {
    "fastmcp": (
        'FastMCP 4: `mcp.run(transport="http", host_origin_protection="auto")`, or the environment variable '
        "FASTMCP_HTTP_HOST_ORIGIN_PROTECTION=auto; `allowed_origins` names the web sites that may use it. Before: "
        '`mcp.run(transport="http", middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[…])])` checks Host.'
    ),
    "python": (
        "Python SDK: serve on host 127.0.0.1 without `transport_security` of your own, or pass "
        "`TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=[…], allowed_origins=[…])`. "
        "In an app of your own, Starlette's `TrustedHostMiddleware` checks Host."
    ),
    "typescript": (
        "TypeScript SDK: `createMcpExpressApp()`, or the middleware `localhostHostValidation()`, checks Host; a "
        "middleware of your own that answers 403 checks Origin."
    ),
}


def exchange_of(server: ServerSeen, probe: str) -> HttpExchange | None:
    """The exchange of this probe; None where it was not sent."""
    return None if server.http is None else server.http.find(probe)


def exchanges_of(server: ServerSeen) -> Sequence[HttpExchange]:
    """All probes with their responses; none for a server that does not speak HTTP."""
    return () if server.http is None else server.http.exchanges


def protection_setting(http: HttpSeen) -> str | None:
    """How to switch the checks of Host and Origin on in this server's SDK; None where the SDK is not known."""
    return _SETTINGS.get(http.sdk)


def describe(exchange: HttpExchange) -> str:
    """What came back, as the end of a sentence: `HTTP 400 with error -32600 "Missing session ID"`."""
    if exchange.status is None:
        return f"no response ({quote(exchange.failure, 80) or 'unknown'})"
    status = f"HTTP {exchange.status}"
    if exchange.is_result:
        return f"{status} and a result"
    if exchange.code is not None:
        return f'{status} with error {exchange.code} "{quote(exchange.words, 80)}"'
    if exchange.body.strip():
        return f'{status} and "{quote(exchange.body, 60)}"'
    return status
