"""`toolvet record`: run a server, and keep its calls for `toolvet mock` and `toolvet replay`."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.assess.flags import EnvFlag, FolderFlag


def command(
    *target: Annotated[
        str, Parameter(allow_leading_hyphen=False, help="`-- COMMAND ARGS…` starts the server, which speaks stdio.")
    ],
    out: Annotated[
        Path, Parameter(help="The record: a SQLite file, or lines of JSON if its name ends in .jsonl.")
    ] = Path("record.db"),
    env: EnvFlag = None,
    cwd: FolderFlag = None,
) -> int:
    """Run an MCP server and record its calls: arguments, results and errors, with secrets redacted.

    toolvet record --out record.db -- python server.py

    toolvet mock record.db

    Give your agent this command instead of the server's. It first starts the server once to write its tool definitions
    to OUT.lock.json, and then runs `toolvet proxy` with `--record calls`. Invalid calls reach the server unchanged.
    """
    import asyncio  # noqa: PLC0415 - all of these are for this command only

    from toolvet.assess.locking import lock_server  # noqa: PLC0415
    from toolvet.cli.commands.proxy import command as proxy  # noqa: PLC0415
    from toolvet.cli.commands.proxy.flags import ProxyFlags  # noqa: PLC0415
    from toolvet.cli.options import checked_store  # noqa: PLC0415
    from toolvet.cli.target import is_url, parse_variable  # noqa: PLC0415
    from toolvet.core.contract import write_lock  # noqa: PLC0415
    from toolvet.errors import UsageError  # noqa: PLC0415
    from toolvet.mcp.transport import StdioTarget  # noqa: PLC0415

    if not target or is_url(target[0]):
        words = "which server? Give its command: toolvet record -- python server.py"
        raise UsageError(f"{words}. For a URL: toolvet proxy --record calls --store {out} URL")
    checked_store(str(out))
    given = dict(map(parse_variable, env or ()))
    # As the proxy starts it: with our variables, home and folder.
    server = StdioTarget(target[0], target[1:], {**os.environ, **given}, cwd=str(cwd or Path.cwd()))
    lock = write_lock(asyncio.run(lock_server(server, keep_home=True)))
    Path(f"{out}.lock.json").write_text(lock, encoding="utf-8")
    unchanged = ProxyFlags(arguments="audit", repair="off", results="annotate", output_schema="warn", record="calls")
    variables = [f"{name}={value}" for name, value in given.items()]
    return proxy(*target, flags=replace(unchanged, env=variables, cwd=cwd, store=str(out)))
