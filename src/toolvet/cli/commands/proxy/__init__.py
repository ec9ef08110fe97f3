"""`toolvet proxy`: run a validating proxy in front of any MCP server."""

import os
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from toolvet.cli.commands.proxy.flags import ProxyFlags
from toolvet.errors import UsageError

_IS_POSIX: Final = os.name == "posix"


def command(
    *target: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=False,
            help="`-- COMMAND ARGS…` starts a server; a URL reaches one over Streamable HTTP.",
        ),
    ],
    flags: ProxyFlags | None = None,
) -> int:
    """Run in front of an MCP server: check arguments, judge results, and pass everything else through unchanged.

    toolvet proxy -- uvx mcp-server-git

    toolvet proxy --header 'Authorization: Bearer ${TOKEN}' https://host/mcp

    toolvet proxy --listen 127.0.0.1:8080 https://host/mcp

    toolvet proxy install mcp.json
    """
    if flags is None or not flags.explain:
        _check_platform("toolvet proxy")
    from toolvet.cli.commands.proxy.run import proxy  # noqa: PLC0415 - the heavy half, for this command only

    return proxy(target, flags or ProxyFlags())


def install(
    config: Annotated[Path, Parameter(help="The client's file: `mcp.json`, `claude_desktop_config.json`, …")],
    *,
    server: Annotated[
        list[str] | None, Parameter(negative="", help="Only this server; may be repeated. [default: all of them]")
    ] = None,
    settings: Annotated[Path | None, Parameter(help="The toolvet.toml for the proxies.")] = None,
    store: Annotated[
        str | None, Parameter(help="Keep verdicts, durations and findings of all these servers in this file or URL.")
    ] = None,
    dry_run: Annotated[bool, Parameter(negative="", help="Print what would change, and change nothing.")] = False,
) -> int:
    """Rewrite a client's configuration so that its servers run through toolvet. `uninstall` undoes it exactly.

    Comments and formatting stay. The file as it was is kept beside it, as FILE.before-toolvet.
    """
    _check_platform("toolvet proxy install")
    from toolvet.cli.commands.proxy.client_config import install_proxy  # noqa: PLC0415 - the heavy half, for this command only

    return install_proxy(
        config, tuple(server or ()), settings=settings, store=store, write="never" if dry_run else "always"
    )


def uninstall(
    config: Annotated[Path, Parameter(help="The client's file that `toolvet proxy install` rewrote.")],
    *,
    server: Annotated[
        list[str] | None, Parameter(negative="", help="Only this server; may be repeated. [default: all of them]")
    ] = None,
) -> int:
    """Remove toolvet from a client's configuration.

    A file that was not edited in between is restored byte for byte; in an edited one only toolvet's entries change.
    """
    from toolvet.cli.commands.proxy.client_config import uninstall_proxy  # noqa: PLC0415 - the heavy half, for this command only

    return uninstall_proxy(config, tuple(server or ()))


def _check_platform(command: str) -> None:
    """Raise UsageError on Windows: the proxy, which `install` configures, needs signals, process groups and poll()."""
    if not _IS_POSIX:
        raise UsageError(
            f"{command} needs Linux or macOS, or Windows with WSL; on Windows itself the library, toolvet check, "
            "toolvet assess and toolvet proxy --explain work"
        )
