"""One message of a client over HTTP, through a session of its own, to the server and back.

    client's message → session → [questions of our own → server → session]* → server → session → client

What is learned of the server belongs to the caller and is shared with all its exchanges (`Caller`); a session lives for
one exchange, so that clients which use the same ids do not meet. Where the answer comes on another stream, because the
server closed this one and the client takes it up again, the session waits with the caller.
"""

import asyncio
from collections import deque
from typing import Final

import msgspec

from toolvet.proxy.http.body import Body, BrokenBodyError, whole
from toolvet.proxy.http.callers import SESSION_ID, Caller
from toolvet.proxy.http.server import Responder
from toolvet.proxy.http.service import Service
from toolvet.proxy.http.upstream import UpstreamError, UpstreamResponse
from toolvet.proxy.record.recorder import RecordSource
from toolvet.session import CallEnded, SchemaLearned, Session, Step, ToClient, ToServer
from toolvet.wire import Id, Noise, Request, encode_error, parse
from toolvet.wire.header import request_headers
from toolvet.wire.http_head import RequestHead, ResponseHead
from toolvet.wire.sse_blocks import EventBlocks, data_of, has_id, with_data

_JSON: Final = b"application/json"
# An own question is a request of its own: these headers speak of the client's.
_MESSAGE_FIELDS: Final = frozenset({b"mcp-method", b"mcp-name"})
_CALL: Final = (b'"tools/call"', b'"tools\\/call"')


