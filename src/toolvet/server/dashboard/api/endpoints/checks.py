"""`POST /v1/check/…` and `/v1/repairs`: the library, with its parameters as members of the body."""

from collections.abc import Callable
from typing import Any, Final

from toolvet.server.dashboard.api.bodies import (
    AnswerBody,
    ArgumentsBody,
    ConversationBody,
    EnvelopeBody,
    RepairBody,
    ResultBody,
    judge,
    or_unchecked,
    repair_of,
)
from toolvet.server.dashboard.api.endpoint import Endpoint
from toolvet.server.dashboard.api.replies import (
    AnswerReply,
    ArgumentsReply,
    ConversationReply,
    EnvelopeReply,
    RepairReply,
    ResultReply,
)


def _check(kind: str, summary: str, body: type[Any], reply: type[Any]) -> Endpoint[Any]:
    return Endpoint(
        "POST",
        f"/v1/check/{kind}",
        summary,
        body,
        lambda asked: judge(asked.body),
        reply=reply,
        is_long=_LONG.get(kind),
        example=_EXAMPLES[kind],
    )


# Phrases of the caller's own, and the first use of a pack, take a tenth of a second to compile.
_LONG: Final[dict[str, Callable[[Any], bool]]] = {
    "answer": lambda body: bool(body.custom_patterns or body.exceptions or body.packs or body.languages),
    "conversation": lambda _: True,
}

_TOOL: Final = {
    "name": "search",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
}
_FAILED: Final = {"isError": True, "content": [{"type": "text", "text": "Error: connection refused"}]}
_EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "answer": {
        "text": "I found three teas.",
        "calls": [{"name": "search", "arguments": {"query": "tea"}, "result": _FAILED}],
    },
    "arguments": {"tool": _TOOL, "arguments": {"query": "tea", "limit": "10"}},
    "result": {"tool": _TOOL, "arguments": {"query": "tea"}, "result": _FAILED},
    "envelope": {"response": {"success": True, "data": [], "error": None, "meta": {"version": "v2"}}},
    "conversation": {
        "messages": [{"role": "user", "content": "Which teas?"}, {"role": "assistant", "content": "I cannot help."}]
    },
}

ENDPOINTS = (
    _check("answer", "Judge an answer by its text and by its turn's calls.", AnswerBody, AnswerReply),
    _check("arguments", "Check arguments against the tool's schema.", ArgumentsBody, ArgumentsReply),
    _check("result", "Say whether a result is a success, or whose error.", ResultBody, ResultReply),
    _check("envelope", "Hold a response against the contract response-v2.", EnvelopeBody, EnvelopeReply),
    _check("conversation", "Judge all turns.", ConversationBody, ConversationReply),
    Endpoint(
        "POST",
        "/v1/repairs",
        "Return the valid value that a text was meant to be, or an error for the model.",
        RepairBody,
        lambda asked: or_unchecked(lambda: repair_of(asked.body).to_dict()),
        reply=RepairReply,
        example={"text": "search(query='tea', limit='10')", "tool": _TOOL},
    ),
)
