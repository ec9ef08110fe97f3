"""`toolvet proxy URL`: a server at a URL, offered on our stdin and stdout, every message passed through a session.

For clients that start their servers, as most configuration files do. `RemoteServer` handles the connection (the legacy
session, streams, headers); this file reads and writes the client's pipes.

The end: when the client stops writing, the requests that it still waits for are served; a signal ends the proxy. In
both cases open requests are answered, and a legacy session is deleted. After a signal that takes at most 3.5 seconds,
whatever the client does not read and the server does not answer; a second signal ends everything at once.
"""

import asyncio
import os
import selectors
import signal
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

from toolvet.mcp.transport import HttpTarget
from toolvet.proxy.driver import QuietWatch, freeze_heap
from toolvet.proxy.interception import Interception
from toolvet.proxy.record.recorder import Recorder, RecordSource
from toolvet.proxy.remote.server import RemoteServer
from toolvet.proxy.session import Asked, Catalogue, Policies, SchemaLearned, Session
from toolvet.proxy.stdio.pipe import PipeWriter, check_stdout, private_stdout
from toolvet.proxy.stdio.relay import Relay

_CHUNK: Final = 64 * 1024
# Within a long line more is read at once.
_LONG_CHUNK: Final = 1 << 20
# With this many bytes that the other side did not take yet, a side is not read from.
_FULL: Final = 4 << 20
# How many seconds after a signal the client has to read, and how many the whole end takes.
_DRAIN_SECONDS: Final = 2.5
_END_SECONDS: Final = 3.5
_LEAST_RECORD_SECONDS: Final = 0.25
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def run_stdio_to_http(
    url: str,
    headers: Mapping[str, str],
    policies: Policies,
    recorder: Recorder,
    interception: Interception | None = None,
) -> int:
    """Serve our stdin and stdout until the client ends. Call it from the main thread: it handles signals.

    Args:
        url: The server's MCP endpoint.
        headers: Sent with every request.
        policies: What to do with each tool's calls.
        recorder: Gets what happened.
        interception: The interceptors to ask.

    Returns:
        The exit code, 128 and more for a signal.

    Raises:
        UsageError: For a URL or headers that cannot be sent. A server that cannot be reached is reported to the client,
            as the answer to its requests.
        OutputError: When our stdout is closed.
    """
    check_stdout()
    target = HttpTarget(url, headers)
    # epoll refuses a file as stdin, poll accepts it.
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.PollSelector())) as runner:
        return runner.run(_serve(target, policies, recorder, interception))


async def _serve(target: HttpTarget, policies: Policies, recorder: Recorder, interception: Interception | None) -> int:
    return await RemoteProxy(target, policies, recorder, interception).run()


class _ClientOutput:
    """Our stdout. `room` is set while the client reads fast enough; `gone` once it cannot read any more."""

    def __init__(self) -> None:
        self._writer = PipeWriter(private_stdout())
        self._loop = asyncio.get_running_loop()
        self._is_watched = False
        self.room = asyncio.Event()
        self.room.set()
        self.gone = asyncio.Event()
        if stat.S_ISFIFO(os.fstat(self._writer.fd).st_mode):
            # The writing end of a pipe becomes readable when its reader is gone.
            self._loop.add_reader(self._writer.fd, self._hung_up)

    def write(self, buffers: Sequence[bytes]) -> None:
        self._writer.write(buffers)
        self._update()

    async def flush(self) -> None:
        while self._writer.size and not self.gone.is_set():
            self.room.clear()
            await self.room.wait()

    def close(self) -> None:
        if not self._writer.closed:
            self._loop.remove_reader(self._writer.fd)
            self._loop.remove_writer(self._writer.fd)
            self._writer.close()

    def _drain(self) -> None:
        self._writer.drain()
        self._update()

    def _update(self) -> None:
        writer = self._writer
        if writer.broken:
            self._hung_up()
        elif writer.size and not self._is_watched:
            self._is_watched = True
            self._loop.add_writer(writer.fd, self._drain)
        elif not writer.size and self._is_watched:
            self._is_watched = False
            self._loop.remove_writer(writer.fd)
        if writer.size >= _FULL:
            self.room.clear()
        elif not writer.size:
            self.room.set()

    def _hung_up(self) -> None:
        self._writer.broken = True
        self.gone.set()
        self.room.set()
        self._loop.remove_reader(self._writer.fd)
        self._loop.remove_writer(self._writer.fd)


