"""The path between two byte streams: cut lines, let the session decide, join lines again. No I/O.

client's bytes → RawLineFramer → Session → to_server
server's bytes → RawLineFramer → Session → to_client
"""

import sys
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias, cast

from toolvet.proxy.record.recorder import Recorder, RecordSource
from toolvet.proxy.stdio.open_requests import OpenRequests
from toolvet.session import Asked, CallEnded, CallStarted, Note, SchemaLearned, Session, Step, ToClient, ToServer
from toolvet.wire import RawLineFramer, encode_error

# Below this a copy is cheaper than a longer vector of buffers.
_JOIN_BYTES: Final = 64 * 1024
_MOST_COMPLAINTS: Final = 100
# "Internal error", which both eras know. Codes that servers may define (-32000 and below) have no certain meaning.
_SERVER_GONE: Final = -32603
_DOUBT: Final = "It may have acted on the request all the same."

OnTime: TypeAlias = Callable[[Asked | SchemaLearned], None]
"""Called with notes that need a clock: a question that must not wait for ever, a tool list that grows old."""


class ByteSink(Protocol):
    """Takes bytes without waiting."""

    def write(self, buffers: Sequence[bytes]) -> None:
        """Write these one after the other."""
        ...


class Relay:
    """One connection: feed the bytes of each side; what the session decides is written to the two sinks.

    `origin` names the connection in the record, `on_time` gets the notes that need a clock. `open` holds the requests
    that the client still waits for.
    """

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
        # Messages that may open or close a request; they are read after they were written.
        self._unread: list[bytes] = []
        self._complained: set[str] = set()
        # Why the server answers nothing any more, once that is so.
        self._gone: str | None = None
        # Whether half a line went to the client, which must end before another one begins.
        self._dangling = False
        self.client_lines = RawLineFramer()
        self.server_lines = RawLineFramer()
        self.open = OpenRequests()

    def from_client(self, chunk: bytes) -> None:
        """Feed bytes that the client wrote."""
        lines = self.client_lines.feed(chunk)
        if lines:
            self._do_client_steps(self._steps(lines, self._session.from_client, ToServer))

    def from_server(self, chunk: bytes) -> None:
        """Feed bytes that the server wrote."""
        lines = self.server_lines.feed(chunk)
        if lines:
            self._do_server_steps(self._steps(lines, self._session.from_server, ToClient))

    def answer_for_server(self, error: bytes) -> None:
        """Answer a request with this error, because the server does not."""
        self._do_server_steps(self._steps([error], self._session.fail, ToClient))

    def client_ended(self) -> None:
        """End the client's stream. Half a line is checked like a complete one: a server may read it as one."""
        rest = self.client_lines.finish()
        if rest is not None:
            steps = self._steps([rest], self._session.from_client, ToServer)
            self._do_client_steps(_pass_half_line(steps, rest, self._to_server))

    def server_ended(self) -> None:
        """End the server's stream."""
        rest = self.server_lines.finish()
        if rest is not None:
            decided = self._steps([rest], self._session.from_server, ToClient)
            steps = _pass_half_line(decided, rest, self._to_client)
            self._dangling = len(steps) < len(decided)
            self._do_server_steps(steps)

    def give_up(self, question: str) -> None:
        """Stop waiting for the answer to this question of the proxy."""
        self.open.close(question)
        self._note(self._write(self._session.give_up(question)))

    def server_gone(self, reason: str) -> None:
        """Answer open and later requests with an error, because the server is gone. `reason` begins the message."""
        self._gone = reason
        self._refuse_open()

    def close(self) -> None:
        """End the connection: every call that was not answered goes on record."""
        self._note(self._write(self._session.close()))

    def _steps(
        self, lines: list[bytes], decide: Callable[[bytes], list[Step]], onward: type[ToServer] | type[ToClient]
    ) -> list[Step]:
        steps: list[Step] = []
        for line in lines:
            try:
                decided = decide(line)
            except Exception as error:  # noqa: BLE001 - a bug of the proxy must not cost the user a connection
                self._complain(error)
                decided = [onward(line)]
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
        """Write first: the record and the list of open requests must not delay the message."""
        rest = self._write(steps)
        if self._unread:
            for line in self._unread:
                self.open.note_client(line)
            self._unread.clear()
        self._note(rest)
        if self._gone is not None:
            self._refuse_open()

    def _do_server_steps(self, steps: list[Step]) -> None:
        rest = self._write(steps)
        if self._unread:
            for line in self._unread:
                self.open.note_server(line)
            self._unread.clear()
        self._note(rest)

    def _refuse_open(self) -> None:
        """Feed the errors as if the server had sent them, so that the session ends its calls with them."""
        for question in self.open.take_questions():
            self._note(self._write(self._session.give_up(question)))
        lines = [
            encode_error(id_, _SERVER_GONE, f"The MCP server is unavailable: {self._gone} before it answered. {_DOUBT}")
            for id_ in self.open.take()
        ]
        if lines:
            self._do_server_steps(self._steps(lines, self._session.fail, ToClient))

    def _write(self, steps: Sequence[Step]) -> list[ToClient | Note]:
        """Write all lines for one side at once. Returns the steps to be noted afterwards."""
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
            self._to_server.write(_join_lines(for_server))
        if for_client:
            if self._dangling:
                self._dangling = False
                self._to_client.write([b"\n"])
            self._to_client.write(_join_lines(for_client))
        return rest

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

    def _complain(self, error: Exception) -> None:
        """Report a bug once for each wording, on stderr, which MCP leaves free."""
        words = f"toolvet: a message passed unchecked, because of a bug in toolvet: {error!r}\n"
        if words in self._complained or len(self._complained) > _MOST_COMPLAINTS:
            return
        self._complained.add(words)
        try:
            sys.stderr.write(words)
            sys.stderr.flush()
        except (OSError, ValueError):
            # The reader of our stderr is gone; the connection goes on.
            return


def _pass_half_line(steps: list[Step], rest: bytes, onward: ByteSink) -> list[Step]:
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
