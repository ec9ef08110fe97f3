"""`toolvet proxy -- COMMAND`: a server started behind our stdin and stdout, every message passed through a session.

One poll loop in one thread: measured beside asyncio and uvloop it adds the least to a call, and it needs neither their
import time nor their memory (benchmarks/proxy.py). Only `poll` waits for bytes to read, and no write waits; when one
side does not read, the loop stops reading what would be written to it.

However the connection ends: what the server still writes is passed on, requests it left open are answered with an
error, and all processes that it started are ended. The server's exit code becomes the proxy's.

After SIGTERM or SIGINT that takes at most 3.5 seconds, even if a side does not read or end: the server has two to end,
the client another half to read what is left, the server's children half, and the record the rest. Once SIGHUP has ended
the server, the client has 2.5 seconds to read. A second signal ends everything at once. Clients kill a server that does
not end within two to four seconds.
"""

import os
import select
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Final, TypeAlias

from toolvet.mcp.transport import StdioTarget
from toolvet.proxy.driver import freeze_heap
from toolvet.proxy.record.recorder import Recorder, RecordSource
from toolvet.proxy.session import Policies
from toolvet.proxy.stdio.pipe import PipeWriter, check_stdout, private_stdout
from toolvet.proxy.stdio.process import ServerProcess

if TYPE_CHECKING:
    from toolvet.proxy.interception import Interception
    from toolvet.proxy.session import Asked, SchemaLearned

_CHUNK: Final = 64 * 1024
# Within a long line more is read at once. Reading this much at all times would slow each small message.
_LONG_CHUNK: Final = 1 << 20
# With this many unwritten bytes for one side, the other side is not read from.
_FULL: Final = 4 << 20
# If neither side reads, one of them has to be read nevertheless, or both would wait for ever; up to this many bytes.
_BURSTING: Final = 1 << 28
# How many seconds the server has to act on the end of its stdin, and on a signal; as in the official SDK.
_EOF_SECONDS: Final = 2.0
_SIGNAL_SECONDS: Final = 2.0
# How many seconds the client has after a signal to read what is left for it, and how many the whole end takes.
_DRAIN_SECONDS: Final = 2.5
_END_SECONDS: Final = 3.5
# A record that takes so long is given up even where nothing else needed time.
_LEAST_RECORD_SECONDS: Final = 0.25
# A server that died may leave a child that keeps its stdout open: what comes within this many seconds still counts.
_LAST_WORDS: Final = 0.5
# A client that goes on writing to a dead server is read this many times more.
_LAST_READS: Final = 64
_SWITCH_SECONDS: Final = 0.0005
_GONE: Final = select.POLLERR | select.POLLHUP | select.POLLNVAL
_Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None

# Those that end a process, and the one that reports the end of a child.
_WATCHED: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


def run_stdio(
    command: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str | None,
    policies: Policies,
    recorder: Recorder,
    *,
    interception: "Interception | None" = None,
) -> int:
    """Serve our stdin and stdout until the server or the client ends. Call it from the main thread: it handles signals.

    Args:
        command: The server's program and its arguments.
        env: The server's environment; None passes our entire environment on, as without the proxy.
        cwd: The server's folder; None for ours.
        policies: What to do with each tool's calls.
        recorder: Gets what happened.
        interception: The interceptors to ask.

    Returns:
        The server's exit code, 128 and more for a signal.

    Raises:
        UnreachableError: When the server cannot be started.
        OutputError: When our stdout is closed.
    """
    check_stdout()
    process = ServerProcess(command, env, cwd)
    origin = RecordSource(StdioTarget(command[0], tuple(command[1:])).describe(), connection=f"stdio-{process.pid}")
    return StdioProxy(process, policies, recorder, origin, interception).run()


