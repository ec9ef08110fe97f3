"""A server at a URL as a pipe has it: messages in, in their order; messages out, from whatever stream they come.

Streamable HTTP, raw. In the legacy era there is a session (`Mcp-Session-Id`, a GET stream for what the server says of
its own accord, streams that are taken up again, DELETE at the end); in the modern era each request stands for itself,
repeated in headers, and is cancelled by closing its stream (MCP 2025-11-25 and 2026-07-28, basic/transports). The era
is that of each message: a client that begins with `server/discover` may go on with `initialize`.

A session that the server forgot (404) is opened anew with the client's own words: a client on a pipe cannot do that,
and a request that was refused so was not acted on.
"""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, Literal

import httpx2

from toolvet.proxy.remote.request import Asking, MirroredHeaders, asking_of
from toolvet.schema.json_value import members
from toolvet.session import Catalogue
from toolvet.transport.origin import FAILURES, Origin, in_words, media_type, unlike_mcp
from toolvet.transport.quote import printable
from toolvet.transport.target import HttpTarget
from toolvet.wire import ErrorReply, Id, Result, SseFramer, encode_error, encode_notification, parse

# A direct client would have as many connections; more than that, and files run out.
_MOST_REQUESTS: Final = 256
_RESUMPTIONS: Final = 100
_RETRY_SECONDS: Final = 1.0
_LONGEST_RETRY: Final = 30.0
# What follows a notification waits for it, but not for one that the server does not take.
_NOTICE_SECONDS: Final = 5.0
_CLOSE_SECONDS: Final = 2.0
_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")
_EVENTS: Final = "text/event-stream"
_INTERNAL_ERROR: Final = -32603


