"""Run the benchmarks and write docs/performance.md: `make bench`, or `make bench ONLY="answer schema"` for some.

Each program runs by itself, in bounded time, and hands its figures in (benchmarks/harness.py). They are in
`benchmarks/figures.json`, and the page is written again as soon as a program has ended: an interrupted run keeps the
figures so far. A program that fails or takes too long leaves its earlier figures unchanged.
"""

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks import page
from benchmarks.figures import load, machine, merged, read, write
from benchmarks.harness import HAND_IN, warm

ROOT: Final = Path(__file__).parents[1]
# The seconds that a program may take, several times what it does on a quiet machine.
PROGRAMS: Final = {
    "startup": 900,
    "answer": 600,
    "scan": 600,
    "real_answers": 600,
    "grounding": 120,
    "arguments": 600,
    "schema": 600,
    "repair": 300,
    "repair_json": 300,
    "result": 300,
    "envelope": 120,
    "fit": 300,
    "mask": 120,
    "session": 120,
    "proxy": 600,
    "proxy_http": 600,
    "transport": 120,
    "http_probes": 120,
    "assess": 120,
    "batch": 900,
    "batch_million": 3_000,
    "store": 600,
    "dashboard": 600,
    "http_api": 300,
    "pages": 300,
}


def run(name: str, seconds: float) -> dict[str, Any] | None:
    """The report of a program; None if it failed, or reports nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env={**os.environ, HAND_IN: str(path)}, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"{name} took more than {seconds:.0f} s", file=sys.stderr)
            return None
        if done.returncode:
            print(f"{name} failed with exit status {done.returncode}", file=sys.stderr)
            return None
        told: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {"part": name, "tables": {}}
        return told


def main(words: Sequence[str] | None = None) -> int:
    """The exit status: how many programs failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", metavar="PROGRAM", help=f"one of {', '.join(PROGRAMS)}")
    chosen = parser.parse_args(words).only or list(PROGRAMS)
    unknown = [name for name in chosen if name not in PROGRAMS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(PROGRAMS)}")
    warm()
    failed = 0
    for number, name in enumerate(chosen, 1):
        taken = {
            "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
            "machine": machine(),
            "cores": os.cpu_count() or 1,
            "load": load(),
        }
        print(f"== {number} of {len(chosen)}: {name} (load {taken['load']:g})", flush=True)
        began = time.monotonic()
        told = run(name, PROGRAMS[name])
        failed += told is None
        if told is not None and told["tables"]:
            write(merged(read(), told, taken))
            page.main()
        print(f"== {name} took {time.monotonic() - began:.0f} s\n", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
