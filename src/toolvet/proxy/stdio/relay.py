"""What lies between two byte streams: lines are cut, the session decides, lines are joined again. No I/O here."""

import sys
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias, cast

from toolvet.proxy.record.recorder import Recorder, RecordSource
from toolvet.proxy.stdio.open_requests import OpenRequests
from toolvet.session import Asked, CallEnded, CallStarted, Note, SchemaLearned, Session, Step, ToClient, ToServer
from toolvet.wire import encode_error

# Below this a copy is cheaper than a longer vector of buffers.
_JOIN_BYTES: Final = 64 * 1024
_MOST_COMPLAINTS: Final = 100
# "Internal error": what both eras know. The band that servers may define (-32000 and below) means nothing for certain.
_SERVER_GONE: Final = -32603

OnTime: TypeAlias = Callable[[Asked | SchemaLearned], None]
"""Told of notes that need a clock: a question that must not wait for ever, a tool list that grows old."""


class ByteSink(Protocol):
    """Takes bytes without ever waiting."""

    def write(self, buffers: Sequence[bytes]) -> None:
        """Write these one after the other."""
        ...


class Lines:
    """Chunks in, whole lines out, without their line feed and with everything else, a carriage return included.

    `wire.LineFramer` takes the carriage return away, which a proxy must not. Linear in the bytes, however they are cut.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    @property
    def begun(self) -> bool:
        """Whether a line has begun that has not ended."""
        return bool(self._parts)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, oldest first."""
        lines = chunk.split(b"\n")
        rest = lines.pop()
        parts = self._parts
        if parts and lines:
            parts.append(lines[0])
            lines[0] = b"".join(parts)
            parts.clear()
        if rest:
            parts.append(rest)
        return lines

    def finish(self) -> bytes | None:
        """What stands after the last line feed when the stream ends, or None."""
        rest = b"".join(self._parts)
        self._parts.clear()
        return rest or None


