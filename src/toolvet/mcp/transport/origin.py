"""One HTTP origin: a client that keeps its connections, and never sends its credentials to another origin.

Decided here: proxies are taken from the environment as in every other tool, but requests to loopback never use one;
redirects are followed within the same origin only, and only those that keep the message (307 and 308).
"""

import re
import socket
import ssl
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Final, cast

import httpx2

from toolvet.errors import UsageError
from toolvet.mcp.transport.target import HttpTarget, check_certificates, describe_certificates, mask_url, printable

# A request may raise these because of the other side; `describe_error` puts them into words.
FAILURES: Final = (httpx2.HTTPError, httpx2.InvalidURL, OSError)

_REDIRECTS: Final = 5
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")


class Origin:
    """The HTTP client of one target. Raises UsageError for a URL or headers that cannot be sent; sends nothing yet."""

    def __init__(self, target: HttpTarget) -> None:
        try:
            self.url = httpx2.URL(target.url)
        except httpx2.InvalidURL as error:
            raise UsageError(f"{mask_url(target.url)} is not a URL: {error}") from error
        if self.url.scheme not in ("http", "https") or not self.url.host:
            raise UsageError(
                f"{mask_url(target.url)} is not the URL of an MCP server: it needs http:// or https:// and a host"
            )
        for name, value in (target.headers or {}).items():
            if not _HEADER_NAME.fullmatch(name):
                shown = printable(name, 80)
                raise UsageError(f"the header {shown!r} for {mask_url(target.url)} cannot be sent: no such name")
            if not _HEADER_VALUE.fullmatch(value):
                flaw = "its value has a line break or a character beyond ASCII"
                raise UsageError(f"the header {name} for {mask_url(target.url)} cannot be sent: {flaw}")
        headers = httpx2.Headers(dict(target.headers or {}))
        headers.setdefault("accept-encoding", "identity")
        headers.setdefault("user-agent", "toolvet")
        local = _is_loopback(self.url.host)
        try:
            if local and self.url.scheme == "http":
                # Building a context with all root certificates takes 18 ms; plain loopback gets an empty one.
                certificates = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            else:
                check_certificates()
                # With the certificates that the environment names, for loopback names too.
                certificates = httpx2.create_ssl_context(trust_env=True)
            self._client = httpx2.AsyncClient(
                headers=headers,
                verify=certificates,
                trust_env=not local,
                timeout=None,  # The peer's timer ends each request.
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=30.0),
                follow_redirects=False,
            )
        except OSError as error:
            raise UsageError(describe_certificates(error)) from error

    @asynccontextmanager
    async def send(
        self, method: str, headers: Mapping[str, str], content: bytes | None = None, *, url: httpx2.URL | None = None
    ) -> AsyncGenerator[httpx2.Response]:
        """Send one request and follow redirects within the origin; any other redirect is yielded as the response."""
        url = self.url if url is None else url
        for _ in range(_REDIRECTS):
            async with self._client.stream(method, url, headers=headers, content=content) as response:
                is_redirect = response.status_code in (307, 308) and "location" in response.headers
                onward = _same_origin(url, response.headers["location"]) if is_redirect else None
                if onward is None:
                    yield response
                    return
            url = onward
        raise httpx2.TooManyRedirects(f"more than {_REDIRECTS} redirects from {mask_url(str(self.url))}")

    def resolve(self, reference: str) -> httpx2.URL | None:
        """Resolve `reference` against our URL; None if it leads to another origin."""
        return _same_origin(self.url, reference)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def describe_error(error: BaseException) -> str:
    """Describe the cause of `error` in words that a user can act on."""
    for cause in _causes(error):
        match cause:
            case ConnectionRefusedError():
                return "the connection was refused"
            case ConnectionResetError() | BrokenPipeError():
                return "the connection was reset"
            case socket.gaierror():
                return "the host name is unknown"
            case ssl.SSLCertVerificationError():
                return f"its TLS certificate is not trusted ({cause.verify_message})"
            case ssl.SSLError():
                return f"TLS failed ({cause.reason or cause}); does it speak https?"
            case _:
                pass
    return printable(str(error) or type(error).__name__, 200)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for member in cast("BaseExceptionGroup[BaseException]", error).exceptions:
                yield from _causes(member)
        error = error.__cause__ or error.__context__


def describe_response(response: httpx2.Response, body: bytes) -> str:
    """Describe a response that is not JSON-RPC: its status, and what it contains or where it redirects."""
    kind = media_type(response)
    status = f"HTTP {response.status_code} {response.reason_phrase}".rstrip()
    if response.is_redirect:
        location = mask_url(printable(response.headers.get("location", ""), 200))
        return f"{status}: it redirects to {location}, where credentials must not follow; give that address instead"
    if not body.strip():
        return f"{status} with an empty body"
    return f"{status} with {kind or 'no content type'}, not with JSON-RPC"


def media_type(response: httpx2.Response) -> str:
    """Return the content type of the response without parameters; "" if it has none."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _same_origin(url: httpx2.URL, reference: str) -> httpx2.URL | None:
    onward = url.join(reference)
    same = (onward.scheme, onward.host, onward.port) == (url.scheme, url.host, url.port)
    return onward if same else None
