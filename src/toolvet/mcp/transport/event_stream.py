"""The HTTP transport of MCP 2024-11-05: one GET stream for all answers; its first event names the URL to POST to.

Deprecated since 2025-03-26; many hosted servers still use it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import httpx2

from toolvet.mcp.transport.channel import Inbox
from toolvet.mcp.transport.origin import FAILURES, Origin, describe_error, describe_response, media_type
from toolvet.mcp.transport.quote import printable
from toolvet.mcp.transport.target import HttpTarget, mask_url
from toolvet.mcp.wire import SseFramer

_QUOTED_BODY: Final = 64 * 1024


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

    def settle(self, version: str) -> None:
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
        """POST a message; None when it was taken."""
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
        """Settle request `id_` with this reason."""
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
