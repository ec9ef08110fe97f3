"""Messages of MCP sampling: one block or several, and results as tools return them."""

from toolvet.core.messages.format import MessageFormat, Receiver, ignored
from toolvet.core.messages.parts import Parts, first_in, flag, inner, plain, text_in


def _result(parts: Parts, to: Receiver) -> bool:
    id_ = text_in(parts, "toolUseId", "tool_use_id")
    if not id_:
        return False
    result = {"content": plain(parts.get("content") or [])}
    structured = first_in(parts, ("structuredContent", "structured_content"))
    if structured is not None:
        result["structuredContent"] = structured
    to.returned(result, id_=id_, failed=flag(parts))
    return True


def _resource(parts: Parts, to: Receiver) -> bool:
    """An embedded resource: facts may come from it, but it is not the question."""
    if to.nested:
        to.said(inner(parts.get("resource")).get("text"), "system")
    return to.nested


FORMAT = MessageFormat(
    name="MCP sampling (content with type)",
    types={"tool_result": _result, "resource": _resource, "resource_link": ignored, "audio": ignored},
)
