"""One message of a client over HTTP, through a session of its own, to the server and back.

    client's message → session → [the proxy's own questions → server → session]* → server → session → client

Knowledge about the server belongs to the caller, and all its exchanges share it (`Caller`). A session lives for one
exchange, so that clients which use the same ids do not collide. When the server closes the stream and the client
resumes it, the answer comes on another stream: until then the session is kept with the caller.
"""

import asyncio
from codecs import BOM_UTF8
from collections import deque
from typing import TYPE_CHECKING, Final

import msgspec

from toolvet.mcp.wire import (
    Id,
    Message,
    Noise,
    RawSseFramer,
    Request,
    encode_error,
    encode_event,
    has_id,
    parse,
    read_data,
    replace_data,
    request_headers,
)
from toolvet.proxy.http.callers import SESSION_ID, Caller, Requester
from toolvet.proxy.http.message import Body, BrokenBodyError, RequestHead, Responder, ResponseHead, take
from toolvet.proxy.http.proxied_server import ProxiedServer
from toolvet.proxy.http.upstream import UpstreamError, UpstreamResponse
from toolvet.proxy.interception import Intercepted, Traffic
from toolvet.proxy.record.recorder import RecordSource
from toolvet.proxy.session import CallEnded, CallWatch, PolicyFault, SchemaLearned, Session, Step, ToClient, ToServer

if TYPE_CHECKING:
    from collections.abc import Coroutine

_JSON: Final = b"application/json"
_EVENTS: Final = b"text/event-stream"
# A question of the proxy is a request of its own: these headers describe the client's request.
_MESSAGE_FIELDS: Final = frozenset({b"mcp-method", b"mcp-name"})
_DIGESTS: Final = frozenset({b"etag", b"content-digest", b"repr-digest", b"digest", b"content-md5"})


