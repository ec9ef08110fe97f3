"""`Daemon`: the process that stays, and forks the children that run a command for one caller each."""

import gc
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from io import BufferedReader, BytesIO, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING, Final

from toolvet.agents.daemon.protocol import DONE, INPUT, MOST_BYTES, REQUEST, TAKEN, WANTED, is_ours, packed, receive
from toolvet.core.discover import file_states

if TYPE_CHECKING:
    from typing_extensions import Buffer


Parse = Callable[[list[str]], Callable[[], int]]
"""Words → what runs them and returns the exit code. It is called beforehand, too, so it must not look around."""

_SPARE_CHILDREN: Final = 2
_MOST_SPARE: Final = 4  # Where more wait, after many calls at once, those that come back end.
_MOST_CALLS: Final = 100  # Of one child: what it has learnt from them goes with it.
_MOST_CHILDREN: Final = 32
_MOST_CALLERS: Final = 64  # Those that wait for a child.
_REQUEST_SECONDS: Final = 2.0
_CHILD_SECONDS: Final = 60  # The kernel ends a child then; its caller gave up long before.
_REQUEST_FIELDS: Final = 3
_TAKEN, _FREE, _OLD = b"+", b"=", b"-"  # A child sends these to its parent.
# A call that opened a store, or failed by a bug of ours, is the last one of its child.
_LEAVES_SOMETHING: Final = ("toolvet.store.store", "sqlalchemy")
_MOST_CODE: Final = 4
_MOST_SAID_BYTES: Final = 2**16
_INSTALLED: Final = "site-packages"