class Relay:
    """One connection: the bytes of each side go in, the session decides, and the writers get what is to be written."""

    def __init__(
        self,
        session: Session,
        recorder: Recorder,
        origin: RecordSource,
        *,
        to_server: ByteSink,
        to_client: ByteSink,
        on_time: OnTime,
    ) -> None:
        self._session = session
        self._recorder = recorder
        self._origin = origin
        self._to_server = to_server
        self._to_client = to_client
        self._on_time = on_time
        # Messages that may open or close a request, to be looked at once they are written.
        self._unread: list[bytes] = []
        self._complained: set[str] = set()
        # Why nothing is answered any more, once that is so.
        self._gone: str | None = None
        # Whether half a line went to the client, which must end before another one begins.
        self._dangling = False
        self.client_lines = Lines()
        self.server_lines = Lines()
        self.open = OpenRequests()

    def from_client(self, chunk: bytes) -> None:
        """Bytes the client wrote."""
        lines = self.client_lines.feed(chunk)
        if lines:
            self._client_said(self._steps(lines, self._session.from_client, ToServer))

    def from_server(self, chunk: bytes) -> None:
        """Bytes the server wrote."""
        lines = self.server_lines.feed(chunk)
        if lines:
            self._server_said(self._steps(lines, self._session.from_server, ToClient))

    def client_ended(self) -> None:
        """The client's stream is over. Half a line is judged like a whole one: a server may take it for one."""
        rest = self.client_lines.finish()
        if rest is not None:
            steps = self._steps([rest], self._session.from_client, ToServer)
            self._client_said(_half(steps, rest, self._to_server))

    def server_ended(self) -> None:
        """The server's stream is over."""
        rest = self.server_lines.finish()
        if rest is not None:
            decided = self._steps([rest], self._session.from_server, ToClient)
            steps = _half(decided, rest, self._to_client)
            self._dangling = len(steps) < len(decided)
            self._server_said(steps)

    def give_up(self, question: str) -> None:
        """Do not wait for the answer to this question of ours any longer."""
        self.open.answered(question)
        self._note(self._write(self._session.give_up(question)))

    def server_gone(self, reason: str) -> None:
        """The server will answer nothing more: what is open is answered with an error, and so is what still comes."""
        self._gone = reason
        self._refuse_open()

    def close(self) -> None:
        """The connection is over: the record hears of every call that was not answered."""
        self._note(self._write(self._session.close()))

    def _steps(
        self, lines: list[bytes], decide: Callable[[bytes], list[Step]], onward: type[ToServer] | type[ToClient]
    ) -> list[Step]:
        steps: list[Step] = []
        for line in lines:
            try:
                decided = decide(line)
            except Exception as error:  # noqa: BLE001 - a bug of ours must not cost the user a connection
                self._complain(error)
                decided = [onward(line)]
            # By far the most messages are calls and their answers; what else there is has to be read once more.
            last = decided[-1] if len(decided) == 2 and line[:1] == b"{" else None
            if type(last) is CallStarted:
                self.open.opened(last.id)
            elif type(last) is CallEnded and onward is ToClient and last.outcome != "unreadable":
                self.open.answered(last.id)
            else:
                self._unread.append(line)
            steps += decided
        return steps

    def _client_said(self, steps: list[Step]) -> None:
        """What is kept for the record and for a bad end comes after the write: nobody waits for it."""
        rest = self._write(steps)
        if self._unread:
            for line in self._unread:
                self.open.asked(line)
            self._unread.clear()
        self._note(rest)
        if self._gone is not None:
            self._refuse_open()

    def _server_said(self, steps: list[Step]) -> None:
        rest = self._write(steps)
        if self._unread:
            for line in self._unread:
                self.open.heard(line)
            self._unread.clear()
        self._note(rest)

    def _refuse_open(self) -> None:
        """The errors come in by the way of the server, so that the session ends its calls with them."""
        for question in self.open.take_questions():
            self._note(self._write(self._session.give_up(question)))
        lines = [
            encode_error(id_, _SERVER_GONE, f"{self._gone} before it answered; whether it acted on it is not known")
            for id_ in self.open.take()
        ]
        if lines:
            self._server_said(self._steps(lines, self._session.from_server, ToClient))

    def _write(self, steps: Sequence[Step]) -> list[ToClient | Note]:
        """All lines for one side go in one write. Returns what is to be noted afterwards."""
        down: list[bytes] = []
        up: list[bytes] = []
        rest: list[ToClient | Note] = []
        for step in steps:
            kind = type(step)
            if kind is ToServer:
                down.append(cast("ToServer", step).data)
            elif kind is ToClient:
                answer = cast("ToClient", step)
                up.append(answer.data)
                if answer.about is not None:
                    rest.append(answer)
            else:
                rest.append(cast("Note", step))
        if down:
            self._to_server.write(_on_the_wire(down))
        if up:
            if self._dangling:
                self._dangling = False
                self._to_client.write([b"\n"])
            self._to_client.write(_on_the_wire(up))
        return rest

    def _note(self, rest: list[ToClient | Note]) -> None:
        for each in rest:
            if isinstance(each, ToClient):
                if each.about is not None:
                    self.open.answered(each.about)
                continue
            self._recorder.take(self._origin, each)
            if isinstance(each, Asked):
                self.open.questions.add(each.id)
                self._on_time(each)
            elif isinstance(each, SchemaLearned):
                self._on_time(each)

    def _complain(self, error: Exception) -> None:
        """Once for each wording, on stderr, which MCP leaves free."""
        words = f"toolvet: a message passed unchecked, because of a bug in toolvet: {error!r}\n"
        if words in self._complained or len(self._complained) > _MOST_COMPLAINTS:
            return
        self._complained.add(words)
        try:
            sys.stderr.write(words)
            sys.stderr.flush()
        except (OSError, ValueError):
            # Whoever read our stderr is gone; that is no reason to stop.
            return


def _half(steps: list[Step], rest: bytes, onward: ByteSink) -> list[Step]:
    """What is left to do once an undecided half line went on as it came, without a line feed."""
    decided = [step for step in steps if not (isinstance(step, ToServer | ToClient) and step.data is rest)]
    if len(decided) < len(steps):
        onward.write([rest])
    return decided


def _on_the_wire(lines: list[bytes]) -> list[bytes]:
    """With line feeds; as one buffer, unless that would copy much."""
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
