"""Measure `toolvet batch answers`, Parquet to Parquet with two processes, beside the raw scan and its peers.

    python -m benchmarks.batch [--rows N]    N real rows (60,000 by default) a round; `--rows 4000` is the short form

Two inputs: real good answers of about 1,300 characters, and clean rows of one sentence (benchmarks/batch_rows.py). In
each round each way has its turn, with two processes: the command line; one pass of the engine over each text with the
same databases; the same phrases in `re` and in Node (benchmarks/batch_peers.py), on as many rows as they do in a
second or two. All of these are CPU time of all processes, and rows a second by the clock; the memory is what the
processes hold at most, of which what they share counts once.

Then, in this process: where the time of a run goes, and what a second process gives, and a second thread.
benchmarks/batch_million.py runs a million rows.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from benchmarks.batch_peers import PROCESSES, Pair, matches, pairs
from benchmarks.batch_rows import batches, write
from benchmarks.harness import Report, Taken, digits, shown
from benchmarks.node import node_version

from toolvet import AnswerCheck
from toolvet.batch.chunk import Chunk, ReadPosition
from toolvet.batch.job import Job
from toolvet.batch.judging import ChunkJudge, encode
from toolvet.batch.kernel.answers import AnswersKernel
from toolvet.batch.kernel.screen import AnswerScreen
from toolvet.batch.kernel.texts import Texts
from toolvet.batch.location import locate
from toolvet.batch.output import write_output
from toolvet.batch.plan import make_plan
from toolvet.batch.reading.opening import open_reader
from toolvet.batch.reading.parquet import decoded

ROUNDS: Final = 3
CLEAN: Final = 5  # Clean rows for each other row.
SAMPLE: Final = 3_000  # Texts that the peers have.
# How many of the real rows the peers look at in a round: one in this number.
SHARE: Final = {"scan": 10, "node": 500, "re": 4_000}
NAMES: Final = {
    "scan": "the raw scan, text by text",
    "node": "the same phrases, Node",
    "re": "the same phrases, `re`",
}
LOST: Final = {
    "scan": "where phrases may end: no reading, no verdicts, no writing",
    "node": "no reading, no verdicts, no writing",
    "re": "no reading, no verdicts, no writing",
}


class Run(NamedTuple):
    """The time one way took for some rows, and the most bytes that its processes held."""

    rows: int
    taken: Taken
    held: int

    @property
    def us(self) -> float:
        """CPU time for a row, in microseconds."""
        return self.taken.cpu / self.rows * 1e6

    @property
    def rate(self) -> float:
        """Rows a second by the clock."""
        return self.rows / self.taken.wall


def of_command(path: Path, rows: int, jobs: int = PROCESSES, kind: str = "answers") -> Run:
    """A run of the command line."""
    output = path.with_name("verdicts.parquet")
    words = ["batch", kind, str(path), str(output), "--jobs", str(jobs), "--quiet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clock = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "toolvet", *words])
    with watched([process.pid]) as most:
        code = process.wait()
    seconds = time.perf_counter() - clock
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert code == 0
    assert pq.ParquetFile(output).metadata.num_rows == rows
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(rows, Taken(cpu, seconds), most[0])


def of_pair(pair: Pair, rows: int) -> Run:
    """A turn of a peer."""
    rows = max(1, rows // PROCESSES) * PROCESSES
    with watched([process.pid for process in pair.processes]) as most:
        taken = pair(rows)
    return Run(rows, taken, most[0])


@contextmanager
def watched(pids: Sequence[int]) -> Iterator[list[int]]:
    """The most bytes that these processes and their children hold meanwhile, looked at 20 times a second."""
    most, ended = [sum(map(resident, pids))], threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            most[0] = max(most[0], sum(map(resident, pids)))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        ended.set()
        thread.join()


def resident(pid: int) -> int:
    """The memory of a process and its children in bytes, of which what they share counts once (PSS)."""
    try:
        tasks = [*Path(f"/proc/{pid}/task").iterdir()]
        children = [child for task in tasks for child in (task / "children").read_text(encoding="ascii").split()]
        return sum(_held(int(each)) for each in {str(pid), *children})
    except OSError:
        return 0


def _held(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 2**10 for line in lines if line.startswith("Pss:")), 0)


# ── beside the peers ──


def beside(report: Report, name: str, rows: int, folder: Path) -> None:
    """All ways of one input, in turns."""
    path, one = folder / f"{name}.parquet", folder / f"{name}-one.parquet"
    size, _ = write(name, rows, path)
    write(name, 1, one)
    texts = next(batches(name, SAMPLE)).column("text").to_pylist()
    runs: dict[str, list[Run]] = {}
    with pairs(texts, folder) as peers:
        for _ in range(ROUNDS):
            runs.setdefault("ours", []).append(of_command(path, rows))
            runs.setdefault("start", []).append(of_command(one, 1))
            for how, pair in peers.items():
                runs.setdefault(how, []).append(of_pair(pair, rows // SHARE[how]))
    start = statistics.median(run.taken.cpu for run in runs.pop("start"))
    # The time of a run of one row is reported apart.
    runs["ours"] = [run._replace(taken=run.taken._replace(cpu=run.taken.cpu - start)) for run in runs["ours"]]
    title = f"{rows:,} {name} rows of {size / rows:,.0f} bytes, two processes"
    about = f"median of {ROUNDS} rounds; our start takes {shown(start * 1e6)} of CPU time, which is not in it"
    report.table(title, PEER_COLUMNS, peer_rows(runs), about=about)


PEER_COLUMNS: Final = ["way", "rows a second", "CPU time a row", "times ours (CPU)", "memory", "lost"]


def peer_rows(runs: dict[str, list[Run]]) -> Iterator[list[str]]:
    """The lines of a table, of the median of each way's runs and of the ratios within a round."""
    ours = runs["ours"]
    for how, each in runs.items():
        ratio = statistics.median(run.us / own.us for run, own in zip(each, ours, strict=True))
        yield [
            "toolvet batch" if how == "ours" else NAMES[how],
            digits(statistics.median(run.rate for run in each)),
            shown(statistics.median(run.us for run in each)),
            digits(ratio),
            f"{max(run.held for run in each) / 2**20:.0f} MiB",
            LOST.get(how, ""),
        ]


