"""`toolvet assess`: call all tools of an MCP server and report which of them work."""

from typing import Annotated, Final

from cyclopts import Parameter

from toolvet.cli.commands.assess.flags import AssessFlags

COMMON_OPTIONS: Final = frozenset(
    f"--{name}"
    for name in (
        "config", "header", "env", "cwd", "tool", "include", "include-destructive", "arguments", "plan-only", "timeout",
        "workers", "into", "report", "baseline", "lock", "all", "ignore", "fail-on",
        "fail-under", "settings", "quiet", "verbose", "help",
    )
)  # fmt: skip


def command(
    *target: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=False,
            help="`-- COMMAND ARGS…` starts a server and speaks stdio; a URL reaches one over HTTP.",
        ),
    ],
    flags: AssessFlags | None = None,
) -> int:
    """Call the tools of an MCP server, and report what works, what fails, and what a model sees when it does.

    toolvet assess -- uvx mcp-server-time

    toolvet assess http://127.0.0.1:8000/mcp --header "Authorization: Bearer …"

    toolvet assess --config mcp.json --report html=report.html

    By default only tools that read or compute are called: those marked `readOnlyHint: true` or, if the server has no
    annotations, those whose name, description and parameters show it (`list_orders`, `note_get`, `url_parse`). The
    report says why every other tool was skipped; `--include TOOL` calls it.

    The server starts in an empty folder with an empty home, and both are removed afterwards. `--cwd .` and
    `--keep-home` use the real ones.
    """
    from toolvet.cli.commands.assess.run import assess_and_report  # noqa: PLC0415 - the heavy half, for this command only

    return assess_and_report(target, flags or AssessFlags())
