"""`own_command`: the words that start toolvet, for what others are to start."""

import shutil
import sys
from pathlib import Path


def own_command() -> tuple[str, ...]:
    """Return the command that starts toolvet, with its full path: desktop programs have a short PATH."""
    program = Path(sys.argv[0])
    if program.stem == "toolvet":
        found = shutil.which(str(program))
        if found is not None:
            return (str(Path(found).absolute()),)
    return (sys.executable, "-m", "toolvet")
