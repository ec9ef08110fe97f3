"""The transport of MCP 2024-11-05 over HTTP: one GET stream brings everything, and its first event says where to POST.

Deprecated since 2025-03-26, and still what many hosted servers speak.
"""

import asyncio
from collections.abc import Mapping
from typing import Literal

import httpx2

from toolvet.transport.channel import Inbox
from toolvet.transport.origin import FAILURES, Origin, in_words, media_type, unlike_mcp
from toolvet.transport.quote import printable
from toolvet.transport.target import HttpTarget, mask_url
from toolvet.wire import SseFramer

_QUOTED_BODY = 64 * 1024


class EventStreamChannel:
    """See channel.Channel."""

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
        self._over: _Over | None = None

    @property
    def alive(self) -> bool:
        """Always worth asking: what became of the stream is the better answer."""
        return True

    async def start(self, inbox: Inbox) -> None:
        """Begin to listen. Raises UsageError for a URL or headers that cannot be sent."""
        self._inbox = inbox
        self._origin = Origin(self._target)
        self._endpoint = asyncio.get_running_loop().create_future()
        self._listener = asyncio.ensure_future(self._listen())

    def post(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        """POST once the server has said where to; the answer comes on the stream."""
        del headers
        self._open.add(id_)
        task = asyncio.ensure_future(self._exchange(id_, message))
        self._tasks[id_] = task
        task.add_done_callback(lambda done: self._finished(id_, done))

    async def deliver(self, message: bytes, headers: Mapping[str, str]) -> None:
        """POST a notification or an answer; a server that refuses it is noted."""
        del headers
        refused = await self._send(message)
        if refused is not None:
            self._inbox.note("notification_refused", refused.reason)

    def abandon(self, id_: int, notice: bytes | None) -> None:
        """Tell the server, if it may be told."""
        self._open.discard(id_)
        if task := self._tasks.get(id_):
            task.cancel()
        if notice is not None:
            # Negative: a key of its own, which no request has.
            task = asyncio.ensure_future(self.deliver(notice, {}))
            self._tasks[-id_] = task
            task.add_done_callback(lambda _: self._tasks.pop(-id_, None))

    def settle(self, version: str) -> None:
        """Headers with versions came later than this transport."""
        del version

    async def close(self, grace: float) -> None:
        """Let cancellations that are under way go out, then close the stream."""
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

    def _finished(self, id_: int, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(id_, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._inbox.fail(id_, error)

    async def _exchange(self, id_: int, message: bytes) -> None:
        refused = self._over or await self._send(message)
        if refused is not None:
            self._open.discard(id_)
            refused.tell(self._inbox, id_)

    async def _send(self, message: bytes) -> "_Over | None":
        """POST a message; None when it was taken."""
        endpoint = await self._endpoint
        if endpoint is None:
            return self._over or _Over("the event stream ended")
        try:
            headers = {"content-type": "application/json"}
            async with self._origin.send("POST", headers, message, url=endpoint) as response:
                return None if response.is_success else await _refusal(response)
        except FAILURES as error:
            return _Over(in_words(error))

    async def _listen(self) -> None:
        try:
            async with self._origin.send("GET", {"accept": "text/event-stream"}) as response:
                if response.is_success and media_type(response) == "text/event-stream":
                    self._over = await self._events(response)
                else:
                    self._over = await _refusal(response)
        except FAILURES as error:
            self._over = _Over(in_words(error))
        if not self._endpoint.done():
            self._endpoint.set_result(None)
        for id_ in list(self._open):
            self._over.tell(self._inbox, id_)

    async def _events(self, response: httpx2.Response) -> "_Over":
        framer = SseFramer()
        async for chunk in response.aiter_bytes():
            for event in framer.feed(chunk):
                if event.event == "endpoint" and not self._endpoint.done():
                    reference = event.data.decode(errors="replace")
                    endpoint = self._origin.at_home(reference)
                    if endpoint is None:
                        return _Over(f"it wants messages at another origin, {mask_url(printable(reference, 200))}")
                    self._endpoint.set_result(endpoint)
                elif event.event == "message" and event.data:
                    self._inbox.receive(event.data)
            if self._limit is not None and framer.pending_bytes > self._limit:
                return _Over(f"an event is over the limit of {self._limit:,} bytes")
        return _Over("the event stream ended")


class _Over:
    """Why nothing comes any more: a response that is no event stream, or a broken connection."""

    def __init__(self, reason: str, raw: bytes = b"", status: int | None = None, challenge: str = "") -> None:
        self.reason = reason
        self._raw = raw
        self._status = status
        self._challenge = challenge

    def tell(self, inbox: Inbox, id_: int) -> None:
        if self._status is None:
            inbox.lose(self.reason, id_=id_)
        else:
            inbox.reject(id_, self.reason, self._raw, status=self._status, challenge=self._challenge)


async def _refusal(response: httpx2.Response) -> _Over:
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _QUOTED_BODY:
            break
    challenge = response.headers.get("www-authenticate", "")
    return _Over(unlike_mcp(response, body), body[:_QUOTED_BODY], response.status_code, challenge)
