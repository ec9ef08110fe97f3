"""`toolvet hook install`: put the hooks into a coding agent's settings."""

from typing import Annotated, Literal

from toolvet.cli.parameter import Parameter


def command(
    client: Annotated[Literal["claude", "codex", "gemini", "copilot"], Parameter(help="The coding agent.")],
    /,
    *,
    project: Annotated[
        bool, Parameter(negative="", help="Into the settings of this folder. [default: those of the user]")
    ] = False,
    resident: Annotated[
        bool, Parameter(negative="", help="Let a process stay for some minutes, which answers sooner (Linux).")
    ] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Print what would change, and change nothing.")] = False,
) -> int:
    """Put toolvet's hooks into a coding agent's settings, beside those that are there.

    `uninstall` undoes it exactly.
    """
    from toolvet.cli.commands.hook.install.run import change_settings  # noqa: PLC0415 - the heavy half

    return change_settings(client, "install", project=project, resident=resident, dry_run=dry_run)
