"""`toolvet hook`: what coding agents call: one event as JSON on stdin, what the client is to do on stdout."""

from typing import Annotated, Literal

from toolvet.cli.parameter import Parameter


def command(
    client: Annotated[
        Literal["claude", "codex", "gemini", "copilot"], Parameter(help="Whose words the event is in: the client.")
    ],
    /,
    *,
    settings: Annotated[
        str | None, Parameter(metavar="PATH", help="The toolvet.toml to go by. [default: that of the folder]")
    ] = None,
) -> int:
    """Answer one event of a coding agent: before a tool, after a tool, at the end. `install` puts it into its settings.

    Exits with 0, and lets the agent go on, whatever goes wrong here.
    """
    from toolvet.agents.hook import run_hook  # noqa: PLC0415 - the heavy half, for this command only

    return run_hook(client, settings)