class StdioProxy:
    """The loop for one running server. Call `run` once."""

    def __init__(
        self,
        process: ServerProcess,
        policies: Policies,
        recorder: Recorder,
        origin: RecordSource,
        interception: "Interception | None" = None,
    ) -> None:
        # The checks take 100 ms to load; the server, which was started before, uses that time to start.
        from toolvet.proxy.driver import QuietWatch  # noqa: PLC0415
        from toolvet.proxy.session import Catalogue, Session  # noqa: PLC0415
        from toolvet.proxy.stdio.relay import Relay  # noqa: PLC0415

        self._process = process
        self._recorder = recorder
        self._stdout = process.stdout
        self._patience = policies.settings.patience
        self._catalogue = Catalogue()
        self._quiet = QuietWatch()
        self._to_server = process.stdin
        self._to_client = PipeWriter(private_stdout())
        self._decided = Waker()
        session = Session(policies, self._catalogue, prefix=f"toolvet:{os.urandom(8).hex()}:")
        self._relay = Relay(
            session,
            recorder,
            origin,
            to_server=self._to_server,
            to_client=self._to_client,
            on_time=self._on_time,
            limit=policies.settings.max_message_bytes,
            interception=interception,
            wake=self._decided.wake,
        )
        self._poll = select.poll()
        self._masks: dict[int, int] = {}
        self._pressed = True
        self._client_open = True
        self._server_open = True
        self._exited = False
        self._lost = False
        # When everything has to be over, in seconds of `monotonic`; None until a signal asks for the end.
        self._deadline: float | None = None
        self._hung_up = False
        self._gave_up = False
        self._last_reads = _LAST_READS
        # What to do when, in seconds of `monotonic`, by a name for it.
        self._timers: dict[str, tuple[float, Callable[[], None]]] = {}

    def run(self) -> int:
        """Relay until the connection is over. Returns the exit code."""
        wake = Signals()
        self._recorder.watch_signals()
        switch = sys.getswitchinterval()
        try:
            # A call that comes while a thread of the record works waits this long, and not for five milliseconds.
            sys.setswitchinterval(_SWITCH_SECONDS)
            self._watch(wake.fd, select.POLLIN)
            self._watch(self._decided.fd, select.POLLIN)
            freeze_heap()
            while True:
                is_over = self._gave_up or (
                    self._lost and self._exited and (not self._to_client.size or self._to_client.broken)
                )
                if is_over and not self._refuse_rest():
                    break
                self._turn(wake)
            self._relay.close()
        finally:
            sys.setswitchinterval(switch)
            self._process.close()
            self._to_client.close()
            wake.close()
            self._decided.close()
            if self._deadline is not None:
                self._recorder.close(max(_LEAST_RECORD_SECONDS, self._deadline - monotonic()))
        return self._process.exit_code or 0

    def _turn(self, wake: "Signals") -> None:
        """Wait for the next events and handle them."""
        if self._pressed or self._to_server.size or self._to_client.size or self._relay.to_client.size:
            self._set_interest()
        timeout: int | None = None
        if self._lost and self._exited and not self._to_client.size:
            timeout = 0
        elif self._timers:
            # Until the next one is due, rounded up.
            timeout = max(0, int((min(due for due, _ in self._timers.values()) - monotonic()) * 1000) + 1)
        for fd, events in self._poll.poll(timeout):
            if fd == self._stdout:
                self._read_server()
            elif fd == 0:
                self._read_client()
            elif fd == wake.fd:
                for number in wake.take():
                    self._take_signal(number)
            elif fd == self._decided.fd:
                self._decided.take()
                self._relay.intercepted()
                if self._exited and not self._server_open and not self._lost:
                    self._lose()
            else:
                self._write(self._to_server if fd == self._to_server.fd else self._to_client, events)
        if self._timers:
            now = monotonic()
            for name, timer in list(self._timers.items()):
                # A timer that was due before it may have removed it, or set it again.
                if timer[0] <= now and self._timers.get(name) is timer:
                    del self._timers[name]
                    timer[1]()
        if not self._client_open:
            # Its stdin is closed once all messages of the client are written.
            is_held = self._relay.holds_lines
            if not (self._to_server.closed or self._to_server.size or self._relay.open.questions or is_held):
                self._close_writer(self._to_server)
            is_awaited = is_held or (self._relay.open and not self._to_client.broken)
            # A server that reads no more would keep the rest for ever, and with it the proxy.
            is_over = self._to_server.closed or self._to_client.broken
            if is_over and not self._exited and "end" not in self._timers and not is_awaited:
                self._after("end", _EOF_SECONDS, self._terminate)
        if (
            self._to_server.lost
            and self._server_open
            and not self._exited
            and not self._lost
            and "end" not in self._timers
        ):
            self._end_server()

    # The four pipes.

    def _read_client(self) -> None:
        chunk = _read_chunk(0, _LONG_CHUNK if self._relay.client_lines.begun else _CHUNK)
        if chunk:
            self._quiet.note_message(self._catalogue)
            self._relay.from_client(chunk)
        elif chunk is not None:
            self._client_ended()

    def _read_server(self) -> None:
        chunk = _read_chunk(self._stdout, _LONG_CHUNK if self._relay.server_lines.begun else _CHUNK)
        if chunk:
            self._relay.from_server(chunk)
            self._quiet.note_answer()
        elif chunk is not None:
            self._server_open = False
            self._relay.server_ended()
            self._watch(self._stdout, None)
            self._end_server()

    def _write(self, writer: PipeWriter, events: int) -> None:
        if events & select.POLLOUT:
            writer.drain()
        if events & _GONE:
            writer.broken = True
        if writer.broken:
            self._pressed = True
            if writer is self._to_client:
                # Deliver everything the client wrote before it went, as a pipe would.
                while self._client_open and _is_stdin_readable():
                    self._read_client()
                if self._client_open:
                    self._client_ended()
            else:
                # The server may still answer what it read; it has failed once something more was written for it.
                self._close_writer(writer)

    def _set_interest(self) -> None:
        """Choose which sides to read: not one whose bytes the other does not take, unless neither takes any."""
        for_server = self._to_server.size + self._relay.to_server.size
        for_client = self._to_client.size + self._relay.to_client.size
        self._pressed = bool(for_server or for_client)
        if self._client_open:
            reads = for_server < _FULL or (for_client >= _FULL and for_server < _BURSTING)
            self._watch(0, select.POLLIN if reads and for_client < _BURSTING else None)
        if self._server_open:
            reads = for_client < _FULL or (for_server >= _FULL and for_client < _BURSTING)
            self._watch(self._stdout, select.POLLIN if reads else None)
        for writer in (self._to_server, self._to_client):
            # Also with nothing to write: `poll` then reports that the reader is gone.
            mask = None if writer.closed or writer.broken else select.POLLOUT if writer.size else 0
            self._watch(writer.fd, mask)

    def _watch(self, fd: int, mask: int | None) -> None:
        if self._masks.get(fd) == mask:
            return
        if mask is None:
            self._poll.unregister(fd)
            del self._masks[fd]
        else:
            self._poll.register(fd, mask)
            self._masks[fd] = mask

    # The end, from either side.

    def _client_ended(self) -> None:
        """The client writes no more, but may still read: `printf … | toolvet proxy -- server` is served to the end."""
        self._client_open = False
        self._watch(0, None)
        self._relay.client_ended()

    def _end_server(self) -> None:
        """The server exited or closed one of its pipes; the other signs of its end mostly follow at once."""
        self._close_writer(self._to_server)
        if self._exited and not self._server_open:
            self._lose()
        elif not self._lost:
            self._after("end", _LAST_WORDS, self._lose)

    def _lose(self) -> None:
        """Answer open requests with errors, because the server is gone; first the client reads what did come."""
        is_unread = self._server_open and self._to_client.size >= _FULL and self._deadline is None
        if is_unread or (self._relay.holds_results and not self._gave_up):
            self._after("end", _LAST_WORDS, self._lose)
            return
        self._timers.pop("end", None)
        self._lost = True
        how = self._process.ended_by if self._exited else "its pipes were closed"
        self._relay.server_gone(f"it ended ({how})")
        if not self._exited:
            self._after("end", _EOF_SECONDS, self._terminate)

    def _terminate(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._after("end", _SIGNAL_SECONDS, self._kill)

    def _kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)

    def _close_writer(self, writer: PipeWriter) -> None:
        if not writer.closed:
            self._watch(writer.fd, None)
            writer.close()

    def _give_up(self) -> None:
        """End now, whatever the client has not read and the server has not done yet."""
        self._process.send_signal(signal.SIGKILL)
        self._gave_up = True
        if not self._lost:
            self._lose()

    def _refuse_rest(self) -> bool:
        """Answer requests that the client wrote before it could see the end. Returns whether there were any."""
        if self._gave_up or not self._client_open or not self._last_reads or self._to_client.broken:
            return False
        if not _is_stdin_readable():
            return False
        self._last_reads -= 1
        self._read_client()
        return True

    # Signals and time.

    def _take_signal(self, number: int) -> None:
        if number == signal.SIGCHLD:
            if not self._exited and self._process.exit_code is not None:
                self._exited = True
                if self._hung_up:
                    self._set_deadline()
                self._end_server()
            return
        if self._deadline is not None:
            self._deadline = monotonic()
            self._give_up()
            return
        if number == signal.SIGHUP and not self._exited:
            # It may mean "read your settings again": the server decides. If it ends, so does the proxy.
            self._hung_up = True
        else:
            self._set_deadline()
            self._after("end", _SIGNAL_SECONDS, self._kill)
        self._process.send_signal(number)

    def _set_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = monotonic() + _END_SECONDS
            self._after("drain", _DRAIN_SECONDS, self._give_up)

    def _on_time(self, note: "Asked | SchemaLearned") -> None:
        """Set the timers that the session, which has no clock, asks for."""
        from toolvet.proxy.session import Asked  # noqa: PLC0415 - as in `__init__`; asked for once in many calls

        if isinstance(note, Asked):
            self._after(note.id, self._patience, partial(self._relay.give_up, note.id))
        elif note.lifetime_ms is not None:
            self._after("tools/list", note.lifetime_ms / 1000, self._catalogue.forget)

    def _after(self, name: str, seconds: float, act: Callable[[], None]) -> None:
        self._timers[name] = (monotonic() + seconds, act)


