"""Contents of the Gemini API (`parts`), in camel case as JSON has them and in snake case as Python does."""

from toolvet.core.messages.format import MessageFormat, Receiver, call_reader, response_reader
from toolvet.core.messages.parts import Parts, inner, text_in

_call = call_reader("args", "arguments", under=("functionCall", "function_call"))


def _response(parts: Parts, to: Receiver) -> bool:
    about = inner(parts.get("functionResponse") or parts.get("function_response"))
    if about:
        to.returned(about.get("response"), id_=text_in(about, "id"), name=text_in(about, "name"))
    return bool(about)


def _code(parts: Parts, to: Receiver) -> bool:
    code = inner(parts.get("executableCode") or parts.get("executable_code"))
    to.called("code_execution", {"code": code.get("code")}, text_in(code, "id"))
    return True


def _code_result(parts: Parts, to: Receiver) -> bool:
    result = inner(parts.get("codeExecutionResult") or parts.get("code_execution_result"))
    outcome = str(getattr(result.get("outcome"), "value", result.get("outcome")))
    failed = True if outcome in ("OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED") else None
    to.returned(result.get("output") or "", id_=text_in(result, "id"), name="code_execution", failed=failed)
    return True


def _text(parts: Parts, to: Receiver) -> bool:
    if not to.nested:
        return False
    # The model's thoughts are not part of its message.
    if parts.get("thought") is not True:
        to.said(parts["text"])
    return True


def _content(parts: Parts, to: Receiver) -> bool:
    """A content without a role is the user's."""
    if "kind" in parts or parts.get("role") is not None or not isinstance(parts["parts"], list):
        return False
    to.message(parts, "user")
    return True


FORMAT = MessageFormat(
    name="Gemini (role, parts)",
    members={
        "functionCall": _call,
        "function_call": _call,
        "functionResponse": _response,
        "function_response": _response,
        "executableCode": _code,
        "executable_code": _code,
        "codeExecutionResult": _code_result,
        "code_execution_result": _code_result,
        "text": _text,
        "parts": _content,
        "candidates": response_reader("candidates", "content", "finishReason", "finish_reason"),
    },
)
