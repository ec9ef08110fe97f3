"""Measure the start: imports, the command line, the first verdict, each beside what users would start instead."""

import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
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

CHECK = [sys.executable, "-m", "toolvet", "check", "answer", "--json"]
CALLS = """
import os, time
from toolvet.resident.client import _Call
from toolvet.resident.place import address
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


Command = tuple[list[str], dict[str, str]]


def cpu_milliseconds(commands: dict[str, Command], rounds: int = 9) -> dict[str, float]:
    """The CPU time of each command, the median of rounds in which they take turns."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, (words, environment) in commands.items():
            with tempfile.TemporaryFile() as text:
                text.write(b"I cannot help with that request.")
                text.seek(0)
                process = subprocess.Popen(
                    words, stdin=text, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
                )
                _pid, _status, used = os.wait4(process.pid, 0)
                process.returncode = 0
            # The first round writes bytecode and fills the cache.
            if number:
                taken[name].append(1000 * (used.ru_utime + used.ru_stime))
    return {name: median(each) for name, each in taken.items()}


def calls_of_a_resident(environment: dict[str, str]) -> list[float]:
    """Milliseconds of wall time from connect to answer, in a client that is running."""
    done = subprocess.run(
        [sys.executable, "-c", CALLS],
        env=environment,
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(map(float, done.stdout.split()))


def wait_for_resident(folder: str, environment: dict[str, str]) -> None:
    subprocess.run(CHECK, env=environment, input=b"Hello.", capture_output=True, check=False)
    until = time.monotonic() + 120
    while not list(Path(folder, "toolvet").glob("*.sock")):
        assert time.monotonic() < until, "no resident came"
        time.sleep(0.1)


def mebibytes(line: str) -> float:
    """The most memory that a process which runs `line` had resident."""
    process = subprocess.Popen([sys.executable, "-c", line], stdout=subprocess.DEVNULL)
    _pid, _status, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def first_of_all(line: str, *, writable: bool, processes: int = 1) -> float:
    """The most CPU milliseconds of one of so many processes at once, where nothing was compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        place = folder if writable else "/dev/null"
        environment = {**os.environ, **BYTECODE, "XDG_CACHE_HOME": place, "TMPDIR": place}
        started = [subprocess.Popen([sys.executable, "-c", line], env=environment) for _ in range(processes)]
        most = 0.0
        for process in started:
            _pid, _status, used = os.wait4(process.pid, 0)
            process.returncode = 0
            most = max(most, 1000 * (used.ru_utime + used.ru_stime))
        return most


def main() -> None:
    plain = {**os.environ, **BYTECODE, "TOOLVET_RESIDENT": "off"}
    with tempfile.TemporaryDirectory() as folder:
        resident = {**plain, "TOOLVET_RESIDENT": "60", "XDG_RUNTIME_DIR": folder}
        commands: dict[str, Command] = {
            name: ([sys.executable, "-c", line], plain)
            for name, line in LINES.items()
            if line != "import mcp" or find_spec("mcp")
        }
        commands["toolvet --help"] = ([sys.executable, "-m", "toolvet", "--help"], plain)
        commands["toolvet check answer"] = (CHECK, plain)
        if sys.platform == "linux":
            wait_for_resident(folder, resident)
            commands["toolvet check answer, with a resident"] = (CHECK, resident)
        # The server is `cat`, which says nothing and ends with its input: all of the time is the proxy's own.
        commands["toolvet proxy, started and ended"] = ([sys.executable, "-m", "toolvet", "proxy", "--", "cat"], plain)
        taken = cpu_milliseconds(commands)
        bare = taken["bare Python"]
        for name, each in taken.items():
            print(f"{name:40} {each:6.0f} ms CPU   {each / bare:5.1f} times bare Python")
        if sys.platform == "linux":
            calls = calls_of_a_resident(resident)
            print(f"a call of a resident, connect to answer  {calls[0]:6.1f} ms at least, median {median(calls):.1f}")
    answer = LINES["toolvet.check_answer, first verdict"]
    print(
        f"memory of check_answer, all phrases loaded: {mebibytes(answer) - mebibytes('pass'):.0f} MiB above bare Python"
    )
    # From a wheel nothing is compiled; in a checkout another process compiles, and the slow engine gives the verdict.
    print(f"first verdict, empty home                {first_of_all(answer, writable=True):6.0f} ms CPU")
    print(f"first verdict, nothing can be written    {first_of_all(answer, writable=False):6.0f} ms CPU")
    print(f"first verdict, twenty at once, the most  {first_of_all(answer, writable=True, processes=20):6.0f} ms CPU")


if __name__ == "__main__":
    main()