class RemoteProxy:
    """One client on our pipes, one server at a URL. Call `run` once."""

    def __init__(
        self, target: HttpTarget, policies: Policies, recorder: Recorder, interception: Interception | None = None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._patience = policies.settings.patience
        self._catalogue = Catalogue()
        self._quiet = QuietWatch()
        prefix = f"toolvet:{os.urandom(8).hex()}:"
        # Faults of the target are reported before our stdout is taken over.
        self._server: RemoteServer = RemoteServer(
            target,
            self._catalogue,
            prefix,
            limit=policies.settings.max_message_bytes,
            # The relay is made below, because it needs the server.
            complain=lambda words: self._relay.complain_of_length(words),  # noqa: PLW0108 - as above
            on_message=self._on_message,
            on_failure=self._on_failure,
            lose=lambda question: self._relay.give_up(question),  # noqa: PLW0108 - as above
            rested=self._check_load,
        )
        self._client = _ClientOutput()
        self._relay: Relay = Relay(
            Session(policies, self._catalogue, prefix=prefix),
            recorder,
            RecordSource(target.describe(), connection=f"stdio-{os.getpid()}"),
            to_server=self._server,
            to_client=self._client,
            on_time=self._on_time,
            limit=policies.settings.max_message_bytes,
            server_takes="lines",
            interception=interception,
            wake=self._wake,
        )
        self._recorder = recorder
        # When everything has to be over, in seconds of `monotonic`; None until a signal asks for the end.
        self._deadline: float | None = None
        self._hurry = asyncio.Event()
        self._reading = False
        self._client_open = True
        # Set when nothing is left to do; the exit code.
        self._over: asyncio.Future[int] = self._loop.create_future()

    async def run(self) -> int:
        """Relay until the connection is over. Returns the exit code."""
        handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        for number in handled:
            self._loop.add_signal_handler(number, self._take_signal, number)
        self._recorder.watch_signals()
        gone = asyncio.ensure_future(self._client.gone.wait())
        gone.add_done_callback(lambda _: self._end(0))
        try:
            self._start_reading()
            freeze_heap()
            code = await self._over
            self._relay.server_gone("the proxy ended")
            self._relay.close()
            ending = asyncio.ensure_future(self._finish())
            hurried = asyncio.ensure_future(self._hurry.wait())
            await asyncio.wait({ending, hurried}, return_when=asyncio.FIRST_COMPLETED)
            ending.cancel()
            hurried.cancel()
        finally:
            gone.cancel()
            self._stop_reading()
            self._client.close()
            if self._deadline is not None:
                self._recorder.close(max(_LEAST_RECORD_SECONDS, self._deadline - monotonic()))
        return code

    async def _finish(self) -> None:
        await self._client.flush()
        await self._server.close()

    def _wake(self) -> None:
        """Go on, in our thread, with what interceptors decided."""
        # The loop may be over.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._go_on)

    def _go_on(self) -> None:
        self._relay.intercepted()
        self._check_load()

    def _take_signal(self, number: int) -> None:
        if self._deadline is None:
            self._deadline = monotonic() + _END_SECONDS
            self._loop.call_later(_DRAIN_SECONDS, self._hurry.set)
        else:
            self._deadline = monotonic()
            self._hurry.set()
        self._end(128 + number)

    def _read(self) -> None:
        try:
            chunk = os.read(0, _LONG_CHUNK if self._relay.client_lines.begun else _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            # EIO from a terminal that hung up, ECONNRESET from a socket, EBADF when we were started without a stdin.
            chunk = b""
        if chunk:
            self._quiet.note_message(self._catalogue)
            self._relay.from_client(chunk)
            if self._server.size >= _FULL:
                self._stop_reading()
        else:
            self._client_open = False
            self._stop_reading()
            self._relay.client_ended()
            self._check_load()

    def _start_reading(self) -> None:
        if not self._reading and self._client_open:
            self._reading = True
            self._loop.add_reader(0, self._read)

    def _stop_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(0)

    async def _on_message(self, message: bytes) -> None:
        """Feed a message of the server, as one line: line feeds within it are white space, or it is not JSON."""
        await self._client.room.wait()
        line = message.replace(b"\n", b" ") if b"\n" in message else message
        self._relay.from_server(line + b"\n")
        self._quiet.note_answer()

    async def _on_failure(self, error: bytes) -> None:
        await self._client.room.wait()
        self._relay.answer_for_server(error)

    def _check_load(self) -> None:
        if self._server.size < _FULL:
            self._start_reading()
        if not self._client_open and not self._server.is_busy and not self._relay.holds_lines:
            self._end(0)

    def _end(self, code: int) -> None:
        if not self._over.done():
            self._over.set_result(code)

    def _on_time(self, note: Asked | SchemaLearned) -> None:
        if isinstance(note, Asked):
            self._loop.call_later(self._patience, self._relay.give_up, note.id)
        elif note.lifetime_ms is not None:
            self._loop.call_later(note.lifetime_ms / 1000, self._catalogue.forget)