# ── where the time goes ──


def chunks_of(path: Path) -> tuple[list[Chunk], float]:
    """The chunks of a file, and the CPU time of reading them."""
    started = time.process_time()
    reader = open_reader(locate(str(path)), 0)
    found = [*reader.chunks(("id", "text"), ReadPosition())]
    return found, time.process_time() - started


def spent(job: Callable[[], object]) -> float:
    """The CPU time of this process."""
    started = time.process_time()
    job()
    return time.process_time() - started


def steps(path: Path, folder: Path) -> dict[str, float]:
    """CPU seconds of each step of a run, one behind the other in this process."""
    chunks, reading = chunks_of(path)
    kernel, screen = AnswersKernel(AnswerCheck()), AnswerScreen(AnswerCheck())
    plan = make_plan(Job(kind="answers"), open_reader(locate(str(path)), 0), [str(path)], "parquet", source=str(path))
    judge = ChunkJudge(plan)
    # Each once before it is timed.
    kernel(decoded(chunks[0].body))
    screen.suspects(_texts(chunks[0]))
    judge(chunks[0])
    texts: list[Texts] = []
    gathering = spent(lambda: texts.extend(map(_texts, chunks)))
    screening = spent(lambda: [screen.suspects(each) for each in texts])
    judging = spent(lambda: [kernel(decoded(chunk.body)) for chunk in chunks])
    whole: list[bytes] = []
    all_of_it = spent(lambda: whole.extend(judge(chunk).body for chunk in chunks))
    verdicts = [kernel(decoded(chunk.body)) for chunk in chunks]
    encoding = spent(lambda: [encode(each, "parquet") for each in verdicts])
    writing = spent(lambda: write_output(iter(whole), locate(str(folder / "out.parquet")), plan.output(), "parquet"))
    return {
        "decode: Parquet to chunks": reading,
        "decode: the texts as one buffer": gathering,
        "scan: the screen over whole columns": screening,
        "verdict: `check_answer` of what is left, and its columns": max(0.0, judging - screening - gathering),
        "encode: chunks to the parts that are kept": max(encoding, all_of_it - judging),
        "encode: the parts to Parquet": writing,
    }


