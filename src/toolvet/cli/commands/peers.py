"""`toolvet peers`: our report on a server beside those of other programs."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolvet.errors import UsageError


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
        Parameter(negative="", help="`NAME=VALUE` for the server's environment, or `NAME` to pass yours on."),
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

    toolvet peers -- python server.py

    Programs that are not installed are named with the command that installs them; nothing is downloaded. Each runs with
    a minimal environment, in an empty folder with an empty home. The exit code does not depend on the findings.
    """
    import asyncio  # noqa: PLC0415 - all of these are for this command only

    from rich.console import Console  # noqa: PLC0415

    from toolvet.assess import Options  # noqa: PLC0415
    from toolvet.assess.peers import PeerLimits, compare_with_peers  # noqa: PLC0415
    from toolvet.assess.report import PEERS_FORMATS, encode_document, print_peers  # noqa: PLC0415
    from toolvet.cli.options import parse_reports, write_documents  # noqa: PLC0415
    from toolvet.cli.target import parse_variable, read_target  # noqa: PLC0415
    from toolvet.mcp.transport import adopt_orphans  # noqa: PLC0415

    writers = parse_reports(report, tuple(PEERS_FORMATS))
    if not target:
        raise UsageError("which server? Give a command (toolvet peers -- python server.py), or a URL")
    if not timeout > 0:
        raise UsageError(f"--timeout {timeout:g}: must be greater than 0")
    server = read_target(
        target, headers={}, environment=dict(map(parse_variable, env or ())), cwd=str(cwd) if cwd else None
    )
    adopt_orphans()
    document = asyncio.run(compare_with_peers(server, Options(sandbox=sandbox), PeerLimits(seconds=timeout)))
    if json:
        sys.stdout.write(encode_document(document))
    elif not quiet and all(file != "-" for _, file in writers):
        print_peers(document, Console())
    write_documents(document, writers, PEERS_FORMATS, quiet=quiet)
    return 0
