"""`toolvet hook uninstall`: take the hooks out of a coding agent's settings."""

from typing import Annotated, Literal

from toolvet.cli.parameter import Parameter


def command(
    client: Annotated[Literal["claude", "codex", "gemini", "copilot"], Parameter(help="The coding agent.")],
    /,
    *,
    project: Annotated[
        bool, Parameter(negative="", help="Out of the settings of this folder. [default: those of the user]")
    ] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Print what would change, and change nothing.")] = False,
) -> int:
    """Undo `toolvet hook install`: a file that was not edited since is again what it was, byte for byte."""
    from toolvet.cli.commands.hook.install.run import change_settings  # noqa: PLC0415 - the heavy half

    return change_settings(client, "uninstall", project=project, dry_run=dry_run)
