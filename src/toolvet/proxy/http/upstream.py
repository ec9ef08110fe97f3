"""The HTTP side that asks: requests to one origin over kept connections, answers as they arrive."""

import ssl
from collections.abc import AsyncGenerator, Callable
from typing import Final, Protocol, TypeAlias
from urllib.parse import urlsplit

import aiohttp
import msgspec
from yarl import URL

from toolvet.errors import UsageError
from toolvet.mcp.transport import check_certificates, mask_url
from toolvet.proxy.http.message import (
    Body,
    FedBody,
    ReceivedBody,
    RequestHead,
    ResponseHead,
    encode_fields,
)

# Servers close idle connections, uvicorn and Node after five seconds. A request on such a connection is lost, and a
# call must not be sent twice, so the proxy drops an idle connection earlier.
_IDLE_SECONDS: Final = 4.0
_CONNECT_SECONDS: Final = 10.0
_MOST_HEAD_BYTES: Final = 64 * 1024
_MOST_FIELDS: Final = 1000
_READ_BUFFER: Final = 1 << 16
_MOST_URLS: Final = 256
# aiohttp warns of longer ones.
_MOST_AT_ONCE: Final = 1 << 20
_NOT_HTTP: Final = "what it sent is not HTTP/1.1"
# aiohttp would add these.
_ADDED: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")

Sent: TypeAlias = bytes | Body
"""The body of a request: all of it, or as it arrives."""


class UpstreamError(Exception):
    """The server did not answer; the message says why. `sent` is True when it may have received the request."""

    def __init__(self, why: str, *, sent: bool) -> None:
        self.sent = sent
        super().__init__(why)


class UpstreamResponse(msgspec.Struct):
    """An answer: its head, and its body as it arrives. Call `close` when no more of it is wanted.

    `is_ours` is set for an error that the proxy made, because the server does not answer.
    """

    head: ResponseHead
    body: Body
    close: Callable[[], None]
    is_ours: bool = False


class Upstream(Protocol):
    """Where requests go: a server at a URL, or one on pipes behind a bridge."""

    @property
    def name(self) -> str:
        """The server's name for the record, safe to print."""
        ...

    async def send(self, head: RequestHead, body: Sent) -> UpstreamResponse:
        """Send a request whose fields are ready and return the answer. Raises UpstreamError.

        Whatever the reading of `body` raises is raised here as well.
        """
        ...

    async def close(self, seconds: float) -> None:
        """Close all connections, or end all processes: each has this many seconds to end by itself."""
        ...


class HttpUpstream:
    """A server at a URL. Raises UsageError for a URL that cannot be used."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            _ = parts.port
        except ValueError as error:
            raise UsageError(f"{mask_url(url)} is not a URL: {error}") from error
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError(f"{mask_url(url)} is not the URL of an MCP server: it needs http(s):// and a host")
        if parts.username is not None:
            raise UsageError(f"{mask_url(url)} names a user: let the client send credentials, the proxy passes them on")
        if not url.isascii() or not url.isprintable() or " " in url:
            raise UsageError(f"{mask_url(url)} has characters that no URL may have")
        self.name = mask_url(url)
        if parts.scheme == "https":
            check_certificates()
        self.path = (parts.path or "/").encode()
        self.target = self.path + (b"?" + parts.query.encode() if parts.query else b"")
        self.origin = f"{parts.scheme}://{parts.netloc}".encode()
        self._urls: dict[bytes, URL] = {}
        self._session: aiohttp.ClientSession | None = None

    async def send(self, head: RequestHead, body: Sent) -> UpstreamResponse:
        """Send a request and return the answer. Raises UpstreamError.

        A request without effects that a kept connection did not answer is sent again, over a new connection.
        """
        if head.sent is None:
            head.sent = encode_fields(head.fields)
        headers = head.sent
        failed: list[BaseException] = []
        data: bytes | AsyncGenerator[bytes] | None
        if isinstance(body, bytes) and len(body) <= _MOST_AT_ONCE:
            data = body or None
        else:
            size = len(body) if isinstance(body, bytes) else head.length
            data = _pieces(FedBody(body, done=True) if isinstance(body, bytes) else body, failed)
            if size is not None:
                headers = headers.copy()
                headers["Content-Length"] = str(size)
        absent = [name for name in _ADDED if name not in headers]
        session = self._session or self._open()
        try:
            response = await session.request(
                head.method.decode(),
                self._url(head.target),
                headers=headers,
                data=data,
                allow_redirects=False,
                skip_auto_headers=absent or None,
            )
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            if failed:
                raise failed[0] from error
            raise UpstreamError(_describe_error(error), sent=_may_be_sent(error)) from error
        if response.status < 200:
            response.close()
            raise UpstreamError(_NOT_HTTP, sent=True)
        found = ResponseHead(response.status, (response.reason or "").encode(), list(response.raw_headers))
        length = found.get(b"content-length")
        if length is not None and length.isdigit() and found.get(b"transfer-encoding") is None:
            found.length = int(length)
        return UpstreamResponse(found, ReceivedBody(response.content, "server"), response.close)

    async def close(self, seconds: float) -> None:
        """Close all connections, at once."""
        del seconds
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        # Without a limit, because the connections of clients have one.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS)
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            auto_decompress=False,
            trust_env=False,
            read_bufsize=_READ_BUFFER,
            max_line_size=_MOST_HEAD_BYTES,
            max_field_size=_MOST_HEAD_BYTES,
            max_headers=_MOST_FIELDS,
        )
        return self._session

    def _url(self, target: bytes) -> URL:
        known = self._urls.get(target)
        if known is None:
            if len(self._urls) >= _MOST_URLS:
                self._urls.clear()
            known = self._urls[target] = URL((self.origin + target).decode(), encoded=True)
        return known


async def _pieces(body: Body, failed: list[BaseException]) -> AsyncGenerator[bytes]:
    """Yield a body as it arrives; an error of it is kept in `failed`, because aiohttp hides it."""
    try:
        while data := await body.read():
            yield data
    except Exception as error:
        failed.append(error)
        raise


def _may_be_sent(error: Exception) -> bool:
    return not isinstance(error, aiohttp.ClientConnectorError | TimeoutError | ValueError)


def _describe_error(error: Exception) -> str:
    match error:
        case aiohttp.ClientConnectorCertificateError():
            found = error.certificate_error
            words = found.verify_message if isinstance(found, ssl.SSLCertVerificationError) else str(found)
            return f"its TLS certificate is not trusted ({words})"
        case aiohttp.ClientConnectorSSLError() | aiohttp.ClientSSLError():
            return "TLS failed; does it speak https?"
        case aiohttp.ClientConnectorDNSError():
            return "it cannot be reached (its name cannot be resolved)"
        case aiohttp.ClientConnectorError() if isinstance(error.os_error, ConnectionRefusedError):
            return "the connection was refused"
        case aiohttp.ClientConnectorError():
            return f"it cannot be reached ({type(error.os_error).__name__})"
        case TimeoutError():
            return "no connection could be made in time"
        case aiohttp.ServerDisconnectedError():
            return "the server closed the connection before it answered"
        case aiohttp.ClientResponseError():
            return _NOT_HTTP
        case aiohttp.ClientOSError():
            return "the connection was reset before it answered"
        case _:
            return f"it cannot be reached ({type(error).__name__})"
