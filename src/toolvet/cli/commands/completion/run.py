"""The work of `toolvet completion`."""

import sys
from typing import Literal


def show(shell: Literal["bash", "zsh", "fish", "powershell"]) -> int:
    """Write the script to stdout, and return the exit code."""
    from toolvet.cli import app  # noqa: PLC0415 - it imports this package to find the commands

    sys.stdout.write(app().generate_completion(prog_name="toolvet", shell=shell).rstrip() + "\n")
    return 0
