"""`toolvet proxy`: run a validating proxy in front of any MCP server."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.proxy.flags import ProxyFlags


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
    """Stand before an MCP server: check the arguments of calls, judge their results, pass on everything else unchanged.

    toolvet proxy -- uvx mcp-server-git

    toolvet proxy --header 'Authorization: Bearer ${TOKEN}' https://host/mcp

    toolvet proxy --listen 127.0.0.1:8080 https://host/mcp

    toolvet proxy install mcp.json
    """
    from toolvet.cli.commands.proxy.run import proxy  # noqa: PLC0415 - the heavy half, for this command only

    return proxy(target, flags or ProxyFlags())
