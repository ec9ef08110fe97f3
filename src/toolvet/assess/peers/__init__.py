"""A server in, a comparison out: what we find in it, beside what other programs find.

    >>> import asyncio
    >>> from toolvet.assess.peers import compare_with_peers
    >>> from toolvet.mcp.transport import StdioTarget
    >>> report = asyncio.run(compare_with_peers(StdioTarget(command="my-server")))  # doctest: +SKIP

A program is run where it is installed, and nothing is downloaded. Each runs with the minimal environment and in a place
of its own, as the server does, with limits on time and output. `peers.toml` says how each is run, and which of its
findings are one of ours.
"""

from toolvet.assess.peers.run import PeerLimits, compare_with_peers

__all__ = ["PeerLimits", "compare_with_peers"]
