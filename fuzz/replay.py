"""Runs single inputs through a target, without atheris: `python -m fuzz.replay TARGET FILE…`."""

import importlib
import sys
from pathlib import Path

from fuzz.draw import Draw

if __name__ == "__main__":
    check = importlib.import_module(f"fuzz.targets.{sys.argv[1]}").check
    for name in sys.argv[2:]:
        print(name)
        check(Draw(Path(name).read_bytes()))
