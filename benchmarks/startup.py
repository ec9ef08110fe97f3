"""Measure the start: imports, the command line, the first verdict, each beside what users would start instead."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

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


def milliseconds(command: list[str]) -> float:
    taken = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run(
            command, check=True, capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, **BYTECODE}
        )
        taken.append(1000 * (time.perf_counter() - start))
    return median(taken)


def mebibytes(line: str) -> float:
    """The most memory that a process which runs `line` had resident."""
    process = subprocess.Popen([sys.executable, "-c", line], stdout=subprocess.DEVNULL)
    _pid, _status, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def first_of_all(line: str) -> float:
    """Seconds for `line` where nothing was compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", line], check=True, env={**os.environ, "XDG_CACHE_HOME": folder})
        return time.perf_counter() - start


def main() -> None:
    bare = 0.0
    for name, line in LINES.items():
        taken = milliseconds([sys.executable, "-c", line])
        bare = bare or taken
        print(f"{name:38} {taken:6.0f} ms   (+{taken - bare:.0f})")
    taken = milliseconds([sys.executable, "-m", "toolvet", "--help"])
    print(f"{'toolvet --help':38} {taken:6.0f} ms   (target: under 200)")
    # The server is `cat`, which says nothing and ends with its input: all of the time is the proxy's own.
    taken = milliseconds([sys.executable, "-m", "toolvet", "proxy", "--", "cat"])
    print(f"{'toolvet proxy, started and ended':38} {taken:6.0f} ms   (target: 250)")
    answer = LINES["toolvet.check_answer, first verdict"]
    print(
        f"memory of check_answer, all phrases loaded: {mebibytes(answer) - mebibytes('pass'):.0f} MiB above bare Python"
    )
    print(f"check_answer, once per installation, when it compiles: {first_of_all(answer):.1f} s")


if __name__ == "__main__":
    main()
