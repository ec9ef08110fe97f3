"""An answer of the server that is longer than the limit: who waits for it, and what they are told."""

from collections.abc import Collection

from toolvet.mcp.wire import Id, Oversize, reply_hint


def waiting_for(line: Oversize, waiting: Collection[Id]) -> list[Id]:
    """Return which of the waiting requests a line answers that was too long to be kept.

    Its beginning or its end shows the id. Where neither does, any of them may wait for it, and none must wait for ever.
    """
    hint = reply_hint(line.head + b" " + line.tail)
    if hint is not None:
        return [id_ for id_ in waiting if id_ == hint]
    return list(waiting) if line.is_endless or line.head.lstrip()[:1] in {b"{", b"["} else []


def words_for(line: Oversize) -> str:
    """Return what the client is told."""
    limit = f"longer than the limit of {line.limit} bytes (max_message_bytes)"
    return f"The answer of the MCP server is {limit}. Ask for less."
