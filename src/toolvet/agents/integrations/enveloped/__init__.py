"""Tools that answer with envelopes, under FastMCP and the official SDK (extras `fastmcp` and `mcp`).

    @mcp.tool
    @enveloped
    def get_ship(name: str) -> Ship:
        ...

The value that the function returns becomes the data of a response, and an exception becomes a failure that its caller
may read. The tool's `outputSchema` is that of the envelope, which clients that validate accept for every result,
failures included.
"""

from toolvet.agents.integrations.enveloped.decorator import Answer, Errors, enveloped
from toolvet.agents.integrations.enveloped.result import META_KEY, placed, prose, to_result

__all__ = ["META_KEY", "Answer", "Errors", "enveloped", "placed", "prose", "to_result"]
