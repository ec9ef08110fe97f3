"""`toolvet compare`: our report on a server beside those of other programs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def command(
    *target: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=False,
            help="`-- COMMAND ARGS…` starts a server and speaks stdio; a URL reaches one over HTTP.",
        ),
    ],
    env: Annotated[
        list[str] | None,
        Parameter(negative="", help="`NAME=VALUE` for the server's environment, or `NAME` to pass ours on."),
    ] = None,
    cwd: Annotated[Path | None, Parameter(help="The folder in which the server is started.")] = None,
    sandbox: Annotated[
        bool, Parameter(negative="", help="Start the server without network, writing only to its own folders (Linux).")
    ] = False,
    timeout: Annotated[float, Parameter(help="Seconds for each of the other programs.")] = 120.0,
    report: Annotated[
        list[str] | None,
        Parameter(negative="", help="`FORMAT=FILE` (`-` is stdout): html, json, markdown; may be repeated."),
    ] = None,
    json: Annotated[bool, Parameter(negative="", help="JSON on stdout instead of the tables for people.")] = False,
    quiet: Annotated[bool, Parameter(negative="", help="Write the files of --report, and nothing else.")] = False,
) -> int:
    """Run toolvet, mcpscore, mcp-assert and the Inspector on one server, and show who found what.

    toolvet compare -- python server.py

    Programs that are not installed are named with the command that installs them; nothing is downloaded. Each runs with
    a minimal environment, in an empty folder with an empty home. The exit code says nothing of the findings.
    """
    from toolvet.cli.commands.compare.run import compare_and_report  # noqa: PLC0415 - the heavy half

    return compare_and_report(
        target, env=env, cwd=cwd, sandbox=sandbox, seconds=timeout, reports=report, as_json=json, quiet=quiet
    )