class Exchange:
    """One request of a client: `run` it with its body, or `watch` the stream that answers it."""

    def __init__(
        self,
        server: ProxiedServer,
        head: RequestHead,
        sender: Requester,
        responder: Responder,
        origin: RecordSource,
    ) -> None:
        self._server = server
        self._head = head
        self._responder = responder
        self._origin = origin
        self._caller: Caller = server.callers.named(sender.caller)
        self._caller.refresh()
        self._session = Session(
            server.policies, self._caller.catalogue, prefix=server.prefix, traces=sender.trace_source()
        )
        self._sender = sender
        if server.interception is not None:
            # An id for interceptors, that says nothing of the credentials which name the caller.
            session = f"{server.prefix}{hash(sender.caller):x}"
            server.traffic[self._session] = Traffic(server.interception, session)
        self._reply_to: Id | None = None
        self._is_request = False
        self._left = False

    async def run(self, body: Body) -> None:
        """Pass the client's message on and its answer back.

        Raises UpstreamError and BrokenBodyError only for a message that is too large to be read.
        """
        data, is_complete = await take(body, self._server.limits.request)
        if not is_complete:
            await self._run_unread(data, body)
            return
        sent = data
        data = sent.removeprefix(BOM_UTF8)
        message = parse(data)
        self._is_request = isinstance(message, Request) or (isinstance(message, Noise) and message.kind == "batch")
        self._reply_to = message.id if isinstance(message, Request) else None
        why = "the client went away"
        try:
            onward, answers = await self._take_client(data, message)
            if onward is None:
                self._answer(answers)
                return
            # The byte order mark is the server's affair, as all bytes that need no decision.
            onward = sent if onward == data else onward
            response = await self._server.upstream.send(self._head, onward)
            try:
                await self._pass_answer(response, answers)
            finally:
                response.close()
        except UpstreamError as error:
            why = f"the server did not answer: {error}"
            self._send_failure(error)
        except BrokenBodyError as error:
            why = str(error)
            self._report_broken(why)
        finally:
            if not self._left:
                self._close_session(why)

    async def watch(self, response: UpstreamResponse) -> None:
        """Pass on a stream that the client opened: changes of the tool list, and answers whose own stream had ended."""
        try:
            await self._pass_events(response)
        except BrokenBodyError:
            self._responder.abort()

    # Towards the server.

    async def _take_client(self, data: bytes, message: Message) -> tuple[bytes | None, list[bytes]]:
        """Return what goes to the server, if anything, and the answers to the client, after the interceptors."""
        traffic = self._server.traffic.get(self._session)
        deciding = None if traffic is None else traffic.of_client(data)
        if deciding is None:
            return await self._do(self._session.from_client(data, message))
        decided = await self._decided(deciding)
        steps = [step for request, why in decided.blocked for step in self._session.refuse(request, why)]
        if decided.data is not None:
            steps += self._session.from_client(decided.data)
        return await self._do(steps)

    async def _decided(self, deciding: "Coroutine[object, object, Intercepted]") -> Intercepted:
        """Return what interceptors decided, which they do in another thread, and record it."""
        interception = self._server.interception
        decided = await (deciding if interception is None else asyncio.wrap_future(interception.submit(deciding)))
        for note in decided.notes:
            self._record(note)
        return decided

    async def _take_server(self, data: bytes) -> list[Step]:
        """Return the steps for a message of the server, after the interceptors."""
        for session in (self._session, *self._caller.unanswered):
            traffic = self._server.traffic.get(session)
            deciding = None if traffic is None else traffic.of_server(data)
            if deciding is not None:
                decided = await self._decided(deciding)
                steps = [step for error, _ in decided.blocked for step in session.fail(error, "interceptor")]
                if session is not self._session:
                    self._caller.unanswered.remove(session)
                return [*steps, *([] if decided.data is None else session.from_server(decided.data))]
        return self._from_server(data)

    async def _do(self, steps: list[Step]) -> tuple[bytes | None, list[bytes]]:
        """Do the steps of the session. Returns the message for the server, if any, and those for the client."""
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
                if isinstance(step.about, str) and step.about.startswith(self._server.prefix):
                    work.extendleft(reversed(await self._ask(step.data, step.about)))
                else:
                    onward = step.data
            else:
                self._record(step)
        return onward, answers

    async def _ask(self, question: bytes, id_: str) -> list[Step]:
        """Ask the server a question of the session. Returns the steps that follow: the call goes on in any case."""
        steps: list[Step] = []
        try:
            async with asyncio.timeout(self._server.policies.settings.patience):
                response = await self._server.upstream.send(_question_head(self._head, question), question)
                try:
                    steps = await self._read_reply(response, id_)
                finally:
                    response.close()
        except (UpstreamError, BrokenBodyError, TimeoutError):
            steps = []
        return steps or self._session.give_up(id_)

    async def _read_reply(self, response: UpstreamResponse, id_: str) -> list[Step]:
        """Return the steps that follow from the answer to the question `id_`; none if there is no answer."""
        limit = self._server.limits.answer
        if is_event_stream(response.head):
            framer = RawSseFramer()
            while (chunk := await response.body.read()) and framer.size <= limit:
                for block in framer.feed(chunk):
                    data = read_data(block)
                    if data is not None and getattr(parse(data), "id", None) == id_:
                        return self._session.from_server(data)
            return []
        data, is_complete = await take(response.body, limit)
        if not is_complete or getattr(parse(data), "id", None) != id_:
            return []
        return self._session.from_server(data)

    async def _run_unread(self, begun: bytes, rest: Body) -> None:
        """Stream a message that is too large to be kept. A call of that size is refused, every other message passes.

        A call is known by its method, wherever the message has it: `"tools/call"` with its quotes cannot be part of a
        string, where the quotes would be escaped.
        """
        try:
            response = await self._server.upstream.send(self._head, _UnlessCall(begun, rest))
        except _CallTooLargeError:
            limit = self._server.limits.request
            self._server.refusals.take(413, f"the call is larger than {limit} bytes")
            self._responder.send(*error_answer(None, f"The call is larger than {limit} bytes.", 413))
            return
        try:
            await self._server.stream(response, self._responder)
        finally:
            response.close()

    # Towards the client.

    def _answer(self, answers: list[bytes]) -> None:
        """Send what the session answers in place of the server; 202 without a body where it dropped a cancellation."""
        if not answers:
            self._responder.send(ResponseHead(202, b"Accepted", []))
        else:
            self._responder.send(ResponseHead(200, b"OK", [(b"Content-Type", _JSON)]), _join(answers))

    async def _pass_answer(self, response: UpstreamResponse, answers: list[bytes]) -> None:
        head = response.head
        self._note_session(head)
        kind = head.media_type
        if self._server.interception is not None and self._is_request and head.status == 200:
            encoding = head.get(b"content-encoding")
            if kind not in {_JSON, _EVENTS} or encoding not in {None, b"identity"}:
                raise UpstreamError("the answer is in a form that interceptors cannot read", sent=True)
        if not self._is_request:
            await self._server.stream(response, self._responder)
        elif head.get(b"content-encoding") not in {None, b"identity"}:
            self._close_session("the answer has a content encoding, and was passed on unread")
            await self._server.stream(response, self._responder)
        elif kind == _EVENTS:
            await self._pass_events(response, answers)
        elif kind == _JSON:
            await self._pass_json(response, answers)
        elif answers and head.status == 202:
            # Only notifications are left of a batch.
            self._answer(answers)
        else:
            self._close_session("the answer is neither JSON nor a stream of events, and was passed on unread")
            await self._server.stream(response, self._responder)

    async def _pass_json(self, response: UpstreamResponse, refusals: list[bytes]) -> None:
        """Pass a JSON answer on; `refusals` are the proxy's own answers to other calls of the same batch."""
        limit = self._server.limits.answer
        data, is_complete = await take(response.body, limit)
        head = self._server.passed_head(response.head)
        if not is_complete and self._server.interception is not None:
            raise UpstreamError(f"the answer is larger than {limit} bytes, too large for interceptors", sent=True)
        if not is_complete:
            self._close_session(f"the answer is larger than {limit} bytes and was passed on unread")
            end = b"]" if refusals and not data.startswith(b"[") else b""
            if refusals:
                head, data = _without_digests(head), b"[" + b",".join(refusals) + b"," + data[not end :]
                head.length = None
            await self._responder.start(head, data)
            while data := await response.body.read():
                await self._responder.write(data)
            if end:
                await self._responder.write(end)
            await self._responder.end()
            return
        is_watched = self._session.only_watches and not self._server.recorder.is_required
        hurries = is_watched and self._server.interception is None
        if self._reply_to is not None and hurries and not response.is_ours:
            # The answer passes whatever is found in it, so the client does not wait for the check.
            await self._responder.send_now(head, data)
            await self._do(self._from_server(data))
            return
        _, answers = await self._do(self._session.fail(data) if response.is_ours else await self._take_server(data))
        changed = refusals or len(answers) != 1 or answers[0] is not data
        self._responder.send(
            _without_digests(head) if changed else head, _join([*refusals, *answers]) if changed else data
        )

    async def _pass_events(self, response: UpstreamResponse, answers: "list[bytes] | None" = None) -> None:
        """Pass events on as they come; those that hold a message go through the session."""
        responder, body = self._responder, response.body
        framer = RawSseFramer()
        head = self._server.passed_head(response.head)
        head.length = None
        first = b"".join(map(encode_event, answers or ()))
        await responder.start(head, first)
        resumable = False
        try:
            while chunk := await body.read():
                out: list[bytes] = []
                for block in framer.feed(chunk):
                    resumable = resumable or has_id(block)
                    out.append(await self._check_block(block))
                if framer.size > self._server.limits.answer and self._server.interception is not None:
                    raise BrokenBodyError("an event is too large for interceptors")
                if framer.size > self._server.limits.answer:
                    out.append(framer.rest())
                passed = b"".join(out)
                if passed:
                    await responder.write(passed)
        finally:
            if resumable and self._head.get(SESSION_ID) is not None and self._is_request:
                self._keep_session()
        rest = framer.rest()
        if rest:
            await responder.write(rest)
        await responder.end()

    async def _check_block(self, block: bytes) -> bytes:
        """Return the block as it goes to the client: the very same object unless the session changes its message."""
        data = read_data(block)
        if data is None:
            return block
        steps = await self._take_server(data)
        if _passes(steps, data) and self._caller.unanswered:
            steps = self._answer_late(data)
        if _passes(steps, data):
            return block
        _, answers = await self._do(steps)
        if len(answers) == 1 and answers[0] is data:
            return block
        return replace_data(block, answers)

    def _answer_late(self, data: bytes) -> list[Step]:
        """Return the steps for a message that may answer a call whose own stream ended earlier."""
        if getattr(parse(data), "id", None) is not None:
            for session in self._caller.unanswered:
                steps = session.from_server(data)
                if not _passes(steps, data):
                    self._caller.unanswered.remove(session)
                    return steps
        return [ToClient(data)]

    def _report_broken(self, why: str) -> None:
        """Report a broken answer to the client: in words where nothing was sent yet, else by cutting its connection."""
        if self._responder.begun:
            self._responder.abort()
        else:
            self._send_failure(UpstreamError(why, sent=True))

    def _send_failure(self, error: UpstreamError) -> None:
        """Answer the request in place of the server; the session ends its call with that answer."""
        head, answer = unreachable(error, self._reply_to)
        if self._reply_to is not None:
            for step in self._session.fail(answer):
                if isinstance(step, ToClient):
                    answer = step.data
                else:
                    self._record(step)
        self._responder.send(head, answer)

    # The session.

    def _from_server(self, data: bytes) -> list[Step]:
        self._caller.note_answer()
        return self._session.from_server(data)

    # The session ends, or is kept.

    def _note_session(self, head: ResponseHead) -> None:
        session_id = head.get(SESSION_ID)
        if session_id is not None and self._head.get(SESSION_ID) is None and head.status < 300:
            self._caller = self._server.callers.move_to_session(self._head, session_id)

    def _keep_session(self) -> None:
        """Keep the session with its caller: the client may resume this stream."""
        self._left = True
        forgotten = self._caller.keep_session(self._session)
        if forgotten is not None:
            for note in forgotten.close():
                self._record(note)

    def _close_session(self, why: str) -> None:
        for note in self._session.close():
            self._record(msgspec.structs.replace(note, why=why) if isinstance(note, CallEnded) else note)

    def _record(self, note: Step) -> None:
        if isinstance(note, SchemaLearned):
            self._caller.note_list(note)
        elif isinstance(note, PolicyFault) and note.kind == "check_failed":
            self._server.complain(f"a message {note.message}")
        recorder = self._server.recorder
        if recorder.has_sinks:
            recorder.take(self._origin, self._sender.without_credentials(note))
            if isinstance(note, CallEnded):
                recorder.settle()


