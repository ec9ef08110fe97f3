"""`make fuzz`: coverage-guided fuzzing of all targets, or of those that are named, one after the other.

    python -m fuzz.run [TARGET …] [--seconds 60] [--runs 0] [--work .fuzz]

Each target begins with the inputs in `fuzz/corpus`, and keeps in the work folder what reached new code, so that the
next run goes on from there. `--seconds` is for each target, `--runs` the number of inputs (0: no limit). How many
inputs were run is appended to `inputs.jsonl` in the work folder. The exit code is 1 where an input broke a promise;
the input is then in the work folder, and `python -m fuzz.replay TARGET FILE` shows it.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from fuzz.kept import read_corpus, target_names, write_inputs

LONGEST: Final = 1_500
# A hang, by the clock: what is merely slow, `run_target` finds by the time of the processor.
TIMEOUT: Final = 300
MEMORY: Final = 2_048


def main() -> int:
    """Run the targets, and say how many inputs each was given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=target_names())
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--work", type=Path, default=Path(".fuzz"))
    given = parser.parse_args()
    broken = [name for name in given.targets if not run(name, given.work, seconds=given.seconds, runs=given.runs)]
    for name in broken:
        print(f"{name}: an input broke a promise; see {given.work / name}")
    return 1 if broken else 0


def run(name: str, work: Path, *, seconds: int, runs: int) -> bool:
    """Run one target. Returns whether every promise held."""
    folder = work / name
    inputs = folder / "corpus"
    write_inputs(inputs, read_corpus(name))
    options = [
        f"-max_total_time={seconds}",
        *([f"-runs={runs}"] if runs else []),
        f"-timeout={TIMEOUT}",
        f"-rss_limit_mb={MEMORY}",
        f"-max_len={LONGEST}",
        f"-artifact_prefix={folder}/",
        "-print_final_stats=1",
        "-verbosity=1",
        str(inputs),
    ]
    command = [sys.executable, "-m", "fuzz.run_target", name, *options]
    with (folder / "log.txt").open("ab") as log:
        finished = subprocess.run(command, stdout=log, stderr=subprocess.PIPE, check=False)
        log.write(finished.stderr)
    if finished.returncode < 0:
        keep_last(folder)
    words = finished.stderr.decode(errors="replace")
    counted = re.findall(r"^(?:stat::number_of_executed_units: |#)(\d+)", words, re.MULTILINE)
    count = int(counted[-1]) if counted else 0
    kept = sum(1 for _ in inputs.iterdir())
    found = {"target": name, "inputs": count, "seconds": seconds, "kept": kept, "exit": finished.returncode}
    with (work / "inputs.jsonl").open("a", encoding="utf-8") as log_file:
        log_file.write(json.dumps(found) + "\n")
    print(json.dumps(found), flush=True)
    return finished.returncode == 0


def keep_last(folder: Path) -> None:
    """Keep the input at which a signal ended the process, under the name that libFuzzer would give it."""
    last = (folder / "last").read_bytes()
    data = last[4 : 4 + int.from_bytes(last[:4], "big")]
    name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    (folder / f"crash-{name}").write_bytes(data)


if __name__ == "__main__":
    sys.exit(main())
