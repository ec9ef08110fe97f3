"""`toolvet record`: run a server, and keep its calls for `toolvet mock` and `toolvet replay`."""

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
    settings: Annotated[
        Path | None, Parameter(help="Policies as TOML. [default: toolvet.toml, or tool.toolvet in pyproject.toml]")
    ] = None,
) -> int:
    """Run an MCP server and record its calls: arguments, results and errors, with secrets redacted.

    toolvet record --out record.db -- python server.py

    toolvet mock record.db

    Give your agent this command instead of the server's. It first starts the server once to write its tool definitions
    to OUT.lock.json, and then runs `toolvet proxy` with `--record calls`. No call is changed or refused.
    """
    from toolvet.cli.commands.lock.run import LockedServer, write  # noqa: PLC0415 - the heavy half, for this command only
    from toolvet.cli.commands.proxy.flags import ProxyFlags  # noqa: PLC0415 - as above
    from toolvet.cli.commands.proxy.run import proxy  # noqa: PLC0415 - as above
    from toolvet.cli.options import checked_store  # noqa: PLC0415 - as above
    from toolvet.cli.target import is_url  # noqa: PLC0415 - as above
    from toolvet.errors import UsageError  # noqa: PLC0415 - as above

    if not target or is_url(target[0]):
        words = "which server? Give its command: toolvet record -- python server.py"
        raise UsageError(f"{words}. For a URL: toolvet proxy --record calls --store {out} URL")
    checked_store(str(out))
    write(Path(f"{out}.lock.json"), LockedServer(target, (), env or (), cwd, sandbox=False, timeout=30.0))
    unchanged = ProxyFlags(arguments="audit", repair="off", results="annotate", output_schema="warn", record="calls")
    return proxy(target, replace(unchanged, env=env, cwd=cwd, settings=settings, store=str(out)))