def _texts(chunk: Chunk) -> Texts:
    return Texts(decoded(chunk.body).column("text"))


def where(report: Report, name: str, path: Path, rows: int, folder: Path) -> None:
    """The steps of one input, the least of some rounds of each."""
    rounds = [steps(path, folder) for _ in range(ROUNDS)]
    least = {step: min(each[step] for each in rounds) for step in rounds[0]}
    total = sum(least.values())
    screen = AnswerScreen(AnswerCheck())
    left = np.mean(np.concatenate([screen.suspects(_texts(chunk))[0] for chunk in chunks_of(path)[0]]))
    lines = [[step, shown(each / rows * 1e6), f"{100 * each / total:.0f} %"] for step, each in least.items()]
    about = f"CPU time of one process, the least of {ROUNDS}; {100 * left:.0f} % of the rows are judged one by one"
    report.table(f"Where the time goes: {name} rows", ["step", "a row", "share"], lines, about=about)


# ── processes and threads ──


def threads(path: Path, jobs: int) -> Taken:
    """The time of the kernel over all chunks with `jobs` threads of this process."""
    chunks, _ = chunks_of(path)
    kernels = [AnswersKernel(AnswerCheck()) for _ in range(jobs)]
    for kernel in kernels:
        kernel(decoded(chunks[0].body))

    def work(number: int) -> None:
        for chunk in chunks[number::jobs]:
            kernels[number](decoded(chunk.body))

    wall, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, range(jobs)))
    return Taken(time.process_time() - cpu, time.perf_counter() - wall)


def scaling(report: Report, name: str, path: Path, rows: int) -> None:
    """One process and two, one thread and two."""
    ways: dict[str, Callable[[], Taken]] = {
        "one process": lambda: of_command(path, rows, 1).taken,
        "two processes": lambda: of_command(path, rows, 2).taken,
        "the kernel alone, one thread": lambda: threads(path, 1),
        "the kernel alone, two threads": lambda: threads(path, 2),
    }
    found: dict[str, list[Taken]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, run in ways.items():
            found[way].append(run())
    lines = []
    for way, each in found.items():
        alone = found["the kernel alone, one thread" if "thread" in way else "one process"]
        faster = statistics.median(one.wall / own.wall for one, own in zip(alone, each, strict=True))
        wall, cpu = (statistics.median(getattr(own, what) for own in each) for what in ("wall", "cpu"))
        lines.append([way, digits(rows / wall), shown(cpu / rows * 1e6), digits(faster)])
    columns = ["", "rows a second", "CPU time a row", "times as fast by the clock"]
    about = f"the same {rows:,} rows, median of {ROUNDS} rounds; two cores have to be free for it"
    report.table(f"Processes and threads: {name} rows", columns, lines, about=about)


def main() -> None:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000)
    rows: int = parser.parse_args().rows
    with Report("batch", peers=["hyperscan", "pyarrow"]) as report, tempfile.TemporaryDirectory() as name:
        report.versions["Node"] = node_version()
        print(f"{len(matches()):,} phrases; load {Path('/proc/loadavg').read_text(encoding='ascii').split()[0]}")
        folder = Path(name)
        for sort, count in (("real", rows), ("clean", CLEAN * rows)):
            beside(report, sort, count, folder)
        for sort, count in (("real", rows), ("clean", CLEAN * rows)):
            few = folder / f"{sort}-few.parquet"
            write(sort, count // 4, few)
            where(report, sort, few, count // 4, folder)
            scaling(report, sort, few, count // 4)


if __name__ == "__main__":
    main()
