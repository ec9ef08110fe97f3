"""`POST /v1/check/…`: the checks of the library, with the library's parameters as members of the body."""

from collections.abc import Callable
from typing import Any, Final

from toolvet.server.dashboard.api.bodies import (
    AnswerBody,
    ArgumentsBody,
    ConversationBody,
    EnvelopeBody,
    ResultBody,
    judge,
)
from toolvet.server.dashboard.api.endpoint import Endpoint
from toolvet.server.dashboard.api.replies import (
    AnswerReply,
    ArgumentsReply,
    ConversationReply,
    EnvelopeReply,
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
    )


# Phrases of the caller's own, and the first use of a pack, take a tenth of a second to compile.
_LONG: Final[dict[str, Callable[[Any], bool]]] = {
    "answer": lambda body: bool(body.custom_patterns or body.exceptions or body.packs or body.languages),
    "conversation": lambda _: True,
}

ENDPOINTS = (
    _check("answer", "Judge an answer by its text and by its turn's calls.", AnswerBody, AnswerReply),
    _check("arguments", "Check arguments against the tool's schema.", ArgumentsBody, ArgumentsReply),
    _check("result", "Say whether a result is a success, or whose error.", ResultBody, ResultReply),
    _check("envelope", "Hold a response against the contract response-v2.", EnvelopeBody, EnvelopeReply),
    _check("conversation", "Judge all turns.", ConversationBody, ConversationReply),
)
