"""A process of Node that runs the peers of the benchmarks a given number of times, and reports the time.

    with node(script, {"texts": […]}, packages=["ajv@8"]) as clock_of:
        Way.timed("ajv", [clock_of("valid", number) for number in range(10)])

The script gets the input as `given` and returns an object of functions, `{name: (number) => …}`; `clock_of` is a clock
for one of them with one number. It measures CPU time of the whole process: threads that compile or collect count,
as they do for a user who pays for them.
"""

import contextlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.harness import Clock, Taken

INSTALL_S: Final = 180
LOOP: Final = """
import {createInterface} from "node:readline";
import {readFileSync} from "node:fs";
const given = JSON.parse(readFileSync(process.argv[2], "utf8"));
const functions = await (async () => {
__SCRIPT__
})();
let kept;
createInterface({input: process.stdin}).on("line", async (line) => {
  const {name, number, repeats} = JSON.parse(line);
  const run = functions[name];
  const wall = process.hrtime.bigint(), cpu = process.cpuUsage();
  for (let turn = 0; turn < repeats; turn++) kept = run(number);
  const used = process.cpuUsage(cpu);
  const took = Number(process.hrtime.bigint() - wall) / 1e9;
  console.log(JSON.stringify({cpu: (used.user + used.system) / 1e6, wall: took, result: (await kept) ?? null}));
});
"""


class NodeProcess:
    """The running process: what its functions return, and clocks for them."""

    def __init__(self, command: Sequence[str], cwd: str) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd)
        self.pid = self._process.pid

    def _told(self, name: str, number: object, repeats: int) -> dict[str, object]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"name": name, "number": number, "repeats": repeats}) + "\n")
        self._process.stdin.flush()
        told: dict[str, object] = json.loads(self._process.stdout.readline())
        return told

    def result(self, name: str, number: object = 0) -> object:
        """The result of a function, awaited if it is a promise."""
        return self._told(name, number, 1)["result"]

    def clock(self, name: str, number: int = 0) -> Clock:
        """A clock for a function with this number."""

        def run(repeats: int) -> Taken:
            told = self._told(name, number, repeats)
            cpu, wall = told["cpu"], told["wall"]
            assert isinstance(cpu, (int, float))
            assert isinstance(wall, (int, float))
            return Taken(cpu, wall)

        return run

    def warm(self, clocks: Sequence[Clock], seconds: float = 0.02) -> None:
        """Run each until its compiler has seen enough of it."""
        for clock in clocks:
            repeats, taken = 1, 0.0
            while taken < seconds:
                taken += max(clock(repeats).wall, 1e-6)
                repeats = min(repeats * 4, 10_000)

    def end(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait()


def node_version() -> str:
    """The version that Node reports; empty without Node."""
    program = shutil.which("node")
    if program is None:
        return ""
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout[1:].strip()


@contextlib.contextmanager
def node(script: str, given: object, packages: Sequence[str] = ()) -> Iterator[NodeProcess | None]:
    """A process, or nothing where Node or its packages are not to be had, which is printed."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or (packages and npm is None):
        print("Node is not installed: it is left out")
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        if packages:
            install = [str(npm), "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *packages]
            try:
                done = subprocess.run(install, capture_output=True, text=True, timeout=INSTALL_S, check=False)
                trouble = done.stderr.strip()[:200] if done.returncode else ""
            except subprocess.TimeoutExpired:
                trouble = f"over {INSTALL_S} s"
            if trouble:
                print(f"npm could not install {' '.join(packages)}: {trouble}")
                yield None
                return
        Path(folder, "loop.mjs").write_text(LOOP.replace("__SCRIPT__", script), encoding="utf-8")
        Path(folder, "given.json").write_text(json.dumps(given), encoding="utf-8")
        process = NodeProcess([program, "loop.mjs", "given.json"], folder)
        try:
            yield process
        finally:
            process.end()