class _CallTooLargeError(Exception):
    """A message that is too large to be checked turned out to be a call."""


class _UnlessCall:
    """A message that is too large to be checked, as it arrives; breaks off when it turns out to be a call.

    `begun` is what was read of the message, `rest` the remainder. `read` raises _CallTooLargeError for a call, so that
    no server acts on it.
    """

    def __init__(self, begun: bytes, rest: Body) -> None:
        self._next = begun
        self._rest = rest
        self._watch = CallWatch()

    is_over = False

    async def read(self) -> bytes:
        chunk, self._next = self._next or await self._rest.read(), b""
        if self._watch.sees(chunk):
            raise _CallTooLargeError
        return chunk


def is_event_stream(head: ResponseHead) -> bool:
    """Whether the body of this answer is server-sent events."""
    return head.media_type == _EVENTS


def unreachable(error: UpstreamError, reply_to: Id | None) -> tuple[ResponseHead, bytes]:
    """Return the answer to a request that the server did not answer."""
    return error_answer(reply_to, f"The MCP server is unavailable and did not answer: {error}.")


def error_answer(reply_to: Id | None, words: str, status: int = 502) -> tuple[ResponseHead, bytes]:
    """Return a JSON-RPC error in place of the server's answer; `status` is 413 or 502."""
    reasons = {413: b"Content Too Large", 502: b"Bad Gateway"}
    head = ResponseHead(status, reasons[status], [(b"Content-Type", _JSON)])
    return head, encode_error(reply_to, -32603, words)


