"""Measure the start: imports, the command line, the first verdict, each beside what users would start instead.

CPU time of whole processes, with their children, that start in turns.

python -m benchmarks.startup
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import Clock, Report, Taken, Way

LINES = {
    "bare Python": "pass",
    "import toolvet": "import toolvet",
    "toolvet.check_result loaded": "import toolvet; toolvet.check_result",
    "toolvet.check_answer, first verdict": "import toolvet; toolvet.check_answer('The sea was quiet in the morning.')",
    "toolvet.valid_example loaded": "import toolvet; toolvet.valid_example",
    "import mcp (the official SDK)": "import mcp",
}


# As in an installation: bytecode is written, even if this shell forbids it.
BYTECODE = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir(), "toolvet-startup"))}


def mebibytes(line: str) -> float:
    """The most memory that a process which runs `line` had resident."""
    process = subprocess.Popen([sys.executable, "-c", line], stdout=subprocess.DEVNULL)
    _pid, _status, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def started(command: list[str]) -> Clock:
    """Starts a program, and waits for its end."""

    def clock(repeats: int) -> Taken:
        wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(repeats):
            subprocess.run(
                command, check=True, capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, **BYTECODE}
            )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Taken(cpu, time.perf_counter() - wall)

    return clock


def first_of_all(line: str) -> Clock:
    """The same for a line where nothing was compiled before."""

    def clock(repeats: int) -> Taken:
        taken = []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                home = {"XDG_CACHE_HOME": folder}
                command = ["env", *(f"{name}={value}" for name, value in home.items()), sys.executable, "-c", line]
                taken.append(started(command)(1))
        return Taken(sum(each.cpu for each in taken), sum(each.wall for each in taken))

    return clock


def main() -> None:
    python = [sys.executable, "-c"]
    ways = [Way.timed(name, [started([*python, line])]) for name, line in LINES.items()]
    ways += [
        Way.timed("toolvet --help", [started([sys.executable, "-m", "toolvet", "--help"])]),
        # The server is `cat`, which says nothing and ends with its input: all of the time is the proxy's own.
        Way.timed("toolvet proxy", [started([sys.executable, "-m", "toolvet", "proxy", "--", "cat"])]),
    ]
    answer = LINES["toolvet.check_answer, first verdict"]
    with Report("startup", peers=["mcp"]) as report:
        about = "CPU time of the process from its start to its end; times bare Python"
        report.compare("The start", "a process", ways, about=about, rounds=9, case_s=60)
        first = [Way.timed("bare Python", [started([*python, "pass"])]), Way.timed("toolvet", [first_of_all(answer)])]
        report.compare("The first verdict of an installation", "an empty cache", first, rounds=5, case_s=60)
        above = mebibytes(answer) - mebibytes("pass")
        report.table("Memory of the first verdict", ["above bare Python"], [[f"{above:.0f} MiB"]])


if __name__ == "__main__":
    main()
