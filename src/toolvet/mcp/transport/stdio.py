"""A server as a child process: newline-delimited JSON on its stdin and stdout, free text on its stderr.

The process leads a session and a process group of its own: Ctrl-C in our terminal does not reach it, and everything it
starts can be ended with it. A descendant that starts a session of its own escapes the group; `orphans.py` ends it where
the system allows that and the program has asked for it.
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
from typing import Final, Literal, cast

from toolvet.errors import UnreachableError
from toolvet.mcp.transport.orphans import end_orphans, forget, starting_server
from toolvet.mcp.transport.reply import Inbox
from toolvet.mcp.transport.target import StdioTarget
from toolvet.mcp.wire import LineFramer, Oversize, reply_hint

# How much of stderr is kept for the report.
_STDERR_BYTES: Final = 64 * 1024
# After the process ended or closed its stdout, we read what is still in the pipes for this many seconds.
_DRAIN_SECONDS: Final = 0.5
# How long a process may take to end after a SIGTERM, and again after a SIGKILL.
_TERMINATE_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.01
_KILL: Final = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL

# The variables that the official SDK passes on, so that a server behaves as under a desktop client.
_POSIX_VARIABLES: Final = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_WINDOWS_VARIABLES: Final = (
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
)
# Beyond the SDK: without a locale a server prints its stderr as ASCII with question marks, and without TMPDIR it may
# write where it must not. Deliberately absent: proxies and package indexes (their URLs carry passwords), VIRTUAL_ENV
# (it would make a server's behaviour depend on the shell that toolvet was started from).
_MORE_VARIABLES: Final = ("LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TMPDIR", "TZ")


class StdioChannel:
    """The channel to a child process (see `channel.Channel`). Call `start` first."""

    kind: Literal["stdio", "http"] = "stdio"
    session_id: str | None = None

    _inbox: Inbox
    _process: "_Process"
    _transport: asyncio.SubprocessTransport
    _stdin: asyncio.WriteTransport
    _pid: int
    _finalizer: "weakref.finalize[[int, int], StdioChannel]"

    def __init__(self, target: StdioTarget, *, limit: int | None) -> None:
        self._target = target
        self._limit = limit

    async def start(self, inbox: Inbox) -> None:
        """Start the process. Raises UnreachableError when it cannot be started."""
        self._inbox = inbox
        target = self._target
        command, env = target.command, child_environment(target.env)
        if sys.platform == "win32":
            # `npx` is `npx.cmd` there, which only a search along PATHEXT finds; elsewhere exec searches PATH itself.
            command = shutil.which(command, path=env.get("PATH")) or command
        self._process = _Process(inbox, self._limit, self._on_started)
        try:
            with starting_server() as started:
                await asyncio.get_running_loop().subprocess_exec(
                    lambda: self._process,
                    command,
                    *target.args,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=env,
                    cwd=target.cwd,
                    start_new_session=True,
                )
                started(self._pid)
        except (OSError, ValueError) as error:
            raise UnreachableError(_describe_start_error(target, error)) from error

    def _on_started(self, transport: asyncio.SubprocessTransport) -> None:
        """Runs before any data is delivered, and before `start` returns."""
        self._transport = transport
        self._stdin = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
        self._pid = transport.get_pid()
        self._process.on_ended = self._end_group
        # An interpreter that exits without closing (a second Ctrl-C) must not leave a process behind.
        self._finalizer = weakref.finalize(self, _signal_group, self._pid, _KILL)

    @property
    def pid(self) -> int:
        """The process's id, which is also its group's."""
        return self._pid

    @property
    def alive(self) -> bool:
        """Whether the process runs, as far as we know yet."""
        return not self._process.ended

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process: negative for a signal, None while it runs."""
        return self._transport.get_returncode()

    @property
    def stderr(self) -> str:
        """The last 64 KiB that the process wrote to stderr."""
        return b"".join(self._process.stderr)[-_STDERR_BYTES:].decode(errors="replace")

    def post(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        """Write a request without waiting for the pipe; we go on reading, so two full pipes cannot deadlock."""
        del headers
        if not self._write(message):
            # Most often the process is about to end, and its end is the better reason to report.
            loop = asyncio.get_running_loop()
            loop.call_later(_DRAIN_SECONDS, lambda: self._inbox.lose("the process closed its stdin", id_=id_))

    async def deliver(self, message: bytes, headers: Mapping[str, str]) -> None:
        """Write a notification or an answer."""
        del headers
        self._write(message)

    def abandon(self, id_: int, notice: bytes | None) -> None:
        """Send the process the cancellation `notice`, if there is one."""
        del id_
        if notice is not None:
            self._write(notice)

    def use_version(self, version: str) -> None:
        """Do nothing: messages over stdio do not contain the version."""
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
            self._stdin.close()
            if not await self._exits_within(grace):
                _signal_group(self._pid, signal.SIGTERM)
                if not await self._exits_within(_TERMINATE_SECONDS):
                    _signal_group(self._pid, _KILL)
                    await self._exits_within(_TERMINATE_SECONDS)
            self._process.stop()
            self._end_group()
            if not await self._group_ends_within(_DRAIN_SECONDS):
                _signal_group(self._pid, _KILL)
                # Short: in a container without an init process, ended processes stay in the group as zombies for ever.
                await self._group_ends_within(10 * _POLL_SECONDS)
            for _ in end_orphans(self._pid):
                await asyncio.sleep(_POLL_SECONDS)
            if self._process.exited.done():
                forget(self._pid)
            self._finalizer.detach()
            self._transport.close()
            await asyncio.wait([self._process.disconnected], timeout=_TERMINATE_SECONDS)
        finally:
            # Also when the event loop is being shut down: no process of ours may outlive it.
            self._process.stop()
            self._transport.close()

    async def _exits_within(self, seconds: float) -> bool:
        done, _ = await asyncio.wait([self._process.exited], timeout=seconds)
        return bool(done)

    async def _group_ends_within(self, seconds: float) -> bool:
        """Poll until no process of the group is left: the system does not report the end of a grandchild."""
        deadline = perf_counter() + seconds
        while alive := _signal_group(self._pid, 0):
            if perf_counter() > deadline:
                break
            await asyncio.sleep(_POLL_SECONDS)
        return not alive

    def _end_group(self) -> None:
        if self._finalizer.alive:
            _signal_group(self._pid, signal.SIGTERM)


class _Process(asyncio.SubprocessProtocol):
    """The callbacks of asyncio for one process.

    Callbacks instead of streams: an answer reaches its request within the turn of the loop that read it.
    """

    def __init__(
        self, inbox: Inbox, limit: int | None, on_started: Callable[[asyncio.SubprocessTransport], None]
    ) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.disconnected: asyncio.Future[None] = loop.create_future()
        self.stderr: deque[bytes] = deque()
        self.ended = False
        self.on_ended: Callable[[], None] | None = None
        self._on_started = on_started
        self._stderr_bytes = 0
        self._inbox = inbox
        self._framer = LineFramer(limit)
        # Whether the unfinished line was reported already.
        self._is_reported = False
        self._open_pipes = {1, 2}
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._on_started(cast("asyncio.SubprocessTransport", transport))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            for line in self._framer.feed(data):
                self._deliver_line(line)
            begun = self._framer.oversize
            if begun is not None and not self._is_reported and (begun.is_endless or reply_hint(begun.head) is not None):
                # The end of such a line may never come, and its request must not wait for it.
                self._is_reported = True
                self._inbox.receive_oversize(begun)
            return
        self.stderr.append(data)
        self._stderr_bytes += len(data)
        while self._stderr_bytes - len(self.stderr[0]) >= _STDERR_BYTES:
            self._stderr_bytes -= len(self.stderr.popleft())

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc
        self._open_pipes.discard(fd)
        if fd == 1 and (rest := self._framer.finish()) is not None:
            self._deliver_line(rest)
        if fd != 0:
            self._check_end()

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)
        self._check_end()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.stop()
        if not self.disconnected.done():
            self.disconnected.set_result(None)

    def stop(self) -> None:
        self.ended = True
        if self._timer is not None:
            self._timer.cancel()

    def _deliver_line(self, line: bytes | Oversize) -> None:
        if isinstance(line, Oversize):
            if not self._is_reported:
                self._inbox.receive_oversize(line)
            self._is_reported = False
        else:
            self._inbox.receive(line)

    def _check_end(self) -> None:
        if self.ended:
            return
        if self.exited.done() and not self._open_pipes:
            self._give_up()
        elif self._timer is None and (self.exited.done() or 1 not in self._open_pipes):
            self._timer = asyncio.get_running_loop().call_later(_DRAIN_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if self.ended:
            return
        self.stop()
        self._inbox.lose("the process ended" if self.exited.done() else "the process closed its stdout")
        if self.exited.done() and self.on_ended is not None:
            self.on_ended()


def _signal_group(pid: int, number: int) -> bool:
    """Signal the group that `pid` leads (on Windows: that process); whether it was still running."""
    try:
        if sys.platform == "win32":
            # On Windows every number but two means TerminateProcess, also 0, which elsewhere only asks.
            if number == 0:
                return False
            os.kill(pid, number)
        else:
            os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def child_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a server: enough to find programs and a home, none of our secrets, and `extra`."""
    names = _WINDOWS_VARIABLES if sys.platform == "win32" else _POSIX_VARIABLES
    own = {name: value for name in (*names, *_MORE_VARIABLES) if (value := os.environ.get(name)) is not None}
    # A value that starts like this is an exported shell function of old bash (CVE-2014-6271), never a setting.
    own = {name: value for name, value in own.items() if not value.startswith("()")}
    return {**own, **(extra or {})}


def _describe_start_error(target: StdioTarget, error: OSError | ValueError) -> str:
    command = target.command
    if target.cwd is not None and not Path(target.cwd).is_dir():
        return f"cannot start `{target.describe()}`: there is no folder {target.cwd}"
    if isinstance(error, FileNotFoundError):
        if os.sep in command:
            return f"cannot start `{target.describe()}`: there is no file {command} (or its interpreter is missing)"
        return f"cannot start `{target.describe()}`: there is no program named {command}; is it installed?"
    if isinstance(error, PermissionError):
        return f"cannot start `{target.describe()}`: {command} is not executable"
    return f"cannot start `{target.describe()}`: {error}"
