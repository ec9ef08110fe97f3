"""`toolvet proxy uninstall`: undo `toolvet proxy install`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def command(
    config: Annotated[Path, Parameter(help="The client's file that `toolvet proxy install` rewrote.")],
    *,
    server: Annotated[
        list[str] | None, Parameter(negative="", help="Only this server; may be repeated. [default: all of them]")
    ] = None,
) -> int:
    """Take the servers of a client's configuration from behind toolvet.

    A file that nobody edited in between comes back byte for byte; in an edited one only our entries change.
    """
    from toolvet.cli.commands.proxy.install.run import uninstall_proxy  # noqa: PLC0415 - the heavy half, for this command only

    return uninstall_proxy(config, tuple(server or ()))
