"""A server at a URL: Streamable HTTP, one POST for each message, answered with JSON or a stream of events.

Decided here: proxies come from the environment as for every other tool, but loopback is never asked of a proxy;
credentials stay at the origin they were given for, so redirects are followed on the same origin only (307 and 308,
which keep the message). The optional GET stream for messages of the server's own accord is not opened.
"""

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from typing import Literal, cast

import httpx2

from toolvet.errors import UsageError
from toolvet.transport.channel import Inbox
from toolvet.transport.quote import printable
from toolvet.transport.target import HttpTarget, mask_url
from toolvet.wire import ErrorReply, Result, SseFramer, parse

_REDIRECTS = 5
# A server may end a stream before it has answered and be asked for the rest (2025-11-25, resumability).
_RESUMPTIONS = 100
_RETRY_MILLISECONDS = 1000
# What cancellations that are under way may still take when we close.
_LAST_NOTICES = 0.5
_QUOTED_BODY = 64 * 1024
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")


class HttpChannel:
    """See channel.Channel."""

    kind: Literal["stdio", "http"] = "http"
    exit_code: int | None = None
    stderr: str = ""

    _inbox: Inbox
    _client: httpx2.AsyncClient

    def __init__(self, target: HttpTarget, *, limit: int | None) -> None:
        self.session_id: str | None = None
        self._target = target
        self._limit = limit
        self._version: str | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._notices: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def alive(self) -> bool:
        """A URL may answer again at any time."""
        return not self._closed

    async def start(self, inbox: Inbox) -> None:
        """Nothing is sent yet. Raises UsageError for a URL or headers that cannot be sent."""
        self._inbox = inbox
        self._url = _checked_url(self._target.url)
        local = _is_loopback(self._url.host)
        headers = httpx2.Headers(_checked_headers(self._target))
        headers.setdefault("accept-encoding", "identity")
        headers.setdefault("user-agent", "toolvet")
        self._client = httpx2.AsyncClient(
            headers=headers,
            # Building the context with all root certificates takes 18 ms; plain loopback gets an empty one.
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if local and self._url.scheme == "http" else True,
            trust_env=not local,
            timeout=None,  # The peer's timer ends each request.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=30.0),
            follow_redirects=False,
        )

    def post(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        """A task of its own for each request, ended by its answer, by `abandon`, or by `close`."""
        task = asyncio.ensure_future(self._exchange(id_, message, self._headers(headers)))
        self._tasks[id_] = task
        task.add_done_callback(lambda _: self._tasks.pop(id_, None))

    async def deliver(self, message: bytes, headers: Mapping[str, str]) -> None:
        """POST a notification or an answer; a server that refuses it is noted."""
        try:
            async with self._sent("POST", self._headers(headers), message) as response:
                if not response.is_success:
                    body = await self._body(response)
                    self._inbox.note("notification_refused", f"HTTP {response.status_code}: {printable(body, 200)}")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            self._inbox.note("notification_refused", _words(error))

    def abandon(self, id_: int, notice: bytes | None) -> None:
        """Close the response stream; in the legacy era that alone means nothing, and the notice says it."""
        if task := self._tasks.get(id_):
            task.cancel()
        if notice is not None and not self._closed:
            farewell = asyncio.ensure_future(self.deliver(notice, {}))
            self._notices.add(farewell)
            farewell.add_done_callback(self._notices.discard)

    def settle(self, version: str) -> None:
        """This version stands in every request from now on."""
        self._version = version

    async def close(self, grace: float) -> None:
        """End open requests, then the legacy session, then the connections."""
        self._closed = True
        try:
            for task in self._tasks.values():
                task.cancel()
            if self._notices:
                await asyncio.wait(self._notices, timeout=min(grace, _LAST_NOTICES))
            for task in self._notices:
                task.cancel()
            await asyncio.gather(*self._tasks.values(), *self._notices, return_exceptions=True)
            if self.session_id is not None:
                with suppress(httpx2.HTTPError, OSError, TimeoutError):
                    async with asyncio.timeout(grace), self._sent("DELETE", self._headers({})):
                        pass
        finally:
            await self._client.aclose()

    async def _exchange(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        inbox = self._inbox
        try:
            async with self._sent("POST", headers, message) as response:
                if (session_id := response.headers.get("mcp-session-id")) and response.is_success:
                    self.session_id = session_id
                resume = await self._read(id_, response)
            for _ in range(_RESUMPTIONS):
                if resume is None or not inbox.awaits(id_):
                    break
                await asyncio.sleep((_RETRY_MILLISECONDS if resume.retry is None else resume.retry) / 1000)
                again = {**self._headers({}), "accept": "text/event-stream", "last-event-id": resume.last_event_id}
                async with self._sent("GET", again) as response:
                    resume = await self._read(id_, response)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            inbox.lose(_words(error), id_=id_)
        inbox.reject(id_, "the response ended without an answer", b"")

    async def _read(self, id_: int, response: httpx2.Response) -> SseFramer | None:
        """Hand on what a response holds; the framer to go on with, if the stream may be resumed."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.is_success and kind == "text/event-stream":
            return await self._read_events(id_, response)
        body = await self._body(response)
        status = response.status_code
        if self._limit is not None and len(body) > self._limit:
            self._inbox.reject(id_, f"the response is over the limit of {self._limit:,} bytes", b"", status=status)
        elif (response.is_success and kind == "application/json" and body.strip()) or _is_answer(status, body):
            self._inbox.receive(body, answers=id_, status=status)
        else:
            challenge = response.headers.get("www-authenticate", "")
            reason = _unlike_mcp(response, kind, body)
            self._inbox.reject(id_, reason, body[:_QUOTED_BODY], status=status, challenge=challenge)
        return None

    async def _read_events(self, id_: int, response: httpx2.Response) -> SseFramer | None:
        framer = SseFramer()
        async for chunk in response.aiter_bytes():
            for event in framer.feed(chunk):
                if event.data:
                    self._inbox.receive(event.data, status=response.status_code)
            if self._limit is not None and framer.pending_bytes > self._limit:
                self._inbox.reject(id_, f"an event is over the limit of {self._limit:,} bytes", b"")
                return None
        return framer if framer.last_event_id else None

    async def _body(self, response: httpx2.Response) -> bytes:
        """The whole body, or a little more than the limit of it."""
        parts: list[bytes] = []
        length = 0
        async for chunk in response.aiter_bytes():
            parts.append(chunk)
            length += len(chunk)
            if self._limit is not None and length > self._limit:
                break
        return b"".join(parts)

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        if self._version is not None:
            headers["mcp-protocol-version"] = self._version
        if self.session_id is not None:
            headers["mcp-session-id"] = self.session_id
        headers.update((name.lower(), value) for name, value in more.items())
        return headers

    @asynccontextmanager
    async def _sent(
        self, method: str, headers: Mapping[str, str], content: bytes | None = None
    ) -> AsyncGenerator[httpx2.Response]:
        """One request, over redirects that stay at the origin; any other redirect is the response."""
        url = self._url
        for _ in range(_REDIRECTS):
            async with self._client.stream(method, url, headers=headers, content=content) as response:
                onward = _onward(url, response)
                if onward is None:
                    yield response
                    return
            url = onward
        raise httpx2.TooManyRedirects(f"more than {_REDIRECTS} redirects from {mask_url(str(self._url))}")


def _checked_url(url: str) -> httpx2.URL:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise UsageError(f"{mask_url(url)} is no URL: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise UsageError(f"{mask_url(url)} is no URL of an MCP server: it needs http:// or https:// and a host")
    return parsed


def _checked_headers(target: HttpTarget) -> dict[str, str]:
    headers = dict(target.headers or {})
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise UsageError(
                f"the header {printable(name, 80)!r} for {mask_url(target.url)} cannot be sent: no such name"
            )
        if not _HEADER_VALUE.fullmatch(value):
            flaw = "its value has a line break or a character beyond ASCII"
            raise UsageError(f"the header {name} for {mask_url(target.url)} cannot be sent: {flaw}")
    return headers


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _onward(url: httpx2.URL, response: httpx2.Response) -> httpx2.URL | None:
    if response.status_code not in (307, 308) or "location" not in response.headers:
        return None
    onward = url.join(response.headers["location"])
    same = (onward.scheme, onward.host, onward.port) == (url.scheme, url.host, url.port)
    return onward if same else None


def _is_answer(status: int, body: bytes) -> bool:
    # A 401 belongs to whoever guards the server; its body matters less than its challenge.
    return status != 401 and isinstance(parse(body), ErrorReply | Result)


def _unlike_mcp(response: httpx2.Response, kind: str, body: bytes) -> str:
    status = f"HTTP {response.status_code} {response.reason_phrase}".rstrip()
    if response.is_redirect:
        location = mask_url(printable(response.headers.get("location", ""), 200))
        return f"{status}: it redirects to {location}, where credentials must not follow; give that address instead"
    if not body.strip():
        return f"{status} with an empty body"
    return f"{status} with {kind or 'no content type'}, not with JSON-RPC"


def _words(error: BaseException) -> str:
    """The cause at the bottom, in words a person can act on."""
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