class Daemon:
    """The process that stays: it sees to it that children wait for callers, and has one thread, because it forks.

    A child is made ahead, and answers one call after the other: making one and its first touch of what it shares cost
    five times as much as a call. Each call has its own words, folder, environment, input and output.
    """

    def __init__(self, path: str, parse: Parse, rehearse: Callable[[], object], *, idle: float, held: int) -> None:
        self._path = path
        self._parse = parse
        self._rehearse = rehearse
        self._idle = idle
        self._held = held
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._waiting: dict[int, socket.socket] = {}
        """Children that no caller has found yet, by what connects them to us."""
        self._busy: dict[int, socket.socket] = {}
        self._pids: dict[int, int] = {}
        self._loaded = loaded_files()
        self._asked_at = time.monotonic()

    def run(self) -> None:
        """Listen, have callers answered, and leave no socket behind."""
        # Freeze the existing objects: a child need not copy them to count references.
        gc.collect()
        gc.freeze()
        with suppress(FileNotFoundError):
            # Of one that was killed: only the owner of the lock gets here.
            os.unlink(self._path)  # noqa: PTH108 - a path is a string here
        before = os.umask(0o177)
        try:
            self._listener.bind(self._path)
        finally:
            os.umask(before)
        self._listener.listen(_MOST_CALLERS)
        # Children that wait for the same caller: one gets it, the others go on waiting.
        self._listener.settimeout(0)
        signal.signal(signal.SIGTERM, _end)
        try:
            while self._busy or time.monotonic() - self._asked_at < self._idle:
                while len(self._waiting) < _SPARE_CHILDREN and len(self._waiting) + len(self._busy) < _MOST_CHILDREN:
                    self._make_child()
                poll = select.poll()
                for number in (*self._waiting, *self._busy):
                    poll.register(number, select.POLLIN)
                wait = self._idle - (time.monotonic() - self._asked_at)
                for number, _event in poll.poll(max(1, 1000 * wait)):
                    self._receive_from(number)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(self._path)  # noqa: PTH108 - as above

    def _receive_from(self, number: int) -> None:
        connection = self._waiting.get(number) or self._busy[number]
        said = connection.recv(_MOST_SAID_BYTES)
        if said == _OLD:
            raise SystemExit
        if said == _FREE:
            self._asked_at = time.monotonic()
            self._waiting[number] = self._busy.pop(number)
            if len(self._waiting) > _MOST_SPARE:
                # It sees that, and ends.
                connection.shutdown(socket.SHUT_WR)
            return
        if said:
            self._asked_at = time.monotonic()
            self._busy[number] = self._waiting.pop(number)
            # The children to come know these words.
            self._parse(os.fsdecode(said[1:]).split("\0"))
            return
        self._waiting.pop(number, None)
        self._busy.pop(number, None)
        connection.close()
        os.waitpid(self._pids.pop(number), 0)

    def _make_child(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        child = os.fork()
        if child:
            theirs.close()
            self._waiting[ours.fileno()] = ours
            self._pids[ours.fileno()] = child
            return
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # A child that outlives its parent must not block the next daemon.
            os.close(self._held)
            for other in (ours, *self._waiting.values(), *self._busy.values()):
                other.close()
            # The child copies the memory that it writes to: now, not while a caller waits.
            self._rehearse()
            for _ in range(_MOST_CALLS):
                caller = self._await_caller(theirs)
                if caller is None or not self._answer(caller, theirs):
                    break
                theirs.send(_FREE)
        finally:
            # Nothing of the parent's is to be tidied up by the child, and no traceback is to be printed.
            os._exit(0)

    def _await_caller(self, parent: socket.socket) -> socket.socket | None:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(parent, select.POLLIN)
        while True:
            if any(number == parent.fileno() for number, _event in poll.poll()):
                return None
            with suppress(BlockingIOError):
                caller, _address = self._listener.accept()
                if is_ours(caller, os.getuid()):
                    return caller
                caller.close()

    def _answer(self, caller: socket.socket, parent: socket.socket) -> bool:
        """Returns whether another call may follow. A caller without an answer runs its command itself."""
        signal.alarm(_CHILD_SECONDS)
        caller.settimeout(_REQUEST_SECONDS)
        said = receive(caller)
        if said is None or said[0] != REQUEST or len(said[1]) != _REQUEST_FIELDS:
            return False
        words, folder, environment = said[1]
        if loaded_files() != self._loaded:
            parent.send(_OLD)
            return False
        parent.send(_TAKEN + words[:_MOST_SAID_BYTES])
        caller.settimeout(None)
        caller.sendall(packed(TAKEN))
        os.chdir(folder)
        os.environb.clear()
        for item in environment.split(b"\0"):
            name, _, value = item.partition(b"=")
            os.environb[name] = value
        printed, complaints = BytesIO(), BytesIO()
        sys.stdin = _like(sys.stdin, BufferedReader(_CallersInput(caller)))
        sys.stdout, sys.stderr = _like(sys.stdout, printed), _like(sys.stderr, complaints)
        code = self._parse(os.fsdecode(words).split("\0"))()
        sys.stdout.flush()
        sys.stderr.flush()
        answer = packed(DONE, b"%d" % code, printed.getvalue(), complaints.getvalue())
        if len(answer) <= MOST_BYTES:
            caller.sendall(answer)
        caller.close()
        signal.alarm(0)
        # A child that waits holds no folder of a caller.
        os.chdir(os.path.dirname(self._path))  # noqa: PTH120 - a path is a string here
        return code <= _MOST_CODE and not any(name in sys.modules for name in _LEAVES_SOMETHING)


class _CallersInput(RawIOBase):
    """Stdin of the caller, who reads it when it is wanted here."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer", /) -> int:
        if not self._waiting:
            self._connection.sendall(packed(WANTED))
            said = receive(self._connection)
            if said is None or said[0] != INPUT:
                # The caller goes on by itself.
                os._exit(0)
            self._waiting = said[1][0]
        place = memoryview(buffer).cast("B")
        content, self._waiting = self._waiting[: len(place)], self._waiting[len(place) :]
        place[: len(content)] = content
        return len(content)


def _like(stream: object, buffer: BufferedReader | BytesIO) -> TextIOWrapper:
    encoding, errors = getattr(stream, "encoding", "utf-8"), getattr(stream, "errors", None)
    return TextIOWrapper(buffer, encoding=encoding, errors=errors)


def loaded_files() -> list[object]:
    """Return what a change of the package changes, as in an edited checkout: its loaded modules and its data files.

    Those of an installation change together, with its version, which is in the address, or are written again: one of
    them is looked at. The 760 files of a checkout take one to three milliseconds, half of a call.
    """
    return [(each.st_mtime_ns, each.st_size, each.st_ino) for each in map(os.stat, _files())]


@cache
def _files() -> list[str]:
    modules = [
        file
        for name, module in sys.modules.items()
        if name.partition(".")[0] == "toolvet" and (file := getattr(module, "__file__", None))
    ]
    if f"{os.sep}{_INSTALLED}{os.sep}" in __file__:
        return [file for file in modules if file.endswith(f"{os.sep}version.py")]
    return sorted([*modules, *(each.path for each in file_states("toolvet", (".toml",)))])


def _end(_number: int, _frame: object) -> None:
    raise SystemExit
