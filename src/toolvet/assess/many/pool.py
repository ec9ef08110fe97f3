"""Starts as many workers as may run at once, watches their limits, ends them, and keeps what they answer.

The limits are those of a worker and of all processes below it.
"""

import asyncio
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, Protocol, cast

import msgspec

from toolvet.assess.many.folder import ResultsFolder, file_names
from toolvet.assess.many.job import AssessmentJob, AssessmentLimits, AssessmentOutcome, Ending, WorkerAnswer
from toolvet.errors import ToolvetError, UsageError

# How often the memory and the output of the workers are looked at.
_LOOK_SECONDS: Final = 0.25
# A worker whose deadline has passed has so long to end its server and to write what was seen.
_GRACE_SECONDS: Final = 15.0
# After Ctrl-C it has so long.
_INTERRUPTED_SECONDS: Final = 5.0
_STDERR_SHOWN: Final = 600
_LARGEST_REPORT: Final = 256 << 20
_CHUNK: Final = 1 << 20
_ROUNDS: Final = 200
_PAUSE_SECONDS: Final = 0.01
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class ManyWatch(Protocol):
    """Receives the progress of a run, for a progress bar or a log."""

    def began(self, name: str) -> None:
        """A worker starts with this server."""

    def ended(self, outcome: AssessmentOutcome, *, is_earlier: bool) -> None:
        """This server is done; `is_earlier`: by an earlier run."""


class Assessor(Protocol):
    """Assesses one server wherever it does so, apart from all others."""

    async def __call__(
        self, job: AssessmentJob, file: str, limits: AssessmentLimits
    ) -> tuple[AssessmentOutcome, bytes | None]:
        """Return what came of the server, and its report as JSON.

        Raises ToolvetError for what concerns all servers: the run ends, and what is done is kept.
        """
        ...


async def assess_here(
    job: AssessmentJob, file: str, limits: AssessmentLimits
) -> tuple[AssessmentOutcome, bytes | None]:
    """Assess a server by a process of its own on this machine: an `Assessor`."""
    return await AssessmentWorker(job, file, limits).run()


class _OverLimitError(Exception):
    """A worker went over a limit; the text says which."""


async def assess_many(
    jobs: Sequence[AssessmentJob],
    folder: ResultsFolder,
    *,
    workers: int,
    limits: AssessmentLimits,
    watch: ManyWatch,
    assessor: Assessor = assess_here,
) -> tuple[AssessmentOutcome, ...]:
    """Assess all servers, `workers` at once, and keep each report in `folder` as soon as it is there.

    Cancelling it (Ctrl-C) ends the workers and their servers; what is not done is missing in the folder, and the same
    call goes on with it.

    Args:
        jobs: The servers. Of two with one name the later overwrites the earlier, so names must differ.
        folder: Where the reports go. Valid reports from an earlier run stay, and their servers are not assessed again.
        workers: How many servers are assessed at once, at least 1.
        limits: The limits for each server.
        watch: Receives the progress.
        assessor: Where servers are assessed.

    Returns:
        The outcome of each server, in the order of `jobs`. After a cancellation only of those that are done.

    Raises:
        UsageError: The folder cannot be written, or two servers have one name.
        ToolvetError: As raised by the assessor; the finished reports are kept.
    """
    names = [job.name for job in jobs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"two servers are named {twice}: their reports would be one file")
    outcomes: dict[str, AssessmentOutcome] = {}
    waiting: list[tuple[AssessmentJob, str]] = []
    for job, file in zip(jobs, file_names(names), strict=True):
        earlier = folder.earlier(job, file)
        if earlier is None:
            waiting.append((job, file))
        else:
            outcomes[job.name] = earlier
            watch.ended(earlier, is_earlier=True)
    waiting.reverse()

    async def work() -> None:
        while waiting:
            job, file = waiting.pop()
            watch.began(job.name)
            outcome, report = await assessor(job, file, limits)
            if outcome.ending != "interrupted":
                folder.keep(outcome, report)
                outcomes[job.name] = outcome
            watch.ended(outcome, is_earlier=False)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(workers, len(waiting))):
                group.create_task(work())
    except* ToolvetError as errors:
        raise errors.exceptions[0] from None
    except* asyncio.CancelledError:
        waiting.clear()
    return tuple(outcomes[job.name] for job in jobs if job.name in outcomes)


