"""Measure `toolvet batch answers`, Parquet to Parquet, beside the raw scan of the same rows and its peers.

python -m benchmarks.batch [--rows N] [--json]

Two inputs: real good answers of about 1,300 characters (the labelled rows beside the project where they stand, else the
project's own prose), and clean short rows of one sentence. For each are measured, in CPU time of all processes:

- the raw scan: one pass of the engine over each text, with the same databases, in this process;
- the raw scan of whole buffers, as the kernel does it;
- the kernel alone, Arrow to Arrow, and of it the screen;
- `check_answer` of each text, in a loop;
- the whole run, Parquet to Parquet, with one process and with two, its clock, and the most memory that they held.

The peers, the same phrases in a loop of Python's `re` and of Node, are measured in benchmarks/scan.py.

CPU time of the run has the start of its processes in it; "started" is what a run of one row takes.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.real_answers import DATA, PROJECT

from toolvet import AnswerCheck
from toolvet.batch.kernel.answers import AnswersKernel
from toolvet.batch.kernel.screen import AnswerScreen
from toolvet.batch.kernel.texts import Texts
from toolvet.checks.answer.phrases import phrases
from toolvet.matching.rows import RowScan

SHORT = "The museum opens at nine and closes at six, and room {} is the one with the maps."
ROUNDS = 5
KERNEL_ROWS = 1_500


def real_answers(count: int) -> list[str]:
    """Good answers whose mean is about 1,300 characters, again and again."""
    path = DATA / "good_answer.jsonl"
    if path.exists():
        texts = [json.loads(line)["text"] for line in path.read_bytes().split(b"\n") if line]
        found = [text for text in texts if 700 <= len(text) <= 2_100]
    else:
        pages = "\n".join(page.read_text(encoding="utf-8") for page in sorted(PROJECT.glob("docs/*.md")))
        paragraphs = [each for each in pages.split("\n\n") if len(each) > 300]
        found = ["\n\n".join(paragraphs[at : at + 3]) for at in range(0, len(paragraphs), 3)]
    return [found[number % len(found)] for number in range(count)]


def short_rows(count: int) -> list[str]:
    return [SHORT.format(number) for number in range(count)]


def least(job: Callable[[], object]) -> float:
    """The least CPU time of this process that a job takes, of some rounds."""
    times: list[float] = []
    for _ in range(ROUNDS):
        started = time.process_time()
        job()
        times.append(time.process_time() - started)
    return min(times)


def of_kernel(texts: Sequence[str]) -> dict[str, float]:
    """Microseconds of CPU time for each row, without a run around it."""
    check = AnswerCheck()
    kernel, screen = AnswersKernel(check), AnswerScreen(check)
    scan = RowScan(phrases().pattern_set)
    batch = pa.record_batch({"text": texts})
    column = Texts(batch.column("text"))
    data = [text.encode() for text in texts]
    jobs: dict[str, Callable[[], object]] = {
        "raw scan, text by text": lambda: [scan.scan(each) for each in data],
        "raw scan, whole buffer": lambda: scan.scan(column.buffer),
        "screen": lambda: screen.suspects(column),
        "kernel": lambda: kernel(batch),
        "check_answer": lambda: [check(text) for text in texts],
    }
    for job in jobs.values():
        job()
    found = {name: least(job) / len(texts) * 1e6 for name, job in jobs.items()}
    found["suspects, %"] = 100 * float(np.mean(screen.suspects(column)[0]))
    return found


def of_run(path: Path, rows: int, jobs: int) -> dict[str, float]:
    """A run of the command line: rows a second of the clock and of CPU time, and the memory of its processes."""
    output = path.with_name(f"out-{jobs}.parquet")
    command = [
        sys.executable,
        "-m",
        "toolvet",
        "batch",
        "answers",
        str(path),
        str(output),
        "--jobs",
        str(jobs),
        "--quiet",
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clock = time.perf_counter()
    process = subprocess.Popen(command)
    most = 0
    while process.poll() is None:
        most = max(most, resident(process.pid))
        time.sleep(0.02)
    seconds = time.perf_counter() - clock
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"rows/s": rows / seconds, "CPU us/row": cpu / rows * 1e6, "CPU s": cpu, "MiB": most / 2**20}


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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, made in (("real", real_answers), ("short", short_rows)):
            texts = made(wanted.rows)
            path = Path(folder) / f"{name}.parquet"
            pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), path, compression="zstd")
            one = Path(folder) / f"{name}-one.parquet"
            pq.write_table(pa.table({"id": [0], "text": texts[:1]}), one)
            found[name] = {
                "characters": sum(map(len, texts)) / len(texts),
                "us of CPU for each row": of_kernel(texts[: KERNEL_ROWS if name == "real" else 10 * KERNEL_ROWS]),
                "started": of_run(one, 1, 1),
                "1 process": of_run(path, len(texts), 1),
                "2 processes": of_run(path, len(texts), 2),
            }
    if wanted.json:
        print(json.dumps(found, indent=1))
        return
    for name, figures in found.items():
        print(f"{name}: {figures.pop('characters'):,.0f} characters")
        for part, each in figures.items():
            print(f"  {part}: " + ", ".join(f"{key} {value:,.1f}" for key, value in each.items()))


if __name__ == "__main__":
    main()
