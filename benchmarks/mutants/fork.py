"""One trial in a process of its own: forked, limited in time and memory, and heard through a pipe."""

import os
import resource
import select
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

Kind = Literal["killed", "survived", "endless", "unpatched", "unreached"]
_MEMORY: Final = 3_000_000_000
_CPU: Final = 2.0
_WALL: Final = 30.0
_TIMES: Final = 10
_PREPARING: Final = "preparing"


class Outcome(NamedTuple):
    """How a trial ended, and the test that ended it."""

    kind: Kind
    test: str = ""
    failed: tuple[str, ...] = ()
    seconds: Mapping[str, float] = {}


class Line:
    """What the forked process says: the test that begins, its time, its failure."""

    def __init__(self, end: int, limits: Mapping[str, float], patience: float) -> None:
        self._end = end
        self._limits = limits
        self._patience = patience

    def begin(self, test: str) -> None:
        """Say that this test begins, and let it have its time of the processor and no more."""
        self._say("begin", test)
        limit = self._patience * (_CPU + _TIMES * self._limits.get(test, 1.0))
        signal.setitimer(signal.ITIMER_PROF, limit)

    def end(self, test: str, seconds: float) -> None:
        """Say how long it took."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        self._say("end", test, f"{seconds:.6f}")

    def fail(self, test: str) -> None:
        """Say that it failed."""
        self._say("fail", test)

    def finish(self, kind: Kind) -> None:
        """Say how the trial ended where no test says it."""
        self._say("finish", kind)

    def _say(self, *words: str) -> None:
        os.write(self._end, ("\t".join(words) + "\n").encode())


def try_in_fork(work: Callable[[Line], None], limits: Mapping[str, float], patience: float = 1.0) -> Outcome:
    """Run `work` in a fork. `limits` has the usual seconds of each test; `patience` multiplies what it may take.

    A process that is stopped by a limit is "endless"; one that dies of something else is killed by its test.
    """
    read_end, write_end = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read_end)
        _become(work, Line(write_end, limits, patience))
    os.close(write_end)
    try:
        return _listen(pid, read_end, limits, patience)
    finally:
        os.close(read_end)


def _become(work: Callable[[Line], None], line: Line) -> None:
    code = 1
    try:
        os.setsid()
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        work(line)
        code = 0
    except BaseException as raised:  # noqa: BLE001 - Whatever it is, this process must not go on as its parent.
        print(f"trial: {type(raised).__name__}: {raised}", file=sys.stderr)
    finally:
        os._exit(code)


def _listen(pid: int, end: int, limits: Mapping[str, float], patience: float) -> Outcome:
    test, failed, seconds, kind = _PREPARING, [], {}, ""
    stopped, rest = False, b""
    while True:
        wall = patience * (_WALL + 2 * _TIMES * limits.get(test, 10.0))
        if not select.select([end], [], [], wall)[0]:
            stopped = True
            break
        got = os.read(end, 65_536)
        if not got:
            break
        *lines, rest = (rest + got).split(b"\n")
        for words in (line.decode().split("\t") for line in lines):
            match words:
                case ["begin", test]:
                    pass
                case ["end", name, took]:
                    seconds[name] = float(took)
                case ["fail", name]:
                    failed.append(name)
                case [_, kind]:
                    pass
                case _:
                    raise ValueError(f"a trial said {words}")
    if stopped:
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if stopped or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in {signal.SIGPROF, signal.SIGXCPU}):
        return Outcome("endless", test, tuple(failed), seconds)
    if failed:
        return Outcome("killed", failed[0], tuple(failed), seconds)
    if kind:
        return Outcome("unpatched" if kind == "unpatched" else "survived", "", (), seconds)
    return Outcome("killed", test, (), seconds)
