"""`toolvet hook`: what coding agents call: one event as JSON on stdin, what the client is to do on stdout."""

from typing import Annotated, Final, Literal

from toolvet.cli.plain_words import Parameter

PLAIN_WORDS: Final = True


def command(
    client: Annotated[
        Literal["claude", "codex", "gemini", "copilot"], Parameter(help="Which coding agent sent the event.")
    ],
    /,
    *,
    settings: Annotated[
        str | None, Parameter(metavar="PATH", help="The settings file. [default: toolvet.toml of the folder]")
    ] = None,
) -> int:
    """Handle one event of a coding agent: before a tool call, after it, or at the end. `install` sets it up.

    If toolvet itself fails, it exits with 0 and lets the agent continue.
    """
    from toolvet.agents.hook import run_hook  # noqa: PLC0415 - the heavy half, for this command only

    return run_hook(client, settings)


def install(
    client: Annotated[Literal["claude", "codex", "gemini", "copilot"], Parameter(help="The coding agent.")],
    /,
    *,
    project: Annotated[
        bool, Parameter(negative="", help="Into the settings of this folder. [default: those of the user]")
    ] = False,
    resident: Annotated[
        bool, Parameter(negative="", help="Keep a process running for some minutes, which answers faster (Linux).")
    ] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Print what would change, and change nothing.")] = False,
) -> int:
    """Add toolvet's hooks to a coding agent's settings; existing hooks stay.

    `uninstall` undoes it exactly.
    """
    from toolvet.cli.commands.hook.client_settings import change_settings  # noqa: PLC0415 - the heavy half

    return change_settings(client, "install", project=project, resident=resident, dry_run=dry_run)


def uninstall(
    client: Annotated[Literal["claude", "codex", "gemini", "copilot"], Parameter(help="The coding agent.")],
    /,
    *,
    project: Annotated[
        bool, Parameter(negative="", help="Out of the settings of this folder. [default: those of the user]")
    ] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Print what would change, and change nothing.")] = False,
) -> int:
    """Undo `toolvet hook install`. A file that was not edited since is restored byte for byte."""
    from toolvet.cli.commands.hook.client_settings import change_settings  # noqa: PLC0415 - the heavy half

    return change_settings(client, "uninstall", project=project, dry_run=dry_run)
