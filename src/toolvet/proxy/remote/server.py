"""A server at a URL, used like a pipe: messages in, in order; messages out, from all its streams.

Raw Streamable HTTP. In the legacy era there is a session (`Mcp-Session-Id`, a GET stream for messages that the server
sends unasked, streams that are resumed, DELETE at the end); in the modern era each request is independent, repeated in
headers, and is cancelled by closing its stream (MCP 2025-11-25 and 2026-07-28, basic/transports). Each message has its
own era: a client that begins with `server/discover` may go on with `initialize`.

A session that the server forgot (404) is opened again with the client's own `initialize`: a client on a pipe cannot do
that, and a request that was refused in this way was not acted on.
"""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

import httpx2

from toolvet.core.json_value import members
from toolvet.core.meta import PROTOCOL_VERSION_KEY
from toolvet.mcp.transport import FAILURES, HttpTarget, Origin, describe_error, describe_response, media_type, printable
from toolvet.mcp.wire import (
    ErrorReply,
    Id,
    Message,
    Noise,
    Notification,
    ParameterHeaders,
    Request,
    Result,
    SseEvent,
    SseFramer,
    encode_error,
    encode_notification,
    mirror,
    parameter_headers,
    parse,
    request_headers,
    split_batch,
)
from toolvet.proxy.session import Catalogue

if TYPE_CHECKING:
    from toolvet.proxy.session.catalogue import KnownTool

# A direct client would use as many connections; with more, the process runs out of file descriptors.
_MOST_REQUESTS: Final = 256
_RESUMPTIONS: Final = 100
_RETRY_SECONDS: Final = 1.0
_LONGEST_RETRY: Final = 30.0
# Messages after a notification wait for it, but not longer than this for one that the server does not accept (seconds).
_NOTICE_SECONDS: Final = 5.0
_CLOSE_SECONDS: Final = 2.0
_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")
_EVENTS: Final = "text/event-stream"
_INTERNAL_ERROR: Final = -32603


OnMessage: TypeAlias = Callable[[bytes], Awaitable[None]]


class PostedMessage:
    """A message that is sent in one POST.

    `unanswered` are the ids that the response must answer; it is empty for a notification. `version` is the protocol
    version that a modern request names, None in the legacy era. `cancels` is the id that a cancellation names. `begun`
    is set when the server has accepted the POST.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.method = ""
        self.params: object = None
        self.unanswered: set[Id] = set()
        self.version: str | None = None
        self.cancels: Id | None = None
        self.is_cancelled = False
        self.begun = asyncio.Event()

    @property
    def is_subscription(self) -> bool:
        """Whether the stream that answers is meant to stay open."""
        return self.method == "subscriptions/listen"

    def note_reply(self, message: bytes) -> None:
        """Strike the ids that a message of the server answers, if any, from `unanswered`."""
        if self.unanswered:
            parsed = parse(message)
            answers = _parse_batch(message) if isinstance(parsed, Noise) and parsed.kind == "batch" else [parsed]
            for each in answers:
                if isinstance(each, Result | ErrorReply) and each.id is not None:
                    self.unanswered.discard(each.id)


def read_posted(data: bytes) -> PostedMessage:
    """Read a message of the client. Total, as `parse` is: bytes that are not a message become one without an answer."""
    posted = PostedMessage(data)
    message = parse(data)
    if isinstance(message, Request):
        posted.method, posted.params = message.method, message.params
        posted.unanswered.add(message.id)
    elif isinstance(message, Notification):
        posted.method, posted.params = message.method, message.params
        if message.method == "notifications/cancelled":
            id_ = members(message.params).get("requestId")
            posted.cancels = id_ if isinstance(id_, int | str) and not isinstance(id_, bool) else None
    elif isinstance(message, Noise) and message.kind == "batch":
        posted.unanswered.update(each.id for each in _parse_batch(data) if isinstance(each, Request))
    version = members(members(posted.params).get("_meta")).get(PROTOCOL_VERSION_KEY)
    if isinstance(version, str) and version.isascii() and version.isprintable():
        posted.version = version
    return posted


class MirroredHeaders:
    """The headers that repeat parts of a modern request: version, method, name, and parameters that its tool marks."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        # The last known definition of a tool is still used when the list is forgotten.
        self._known: dict[str, tuple[KnownTool, ParameterHeaders]] = {}

    def of(self, posted: PostedMessage) -> dict[str, str]:
        """Return the headers of this request."""
        headers = request_headers(posted.version or "", posted.method, posted.params)
        if posted.method == "tools/call":
            params = members(posted.params)
            name = params.get("name")
            if isinstance(name, str):
                tool, known = self._catalogue.tools.get(name), self._known.get(name)
                if tool is not None and (known is None or known[0] is not tool):
                    known = self._known[name] = (tool, parameter_headers(tool.definition.get("inputSchema")))
                marked = ParameterHeaders() if known is None else known[1]
                headers.update(mirror(marked, params.get("arguments")))
        return headers