class Exchange:
    """One request of a client. `run` it with its body, or `watch` the stream that answers it."""

    def __init__(self, service: Service, head: RequestHead, responder: Responder, origin: RecordSource) -> None:
        self._service = service
        self._head = head
        self._responder = responder
        self._origin = origin
        self._caller: Caller = service.callers.of(head)
        self._caller.refresh()
        self._session = Session(service.policies, self._caller.catalogue, prefix=service.prefix)
        self._reply_to: Id | None = None
        self._is_request = False
        self._left = False

    async def run(self, body: Body) -> None:
        """From the client's message to the end of its answer."""
        data, is_whole = await body.take(self._service.held.request)
        if not is_whole:
            await self._run_unread(data, body)
            return
        message = parse(data)
        self._is_request = isinstance(message, Request) or (isinstance(message, Noise) and message.kind == "batch")
        self._reply_to = message.id if isinstance(message, Request) else None
        why = "the client went away"
        try:
            onward, answers = await self._settle(self._from_client(data))
            if onward is None:
                self._answer(answers)
                return
            response = await self._service.upstream.send(self._head, whole(onward))
            try:
                await self._pass_answer(response, answers)
            finally:
                response.close()
        except UpstreamError as error:
            why = f"the server did not answer: {error}"
            self._responder.send(*unreachable(error, self._reply_to))
        except BrokenBodyError as error:
            why = str(error)
            self._broken(why)
        finally:
            if not self._left:
                self._over(why)

    async def watch(self, response: UpstreamResponse) -> None:
        """A stream that the client opened: changes of the tool list, and answers that no longer had a stream."""
        try:
            await self._pass_events(response)
        except BrokenBodyError:
            self._responder.abort()

    # Towards the server.

    async def _settle(self, steps: list[Step]) -> tuple[bytes | None, list[bytes]]:
        """Do what the session wants done. Returns what is to be passed on to the server, and to the client."""
        if len(steps) == 1 and type(steps[0]) is ToServer and steps[0].about is None:
            return steps[0].data, []
        onward: bytes | None = None
        answers: list[bytes] = []
        work = deque(steps)
        while work:
            step = work.popleft()
            if isinstance(step, ToClient):
                answers.append(step.data)
            elif isinstance(step, ToServer):
                if isinstance(step.about, str) and step.about.startswith(self._service.prefix):
                    work.extendleft(reversed(await self._ask(step.data, step.about)))
                else:
                    onward = step.data
            else:
                self._take(step)
        return onward, answers

    async def _ask(self, question: bytes, id_: str) -> list[Step]:
        """A question of our own. Whatever comes of it, the call that waits goes on."""
        steps: list[Step] = []
        try:
            async with asyncio.timeout(self._service.policies.settings.patience):
                response = await self._service.upstream.send(_questioning(self._head, question), whole(question))
                try:
                    steps = await self._hear(response, id_)
                finally:
                    response.close()
        except (UpstreamError, BrokenBodyError, TimeoutError):
            steps = []
        return steps or self._session.give_up(id_)

    async def _hear(self, response: UpstreamResponse, id_: str) -> list[Step]:
        """The steps that follow from the answer to a question of ours; none if there is no answer."""
        limit = self._service.held.answer
        if is_event_stream(response.head):
            blocks = EventBlocks()
            while (chunk := await response.body.read()) and blocks.size <= limit:
                for block in blocks.feed(chunk):
                    data = data_of(block)
                    if data is not None and getattr(parse(data), "id", None) == id_:
                        return self._session.from_server(data)
            return []
        data, is_whole = await response.body.take(limit)
        if not is_whole or getattr(parse(data), "id", None) != id_:
            return []
        return self._session.from_server(data)

    async def _run_unread(self, begun: bytes, rest: Body) -> None:
        """A message too large to be held. A call of that size is beyond its policy, and all else passes as it comes.

        That it is a call is told by its method, wherever it stands: `"tools/call"` with its quotes cannot stand within
        a string, where they would be escaped.
        """
        room = asyncio.Event()
        room.set()
        body = Body(room.clear, room.set)
        upload = asyncio.create_task(_checked_upload(begun, rest, body, room))
        try:
            response = await self._service.upstream.send(self._head, body)
            try:
                await self._service.stream(response, self._responder)
            finally:
                response.close()
        except (UpstreamError, BrokenBodyError):
            if upload.done() and not upload.cancelled() and upload.exception() is not None:
                limit = self._service.held.request
                self._responder.send(*answer_to(None, f"The call is larger than {limit} bytes.", 413))
                return
            raise
        finally:
            upload.cancel()

    # Towards the client.

    def _answer(self, answers: list[bytes]) -> None:
        """What the session answers in the server's stead; nothing, where it keeps a cancellation to itself."""
        if not answers:
            self._responder.send(ResponseHead(202, b"Accepted", []))
        else:
            self._responder.send(ResponseHead(200, b"OK", [(b"Content-Type", _JSON)]), _joined(answers))

    async def _pass_answer(self, response: UpstreamResponse, answers: list[bytes]) -> None:
        head = response.head
        self._opened(head)
        if not self._is_request or head.get(b"content-encoding") not in {None, b"identity"}:
            await self._service.stream(response, self._responder)
        elif is_event_stream(head):
            await self._pass_events(response, answers)
        elif head.media_type == _JSON:
            await self._pass_json(response)
        else:
            await self._service.stream(response, self._responder)

    async def _pass_json(self, response: UpstreamResponse) -> None:
        data, is_whole = await response.body.take(self._service.held.answer)
        head = self._service.passing(response.head)
        if not is_whole:
            self._over(f"the answer is larger than {self._service.held.answer} bytes and was passed on unread")
            self._responder.start(head, data)
            await self._rest(response)
            return
        if self._reply_to is not None and self._session.only_watches:
            # Nobody waits for the judgement.
            self._responder.send(head, data)
            await self._settle(self._from_server(data))
            return
        _, answers = await self._settle(self._from_server(data))
        changed = len(answers) != 1 or answers[0] is not data
        self._responder.send(_unsigned(head) if changed else head, _joined(answers) if changed else data)

    async def _pass_events(self, response: UpstreamResponse, answers: "list[bytes] | None" = None) -> None:
        """Events as they come; those that hold a message go through the session."""
        responder, body = self._responder, response.body
        blocks = EventBlocks()
        head = self._service.passing(response.head)
        head.length = None
        first = b"".join(b"event: message\ndata: " + answer + b"\n\n" for answer in answers or ())
        responder.start(head, first)
        resumable = False
        try:
            while chunk := await body.read():
                out: list[bytes] = []
                for block in blocks.feed(chunk):
                    resumable = resumable or has_id(block)
                    out.append(await self._judged(block))
                if blocks.size > self._service.held.answer:
                    out.append(blocks.rest())
                passed = b"".join(out)
                if passed:
                    responder.write(passed)
                    await responder.drain()
        finally:
            if resumable and self._head.get(SESSION_ID) is not None and self._is_request:
                self._leave()
        rest = blocks.rest()
        if rest:
            responder.write(rest)
        responder.end()

    async def _judged(self, block: bytes) -> bytes:
        data = data_of(block)
        if data is None:
            return block
        steps = self._from_server(data)
        if _passes(steps, data) and self._caller.unanswered:
            steps = self._answered_late(data)
        if _passes(steps, data):
            return block
        _, answers = await self._settle(steps)
        if len(answers) == 1 and answers[0] is data:
            return block
        return with_data(block, answers)

    def _answered_late(self, data: bytes) -> list[Step]:
        """The answer to a call whose own stream ended earlier, if it is one."""
        if getattr(parse(data), "id", None) is not None:
            for session in self._caller.unanswered:
                steps = session.from_server(data)
                if not _passes(steps, data):
                    self._caller.unanswered.remove(session)
                    return steps
        return [ToClient(data)]

    async def _rest(self, response: UpstreamResponse) -> None:
        while data := await response.body.read():
            self._responder.write(data)
            await self._responder.drain()
        self._responder.end()

    def _broken(self, why: str) -> None:
        """The server went away before its answer was whole."""
        if self._responder.begun:
            self._responder.abort()
        else:
            self._responder.send(*unreachable(UpstreamError(why, sent=True), self._reply_to))

    # The session.

    def _from_client(self, data: bytes) -> list[Step]:
        try:
            return self._session.from_client(data)
        except Exception as error:  # noqa: BLE001 - a bug of ours must not cost the user a call
            self._service.complain(f"a message passed unchecked, because of a bug in toolvet: {error!r}")
            return [ToServer(data)]

    def _from_server(self, data: bytes) -> list[Step]:
        try:
            return self._session.from_server(data)
        except Exception as error:  # noqa: BLE001 - as above
            self._service.complain(f"an answer passed unchecked, because of a bug in toolvet: {error!r}")
            return [ToClient(data)]

    # What is remembered.

    def _opened(self, head: ResponseHead) -> None:
        session_id = head.get(SESSION_ID)
        if session_id is not None and self._head.get(SESSION_ID) is None and head.status < 300:
            self._caller = self._service.callers.opened(self._head, session_id)

    def _leave(self) -> None:
        self._left = True
        forgotten = self._caller.leave(self._session)
        if forgotten is not None:
            for note in forgotten.close():
                self._take(note)

    def _over(self, why: str) -> None:
        for note in self._session.close():
            self._take(msgspec.structs.replace(note, why=why) if isinstance(note, CallEnded) else note)

    def _take(self, note: Step) -> None:
        if isinstance(note, SchemaLearned):
            self._caller.learned(note)
        self._service.recorder.take(self._origin, note)


