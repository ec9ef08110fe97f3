"""The path between two byte streams: cut lines, let the session decide, join lines again. No I/O.

client's bytes → LineSplitter → Session → LineWriter to the server
server's bytes → LineSplitter → Session → LineWriter to the client

A line longer than `max_message_bytes` is not kept in memory: it is passed on as it comes, or is dropped and answered
with an error, as `session.unread` says.

`OpenRequests` are those that a client waits for: they have to be answered when the server no longer can.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Literal, TypeAlias, cast

import msgspec

from toolvet.core.json_value import members
from toolvet.mcp.wire import (
    ErrorReply,
    Id,
    Noise,
    Notification,
    Request,
    Result,
    encode_error,
    parse,
    shallow,
    split_batch,
)
from toolvet.proxy.interception import Interception, LineGate, Traffic
from toolvet.proxy.record.recorder import Recorder, RecordSource
from toolvet.proxy.session import (
    Asked,
    CallEnded,
    CallStarted,
    CallWatch,
    Note,
    PolicyFault,
    SchemaLearned,
    Session,
    Step,
    ToClient,
    ToServer,
)
from toolvet.proxy.stdio.long_lines import ByteWriter, LineSplitter, LineWriter, LongLine

# Below this a copy is cheaper than a longer vector of buffers.
_JOIN_BYTES: Final = 64 * 1024
_MOST_COMPLAINTS: Final = 100
# "Internal error", which both eras know. Codes that servers may define (-32000 and below) have no certain meaning.
_INTERNAL_ERROR: Final = -32603
_INVALID_REQUEST: Final = -32600
_CALL: Final = "tools/call"
_DOUBT: Final = "It may have acted on the request anyway."

OnTime: TypeAlias = Callable[[Asked | SchemaLearned], None]
"""Called with notes that need a clock: a question that must not wait for ever, a tool list that grows old."""
# A client that never gets answers must not fill the memory; it has given up its oldest requests by now.
_MOST: Final = 1 << 20


class Relay:
    """One connection: feed the bytes of each side; what the session decides is written to the two writers.

    `origin` names the connection in the record, `on_time` gets the notes that need a clock. `open` holds the requests
    that the client still waits for. `limit` is how many bytes of a line are kept; `server_takes` says whether the
    server takes a line in parts, as a pipe does. `wake` is called in another thread when an interceptor has decided:
    then `intercepted` is to be called in this one.
    """

    def __init__(
        self,
        session: Session,
        recorder: Recorder,
        origin: RecordSource,
        *,
        to_server: ByteWriter,
        to_client: ByteWriter,
        on_time: OnTime,
        limit: int,
        server_takes: Literal["parts", "lines"] = "parts",
        interception: Interception | None = None,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self._session = session
        self._recorder = recorder
        self._origin = origin
        self._server_takes = server_takes
        self.to_server = LineWriter(to_server)
        self.to_client = LineWriter(to_client)
        self._on_time = on_time
        # Messages that may open or close a request; they are read after they were written.
        self._unread: list[bytes] = []
        self._complained: set[str] = set()
        # Why the server answers nothing any more, once that is so.
        self._gone: str | None = None
        # Whether half a line went to the client, which must end before another one begins.
        self._dangling = False
        self.client_lines = LineSplitter(
            limit,
            take=self._take_client_lines,
            begin=self._begin_client_line,
            go_on=self._go_on_client_line,
            end=self._end_client_line,
        )
        self.server_lines = LineSplitter(
            limit,
            take=self._take_server_lines,
            begin=self._begin_server_line,
            go_on=self._go_on_server_line,
            end=self._end_server_line,
        )
        self.open = OpenRequests()
        self._client_gate: LineGate | None = None
        self._server_gate: LineGate | None = None
        if interception is not None:
            traffic = Traffic(interception, origin.connection)
            self._client_gate = LineGate(interception, traffic.of_client, wake)
            self._server_gate = LineGate(interception, traffic.of_server, wake)

    @property
    def holds_lines(self) -> bool:
        """Whether lines wait for an interceptor."""
        return bool(self._client_gate or self._server_gate)

    @property
    def holds_results(self) -> bool:
        """Whether lines of the server wait for an interceptor."""
        return bool(self._server_gate)

    def from_client(self, chunk: bytes) -> None:
        """Feed bytes that the client wrote."""
        self.client_lines.feed(chunk)

    def from_server(self, chunk: bytes) -> None:
        """Feed bytes that the server wrote."""
        self.server_lines.feed(chunk)

    def answer_for_server(self, error: bytes) -> None:
        """Answer a request with this error, because the server does not."""
        self._do_server_steps(self._steps([error], self._session.fail, ToClient))

    def client_ended(self) -> None:
        """End the client's stream. Half a line is checked like a complete one: a server may read it as one."""
        rest = self.client_lines.finish()
        if self._client_gate is not None:
            self._client_gate.put([rest] if isinstance(rest, bytes) else [])
            self.intercepted()
        if isinstance(rest, LongLine):
            self._end_client_line(rest)
        elif rest is not None and self._client_gate is None:
            steps = self._steps([rest], self._session.from_client, ToServer)
            self._do_client_steps(_pass_half_line(steps, rest, self.to_server))

    def server_ended(self) -> None:
        """End the server's stream."""
        rest = self.server_lines.finish()
        if self._server_gate is not None:
            self._server_gate.put([rest] if isinstance(rest, bytes) else [])
            self.intercepted()
        if isinstance(rest, LongLine):
            # The request that it answers is still open, and gets an error.
            self._dangling = rest.passes and self.to_client.cut_line()
        elif rest is not None and self._server_gate is None:
            decided = self._steps([rest], self._session.from_server, ToClient)
            steps = _pass_half_line(decided, rest, self.to_client)
            self._dangling = len(steps) < len(decided)
            self._do_server_steps(steps)

    def intercepted(self, *, cut: str | None = None) -> None:
        """Go on with the lines that interceptors decided on. `cut` refuses requests that wait, and drops results."""
        for each in () if self._client_gate is None else self._client_gate.ready(cut=cut):
            self._note(list(each.notes))
            for data, why in each.blocked:
                self._do_client_steps(self._session.refuse(data, why))
            if each.data is not None:
                self._do_client_steps(self._steps([each.data], self._session.from_client, ToServer))
        for each in () if self._server_gate is None else self._server_gate.ready(cut=None if cut is None else ""):
            self._note(list(each.notes))
            fail = partial(self._session.fail, stop="interceptor")
            self._do_server_steps(self._steps([error for error, _ in each.blocked], fail, ToClient))
            if each.data is not None:
                self._do_server_steps(self._steps([each.data], self._session.from_server, ToClient))

    def give_up(self, question: str) -> None:
        """Stop waiting for the answer to this question of the proxy."""
        self.open.close(question)
        self._do(self._session.give_up(question))

    def server_gone(self, reason: str) -> None:
        """Answer open and later requests with an error, because the server is gone. `reason` begins the message."""
        self.intercepted(cut=f"the MCP server is unavailable: {reason}")
        self._gone = reason
        self._refuse_open()

    def close(self) -> None:
        """End the connection: every call that was not answered goes on record."""
        self._do(self._session.close())

    def _take_client_lines(self, lines: list[bytes]) -> None:
        if self._client_gate is not None and self._gone is None:
            self._client_gate.put(lines)
            self.intercepted()
            return
        self._do_client_steps(self._steps(lines, self._session.from_client, ToServer))

    def _take_server_lines(self, lines: list[bytes]) -> None:
        if self._server_gate is not None:
            self._server_gate.put(lines)
            self.intercepted()
        elif len(lines) == 1 and not self._recorder.is_required and self._session.unread.hands_on(lines[0]):
            # The client, which waits for it, need not wait for its verdict as well.
            self._break_dangling()
            self.to_client.write(_join_lines(lines))
            steps = self._steps(lines, self._session.from_server, ToClient)
            self._do_server_steps([step for step in steps if type(step) is not ToClient])
        else:
            self._do_server_steps(self._steps(lines, self._session.from_server, ToClient))

    def _steps(
        self, lines: list[bytes], decide: Callable[[bytes], list[Step]], onward: type[ToServer] | type[ToClient]
    ) -> list[Step]:
        steps: list[Step] = []
        for line in lines:
            decided = decide(line)
            # Most messages are calls and their answers; all others have to be parsed once more.
            last = decided[-1] if len(decided) == 2 and line[:1] == b"{" else None
            if type(last) is CallStarted:
                self.open.add(last.id)
            elif type(last) is CallEnded and onward is ToClient and last.outcome != "unreadable":
                self.open.close(last.id)
            else:
                self._unread.append(line)
            steps += decided
        return steps

    def _do_client_steps(self, steps: list[Step]) -> None:
        if len(steps) == 2 and not self._unread and type(steps[0]) is ToServer and type(steps[1]) is CallStarted:
            # A call that passes, as nearly all messages are.
            self.to_server.write(_join_lines([steps[0].data]))
            self._recorder.take(self._origin, steps[1])
            if self._gone is not None:
                self._refuse_open()
            return
        self._do(steps, self.open.note_client)
        if self._gone is not None:
            self._refuse_open()

    def _do_server_steps(self, steps: list[Step]) -> None:
        is_plain = len(steps) == 2 and not self._unread and not self._recorder.is_required
        if is_plain and type(steps[0]) is ToClient and type(steps[1]) is CallEnded:
            # An answer, as nearly all others are.
            self._break_dangling()
            self.to_client.write(_join_lines([steps[0].data]))
            self._recorder.take(self._origin, steps[1])
            if steps[0].about is not None:
                self.open.close(steps[0].about)
            return
        self._do(steps, self.open.note_server)

    def _refuse_open(self) -> None:
        """Feed the errors as if the server had sent them, so that the session ends its calls with them."""
        for question in self.open.take_questions():
            self._do(self._session.give_up(question))
        lines = [
            encode_error(
                id_, _INTERNAL_ERROR, f"The MCP server is unavailable: {self._gone} before it answered. {_DOUBT}"
            )
            for id_ in self.open.take()
        ]
        if lines:
            # A signal waits for this: 20,000 open calls must not take longer than the whole end may.
            self._do_server_steps(self._steps(lines, partial(self._session.fail, prepared={}), ToClient))

    def _do(self, steps: Sequence[Step], read: Callable[[bytes], None] | None = None) -> None:
        """Write all lines for one side at once, then `read` what may open or close a request, and record.

        The record must not delay a message, unless it is required: then the client's lines wait until it is written.
        """
        for_server: list[bytes] = []
        for_client: list[bytes] = []
        rest: list[ToClient | Note] = []
        for step in steps:
            kind = type(step)
            if kind is ToServer:
                for_server.append(cast("ToServer", step).data)
            elif kind is ToClient:
                answer = cast("ToClient", step)
                for_client.append(answer.data)
                if answer.about is not None:
                    rest.append(answer)
            else:
                rest.append(cast("Note", step))
        if for_server:
            self.to_server.write(_join_lines(for_server))
        is_required = self._recorder.is_required
        if for_client and not is_required:
            self._break_dangling()
            self.to_client.write(_join_lines(for_client))
        if read is not None and self._unread:
            for line in self._unread:
                read(line)
            self._unread.clear()
        self._note(rest)
        if for_client and is_required:
            self._recorder.settle()
            self._break_dangling()
            self.to_client.write(_join_lines(for_client))

    def _note(self, rest: list[ToClient | Note]) -> None:
        for each in rest:
            if isinstance(each, ToClient):
                if each.about is not None:
                    self.open.close(each.about)
                continue
            self._recorder.take(self._origin, each)
            if isinstance(each, Asked):
                self.open.questions.add(each.id)
                self._on_time(each)
            elif isinstance(each, SchemaLearned):
                self._on_time(each)
            elif isinstance(each, PolicyFault) and each.kind == "check_failed":
                self._say(f"toolvet: a message {each.message}\n")

    # Lines that are too long to be kept.

    def _begin_server_line(self, long: LongLine, parts: list[bytes]) -> None:
        long.passes = self._session.unread.passes_to_client(long.start)
        self._tell("server", long)
        if long.passes:
            self._break_dangling()
            self.to_client.pass_part(parts)
        elif long.start.is_answer and long.start.id is not None:
            self._hold_back(long, [long.start.id])

    def _go_on_server_line(self, long: LongLine, part: bytes) -> None:
        if long.passes:
            self.to_client.pass_part([part])
        elif not long.is_answered and long.is_endless:
            self._hold_back_all(long)

    def _end_server_line(self, long: LongLine) -> None:
        id_ = long.id
        if long.passes:
            if long.start.is_answer and id_ is not None:
                self.open.close(id_)
                self._note([*self._session.unread.end_answer(id_, long.size)])
                self._recorder.settle()
            self.to_client.end_line()
        elif not long.is_answered:
            if id_ is not None:
                self._hold_back(long, [id_])
            elif long.is_json:
                self._hold_back_all(long)

    def _hold_back(self, long: LongLine, ids: list[Id]) -> None:
        """Answer these requests in place of the server."""
        long.is_answered = True
        words = f"The answer of the MCP server is {self._session.unread.why}, so it was held back. Ask for less."
        lines = [encode_error(id_, _INTERNAL_ERROR, words) for id_ in ids]
        self._do_server_steps(self._steps(lines, partial(self._session.fail, stop="large_result"), ToClient))

    def _hold_back_all(self, long: LongLine) -> None:
        """Answer every open request: any of them may wait for this line."""
        for question in self.open.take_questions():
            self._do(self._session.give_up(question))
        self._hold_back(long, self.open.take())

    def _begin_client_line(self, long: LongLine, parts: list[bytes]) -> None:
        unread = self._session.unread
        long.passes = self._server_takes == "parts" and unread.passes_to_server(long.start)
        if long.start.method != _CALL and unread.refuses(None):
            long.call_watch = watch = CallWatch()
            long.passes = long.passes and not any(map(watch.sees, parts))
        self._tell("client", long)
        if long.passes:
            self.to_server.pass_part(parts)
        elif long.start.id is not None:
            self._refuse_long(long, long.start.id)

    def _go_on_client_line(self, long: LongLine, part: bytes) -> None:
        if long.passes and long.call_watch is not None and long.call_watch.sees(part):
            # A line that breaks off is not a message, so the server makes no call of it.
            long.passes = False
            self.to_server.end_line()
            self._tell("client", long)
        if long.passes:
            self.to_server.pass_part([part])
        elif not long.is_answered and long.is_endless:
            self._refuse_long(long, None)

    def _end_client_line(self, long: LongLine) -> None:
        id_ = long.id
        if not long.passes:
            if not long.is_answered:
                self._refuse_long(long, id_)
            return
        self.to_server.end_line()
        if long.start.method is not None and id_ is not None:
            self.open.add(id_)
            if long.start.method == _CALL:
                self._do(self._session.take_unread_call(_call_of(long, id_), long.size))
        if self._gone is not None:
            self._refuse_open()

    def _refuse_long(self, long: LongLine, id_: Id | None) -> None:
        """Answer a message of the client, which the server does not get."""
        long.is_answered = True
        if long.start.is_answer:
            # An answer to the server, which waits for it: a client has no other way to say that it is too long.
            return
        if id_ is not None and long.start.method == _CALL and long.start.tool is not None:
            self._do_client_steps(self._session.take_unread_call(_call_of(long, id_), long.size))
            return
        words = f"The message is {self._session.unread.why}, so it was not sent to the server. Send less."
        self._do_client_steps([ToClient(encode_error(id_, _INVALID_REQUEST, words))])

    def _tell(self, side: Literal["client", "server"], long: LongLine) -> None:
        """Note a long message, and report it on stderr once for each side."""
        how = "passed on unread" if long.passes else "held back"
        self.complain_of_length(f"a message of the {side} is {self._session.unread.why}: it was {how}", long.start.tool)

    def complain_of_length(self, words: str, tool: str | None = None) -> None:
        """Note in the record and report on stderr that a message is too long."""
        self._recorder.take(self._origin, PolicyFault("message_too_long", words, tool))
        self._say(f"toolvet: {words}\n")

    def _break_dangling(self) -> None:
        if self._dangling:
            self._dangling = False
            self.to_client.write([b"\n"])

    def _say(self, words: str) -> None:
        """Write this to stderr, which MCP leaves free, once for each wording."""
        if words in self._complained or len(self._complained) > _MOST_COMPLAINTS:
            return
        self._complained.add(words)
        try:
            sys.stderr.write(words)
            sys.stderr.flush()
        except (OSError, ValueError):
            # The reader of our stderr is gone; the connection goes on.
            return


