"""Orphans: processes that a server started and that left its group and session ("daemons"). They end with the server.

    toolvet ── server ── child ── daemon         the child ends, and Linux gives the daemon a new parent: us, not init
    toolvet ── daemon                            nothing else in its line of parents says where it came from

Signals to the server's process group miss such a process. On Linux, a program of ours asks to be the parent of orphans
(`adopt_orphans`, prctl(2) with PR_SET_CHILD_SUBREAPER); a caller that starts a server through `starting_server` and
ends it through `end_orphans` then ends them, too. Nothing of this happens in a process that did not call
`adopt_orphans`: a library must not take over the children of another program. macOS and Windows give orphans no
other parent, so there a server that makes a session of its own survives.

Left alone are processes that share our session (a shell's, from before it became us), children from before
`adopt_orphans`, and a browser that a person looks at: servers open one for a login.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36
# How long an orphan may take to end after a SIGTERM, and again after a SIGKILL.
_SECONDS: Final = 0.5
_PAUSE_SECONDS: Final = 0.05
_IDLE_SECONDS: Final = 1.0
_BROWSERS: Final = frozenset(
    {
        "brave",
        "chrome",
        "chromium",
        "chromium-browser",
        "epiphany",
        "falkon",
        "firefox",
        "firefox-bin",
        "firefox-esr",
        "konqueror",
        "librewolf",
        "msedge",
        "opera",
        "vivaldi-bin",
    }
)
# Options of a browser that a program steers.
_STEERED: Final = (b"--headless", b"--remote-debugging", b"--marionette", b"-juggler", b"--type=")


@dataclass(frozen=True, slots=True)
class ChildProcess:
    """A child of ours as the system lists it. `session` is the id of its session, `is_over` is true for a zombie."""

    pid: int
    session: int
    is_over: bool


class OrphanKeeper:
    """The parent of orphans: it knows the children that we started, ends the others, and reaps what has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own = {child.pid for child in _children()}
        self._servers: set[int] = set()
        self._starting = 0

    def reap_for_ever(self) -> None:
        """Reap each orphan that ends while the servers run; without that a zombie stays for each."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:
                sleep(_IDLE_SECONDS)
                continue
            child = None if ended is None else _child_of_ours(ended.si_pid)
            if child is None or not self._reap(child):
                # A server: the code that started it reaps it.
                sleep(_PAUSE_SECONDS)

    @contextmanager
    def starting(self, servers: set[int]) -> Generator[Callable[[int], None]]:
        """Start a process in this block, and pass its id to what the block gets. `servers` receives it, too."""

        def note(pid: int) -> None:
            with self._lock:
                self._own.add(pid)
                servers.add(pid)

        with self._lock:
            self._starting += 1
        try:
            yield note
        finally:
            with self._lock:
                self._starting -= 1

    def end(self, pid: int) -> Generator[None]:
        """End the orphans, unless another server runs that they may belong to. Yields where the caller should wait."""
        self._servers.discard(pid)
        if self._servers:
            return
        signalled: set[tuple[int, int]] = set()
        began = monotonic()
        while orphans := [child.pid for child in _children() if not self._reap(child) and self._is_orphan(child)]:
            waited = monotonic() - began
            if waited > 2 * _SECONDS:
                return
            number = signal.SIGTERM if waited <= _SECONDS else signal.SIGKILL
            for orphan in orphans:
                if (orphan, number) not in signalled:
                    signalled.add((orphan, number))
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(orphan, number)
            yield

    @property
    def servers(self) -> set[int]:
        """The ids of the servers that run."""
        return self._servers

    def forget(self, pid: int) -> None:
        """Note that a process of ours has ended and was reaped."""
        with self._lock:
            self._own.discard(pid)
            self._servers.discard(pid)

    def _is_orphan(self, child: ChildProcess) -> bool:
        with self._lock:
            is_other = not self._starting and child.pid not in self._own
        return is_other and child.session != os.getsid(0) and (child.is_over or not _is_browser(child.pid))

    def _reap(self, child: ChildProcess) -> bool:
        if not child.is_over or not self._is_orphan(child):
            return False
        with suppress(ChildProcessError):
            os.waitpid(child.pid, os.WNOHANG)
        return True


_keeper: OrphanKeeper | None = None


def adopt_orphans() -> bool:
    """Make this process the parent of all orphans below it. Returns False if the system cannot (not Linux).

    For programs that own all their children only: `toolvet assess` and `toolvet proxy` call it.
    """
    global _keeper  # noqa: PLW0603 - it is a property of the process, as for the system.
    if _keeper is None and sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - for these programs only.

        try:
            if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
                return False
        except (OSError, AttributeError):
            return False
        _keeper = OrphanKeeper()
        threading.Thread(target=_keeper.reap_for_ever, name="toolvet-orphans", daemon=True).start()
    return _keeper is not None


@contextmanager
def starting_server() -> Generator[Callable[[int], None]]:
    """Start a server in this block, and pass its id to what the block gets."""
    if _keeper is None:
        yield lambda _: None
        return
    with _keeper.starting(_keeper.servers) as note:
        yield note


@contextmanager
def starting_helper() -> Generator[Callable[[int], None]]:
    """Start a process of ours that is not a server in this block, and pass its id to what the block gets."""
    if _keeper is None:
        yield lambda _: None
        return
    with _keeper.starting(set()) as note:
        yield note


def end_orphans(pid: int) -> Generator[None]:
    """End what the server `pid`, which has ended, left behind. Yields where the caller should wait a little."""
    if _keeper is not None:
        yield from _keeper.end(pid)


def forget(pid: int) -> None:
    """Note that a process that `starting_server` or `starting_helper` started was reaped."""
    if _keeper is not None:
        _keeper.forget(pid)


def _children() -> list[ChildProcess]:
    try:
        names = [entry.name for entry in os.scandir("/proc") if entry.name.isdecimal()]
    except OSError:
        return []
    return [child for name in names if (child := _child_of_ours(int(name))) is not None]


def _child_of_ours(pid: int) -> ChildProcess | None:
    try:
        words = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # "7 (a name) S 1 7 7": the name may contain anything, so what follows the last bracket counts.
    state, parent, _, session = words[words.rfind(b")") + 1 :].split()[:4]
    return ChildProcess(pid, int(session), state in b"ZX") if int(parent) == os.getpid() else None


def _is_browser(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        program = Path(os.readlink(f"/proc/{pid}/exe")).name  # noqa: PTH115 - as text, also where the file is gone.
    except OSError:
        return False
    return program in _BROWSERS and not any(option in words for option in _STEERED)
