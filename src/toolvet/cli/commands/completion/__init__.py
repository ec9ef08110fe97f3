"""`toolvet completion`: the script with which a shell completes our commands and options."""

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
    from toolvet.cli.commands.completion.run import show  # noqa: PLC0415 - it loads all commands

    return show(shell)