def _read_chunk(fd: int, size: int) -> bytes | None:
    """Return the bytes that can be read now; b"" at the end, None when there are none yet."""
    try:
        return os.read(fd, size)
    except BlockingIOError:
        return None
    except OSError:
        # EIO from a terminal that hung up, ECONNRESET from a socket, EBADF when the proxy was started without a stdin.
        return b""


def _is_stdin_readable() -> bool:
    poll = select.poll()
    poll.register(0, select.POLLIN)
    return bool(poll.poll(0))


class Waker:
    """Wakes the loop from other threads. `fd` is readable after `wake`; once it is closed, `wake` does nothing."""

    def __init__(self) -> None:
        self.fd, self._write = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._write, False)

    def wake(self) -> None:
        """Make `fd` readable."""
        # A full pipe wakes as well.
        with suppress(OSError):
            os.write(self._write, b"\0")

    def take(self) -> bytes:
        """Return the bytes that came, oldest first: from `Signals`, the numbers of the signals."""
        try:
            return os.read(self.fd, 1024)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        """Close both ends."""
        write, self._write = self._write, -1
        os.close(self.fd)
        os.close(write)


class Signals(Waker):
    """Takes over SIGTERM, SIGINT, SIGHUP and SIGCHLD until `close`. `fd` is readable when a signal came.

    Use it in the main thread: Python allows handlers nowhere else.
    """

    def __init__(self) -> None:
        super().__init__()
        self._old_fd = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._old: dict[int, _Handler] = {}
        for number in _WATCHED:
            # A signal that was ignored at the start stays ignored: `nohup`, and background jobs of a script.
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGCHLD:
                # Nothing to do: Python runs handlers at any point of the program; the pipe delivers the signal.
                self._old[number] = signal.signal(number, lambda _number, _frame: None)
        # For a child that ended before the handlers were set.
        os.write(self._write, bytes([signal.SIGCHLD]))

    def close(self) -> None:
        """Restore the handlers from before."""
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_fd)
        super().close()