class _CallTooLargeError(Exception):
    pass


async def _checked_upload(begun: bytes, rest: Body, body: Body, room: asyncio.Event) -> None:
    """Pass a message on piece by piece. If it turns out to be a call it breaks off, and no server takes half of one."""
    tail, chunk = b"", begun
    while chunk:
        searched = tail + chunk
        if any(word in searched for word in _CALL):
            body.fail("a call that is too large")
            raise _CallTooLargeError
        tail = searched[-16:]
        body.feed(chunk)
        await room.wait()
        chunk = await rest.read()
    body.finish()


def is_event_stream(head: ResponseHead) -> bool:
    """Whether the body of this answer is server-sent events."""
    return head.media_type == b"text/event-stream"


def unreachable(error: UpstreamError, reply_to: Id | None) -> tuple[ResponseHead, bytes]:
    """The answer to a request that the server did not answer."""
    return answer_to(reply_to, f"The MCP server did not answer: {error}.")


def answer_to(reply_to: Id | None, words: str, status: int = 502) -> tuple[ResponseHead, bytes]:
    """A JSON-RPC error in the server's stead."""
    reasons = {413: b"Content Too Large", 502: b"Bad Gateway"}
    head = ResponseHead(status, reasons[status], [(b"Content-Type", _JSON)])
    return head, encode_error(reply_to, -32603, words)


def _passes(steps: list[Step], data: bytes) -> bool:
    return len(steps) == 1 and isinstance(steps[0], ToClient) and steps[0].data is data


def _joined(answers: list[bytes]) -> bytes:
    """One message, or several as the batch that was asked for."""
    return answers[0] if len(answers) == 1 else b"[" + b",".join(answers) + b"]"


def _questioning(head: RequestHead, question: bytes) -> RequestHead:
    """The head of a question of our own: the client's credentials, session and version, and what the question is."""
    fields = [
        (name, value)
        for name, value in head.fields
        if (lower := name.lower()) not in _MESSAGE_FIELDS and not lower.startswith(b"mcp-param-")
    ]
    if head.get(b"mcp-method") is not None:
        message = parse(question)
        if isinstance(message, Request):
            told = request_headers("", message.method, message.params)
            fields += [(name.encode(), value.encode()) for name, value in told.items() if value]
    return RequestHead(b"POST", head.target, fields)


def _unsigned(head: ResponseHead) -> ResponseHead:
    """Without what is true of the original bytes only."""
    gone = {b"etag", b"content-digest", b"repr-digest", b"digest", b"content-md5"}
    fields = [field for field in head.fields if field[0].lower() not in gone]
    return ResponseHead(head.status, head.reason, fields, head.length)
