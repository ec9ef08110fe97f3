"""Blocks of the Anthropic Messages API, with tools that the API or an MCP server runs."""

from toolvet.core.messages.call import UNKNOWN
from toolvet.core.messages.format import MessageFormat, Receiver, call_reader, ignored
from toolvet.core.messages.parts import Parts, blocks_of, flag, inner, parts_of, plain, text_in

_call = call_reader("input")


def _result(parts: Parts, to: Receiver) -> bool:
    id_ = text_in(parts, "tool_use_id")
    if not id_ or "structured_content" in parts:
        return False
    content = parts.get("content")
    # A tool that returned nothing has no content.
    to.returned("" if content is None else plain(content), id_=id_, failed=flag(parts))
    return True


def _server_result(parts: Parts, to: Receiver) -> bool:
    """A result of a tool of the API: an error is a block of its own kind, and what a search found is encrypted."""
    id_ = text_in(parts, "tool_use_id")
    if not id_:
        return False
    content = parts.get("content")
    about = parts_of(content) or {}
    if text_in(about, "error_code"):
        to.returned(dict(about), id_=id_, failed=True)
    elif any("encrypted_content" in inner(block) for block in blocks_of(content)):
        to.returned(UNKNOWN, id_=id_, failed=False)
    else:
        to.returned(about or plain(content), id_=id_)
    return True


def _document(parts: Parts, to: Receiver) -> bool:
    """A document of the user: facts may come from it, but it is not the question."""
    if not to.nested:
        return False
    source = inner(parts.get("source"))
    to.said(source.get("data") if source.get("type") == "text" else None, "system")
    for block in [*blocks_of(source.get("content")), *blocks_of(parts.get("content"))]:
        to.within(block, "system")
    return True


FORMAT = MessageFormat(
    name="Anthropic Messages (tool_use, tool_result)",
    types={
        "tool_use": _call,
        "server_tool_use": _call,
        "mcp_tool_use": _call,
        "tool_result": _result,
        "mcp_tool_result": _result,
        "document": _document,
        "search_result": _document,
        "thinking": ignored,
        "redacted_thinking": ignored,
        "image": ignored,
    },
    endings={"_tool_result": _server_result},
)
