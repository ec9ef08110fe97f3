"""What the framework of a server does by itself, and its author cannot change."""

from typing import Final

from toolvet.assess.rules.ending import Ending, ending, words_of
from toolvet.core.checks import is_framework_refusal
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import ObservedCall

# Keys of `_meta` that SDKs and frameworks add by themselves.
_OWN_META: Final = ("io.modelcontextprotocol/", "fastmcp")
_LISTING: Final = frozenset({"all", "find", "list", "lookup", "query", "scan", "search", "show"})
_GETTING: Final = frozenset({"fetch", "get", "read", "retrieve"})
_SINGULAR: Final = ("ss", "us", "is")  # status, address, analysis


def framework_of(call: ObservedCall) -> str | None:
    """Return the name of the framework that wrote the words of this refusal; None where the author wrote them."""
    return is_framework_refusal(words_of(call))


def is_empty_list(call: ObservedCall) -> bool:
    """Whether the answer is an empty list, which Python frameworks send as `content: []`: one block for each entry.

    {"content": [], "structuredContent": {"result": []}}      yes
    {"content": [], "_meta": {…}}, from search_orders         yes: the SDK added the _meta
    {"content": [], "isError": false}, from list_orders       yes: older Python SDKs send the flag always
    {"content": []}, from reset_cache or an unknown SDK       no: nothing says that it is a list
    """
    result = members(call.result)
    if not is_array(result.get("content")) or elements(result.get("content")) or result.get("isError") is True:
        return False
    if ending(call) not in {Ending.SUCCESS, Ending.MALFORMED}:
        return False
    structured = result.get("structuredContent")
    if structured is not None:
        only = next(iter(structured.values())) if is_object(structured) and len(structured) == 1 else structured
        return is_array(only) and not elements(only)
    made_by_sdk = any(name.startswith(_OWN_META) for name in members(result.get("_meta")))
    flagged = result.get("isError") is False
    return (made_by_sdk or flagged) and call.tool.output_schema is None and _lists(call.tool.name)


def _lists(tool: str) -> bool:
    """Whether a tool returns any number of things by its name: `list_orders`, `get_orders`, `searchAll`."""
    words = word_segments(tool)
    if not _LISTING.isdisjoint(words):
        return True
    return len(words) > 1 and words[0] in _GETTING and words[-1].endswith("s") and not words[-1].endswith(_SINGULAR)
