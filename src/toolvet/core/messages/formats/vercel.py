"""Parts of the messages of the AI SDK of Vercel, both those of the model and those of the page."""

from toolvet.core.messages.call import UNKNOWN
from toolvet.core.messages.format import MessageFormat, Receiver
from toolvet.core.messages.parts import Parts, inner, text_in


def _part(parts: Parts, to: Receiver) -> bool:
    kind, id_ = text_in(parts, "type"), text_in(parts, "toolCallId")
    name = text_in(parts, "toolName") or kind.removeprefix("tool-")
    if kind == "tool-call":
        to.called(name, parts.get("input", parts.get("args")), id_)
    elif kind == "tool-result":
        output = inner(parts.get("output"))
        failed = True if text_in(output, "type").startswith("error") else None
        to.returned(output.get("value", parts.get("output", parts.get("result"))), id_=id_, name=name, failed=failed)
    elif kind.startswith("tool-") or kind == "dynamic-tool":
        error = parts.get("errorText")
        result = parts.get("output", UNKNOWN) if error is None else error
        to.called(name, parts.get("input"), id_, result=result, failed=None if error is None else True)
    else:
        return False
    return True


FORMAT = MessageFormat(name="Vercel AI SDK (toolCallId)", members={"toolCallId": _part})
