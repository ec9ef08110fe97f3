"""What it costs to start: imports, the command line, the first verdict. Each beside what users would start instead."""

import subprocess
import sys
import time
from statistics import median

LINES = {
    "bare Python": "pass",
    "import toolvet": "import toolvet",
    "toolvet.check_result loaded": "import toolvet; toolvet.check_result",
    "toolvet.valid_example loaded": "import toolvet; toolvet.valid_example",
    "import mcp (the official SDK)": "import mcp",
}


def milliseconds(command: list[str]) -> float:
    taken = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(1000 * (time.perf_counter() - start))
    return median(taken)


def main() -> None:
    bare = 0.0
    for name, line in LINES.items():
        taken = milliseconds([sys.executable, "-c", line])
        bare = bare or taken
        print(f"{name:32} {taken:6.0f} ms   (+{taken - bare:.0f})")
    taken = milliseconds([sys.executable, "-m", "toolvet", "--help"])
    print(f"{'toolvet --help':32} {taken:6.0f} ms   (target: under 200)")


if __name__ == "__main__":
    main()
