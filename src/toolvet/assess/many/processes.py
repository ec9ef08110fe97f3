"""Everything below a process: its memory, what it read, and its end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_ROUNDS: Final = 200
_PAUSE_SECONDS: Final = 0.01
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class ProcessFacts(NamedTuple):
    """What the system says of one process: its parent, its resident memory in bytes, and whether it has ended."""

    parent: int
    resident: int
    is_over: bool = False


def list_processes() -> Mapping[int, ProcessFacts]:
    """All processes that we can see, by their ids; none on Windows."""
    if sys.platform == "linux":
        return dict(_linux_processes())
    return {} if sys.platform == "win32" else dict(_ps_processes())


def below(pid: int, processes: Mapping[int, ProcessFacts]) -> tuple[int, ...]:
    """The ids of all processes below `pid`, without itself, nearest first.

    >>> below(1, {2: ProcessFacts(1, 0), 3: ProcessFacts(2, 0), 4: ProcessFacts(9, 0)})
    (2, 3)
    """
    children: dict[int, list[int]] = {}
    for each, facts in processes.items():
        children.setdefault(facts.parent, []).append(each)
    found: dict[int, None] = {}
    waiting = list(children.get(pid, ()))
    while waiting:
        each = waiting.pop(0)
        if each not in found and each != pid:
            found[each] = None
            waiting += children.get(each, ())
    return tuple(found)


def memory_of(pid: int, processes: Mapping[int, ProcessFacts], most: int) -> int:
    """The memory of `pid` and all below it, in bytes.

    The resident memory of each, which counts shared pages more than once; where that sum is over `most`, the
    proportional share of each (`smaps_rollup`), which does not, and which the system takes long to find out.
    """
    tree = (pid, *below(pid, processes))
    resident = sum(processes[each].resident for each in tree if each in processes)
    return resident if resident <= most else sum(_proportional(each, processes) for each in tree)


def read_by(pid: int) -> int:
    """How many bytes a process has read in all, pipes included; 0 where the system does not say (not Linux)."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("rchar:")), 0)


def end_all_below(pid: int, mark: str = "") -> None:
    """Kill `pid` and all below it.

    It is stopped first, so that it starts nothing and stays the parent of what its servers leave behind; it ends last.

    Args:
        pid: The process.
        mark: A text that stands in the environment of all below it, and of no other process. A server that has killed
            `pid` is no longer below it, and is found by this (on Linux); empty: there is none.
    """
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True, check=False)  # noqa: S603, S607 - our own words
        return
    _send([pid], signal.SIGSTOP)
    try:
        for _ in range(_ROUNDS):
            processes = list_processes()
            living = [each for each in below(pid, processes) if not processes[each].is_over]
            if not living:
                break
            _send(living, signal.SIGKILL)
            time.sleep(_PAUSE_SECONDS)
    finally:
        # Whatever happens here, nothing stays stopped.
        _send([pid], signal.SIGKILL)
    if mark:
        _send([each for each in list_processes() if mark.encode() in _environment(each)], signal.SIGKILL)


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _linux_processes() -> Iterable[tuple[int, ProcessFacts]]:
    for entry in os.scandir("/proc"):
        if not entry.name.isdecimal():
            continue
        try:
            words = Path(f"/proc/{entry.name}/stat").read_bytes()
        except OSError:  # It has ended.
            continue
        # "7 (a name) S 1 …": the name may contain anything, so what follows the last bracket counts.
        fields = words[words.rfind(b")") + 2 :].split()
        yield int(entry.name), ProcessFacts(int(fields[1]), int(fields[21]) * _PAGE, fields[0] in b"ZX")


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _proportional(pid: int, processes: Mapping[int, ProcessFacts]) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return processes[pid].resident if pid in processes else 0


def _ps_processes() -> Iterable[tuple[int, ProcessFacts]]:
    """As macOS and the BSDs tell it; memory is in KiB there."""
    listed = subprocess.run(["ps", "-axo", "pid=,ppid=,rss=,stat="], capture_output=True, text=True, check=False)  # noqa: S607 - from PATH
    for line in listed.stdout.splitlines():
        pid, parent, resident, state = line.split(None, 3)
        yield int(pid), ProcessFacts(int(parent), int(resident) << 10, state.startswith("Z"))