def _call_of(long: LongLine, id_: Id) -> Request:
    """Return the call that a long line is, as far as it was seen."""
    return Request(id_, _CALL, b"", msgspec.Raw(long.start.params))


def _pass_half_line(steps: list[Step], rest: bytes, onward: LineWriter) -> list[Step]:
    """Write a half line that needs no decision as it came, without a line feed. Returns the steps that are left."""
    decided = [step for step in steps if not (isinstance(step, ToServer | ToClient) and step.data is rest)]
    if len(decided) < len(steps):
        onward.write([rest])
    return decided


def _join_lines(lines: list[bytes]) -> list[bytes]:
    """Return the lines with line feeds: as one buffer, unless that would copy much."""
    if len(lines) == 1 and len(lines[0]) < _JOIN_BYTES:
        return [lines[0] + b"\n"]
    buffers: list[bytes] = []
    small: list[bytes] = []
    for line in lines:
        if len(line) < _JOIN_BYTES:
            small += (line, b"\n")
            continue
        if small:
            buffers.append(b"".join(small))
            small = []
        buffers += (line, b"\n")
    if small:
        buffers.append(b"".join(small))
    return buffers


class OpenRequests:
    """The open ids, oldest first. `questions` are the open ids of the proxy's own questions, unknown to the client.

    An id that is used twice at a time is open twice: each of its requests needs an answer.
    """

    def __init__(self) -> None:
        self._open: dict[Id, int] = {}
        self.questions: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._open)

    def note_client(self, line: bytes) -> None:
        """Note a message of the client: a request opens its id, a cancellation closes it."""
        message = parse(line)
        if type(message) is Noise and message.kind == "too_deep":
            message = parse(shallow(line))
        if type(message) is Request:
            self.add(message.id)
        elif type(message) is Notification and message.method == "notifications/cancelled":
            id_ = members(message.params).get("requestId")
            if isinstance(id_, int | str):
                self.close(id_)
        elif type(message) is Noise and message.kind == "batch":
            for each in _messages(line):
                self.note_client(each)

    def note_server(self, line: bytes) -> None:
        """Note a message of the server: an answer closes its id, unless it is not a legal message."""
        message = parse(line)
        if type(message) is Result or type(message) is ErrorReply:
            if message.id is not None:
                self.close(message.id)
        elif type(message) is Noise and message.kind == "batch":
            for each in _messages(line):
                self.note_server(each)
        elif type(message) is Noise and message.kind == "too_deep" and message.reply_to is not None:
            # Legal JSON, which the client may be able to read.
            self.close(message.reply_to)

    def add(self, id_: Id) -> None:
        """Note one more request under this id."""
        self._open[id_] = self._open.get(id_, 0) + 1
        if len(self._open) > _MOST:
            del self._open[next(iter(self._open))]

    def close(self, id_: Id) -> None:
        """Close one request under this id; an id that is not open is ignored."""
        left = self._open.get(id_)
        if left is None:
            self.questions.discard(cast("str", id_))
        elif left > 1:
            self._open[id_] = left - 1
        else:
            del self._open[id_]

    def take(self) -> list[Id]:
        """Return all open ids and close them."""
        ids = [id_ for id_, times in self._open.items() for _ in range(times)]
        self._open.clear()
        return ids

    def take_questions(self) -> list[str]:
        """Return all open questions of the proxy and close them."""
        questions = list(self.questions)
        self.questions.clear()
        return questions


def _messages(batch: bytes) -> list[bytes]:
    """Return the messages of a batch; a batch within a batch is not a message."""
    return [message for message in split_batch(batch) if not message.startswith(b"[")]
