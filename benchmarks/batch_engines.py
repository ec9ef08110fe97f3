"""Compare the engines of `toolvet batch answers` on this machine, Parquet to Parquet, in CPU time of all processes.

python -m benchmarks.batch_engines [--rows N] [--rounds N] [--engines local,daft,dask] [--short] [--json]

Each engine judges the same file of real good answers (with `--short`, of clean short rows), and one of a single row:
that is its start-up, which is taken off. The engines take turns, and of each the least of some rounds counts, because
other programs and the clock of the cores disturb all of them. "share" is how many rows for each CPU second an engine
judges, of those that the local one does.
"""

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.batch_rows import write

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: a worker's processes that outlive it become ours, and count.


def cost(engine: str, source: Path, output: Path, jobs: int) -> tuple[float, float]:
    """Seconds of the clock, and of CPU time of all processes, of a run."""
    words = ["batch", "answers", str(source), str(output), "--engine", engine, "--jobs", str(jobs), "--quiet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clock = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "toolvet", *words], check=False)
    seconds = time.perf_counter() - clock
    assert done.returncode == 0
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", default="local,daft,dask")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    engines = wanted.engines.split(",")
    started: dict[str, list[float]] = {engine: [] for engine in engines}
    whole: dict[str, list[tuple[float, float]]] = {engine: [] for engine in engines}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        name = "clean" if wanted.short else "real"
        write(name, wanted.rows, folder / "in.parquet")
        write(name, 1, folder / "one.parquet")
        for _ in range(wanted.rounds):
            for engine in engines:
                started[engine].append(cost(engine, folder / "one.parquet", folder / "one-out.parquet", wanted.jobs)[1])
                whole[engine].append(cost(engine, folder / "in.parquet", folder / f"{engine}.parquet", wanted.jobs))
        outputs = {(folder / f"{engine}.parquet").read_bytes() for engine in engines}
    assert len(outputs) == 1, "the engines differ"
    found: dict[str, Any] = {"rows": wanted.rows, "load": os.getloadavg()[0]}
    for engine in engines:
        cpu = min(each for _, each in whole[engine]) - min(started[engine])
        found[engine] = {
            "rows for a CPU second": wanted.rows / cpu,
            "rows a second": wanted.rows / min(clock for clock, _ in whole[engine]),
            "start-up, CPU s": min(started[engine]),
        }
    for engine in engines:
        found[engine]["share, %"] = (
            100 * found[engine]["rows for a CPU second"] / found[engines[0]]["rows for a CPU second"]
        )
    if wanted.json:
        print(json.dumps(found))
        return
    print(f"{wanted.rows:,} rows, load {found['load']:.1f}")
    for engine in engines:
        print(engine, ", ".join(f"{name} {value:,.1f}" for name, value in found[engine].items()))


if __name__ == "__main__":
    main()
