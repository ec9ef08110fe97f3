"""A server as a child process: newline-delimited JSON on its stdin and stdout, free text on its stderr.

The process leads a session and a process group of its own: Ctrl-C in our terminal does not reach it, and whatever it
starts can be ended with it. A descendant that starts a session of its own escapes; nothing portable can catch that.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Literal, cast

from toolvet.errors import UnreachableError
from toolvet.transport.channel import Inbox
from toolvet.transport.environment import child_environment
from toolvet.transport.target import StdioTarget
from toolvet.wire import LineFramer, Oversize

# How much of stderr is kept for the report.
_STDERR_BYTES = 64 * 1024
# After the process ended, or closed its stdout, what is still in the pipes is worth this many seconds of patience.
_LAST_WORDS = 0.5
# What a SIGTERM, and then a SIGKILL, may take.
_TERMINATE_SECONDS = 2.0
_POLL_SECONDS = 0.01


class StdioChannel:
    """See channel.Channel. `start` comes before everything else."""

    kind: Literal["stdio", "http"] = "stdio"
    session_id: str | None = None

    _inbox: Inbox
    _process: "_Process"
    _transport: asyncio.SubprocessTransport
    _stdin: asyncio.WriteTransport
    _pid: int
    _last_net: "weakref.finalize[[int, int], StdioChannel]"

    def __init__(self, target: StdioTarget, *, limit: int | None) -> None:
        self._target = target
        self._limit = limit

    async def start(self, inbox: Inbox) -> None:
        """Start the process. Raises UnreachableError when it cannot be started."""
        self._inbox = inbox
        target = self._target
        env = child_environment(target.env)
        self._process = _Process(inbox, self._limit, self._made)
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: self._process,
                _executable(target.command, env),
                *target.args,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                cwd=target.cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise UnreachableError(_why_not_started(target, error)) from error

    def _made(self, transport: asyncio.SubprocessTransport) -> None:
        """Runs before any data is delivered, and before `start` returns."""
        self._transport = transport
        self._stdin = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
        self._pid = transport.get_pid()
        self._process.on_gone = self._end_group
        # The last net: an interpreter that exits without closing (a second Ctrl-C) leaves no process behind.
        self._last_net = weakref.finalize(self, _signal_group, self._pid, _KILL)

    @property
    def pid(self) -> int:
        """The process's id, which is also its group's."""
        return self._pid

    @property
    def alive(self) -> bool:
        """Whether the process is there, as far as we know yet."""
        return not self._process.gone

    @property
    def exit_code(self) -> int | None:
        """Negative for a signal, None while it runs."""
        return self._transport.get_returncode()

    @property
    def stderr(self) -> str:
        """The last 64 KiB."""
        return b"".join(self._process.stderr)[-_STDERR_BYTES:].decode(errors="replace")

    def post(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        """Write a request. Nothing waits for the pipe: we read all the while, so two full pipes cannot deadlock."""
        del headers
        if not self._write(message):
            # Most often it is about to end, and that will be the better reason.
            loop = asyncio.get_running_loop()
            loop.call_later(_LAST_WORDS, lambda: self._inbox.lose("the process closed its stdin", id_=id_))

    async def deliver(self, message: bytes, headers: Mapping[str, str]) -> None:
        """Write a notification or an answer."""
        del headers
        self._write(message)

    def abandon(self, id_: int, notice: bytes | None) -> None:
        """Tell the process, if it may be told."""
        del id_
        if notice is not None:
            self._write(notice)

    def settle(self, version: str) -> None:
        """The version stands in no frame of stdio."""
        del version

    async def close(self, grace: float) -> None:
        """Close stdin, wait, SIGTERM, wait, SIGKILL: the specification's order, for the whole process group.

        A cancellation while we wait skips to the end of that list and is raised once nothing is left running.
        """
        ending = asyncio.ensure_future(self._end(grace))
        cancelled = None
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError as error:
                cancelled = error
                _signal_group(self._pid, _KILL)
        if cancelled is not None:
            raise cancelled

    def _write(self, message: bytes) -> bool:
        if self._stdin.is_closing():
            return False
        self._stdin.write(message + b"\n")
        return True

    async def _end(self, grace: float) -> None:
        try:
            await self._end_politely(grace)
        finally:
            # Also when the loop itself is being shut down under us: nothing of ours outlives it.
            self._process.stop()
            self._transport.close()

    async def _end_politely(self, grace: float) -> None:
        self._stdin.close()
        if not await self._exits_within(grace):
            _signal_group(self._pid, signal.SIGTERM)
            if not await self._exits_within(_TERMINATE_SECONDS):
                _signal_group(self._pid, _KILL)
                await self._exits_within(_TERMINATE_SECONDS)
        self._process.stop()
        self._end_group()
        if not await self._group_ends_within(_LAST_WORDS):
            _signal_group(self._pid, _KILL)
            # Short: in a container without an init process the dead stay in the group as zombies for ever.
            await self._group_ends_within(10 * _POLL_SECONDS)
        self._last_net.detach()
        self._transport.close()
        await asyncio.wait([self._process.disconnected], timeout=_TERMINATE_SECONDS)

    async def _exits_within(self, seconds: float) -> bool:
        done, _ = await asyncio.wait([self._process.exited], timeout=seconds)
        return bool(done)

    async def _group_ends_within(self, seconds: float) -> bool:
        """Poll, because nobody is told when a grandchild ends."""
        deadline = perf_counter() + seconds
        while alive := _signal_group(self._pid, 0):
            if perf_counter() > deadline:
                break
            await asyncio.sleep(_POLL_SECONDS)
        return not alive

    def _end_group(self) -> None:
        if self._last_net.alive:
            _signal_group(self._pid, signal.SIGTERM)


class _Process(asyncio.SubprocessProtocol):
    """Callbacks instead of streams: an answer reaches its request within the turn of the loop that read it."""

    def __init__(self, inbox: Inbox, limit: int | None, made: Callable[[asyncio.SubprocessTransport], None]) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.disconnected: asyncio.Future[None] = loop.create_future()
        self.stderr: deque[bytes] = deque()
        self.gone = False
        self.on_gone: Callable[[], None] = _nothing
        self._made = made
        self._stderr_bytes = 0
        self._inbox = inbox
        self._framer = LineFramer(limit)
        self._open_pipes = {1, 2}
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._made(cast("asyncio.SubprocessTransport", transport))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            for line in self._framer.feed(data):
                self._line(line)
            return
        self.stderr.append(data)
        self._stderr_bytes += len(data)
        while self._stderr_bytes - len(self.stderr[0]) >= _STDERR_BYTES:
            self._stderr_bytes -= len(self.stderr.popleft())

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc
        self._open_pipes.discard(fd)
        if fd == 1 and (rest := self._framer.finish()) is not None:
            self._line(rest)
        if fd != 0:
            self._consider()

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)
        self._consider()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.stop()
        if not self.disconnected.done():
            self.disconnected.set_result(None)

    def stop(self) -> None:
        """No more timers."""
        self.gone = True
        if self._timer is not None:
            self._timer.cancel()

    def _line(self, line: bytes | Oversize) -> None:
        if isinstance(line, Oversize):
            self._inbox.receive_oversize(line)
        else:
            self._inbox.receive(line)

    def _consider(self) -> None:
        """Once the process ended or its stdout closed: settle what is left to wait for."""
        if self.gone:
            return
        if self.exited.done() and not self._open_pipes:
            self._give_up()
        elif self._timer is None and (self.exited.done() or 1 not in self._open_pipes):
            self._timer = asyncio.get_running_loop().call_later(_LAST_WORDS, self._give_up)

    def _give_up(self) -> None:
        if self.gone:
            return
        self.stop()
        self._inbox.lose("the process ended" if self.exited.done() else "the process closed its stdout")
        if self.exited.done():
            self.on_gone()


_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


def _nothing() -> None:
    pass


def _signal_group(pid: int, number: int) -> bool:
    """Signal the group that `pid` leads (on Windows: that process); whether anybody was there to hear it."""
    try:
        if sys.platform == "win32":
            # There every number but two means TerminateProcess, also the 0 that only asks.
            if number == 0:
                return False
            os.kill(pid, number)
        else:
            os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _executable(command: str, env: Mapping[str, str]) -> str:
    """On Windows `npx` is `npx.cmd`, which only a search along PATHEXT finds; elsewhere exec searches PATH itself."""
    if sys.platform == "win32":
        return shutil.which(command, path=env.get("PATH")) or command
    return command


def _why_not_started(target: StdioTarget, error: OSError | ValueError) -> str:
    command = target.command
    if target.cwd is not None and not Path(target.cwd).is_dir():
        return f"cannot start `{target.describe()}`: there is no folder {target.cwd}"
    if isinstance(error, FileNotFoundError):
        if os.sep in command:
            return f"cannot start `{target.describe()}`: there is no file {command} (or its interpreter is missing)"
        return f"cannot start `{target.describe()}`: no program {command} on PATH; is it installed, and spelled so?"
    if isinstance(error, PermissionError):
        return f"cannot start `{target.describe()}`: {command} is not executable"
    return f"cannot start `{target.describe()}`: {error}"
