"""Runs one target under libFuzzer: `python -m fuzz.run_target NAME [libFuzzer's options] CORPUS`. Needs atheris.

An input that takes more processor time than its size explains is measured once more, and is then an error, too.

libFuzzer cannot keep an input that overflows the stack, because its handler runs on that stack. So faulthandler, which
has one of its own, handles SIGSEGV, and the input of each turn is in the file `last` beside the artifacts: `fuzz.run`
keeps it where the process was ended by a signal.
"""

import faulthandler
import gc
import importlib
import mmap
import sys
import time
from pathlib import Path
from typing import Final

import atheris

with atheris.instrument_imports(include=["toolvet"]):
    target = importlib.import_module(f"fuzz.targets.{sys.argv[1]}")

from fuzz.draw import Draw

# Processor seconds, under instrumentation, on a busy machine; what is loaded once may take as long. A target whose
# checks may take more says so.
_ALLOWED: Final[float] = getattr(target, "ALLOWED", 3.0)
_ALLOWED_PER_CHARACTER: Final = 2e-4


def _last_input() -> mmap.mmap | None:
    """The file `last`: the length in four bytes, then the input. Its contents outlive the process."""
    folder = next((word.partition("=")[2] for word in sys.argv if word.startswith("-artifact_prefix=")), None)
    if folder is None:
        return None
    path = Path(folder, "last")
    path.write_bytes(bytes(1 << 16))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 0)


_LAST: Final = _last_input()


class SlowInputError(Exception):
    """An input took more time than its size explains, twice."""


def one(data: bytes) -> None:
    """Check one input."""
    if _LAST is not None:
        _LAST[: 4 + len(data)] = len(data).to_bytes(4, "big") + data
    if _seconds(data) and (spent := _seconds(data)):
        raise SlowInputError(f"{spent:.1f} s")


def _seconds(data: bytes) -> float:
    """Check the input, and return how long it took if that is too long, else 0."""
    draw = Draw(data)
    start = time.process_time()
    target.check(draw)
    spent = time.process_time() - start
    return spent if spent > _ALLOWED + draw.size * _ALLOWED_PER_CHARACTER else 0


if __name__ == "__main__":
    faulthandler.enable()
    atheris.Setup([sys.argv[0], *sys.argv[2:], "-handle_segv=0"], one)
    # Later imports, such as those of a function's first call, are instrumented, too.
    with atheris.instrument_imports(include=["toolvet"]):
        # What stays for ever need not be looked through for garbage again and again.
        gc.freeze()
        atheris.Fuzz()