def _passes(steps: list[Step], data: bytes) -> bool:
    return len(steps) == 1 and isinstance(steps[0], ToClient) and steps[0].data is data


def _join(answers: list[bytes]) -> bytes:
    """Return one message as it is, several as the batch that was asked for; some may be parts of it already."""
    if len(answers) == 1:
        return answers[0]
    parts = (part[1:-1].strip() if part.startswith(b"[") else part for part in map(bytes.strip, answers))
    return b"[" + b",".join(filter(None, parts)) + b"]"


def _question_head(head: RequestHead, question: bytes) -> RequestHead:
    """Return the head of a question of the proxy, with the client's credentials, session and version."""
    fields = [
        (name, value)
        for name, value in head.fields
        if (lower := name.lower()) not in _MESSAGE_FIELDS and not lower.startswith(b"mcp-param-")
    ]
    if head.get(b"mcp-method") is not None:
        message = parse(question)
        if isinstance(message, Request):
            mirrored = request_headers("", message.method, message.params)
            fields += [(name.encode(), value.encode()) for name, value in mirrored.items() if value]
    return RequestHead(b"POST", head.target, fields)


def _without_digests(head: ResponseHead) -> ResponseHead:
    """Return the head without the fields that are true of the original bytes only."""
    fields = [field for field in head.fields if field[0].lower() not in _DIGESTS]
    return ResponseHead(head.status, head.reason, fields, head.length)
