"""Write down what a server promises, and compare it with a later version."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from toolvet.cli.commands.assess.flags import EnvFlag, FolderFlag, HeaderFlag

TargetWords: TypeAlias = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=False,
        help="`-- COMMAND ARGS…` starts a server and speaks stdio; a URL reaches one over HTTP.",
    ),
]
SandboxOption: TypeAlias = Annotated[
    bool, Parameter(negative="", help="Start the server without network, writing only to its own folders (Linux).")
]


def command(
    *target: TargetWords,
    out: Annotated[Path, Parameter(help="The lock file; `--out=-` is stdout.")] = Path("toolvet.lock.json"),
    header: HeaderFlag = None,
    env: EnvFlag = None,
    cwd: FolderFlag = None,
    sandbox: SandboxOption = False,
    timeout: Annotated[float, Parameter(help="Seconds for one answer of the server.")] = 30.0,
) -> int:
    """Write a server's contract to a file: tools with their schemas and hints, resources and prompts.

    toolvet lock -- python server.py

    toolvet lock check toolvet.lock.json -- python server.py

    Commit the file. It is sorted and without secrets, so its changes can be reviewed as those of code. No tool is
    called.
    """
    from toolvet.cli.commands.lock.run import LockedServer, write  # noqa: PLC0415 - the heavy half, for this command only

    return write(out, LockedServer(target, header or (), env or (), cwd, sandbox=sandbox, timeout=timeout))


def check(
    file: Annotated[Path, Parameter(help="The lock file.")],
    /,
    *target: TargetWords,
    json: Annotated[bool, Parameter(negative="", help="JSON on stdout instead of the list for people.")] = False,
    header: HeaderFlag = None,
    env: EnvFlag = None,
    cwd: FolderFlag = None,
    sandbox: SandboxOption = False,
    timeout: Annotated[float, Parameter(help="Seconds for one answer of the server.")] = 30.0,
    fail_on: Annotated[
        Literal["breaking", "unknown", "never"],
        Parameter(help="Exit with 1 for breaking changes; `unknown`: also for those to be read."),
    ] = "breaking",
) -> int:
    """Compare a server with its lock, and say which changes break its callers.

    toolvet lock check toolvet.lock.json -- python server.py

    Each change is compatible, breaking or to be read. A breaking change of a schema comes with a counter-example:
    arguments that the old version accepts and the new one refuses, or a result that the new version allows and the old
    one does not. Exits with 1 if a change breaks a caller.
    """
    from toolvet.cli.commands.lock.run import LockedServer, compare  # noqa: PLC0415 - as above

    server = LockedServer(target, header or (), env or (), cwd, sandbox=sandbox, timeout=timeout)
    return compare(file, server, as_json=json, fail_on=fail_on)
