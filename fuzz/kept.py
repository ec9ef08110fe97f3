"""The kept inputs: one file for each target, an input a line, as base64. `python -m fuzz.kept` writes them again."""

import argparse
import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
# The corpus of all targets stays below a megabyte.
MOST_BYTES: Final = 60_000


def target_names() -> list[str]:
    """Return the names of all targets: the files in `fuzz/targets`."""
    return sorted(file.stem for file in (HERE / "targets").glob("*.py"))


def read_corpus(name: str) -> list[bytes]:
    """Return the kept inputs of a target."""
    file = HERE / "corpus" / f"{name}.txt"
    return [base64.b64decode(line) for line in file.read_text().split()] if file.is_file() else []


def write_inputs(folder: Path, inputs: Iterable[bytes]) -> None:
    """Write each input to a file, as libFuzzer wants it."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (folder / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)


def keep(name: str, work: Path) -> int:
    """Keep what a run kept in the work folder, the smallest inputs first. Returns how many they are.

    libFuzzer keeps an input there that reaches new code, and a smaller one in its place that reaches the same.
    """
    inputs = sorted(
        {file.read_bytes() for file in (work / name / "corpus").iterdir()}, key=lambda each: (len(each), each)
    )
    kept: list[str] = []
    room = MOST_BYTES
    for data in inputs:
        line = base64.b64encode(data).decode()
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    file = HERE / "corpus" / f"{name}.txt"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in kept))
    return len(kept)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=target_names())
    parser.add_argument("--work", type=Path, default=Path(".fuzz"))
    given = parser.parse_args()
    for each in given.targets:
        print(each, keep(each, given.work), flush=True)
