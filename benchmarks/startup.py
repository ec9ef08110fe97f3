"""Measure the start: imports, the command line, the first verdict, each beside what users would start instead.

CPU time of whole processes, with their children, that start in turns.

python -m benchmarks.startup [--rounds 9] [--at-once 20]
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles

from benchmarks.harness import Clock, Report, Taken, Way

LINES = {
    "bare Python": "pass",
    "import toolvet": "import toolvet",
    "toolvet.check_result loaded": "import toolvet; toolvet.check_result",
    "toolvet.check_answer, first verdict": "import toolvet; toolvet.check_answer('The sea was quiet in the morning.')",
    "toolvet.valid_example loaded": "import toolvet; toolvet.valid_example",
    "import mcp (the official SDK)": "import mcp",
}

CHECK = [sys.executable, "-m", "toolvet", "check", "answer", "--json"]
CALLS = """
import os, time
from toolvet.agents.daemon.client import _Call
from toolvet.agents.daemon.protocol import address
for number in range(100):
    ours, theirs = os.pipe()
    os.write(theirs, b"I cannot help with that request.")
    os.close(theirs)
    os.dup2(ours, 0)
    os.close(ours)
    start = time.perf_counter()
    assert _Call().ask(address(), ["check", "answer", "--json"])
    print(1000 * (time.perf_counter() - start))
"""

# As in an installation: bytecode is written, even if this shell forbids it.
BYTECODE = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir(), "toolvet-startup"))}


@contextmanager
def resident() -> Iterator[dict[str, str]]:
    """The environment of calls that a resident answers, which is there already."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"TOOLVET_RESIDENT": "60", "XDG_RUNTIME_DIR": folder}
        subprocess.run(
            CHECK, env={**os.environ, **BYTECODE, **environment}, input=b"Hello.", capture_output=True, check=False
        )
        until = time.monotonic() + 120
        while not list(Path(folder, "toolvet").glob("*.sock")):
            assert time.monotonic() < until, "no resident came"
            time.sleep(0.1)
        yield environment


def calls_of(environment: dict[str, str]) -> list[float]:
    """Milliseconds of the clock from connect to answer, in a client that is running."""
    done = subprocess.run(
        [sys.executable, "-c", CALLS],
        env={**os.environ, **BYTECODE, **environment},
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(word) for word in done.stdout.split()]


def mebibytes(line: str) -> float:
    """The most memory that a process which runs `line` had resident."""
    process = subprocess.Popen([sys.executable, "-c", line], stdout=subprocess.DEVNULL)
    _pid, _status, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def started(command: list[str], environment: dict[str, str] | None = None, given: bytes = b"") -> Clock:
    """Starts a program, and waits for its end."""
    variables = {**os.environ, **BYTECODE, "TOOLVET_RESIDENT": "off", **(environment or {})}

    def clock(repeats: int) -> Taken:
        wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(repeats):
            subprocess.run(command, check=False, capture_output=True, input=given, env=variables)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Taken(cpu, time.perf_counter() - wall)

    return clock


def first_of_all(command: list[str], *, writable: bool = True, processes: int = 1) -> Clock:
    """A command where nothing was compiled before: the most that one of `processes` at once takes."""

    def clock(repeats: int) -> Taken:
        most = [_first(command, writable=writable, processes=processes) for _ in range(repeats)]
        return Taken(sum(each.cpu for each in most), sum(each.wall for each in most))

    return clock


def _first(command: list[str], *, writable: bool, processes: int) -> Taken:
    with tempfile.TemporaryDirectory() as folder:
        place = folder if writable else "/dev/null"
        variables = {**os.environ, **BYTECODE, "XDG_CACHE_HOME": place, "TMPDIR": place}
        began, most = time.perf_counter(), 0.0
        running = [
            subprocess.Popen(
                command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
            )
            for _ in range(processes)
        ]
        for process in running:
            _pid, _status, used = os.wait4(process.pid, 0)
            process.returncode = 0
            most = max(most, used.ru_utime + used.ru_stime)
        taken = Taken(most, time.perf_counter() - began)
        for process in running:
            # Its background compilation takes 15 CPU seconds for a cache that is about to go: a dozen of those
            # at once held up everything that was measured after them.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--at-once", type=int, default=20, metavar="PROCESSES")
    chosen = parser.parse_args()
    python, said = [sys.executable, "-c"], b"I cannot help with that request."
    lines = {name: line for name, line in LINES.items() if line != "import mcp" or find_spec("mcp")}
    answer = lines["toolvet.check_answer, first verdict"]
    bare = Way.timed("bare Python", [started([*python, "pass"])])
    with Report("startup", peers=["mcp"]) as report, resident() as environment:
        ways = [Way.timed(name, [started([*python, line])]) for name, line in lines.items()]
        ways += [
            Way.timed("toolvet --help", [started([sys.executable, "-m", "toolvet", "--help"])]),
            Way.timed("toolvet check answer", [started(CHECK, given=said)]),
            Way.timed("toolvet check answer, with a resident", [started(CHECK, environment, said)]),
            # The server is `cat`, which says nothing and ends with its input: all of the time is the proxy's own.
            Way.timed("toolvet proxy", [started([sys.executable, "-m", "toolvet", "proxy", "--", "cat"])]),
        ]
        about = "CPU time of the process from its start to its end; times bare Python"
        report.compare("The start", "a process", ways, about=about, rounds=chosen.rounds, case_s=60)
        calls = calls_of(environment)
        low, _, high = quantiles(calls)
        row = [f"{median(calls):.1f} ms", f"{low:.1f} ms to {high:.1f} ms", f"{min(calls):.1f} ms"]
        about = "by the clock, from connect to answer in a client that is running"
        report.table("A call of a resident", ["median", "quartiles", "least"], [row], about=about)
        # From a wheel nothing is compiled; in a checkout another process compiles, and the slow engine serves.
        first = [
            bare,
            Way.timed("toolvet", [first_of_all([*python, answer])]),
            Way.timed("toolvet check answer", [first_of_all(CHECK)]),
            Way.timed("toolvet, nothing can be written", [first_of_all([*python, answer], writable=False)]),
            Way.timed(
                f"toolvet, {chosen.at_once} at once, the most of one",
                [first_of_all([*python, answer], processes=chosen.at_once)],
            ),
        ]
        report.compare(
            "The first verdict of an installation", "an empty cache", first, rounds=min(5, chosen.rounds), case_s=60
        )
        above = mebibytes(answer) - mebibytes("pass")
        report.table("Memory of the first verdict", ["above bare Python"], [[f"{above:.0f} MiB"]])


if __name__ == "__main__":
    main()
