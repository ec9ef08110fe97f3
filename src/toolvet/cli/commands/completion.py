"""`toolvet completion`: the script with which a shell completes our commands and options."""

import sys
from typing import Annotated, Literal

from cyclopts import Parameter


def command(
    shell: Annotated[Literal["bash", "zsh", "fish", "powershell"], Parameter(help="The shell that reads the script.")],
    /,
) -> int:
    """Print the script with which a shell completes the commands and options of toolvet.

    For bash: `toolvet completion bash > ~/.local/share/bash-completion/completions/toolvet`. For zsh, a file `_toolvet`
    in a folder of `$fpath`. For fish: `~/.config/fish/completions/toolvet.fish`. For PowerShell, a line in `$PROFILE`.
    """
    from toolvet.cli import app  # noqa: PLC0415 - it imports this package to find the commands

    sys.stdout.write(app().generate_completion(prog_name="toolvet", shell=shell).rstrip() + "\n")
    return 0
