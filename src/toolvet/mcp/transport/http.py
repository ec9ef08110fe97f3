"""A server at a URL, by the two HTTP transports of MCP.

`HttpChannel` is Streamable HTTP: one POST for each message, answered with JSON or a stream of events. The optional GET
stream, on which a server may send messages of its own, is not opened.

`EventStreamChannel` is the transport of MCP 2024-11-05: one GET stream for all answers; its first event names the URL
to POST to. It is deprecated since 2025-03-26; many hosted servers still use it.
"""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

import httpx2

from toolvet.mcp.transport.origin import FAILURES, Origin, describe_error, describe_response, media_type
from toolvet.mcp.transport.reply import Inbox
from toolvet.mcp.transport.target import HttpTarget, mask_url, printable
from toolvet.mcp.wire import ErrorReply, Result, SseFramer, parse

_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")
# A server may end a stream before it has answered; the client then asks for the rest (2025-11-25, resumability).
_RESUMPTIONS: Final = 100
_RETRY_MILLISECONDS: Final = 1000
# Seconds that cancellations under way may still take when we close.
_NOTICE_SECONDS: Final = 0.5
_QUOTED_BODY: Final = 64 * 1024


class HttpChannel:
    """The channel to a server over Streamable HTTP (see `channel.Channel`)."""

    kind: Literal["stdio", "http"] = "http"
    exit_code: int | None = None
    stderr: str = ""

    _inbox: Inbox
    _origin: Origin

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
        """Whether the channel is open; a URL may answer again at any time."""
        return not self._closed

    async def start(self, inbox: Inbox) -> None:
        """Make the HTTP client; sends nothing yet. Raises UsageError for a URL or headers that cannot be sent."""
        self._inbox = inbox
        self._origin = Origin(self._target)

    def post(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        """Start a task for the request; its answer, `abandon` or `close` ends the task."""
        task = asyncio.ensure_future(self._exchange(id_, message, self._headers(headers)))
        self._tasks[id_] = task
        task.add_done_callback(lambda done: self._finish(id_, done))

    async def deliver(self, message: bytes, headers: Mapping[str, str]) -> None:
        """POST a notification or an answer; a refusal is noted."""
        try:
            async with self._origin.send("POST", self._headers(headers), message) as response:
                if not response.is_success:
                    body = await self._read_body(response)
                    self._inbox.note("notification_refused", f"HTTP {response.status_code}: {printable(body, 200)}")
        except FAILURES as error:
            self._inbox.note("notification_refused", describe_error(error))

    def abandon(self, id_: int, notice: bytes | None) -> None:
        """Close the response stream; in the legacy era that alone cancels nothing, so the notice is sent as well."""
        if task := self._tasks.get(id_):
            task.cancel()
        if notice is not None and not self._closed:
            farewell = asyncio.ensure_future(self.deliver(notice, {}))
            self._notices.add(farewell)
            farewell.add_done_callback(self._notices.discard)

    def use_version(self, version: str) -> None:
        """Send this version in a header of every request from now on."""
        self._version = version

    async def close(self, grace: float) -> None:
        """Cancel open requests, then end the legacy session, then close the connections."""
        self._closed = True
        try:
            for task in self._tasks.values():
                task.cancel()
            if self._notices:
                await asyncio.wait(self._notices, timeout=min(grace, _NOTICE_SECONDS))
            for task in self._notices:
                task.cancel()
            await asyncio.gather(*self._tasks.values(), *self._notices, return_exceptions=True)
            if self.session_id is not None:
                with suppress(*FAILURES):
                    async with asyncio.timeout(grace), self._origin.send("DELETE", self._headers({})):
                        pass
        finally:
            await self._origin.close()

    def _finish(self, id_: int, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(id_, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._inbox.fail(id_, error)

    async def _exchange(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        inbox = self._inbox
        try:
            async with self._origin.send("POST", headers, message) as response:
                session_id = response.headers.get("mcp-session-id")
                if session_id and response.is_success:
                    # The specification demands visible ASCII; no other is safe to send.
                    if _VISIBLE.fullmatch(session_id):
                        self.session_id = session_id
                    else:
                        inbox.note("bad_session_id", session_id)
                resume = await self._read_response(id_, response)
            for _ in range(_RESUMPTIONS):
                if resume is None or not inbox.awaits(id_):
                    break
                await asyncio.sleep((_RETRY_MILLISECONDS if resume.retry is None else resume.retry) / 1000)
                again = {**self._headers({}), "accept": "text/event-stream", "last-event-id": resume.last_event_id}
                async with self._origin.send("GET", again) as response:
                    resume = await self._read_response(id_, response)
        except FAILURES as error:
            inbox.lose(describe_error(error), id_=id_)
        inbox.reject(id_, "the response ended without an answer", b"")

    async def _read_response(self, id_: int, response: httpx2.Response) -> SseFramer | None:
        kind = media_type(response)
        if response.is_success and kind == "text/event-stream":
            return await self._read_events(id_, response)
        body = await self._read_body(response)
        status = response.status_code
        if self._limit is not None and len(body) > self._limit:
            self._inbox.reject(id_, f"the response is over the limit of {self._limit:,} bytes", b"", status=status)
        elif (response.is_success and kind == "application/json" and body.strip()) or (
            # A 401 often comes from a gateway before the server; its challenge matters more than its body.
            status != 401 and isinstance(parse(body), ErrorReply | Result)
        ):
            self._inbox.receive(body, answers=id_, status=status)
        else:
            challenge = response.headers.get("www-authenticate", "")
            reason = describe_response(response, body)
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
        # Only a legacy session can be resumed, and only from an event id that a header can carry.
        legal = self.session_id is not None and _VISIBLE.fullmatch(framer.last_event_id)
        return framer if legal else None

    async def _read_body(self, response: httpx2.Response) -> bytes:
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


class EventStreamChannel:
    """The channel to a server over the transport of 2024-11-05 (see `channel.Channel`)."""

    kind: Literal["stdio", "http"] = "http"
    session_id: str | None = None
    exit_code: int | None = None
    stderr: str = ""

    _inbox: Inbox
    _origin: Origin
    _endpoint: "asyncio.Future[httpx2.URL | None]"
    _listener: "asyncio.Task[None]"

    def __init__(self, target: HttpTarget, *, limit: int | None) -> None:
        self._target = target
        self._limit = limit
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._open: set[int] = set()
        self._stream_end: _StreamEnd | None = None

    @property
    def alive(self) -> bool:
        """Always true: a request then gets the reason why the stream ended as its reply."""
        return True

    async def start(self, inbox: Inbox) -> None:
        """Open the event stream. Raises UsageError for a URL or headers that cannot be sent."""
        self._inbox = inbox
        self._origin = Origin(self._target)
        self._endpoint = asyncio.get_running_loop().create_future()
        self._listener = asyncio.ensure_future(self._listen())

    def post(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        """POST once the server has named the URL; the answer arrives on the stream."""
        del headers
        self._open.add(id_)
        task = asyncio.ensure_future(self._exchange(id_, message))
        self._tasks[id_] = task
        task.add_done_callback(lambda done: self._finish(id_, done))

    async def deliver(self, message: bytes, headers: Mapping[str, str]) -> None:
        """POST a notification or an answer; a refusal is noted."""
        del headers
        refused = await self._send(message)
        if refused is not None:
            self._inbox.note("notification_refused", refused.reason)

    def abandon(self, id_: int, notice: bytes | None) -> None:
        """Stop waiting for the request, and send the cancellation `notice` if there is one."""
        self._open.discard(id_)
        if task := self._tasks.get(id_):
            task.cancel()
        if notice is not None:
            # Negative: a key that no request has.
            task = asyncio.ensure_future(self.deliver(notice, {}))
            self._tasks[-id_] = task
            task.add_done_callback(lambda _: self._tasks.pop(-id_, None))

    def use_version(self, version: str) -> None:
        """Do nothing: this transport is older than the header for versions."""
        del version

    async def close(self, grace: float) -> None:
        """Let cancellations under way be sent, then close the stream."""
        try:
            notices = [task for key, task in self._tasks.items() if key < 0]
            if notices:
                await asyncio.wait(notices, timeout=min(grace, 0.5))
            tasks = [self._listener, *self._tasks.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            await self._origin.close()

    def _finish(self, id_: int, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(id_, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._inbox.fail(id_, error)

    async def _exchange(self, id_: int, message: bytes) -> None:
        refused = self._stream_end or await self._send(message)
        if refused is not None:
            self._open.discard(id_)
            refused.report_to(self._inbox, id_)

    async def _send(self, message: bytes) -> "_StreamEnd | None":
        endpoint = await self._endpoint
        if endpoint is None:
            return self._stream_end or _StreamEnd("the event stream ended")
        try:
            headers = {"content-type": "application/json"}
            async with self._origin.send("POST", headers, message, url=endpoint) as response:
                return None if response.is_success else await _read_refusal(response)
        except FAILURES as error:
            return _StreamEnd(describe_error(error))

    async def _listen(self) -> None:
        try:
            async with self._origin.send("GET", {"accept": "text/event-stream"}) as response:
                if response.is_success and media_type(response) == "text/event-stream":
                    self._stream_end = await self._read_events(response)
                else:
                    self._stream_end = await _read_refusal(response)
        except FAILURES as error:
            self._stream_end = _StreamEnd(describe_error(error))
        if not self._endpoint.done():
            self._endpoint.set_result(None)
        for id_ in list(self._open):
            self._stream_end.report_to(self._inbox, id_)

    async def _read_events(self, response: httpx2.Response) -> "_StreamEnd":
        framer = SseFramer()
        async for chunk in response.aiter_bytes():
            for event in framer.feed(chunk):
                if event.event == "endpoint" and not self._endpoint.done():
                    reference = event.data.decode(errors="replace")
                    endpoint = self._origin.resolve(reference)
                    if endpoint is None:
                        return _StreamEnd(f"it wants messages at another origin, {mask_url(printable(reference, 200))}")
                    self._endpoint.set_result(endpoint)
                elif event.event == "message" and event.data:
                    self._inbox.receive(event.data)
            if self._limit is not None and framer.pending_bytes > self._limit:
                return _StreamEnd(f"an event is over the limit of {self._limit:,} bytes")
        return _StreamEnd("the event stream ended")


@dataclass(frozen=True)
class _StreamEnd:
    """Why no answer can arrive: a response that is not an event stream (`status` is set), or a broken connection."""

    reason: str
    raw: bytes = b""
    status: int | None = None
    challenge: str = ""

    def report_to(self, inbox: Inbox, id_: int) -> None:
        if self.status is None:
            inbox.lose(self.reason, id_=id_)
        else:
            inbox.reject(id_, self.reason, self.raw, status=self.status, challenge=self.challenge)


async def _read_refusal(response: httpx2.Response) -> _StreamEnd:
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _QUOTED_BODY:
            break
    challenge = response.headers.get("www-authenticate", "")
    return _StreamEnd(describe_response(response, body), body[:_QUOTED_BODY], response.status_code, challenge)
