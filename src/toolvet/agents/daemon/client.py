"""`ask`: what a command does first, where a daemon is wanted.

It imports what a Python that has started has loaded already, and modules of the interpreter in C, because imports are
most of what such a command costs: `socket`, `typing`, `re` and `json` would each take longer than the answer.
"""
# ruff: noqa: PTH109 - as in `protocol`

import io
import os
import sys

from toolvet.agents.daemon.protocol import DONE, INPUT, REQUEST, WANTED, address, idle_seconds, is_ours, packed, receive
from toolvet.core.private import OTHERS_MAY_WRITE, open_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer


_SERVED = ("check", "hook")
# These change files of the caller, by a command that is not that of the daemon.
_OWN_WORK = ("install", "uninstall")
_CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 10.0
_INPUT_SECONDS = 1.0
_MOST_INPUT_BYTES = 2**20
_CHUNK_BYTES = 2**16
# Streams of ours and of any process: in the daemon they are others.
_OWN_PATHS = ("/dev/", "/proc/")
# A process of this user needs these to find its files; secrets of the first caller should not stay for minutes.
_KEPT = (
    "PATH",
    "HOME",
    "TMPDIR",
    "XDG_",
    "PYTHON",
    "LANG",
    "LC_",
    "TOOLVET_PREPARE",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "TZ",
)
# Ends at once, and leaves a process without a parent of ours.
_SHELL = 'trap "" HUP INT; "$@" </dev/null >/dev/null 2>&1 &'


def ask(words: list[str]) -> int | None:
    """Have the daemon run a command; return its exit code, None if this process has to run it.

    What was read of stdin by then is in `sys.stdin` again. Raises `OSError` if stdout cannot be written.
    """
    idle = idle_seconds()
    if not idle or not _is_served(words):
        return None
    path = address()
    if path is None:
        return None
    call = _Call()
    try:
        answer = call.ask(path, words)
    except (FileNotFoundError, ConnectionRefusedError):
        _start(path, idle)
        return None
    except Exception:  # noqa: BLE001 - whatever it is, the command can be run here
        answer = None
    if answer is None:
        call.give_back()
        return None
    code, printed, complaints = answer
    for number, content in ((2, complaints), (1, printed)):
        at = 0
        try:
            while at < len(content):
                at += os.write(number, content[at:])
        except OSError:
            # There is no stream left to report that stderr fails.
            if number == 1:
                raise
    return int(code)


def _is_served(words: list[str]) -> bool:
    """Whether a daemon can run this: without a terminal, and with nothing that means this very process."""
    if sys.platform != "linux" or not words or words[0] not in _SERVED or None in (sys.stdin, sys.stdout, sys.stderr):
        return False
    if words[0] == "hook" and words[1:2] and words[1] in _OWN_WORK:
        return False
    return not any(os.isatty(number) for number in (0, 1, 2)) and not any(
        each in word for word in words for each in _OWN_PATHS
    )


class _Call:
    """One request, and what was read of stdin for it."""

    def __init__(self) -> None:
        self._read: list[bytes] = []
        self._is_at_end = False

    def ask(self, path: str, words: list[str]) -> list[bytes] | None:
        """Return exit code, stdout and stderr; None if the daemon did not say. Raises `OSError`, `FrameError`."""
        import _socket  # noqa: PLC0415 - only where one is wanted

        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            connection.settimeout(_CONNECT_SECONDS)
            connection.connect(path)
            if not is_ours(connection, os.getuid()):
                return None
            environment = [b"%s=%s" % item for item in os.environb.items()]
            given = (b"\0".join(map(os.fsencode, words)), os.fsencode(os.getcwd()), b"\0".join(environment))
            connection.sendall(packed(REQUEST, *given))
            said = receive(connection)
            connection.settimeout(_ANSWER_SECONDS)
            while said is not None:
                kind, fields = said
                if kind == DONE:
                    return fields
                if kind == WANTED:
                    more = self._next_input()
                    if more is None:
                        return None
                    connection.sendall(packed(INPUT, more))
                said = receive(connection)
            return None
        finally:
            connection.close()

    def _next_input(self) -> bytes | None:
        """Read on; None if that takes long, or there is much: then it is judged here, line by line as it comes."""
        import select  # noqa: PLC0415 - only where there is input

        if sum(map(len, self._read)) > _MOST_INPUT_BYTES or not select.select([0], [], [], _INPUT_SECONDS)[0]:
            return None
        content = os.read(0, _CHUNK_BYTES)
        self._is_at_end = not content
        self._read.append(content)
        return content

    def give_back(self) -> None:
        if not self._read:
            return
        old = sys.stdin
        rest = None if self._is_at_end else io.FileIO(0, closefd=False)
        sys.stdin = io.TextIOWrapper(
            io.BufferedReader(_ReplayedInput(b"".join(self._read), rest)), encoding=old.encoding, errors=old.errors
        )


def _start(path: str, idle: int) -> None:
    """Start the daemon, unless another process does: the holder of the lock is it, for as long as it lives."""
    import fcntl  # noqa: PLC0415 - only where one is started

    lock = None
    try:
        lock = open_own(f"{path}.lock", os.O_RDWR | os.O_CREAT, OTHERS_MAY_WRITE)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.set_inheritable(lock, True)  # noqa: FBT003 - the name of the function says what it is
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120
        kept = {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, (package, kept.get("PYTHONPATH"))))
        words = ("-P", "-m", "toolvet.cli.daemon", path, f"{lock}", f"{idle}")
        command = ["/bin/sh", "-c", _SHELL, "sh", sys.executable, *words]
        # A session of its own: what ends the caller's processes leaves it.
        os.waitpid(os.posix_spawn(command[0], command, kept, setsid=True), 0)
    except OSError:
        pass  # It is being started, or cannot be: this process judges by itself in any case.
    finally:
        if lock is not None:
            os.close(lock)


class _ReplayedInput(io.RawIOBase):
    """Gives what was read before, then the rest."""

    def __init__(self, before: bytes, rest: io.FileIO | None) -> None:
        self._before = before
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer", /) -> int:
        place = memoryview(buffer).cast("B")
        content = self._before[: len(place)]
        self._before = self._before[len(place) :]
        if not content and self._rest is not None:
            content = self._rest.read(len(place))
        place[: len(content)] = content
        return len(content)