def _parse_batch(data: bytes) -> list[Message]:
    return [parse(message) for message in split_batch(data)]


class RemoteServer:
    """The connection to one server; `write` takes the client's lines.

    `size` is how many bytes the server has not accepted yet.

    Args:
        target: The server's URL and the user's headers.
        catalogue: The server's tools, as far as they are known.
        prefix: Begins the ids of the proxy's own questions.
        limit: How many bytes of a message are kept; a longer one is dropped, and its request fails.
        complain: Called with a text when a message is too long.
        on_message: Called with each message of the server.
        on_failure: Called with an error for each request that the server does not answer.
        lose: Called with the id of each question of the proxy that was not answered.
        rested: Called whenever the server accepted or answered something: `size` and `is_busy` may have changed.

    Raises:
        UsageError: For a URL or headers that cannot be sent.
    """

    def __init__(
        self,
        target: HttpTarget,
        catalogue: Catalogue,
        prefix: str,
        *,
        limit: int,
        complain: Callable[[str], None],
        on_message: OnMessage,
        on_failure: OnMessage,
        lose: Callable[[str], None],
        rested: Callable[[], None],
    ) -> None:
        self._origin = Origin(target)
        self._catalogue = catalogue
        self._prefix = prefix
        self._limit = limit
        self._complain = complain
        self._mirrored = MirroredHeaders(catalogue)
        self._on_message = on_message
        self._on_failure = on_failure
        self._lose = lose
        self._rested = rested
        self.size = 0
        self._session_id: str | None = None
        self._version: str | None = None
        self._initialize: PostedMessage | None = None
        self._open: dict[PostedMessage, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(_MOST_REQUESTS)
        self._renewing = asyncio.Lock()
        self._stream: asyncio.Task[None] | None = None
        self._queue: asyncio.Queue[PostedMessage] = asyncio.Queue()
        self._sender = asyncio.ensure_future(self._send_all())
        self._sending = False

    @property
    def is_busy(self) -> bool:
        """Whether a message waits to be sent or answered. Subscriptions do not count: they do not end by themselves."""
        return self._sending or not self._queue.empty() or any(not posted.is_subscription for posted in self._open)

    def write(self, buffers: Sequence[bytes]) -> None:
        """Queue these lines to be sent in order. Empty lines are not messages and are dropped."""
        for line in b"".join(buffers).split(b"\n"):
            if line.strip():
                self.size += len(line)
                self._queue.put_nowait(read_posted(line))

    async def close(self) -> None:
        """Cancel what is open, then end the legacy session, then close the connections."""
        tasks = [self._sender, *self._open.values(), *([self._stream] if self._stream else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            if self._session_id is not None:
                with suppress(TimeoutError, *FAILURES):
                    async with asyncio.timeout(_CLOSE_SECONDS), self._origin.send("DELETE", self._legacy_headers()):
                        pass
        finally:
            await self._origin.close()

    async def _send_all(self) -> None:
        while True:
            posted = await self._queue.get()
            self._sending = True
            try:
                await self._dispatch(posted)
            finally:
                self._sending = False
            self._rested()

    async def _dispatch(self, posted: PostedMessage) -> None:
        if posted.cancels is not None:
            for other, running in self._open.items():
                if posted.cancels in other.unanswered:
                    other.is_cancelled = True
                    if other.version is not None:
                        # Closing its stream cancels it; in the legacy era the notification has to be sent instead.
                        running.cancel()
                        self.size -= len(posted.data)
                        return
        task = asyncio.ensure_future(self._run(posted))
        self._open[posted] = task
        task.add_done_callback(lambda _: self._finish(posted))
        if posted.method == "initialize":
            # All later messages need the session that it opens.
            self._initialize = posted
            opened = asyncio.ensure_future(posted.begun.wait())
            await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
            opened.cancel()
        elif not posted.unanswered:
            await asyncio.wait({task}, timeout=_NOTICE_SECONDS)

    def _finish(self, posted: PostedMessage) -> None:
        self._open.pop(posted, None)
        if not posted.begun.is_set():
            self._mark_begun(posted)
        self._rested()

    def _mark_begun(self, posted: PostedMessage) -> None:
        posted.begun.set()
        self.size -= len(posted.data)

    async def _run(self, posted: PostedMessage) -> None:
        what, why = "did not answer", "the response ended without an answer"
        try:
            if posted.is_subscription or not posted.unanswered:
                await self._ask(posted)
            else:
                async with self._slots:
                    await self._ask(posted)
        except _RefusedError as refused:
            why = str(refused)
        except FAILURES as error:
            what, why = "is unavailable and did not answer", describe_error(error)
        if posted.unanswered:
            await self._fail(posted, _INTERNAL_ERROR, f"The MCP server {what}: {why}", None, tell=self._on_failure)

    async def _ask(self, posted: PostedMessage) -> None:
        session_id = self._session_id
        if not await self._post(posted):
            await self._renew(session_id)
            if not await self._post(posted):
                raise _RefusedError("it ends each session at once (HTTP 404)")

    async def _post(self, posted: PostedMessage) -> bool:
        headers = self._headers(posted)
        resume: SseFramer | None = None
        async with self._origin.send("POST", headers, posted.data) as response:
            if response.status_code == 404 and "mcp-session-id" in headers:
                return False
            if not posted.begun.is_set():
                if posted.method == "initialize" and response.is_success:
                    self._remember(response)
                self._mark_begun(posted)
                self._rested()
            if posted.method == "notifications/initialized" and response.is_success and posted.version is None:
                self._open_stream()
            resume = await self._read(posted, response)
        for _ in range(_RESUMPTIONS):
            if resume is None or not posted.unanswered:
                break
            await asyncio.sleep(_pause(resume))
            resume = await self._resume(posted, resume)
        return True

    async def _read(self, posted: PostedMessage, response: httpx2.Response) -> SseFramer | None:
        if response.is_success and media_type(response) == _EVENTS:
            return await self._read_events(posted, response, SseFramer())
        body = await self._read_body(response)
        if response.is_success and (media_type(response) == "application/json" or not posted.unanswered):
            if body.strip():
                await self._pass(posted, body)
            return None
        message = parse(body)
        if isinstance(message, ErrorReply):
            if not posted.unanswered or message.id in posted.unanswered:
                await self._pass(posted, body)
            else:
                # Refused before its id was read; the client still needs the error under its id.
                await self._fail(posted, message.code, message.message, message.data, tell=self._on_message)
            return None
        words = describe_response(response, body)
        if response.status_code == 401:
            challenge = printable(response.headers.get("www-authenticate", ""), 200)
            wanted = f" (it wants: {challenge})" if challenge else ""
            words = f"{words}{wanted}; `--header 'Authorization: …'` gives it credentials"
        raise _RefusedError(words)

    async def _read_events(
        self, posted: PostedMessage, response: httpx2.Response, framer: SseFramer
    ) -> SseFramer | None:
        try:
            async for chunk in response.aiter_bytes():
                for event in self._events(framer, chunk):
                    if event.event == "message":
                        await self._pass(posted, event.data)
        except FAILURES:
            if not _may_resume(posted, framer):
                raise
        return framer if _may_resume(posted, framer) else None

    async def _read_body(self, response: httpx2.Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > self._limit:
                raise self._too_long()
            parts.append(chunk)
        return b"".join(parts)

    def _events(self, framer: SseFramer, chunk: bytes) -> list[SseEvent]:
        events = framer.feed(chunk)
        if framer.pending_bytes > self._limit:
            raise self._too_long()
        # One without data only names the place to resume from.
        return [event for event in events if event.data.strip()]

    def _too_long(self) -> "_RefusedError":
        words = f"a message of it is longer than the limit of {self._limit} bytes (max_message_bytes)"
        self._complain(words)
        return _RefusedError(f"{words}, so it was dropped")

    async def _resume(self, posted: PostedMessage, framer: SseFramer) -> SseFramer | None:
        onward = SseFramer()
        onward.last_event_id, onward.retry = framer.last_event_id, framer.retry
        headers = {**self._legacy_headers(), "accept": _EVENTS, "last-event-id": framer.last_event_id}
        try:
            async with self._origin.send("GET", headers) as response:
                if not response.is_success or media_type(response) != _EVENTS:
                    raise _RefusedError(f"its stream ended, and cannot be taken up again (HTTP {response.status_code})")
                return await self._read_events(posted, response, onward)
        except FAILURES:
            return onward

    async def _pass(self, posted: PostedMessage, message: bytes) -> None:
        if posted.method == "initialize" and posted.unanswered:
            self._read_version(message)
        posted.note_reply(message)
        await self._on_message(message)

    async def _fail(self, posted: PostedMessage, code: int, words: str, data: object, *, tell: OnMessage) -> None:
        """Answer a message in place of the server; the client does not wait for requests that it cancelled."""
        for id_ in tuple(posted.unanswered):
            posted.unanswered.discard(id_)
            if isinstance(id_, str) and id_.startswith(self._prefix):
                self._lose(id_)
            elif not posted.is_cancelled:
                await tell(encode_error(id_, code, words, data))

    def _remember(self, response: httpx2.Response) -> None:
        session_id = response.headers.get("mcp-session-id", "")
        # Visible ASCII is what the specification allows, and all that can safely be sent back.
        self._session_id = session_id if _VISIBLE.fullmatch(session_id) else None

    def _read_version(self, message: bytes) -> None:
        answer = parse(message)
        if isinstance(answer, Result):
            version = members(answer.result).get("protocolVersion")
            self._version = version if isinstance(version, str) and _VISIBLE.fullmatch(version) else None

    def _legacy_headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        if self._version is not None:
            headers["mcp-protocol-version"] = self._version
        if self._session_id is not None:
            headers["mcp-session-id"] = self._session_id
        return headers

    def _headers(self, posted: PostedMessage) -> dict[str, str]:
        headers = {"accept": f"application/json, {_EVENTS}", "content-type": "application/json"}
        if posted.version is not None:
            return {**headers, **self._mirrored.of(posted)}
        return headers if posted.method == "initialize" else {**headers, **self._legacy_headers()}

    async def _renew(self, expired: str | None) -> None:
        """Open the session again, once for all requests that found it expired. Raises _RefusedError when that fails."""
        async with self._renewing:
            if self._session_id != expired:
                return
            if self._initialize is None:
                raise _RefusedError("it does not know the session (HTTP 404)")
            again = read_posted(self._initialize.data)
            async with self._origin.send("POST", self._headers(again), again.data) as response:
                session_id = self._session_id
                self._remember(response)
                # The client must not see the answer.
                messages: list[bytes] = []
                if response.is_success and media_type(response) == _EVENTS:
                    framer = SseFramer()
                    async for chunk in response.aiter_bytes():
                        messages += [event.data for event in self._events(framer, chunk)]
                elif response.is_success:
                    messages.append(await self._read_body(response))
                for message in messages:
                    if isinstance(parse(message), Result):
                        self._read_version(message)
                        again.note_reply(message)
            if again.unanswered:
                self._session_id = session_id
                raise _RefusedError("it ended the session and does not open another (HTTP 404)")
            initialized = encode_notification("notifications/initialized")
            headers = {**self._legacy_headers(), "accept": f"application/json, {_EVENTS}"}
            headers["content-type"] = "application/json"
            async with self._origin.send("POST", headers, initialized):
                pass
            self._catalogue.forget()
            self._open_stream()
            sys.stderr.write("toolvet: the server ended the session; a new one is open, the old one's state is lost\n")

    def _open_stream(self) -> None:
        if self._stream is not None:
            self._stream.cancel()
        self._stream = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        """Read a GET stream and open it again whenever it ends. Servers without one answer 405."""
        framer = SseFramer()
        failures = 0
        while True:
            headers = {**self._legacy_headers(), "accept": _EVENTS}
            if _VISIBLE.fullmatch(framer.last_event_id):
                headers["last-event-id"] = framer.last_event_id
            with suppress(_RefusedError, *FAILURES):
                async with self._origin.send("GET", headers) as response:
                    if response.is_success and media_type(response) == _EVENTS:
                        onward = SseFramer()
                        onward.last_event_id, onward.retry = framer.last_event_id, framer.retry
                        framer, failures = onward, 0
                        async for chunk in response.aiter_bytes():
                            for event in self._events(framer, chunk):
                                if event.event == "message":
                                    await self._on_message(event.data)
                    elif response.status_code < 500:
                        return
            await asyncio.sleep(min(_pause(framer) * 2**failures, _LONGEST_RETRY))
            failures = min(failures + 1, 10)


class _RefusedError(Exception):
    """The server refused a message, or does not answer it; the message says how."""


def _pause(framer: SseFramer) -> float:
    return _RETRY_SECONDS if framer.retry is None else min(framer.retry / 1000, _LONGEST_RETRY)


def _may_resume(posted: PostedMessage, framer: SseFramer) -> bool:
    """Whether the stream can be resumed: only legacy streams, after an event id that a header can carry."""
    return posted.version is None and bool(posted.unanswered) and bool(_VISIBLE.fullmatch(framer.last_event_id))
