"""`toolvet proxy install`: rewrite a client's configuration file so that its servers run behind toolvet."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def command(
    config: Annotated[Path, Parameter(help="The client's file: `mcp.json`, `claude_desktop_config.json`, …")],
    *,
    server: Annotated[
        list[str] | None, Parameter(negative="", help="Only this server; may be repeated. [default: all of them]")
    ] = None,
    settings: Annotated[Path | None, Parameter(help="The toolvet.toml that the proxies go by.")] = None,
    store: Annotated[
        str | None, Parameter(help="Keep verdicts, durations and findings of all these servers in this file or URL.")
    ] = None,
    dry_run: Annotated[bool, Parameter(negative="", help="Print what would change, and change nothing.")] = False,
) -> int:
    """Rewrite a client's configuration so that its servers run through toolvet. `uninstall` undoes it exactly.

    Comments and formatting stay. The file as it was is kept beside it, as FILE.before-toolvet.
    """
    from toolvet.cli.commands.proxy.install.run import install_proxy  # noqa: PLC0415 - the heavy half, for this command only

    return install_proxy(
        config, tuple(server or ()), settings=settings, store=store, write="never" if dry_run else "always"
    )