class RemoteServer:
    """`write` takes lines. `hear` is given each message of the server, `lose` each question of ours that failed.

    Questions of ours are known by their `prefix`.
    `rested` is called whenever something was dealt with: look at `size` (bytes not yet taken) and `is_busy` then.
    Raises UsageError for a URL or headers that cannot be sent.
    """

    def __init__(
        self,
        target: HttpTarget,
        catalogue: Catalogue,
        prefix: str,
        *,
        hear: Callable[[bytes], Awaitable[None]],
        lose: Callable[[str], None],
        rested: Callable[[], None],
    ) -> None:
        self._origin = Origin(target)
        self._catalogue = catalogue
        self._prefix = prefix
        self._mirrored = MirroredHeaders(catalogue)
        self._hear = hear
        self._lose = lose
        self._rested = rested
        self.size = 0
        self._session_id: str | None = None
        self._version: str | None = None
        self._initialize: Asking | None = None
        self._open: dict[Asking, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(_MOST_REQUESTS)
        self._renewing = asyncio.Lock()
        self._stream: asyncio.Task[None] | None = None
        self._queue: asyncio.Queue[Asking] = asyncio.Queue()
        self._sender = asyncio.ensure_future(self._send_all())
        self._sending = False

    @property
    def is_busy(self) -> bool:
        """Whether something is on its way that has an end of its own; a subscription has none."""
        return self._sending or not self._queue.empty() or any(not asking.is_subscription for asking in self._open)

    def write(self, buffers: Sequence[bytes]) -> None:
        """Send these lines, in their order. Empty ones are nobody's message."""
        for line in b"".join(buffers).split(b"\n"):
            if line.strip():
                self.size += len(line)
                self._queue.put_nowait(asking_of(line))

    async def close(self) -> None:
        """End what is open, then the legacy session, then the connections."""
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

    # In their order.

    async def _send_all(self) -> None:
        while True:
            asking = await self._queue.get()
            self._sending = True
            try:
                await self._dispatch(asking)
            finally:
                self._sending = False
            self._rested()

    async def _dispatch(self, asking: Asking) -> None:
        cancelled = asking.cancels
        if cancelled is not None and self._cancelled(cancelled) == "closed":
            self.size -= len(asking.data)
            return
        task = asyncio.ensure_future(self._run(asking))
        self._open[asking] = task
        task.add_done_callback(lambda _: self._finished(asking))
        if asking.method == "initialize":
            # The session that it opens is needed for all that follows.
            self._initialize = asking
            opened = asyncio.ensure_future(asking.begun.wait())
            await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
            opened.cancel()
        elif not asking.unanswered:
            await asyncio.wait({task}, timeout=_NOTICE_SECONDS)

    def _cancelled(self, id_: Id) -> Literal["closed", "sent"]:
        """In the modern era the stream is closed, and that says it; in the legacy era the notification does."""
        for asking, task in self._open.items():
            if id_ in asking.unanswered:
                asking.is_cancelled = True
                if asking.version is not None:
                    task.cancel()
                    return "closed"
        return "sent"

    def _finished(self, asking: Asking) -> None:
        self._open.pop(asking, None)
        if not asking.begun.is_set():
            self._begun(asking)
        self._rested()

    def _begun(self, asking: Asking) -> None:
        asking.begun.set()
        self.size -= len(asking.data)

    # One message.

    async def _run(self, asking: Asking) -> None:
        """From the POST to the end of its answer; whatever is not answered then is answered by us."""
        why = "the response ended without an answer"
        try:
            if asking.is_subscription or not asking.unanswered:
                await self._ask(asking)
            else:
                async with self._slots:
                    await self._ask(asking)
        except _RefusedError as refused:
            why = str(refused)
        except FAILURES as error:
            why = in_words(error)
        if asking.unanswered:
            await self._fail(asking, _INTERNAL_ERROR, f"The MCP server did not answer: {why}", None)

    async def _ask(self, asking: Asking) -> None:
        session_id = self._session_id
        if not await self._post(asking):
            await self._renew(session_id)
            if not await self._post(asking):
                raise _RefusedError("it ends each session at once (HTTP 404)")

    async def _post(self, asking: Asking) -> bool:
        """Send it and pass on what comes back. False when the server does not know the session (any more)."""
        headers = self._headers(asking)
        resume: SseFramer | None = None
        async with self._origin.send("POST", headers, asking.data) as response:
            if response.status_code == 404 and "mcp-session-id" in headers:
                return False
            if not asking.begun.is_set():
                if asking.method == "initialize" and response.is_success:
                    self._remember(response)
                self._begun(asking)
                self._rested()
            if asking.method == "notifications/initialized" and response.is_success and asking.version is None:
                self._open_stream()
            resume = await self._read(asking, response)
        for _ in range(_RESUMPTIONS):
            if resume is None or not asking.unanswered:
                break
            await asyncio.sleep(_pause(resume))
            resume = await self._resume(asking, resume)
        return True

    async def _read(self, asking: Asking, response: httpx2.Response) -> SseFramer | None:
        """Pass on what a response holds; the framer to go on with, if the stream may be taken up again."""
        if response.is_success and media_type(response) == _EVENTS:
            return await self._read_events(asking, response, SseFramer())
        body = await response.aread()
        if response.is_success and (media_type(response) == "application/json" or not asking.unanswered):
            if body.strip():
                await self._pass(asking, body)
            return None
        message = parse(body)
        if isinstance(message, ErrorReply):
            if not asking.unanswered or message.id in asking.unanswered:
                await self._pass(asking, body)
            else:
                # Refused before its id was read, which the client must hear under its id all the same.
                await self._fail(asking, message.code, message.message, message.data)
            return None
        raise _RefusedError(_refusal(response, body))

    async def _read_events(self, asking: Asking, response: httpx2.Response, framer: SseFramer) -> SseFramer | None:
        try:
            async for chunk in response.aiter_bytes():
                for event in framer.feed(chunk):
                    if event.event == "message":
                        await self._pass(asking, event.data)
        except FAILURES:
            if not _may_resume(asking, framer):
                raise
        return framer if _may_resume(asking, framer) else None

    async def _resume(self, asking: Asking, framer: SseFramer) -> SseFramer | None:
        """Ask for what the stream still holds. A connection that fails once more is no end."""
        onward = SseFramer()
        onward.last_event_id, onward.retry = framer.last_event_id, framer.retry
        headers = {**self._legacy_headers(), "accept": _EVENTS, "last-event-id": framer.last_event_id}
        try:
            async with self._origin.send("GET", headers) as response:
                if not response.is_success or media_type(response) != _EVENTS:
                    raise _RefusedError(f"its stream ended, and cannot be taken up again (HTTP {response.status_code})")
                return await self._read_events(asking, response, onward)
        except FAILURES:
            return onward

    async def _pass(self, asking: Asking, message: bytes) -> None:
        if asking.method == "initialize" and asking.unanswered:
            self._settle(message)
        asking.hear(message)
        await self._hear(message)

    async def _fail(self, asking: Asking, code: int, words: str, data: object) -> None:
        """Answer in the server's stead. The client does not wait for what it cancelled."""
        for id_ in tuple(asking.unanswered):
            asking.unanswered.discard(id_)
            if isinstance(id_, str) and id_.startswith(self._prefix):
                self._lose(id_)
            elif not asking.is_cancelled:
                await self._hear(encode_error(id_, code, words, data))

    # The legacy session.

    def _remember(self, response: httpx2.Response) -> None:
        session_id = response.headers.get("mcp-session-id", "")
        # Visible ASCII is what the specification allows, and all that can safely be sent back.
        self._session_id = session_id if _VISIBLE.fullmatch(session_id) else None

    def _settle(self, message: bytes) -> None:
        """The answer to `initialize` says which version stands in every request from now on."""
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

    def _headers(self, asking: Asking) -> dict[str, str]:
        headers = {"accept": f"application/json, {_EVENTS}", "content-type": "application/json"}
        if asking.version is not None:
            return {**headers, **self._mirrored.of(asking)}
        return headers if asking.method == "initialize" else {**headers, **self._legacy_headers()}

    async def _renew(self, expired: str | None) -> None:
        """Open a session anew. Once, whoever notices first."""
        async with self._renewing:
            if self._session_id != expired:
                return
            if self._initialize is None:
                raise _RefusedError("it does not know the session (HTTP 404)")
            again = asking_of(self._initialize.data)
            async with self._origin.send("POST", self._headers(again), again.data) as response:
                session_id = self._session_id
                self._remember(response)
                await self._reopened(again, response)
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
            sys.stderr.write("toolvet: the server ended the session; it was opened anew, without what it had kept\n")

    async def _reopened(self, again: Asking, response: httpx2.Response) -> None:
        """Read the answer to an `initialize` of ours, which the client must not see."""
        if not response.is_success:
            return
        messages: list[bytes] = []
        if media_type(response) == _EVENTS:
            framer = SseFramer()
            async for chunk in response.aiter_bytes():
                messages += [event.data for event in framer.feed(chunk)]
        else:
            messages.append(await response.aread())
        for message in messages:
            if isinstance(parse(message), Result):
                self._settle(message)
                again.hear(message)

    # What the server says of its own accord.

    def _open_stream(self) -> None:
        if self._stream is not None:
            self._stream.cancel()
        self._stream = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        """A GET stream, opened again whenever it ends. Servers without one say 405."""
        framer = SseFramer()
        failures = 0
        while True:
            headers = {**self._legacy_headers(), "accept": _EVENTS}
            if _VISIBLE.fullmatch(framer.last_event_id):
                headers["last-event-id"] = framer.last_event_id
            with suppress(*FAILURES):
                async with self._origin.send("GET", headers) as response:
                    if response.is_success and media_type(response) == _EVENTS:
                        onward = SseFramer()
                        onward.last_event_id, onward.retry = framer.last_event_id, framer.retry
                        framer, failures = onward, 0
                        async for chunk in response.aiter_bytes():
                            for event in framer.feed(chunk):
                                if event.event == "message":
                                    await self._hear(event.data)
                    elif response.status_code < 500:
                        return
            await asyncio.sleep(min(_pause(framer) * 2**failures, _LONGEST_RETRY))
            failures = min(failures + 1, 10)


class _RefusedError(Exception):
    """The server refused a message, or does not answer it; the words say how."""


def _pause(framer: SseFramer) -> float:
    """Seconds to wait before a stream is asked for again, by the server's own `retry`."""
    return _RETRY_SECONDS if framer.retry is None else min(framer.retry / 1000, _LONGEST_RETRY)


def _may_resume(asking: Asking, framer: SseFramer) -> bool:
    """Only legacy streams can be taken up again, and only where an id that a header can carry names the place."""
    return asking.version is None and bool(asking.unanswered) and bool(_VISIBLE.fullmatch(framer.last_event_id))


def _refusal(response: httpx2.Response, body: bytes) -> str:
    words = unlike_mcp(response, body)
    if response.status_code == 401:
        challenge = printable(response.headers.get("www-authenticate", ""), 200)
        told = f" (it wants: {challenge})" if challenge else ""
        return f"{words}{told}; `--header 'Authorization: …'` gives it credentials"
    return words