class AssessmentWorker:
    """One worker process, from its start to its end."""

    def __init__(self, job: AssessmentJob, file: str, limits: AssessmentLimits) -> None:
        self._job = job
        self._file = file
        self._limits = limits
        self._began = time.perf_counter()
        self._peak = 0

    async def run(self) -> tuple[AssessmentOutcome, bytes | None]:
        """Return the outcome of the server, and its report as JSON. A cancellation ends all of it, and passes on."""
        # The place of the server is made in here, so that nothing of it stays where the worker is killed.
        own = tempfile.mkdtemp(prefix="toolvet-worker-")
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "toolvet.assess.many.worker",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, "TMPDIR": own},
                start_new_session=True,
            )
            return await self._attended(process, own)
        finally:
            await asyncio.to_thread(shutil.rmtree, own, ignore_errors=True)

    async def _attended(self, process: asyncio.subprocess.Process, own: str) -> tuple[AssessmentOutcome, bytes | None]:
        talk = asyncio.create_task(self._talk(process))
        limits = asyncio.create_task(self._watch_limits(process.pid))
        try:
            done, _ = await asyncio.wait((talk, limits), return_when=asyncio.FIRST_COMPLETED)
            if talk in done:
                return self._judged(*talk.result())
            return self._outcome("limit", str(limits.exception()), exit_code=4), None
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(process.wait()), _INTERRUPTED_SECONDS)
            raise
        except _OverLimitError as error:
            return self._outcome("limit", str(error), exit_code=4), None
        finally:
            limits.cancel()
            talk.cancel()
            await asyncio.to_thread(end_all_below, process.pid, own)
            await asyncio.gather(talk, limits, return_exceptions=True)
            await process.wait()

    async def _talk(self, process: asyncio.subprocess.Process) -> tuple[bytes, bytes, int]:
        stdin = cast("asyncio.StreamWriter", process.stdin)
        stdout = cast("asyncio.StreamReader", process.stdout)
        stderr = cast("asyncio.StreamReader", process.stderr)
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(pickle.dumps((self._job, self._limits)))
            await stdin.drain()
        # It stays open: its end tells the worker that we are gone.
        answer, said = await asyncio.gather(_read(stdout, _LARGEST_REPORT), _read_end(stderr))
        return answer, said, await process.wait()

    async def _watch_limits(self, pid: int) -> None:
        """Raises _OverLimitError as soon as the worker, with all below it, is over one of its limits."""
        limits = self._limits
        until = self._began + limits.seconds + _GRACE_SECONDS
        while time.perf_counter() < until:
            processes = await asyncio.to_thread(list_processes)
            memory = await asyncio.to_thread(memory_of, pid, processes, limits.memory_mib << 20)
            self._peak = max(self._peak, memory)
            if memory > limits.memory_mib << 20:
                raise _OverLimitError(f"took {memory >> 20:,} MiB of memory; at most {limits.memory_mib:,} are allowed")
            read = read_by(pid)
            if read > limits.output_mib << 20:
                raise _OverLimitError(f"wrote more than the {limits.output_mib:,} MiB that are allowed")
            await asyncio.sleep(_LOOK_SECONDS)
        raise _OverLimitError(f"did not end within {limits.seconds:g} s")

    def _judged(self, answer: bytes, said: bytes, code: int) -> tuple[AssessmentOutcome, bytes | None]:
        try:
            found = msgspec.json.decode(answer, type=WorkerAnswer)
        except msgspec.DecodeError:
            words = said.decode(errors="replace").strip()[-_STDERR_SHOWN:]
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            problem = f"toolvet's own process ended ({how}){f': {words}' if words else ''}"
            return self._outcome("crashed", problem, exit_code=5), None
        if bytes(found.report) == b"null":
            return self._outcome(found.ending, found.problem, exit_code=found.exit_code), None
        ending: Ending = "interrupted" if found.is_interrupted else "assessed"
        return self._outcome(ending), bytes(found.report)

    def _outcome(self, ending: Ending, problem: str = "", *, exit_code: int = 0) -> AssessmentOutcome:
        return AssessmentOutcome(
            name=self._job.name,
            file=self._file,
            key=self._job.key,
            ending=ending,
            problem=problem,
            exit_code=exit_code,
            seconds=round(time.perf_counter() - self._began, 2),
            peak_mib=self._peak >> 20,
        )


async def _read(stream: asyncio.StreamReader, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK):
        size += len(chunk)
        if size > most:
            raise _OverLimitError(f"has a report of more than {most >> 20} MiB")
        parts.append(chunk)
    return b"".join(parts)


async def _read_end(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while chunk := await stream.read(_CHUNK):
        kept = (kept + chunk)[-64 * 1024 :]
    return kept


class ProcessFacts(NamedTuple):
    """The system's facts about a process: its parent, its resident memory in bytes, and whether it has ended."""

    parent: int
    resident: int
    is_over: bool = False


def list_processes() -> Mapping[int, ProcessFacts]:
    """All processes that we can see, by their ids; none on Windows."""
    found: dict[int, ProcessFacts] = {}
    if sys.platform == "win32":
        return found
    if sys.platform == "linux":
        for entry in os.scandir("/proc"):
            if not entry.name.isdecimal():
                continue
            try:
                words = Path(f"/proc/{entry.name}/stat").read_bytes()
            except OSError:  # It has ended.
                continue
            # "7 (a name) S 1 …": the name may contain anything, so what follows the last bracket counts.
            fields = words[words.rfind(b")") + 2 :].split()
            found[int(entry.name)] = ProcessFacts(int(fields[1]), int(fields[21]) * _PAGE, fields[0] in b"ZX")
        return found
    # As macOS and the BSDs report it; memory is in KiB there.
    listed = subprocess.run(["ps", "-axo", "pid=,ppid=,rss=,stat="], capture_output=True, text=True, check=False)  # noqa: S607 - from PATH
    for line in listed.stdout.splitlines():
        pid, parent, resident, state = line.split(None, 3)
        found[int(pid)] = ProcessFacts(int(parent), int(resident) << 10, state.startswith("Z"))
    return found


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
    if resident <= most:
        return resident
    shares = 0
    for each in tree:
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            shares += next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):
            shares += processes[each].resident if each in processes else 0
    return shares


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
        mark: A text in the environment of all below it, and of no other process. A server that has killed
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
        marked: list[int] = []
        for each in list_processes():
            with suppress(OSError):
                if mark.encode() in Path(f"/proc/{each}/environ").read_bytes():
                    marked.append(each)
        _send(marked, signal.SIGKILL)


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
