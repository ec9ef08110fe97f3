"""Rule: the call of a tool that does not exist is not answered with a protocol error."""

from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import Ending, ending, words_of
from toolvet.rules.quote import quote, show_answer
from toolvet.rules.subject import ObservedCall, Outcome, ServerSeen

CARD = Card(
    id="unknown-tool-answer",
    title="An unknown tool is not answered with a protocol error",
    severity=Severity.WARNING,
    looks_for=(
        "The answer to a call of a tool that does not exist. The protocol demands the JSON-RPC error -32602. A "
        "result with isError (as the TypeScript SDK sends) or another code is told as information, a success is an "
        "error."
    ),
    why=(
        "To a client an unknown tool means that its list is out of date. A success, or a text that reads like one, "
        "hides that from client and model."
    ),
    remedy=(
        "Answer tools/call with JSON-RPC error -32602 and the name that was asked for. The SDKs do it when tools "
        "are registered with them; a low-level `call_tool` handler must end with `raise` for names that it does not "
        "know, before it looks at the arguments."
    ),
)

_INVALID_PARAMS: Final = -32602


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """Judge the answer by how well a client sees that the tool does not exist."""
    if server.unknown_tool is not None:
        yield from _judge_answer(server.unknown_tool)


def _judge_answer(call: ObservedCall) -> Iterator[Finding]:
    asked = f"A call of the tool '{quote(call.tool.name, 60)}', which does not exist,"
    words = quote(words_of(call), 140)
    match ending(call):
        case Ending.SUCCESS | Ending.UNFLAGGED_ERROR | Ending.UNFINISHED if call.outcome is Outcome.RESULT:
            yield CARD.finding(
                message=f'{asked} was answered with a success: "{words}"',
                severity=Severity.ERROR,
                evidence=show_answer(call.result, 200),
            )
        case Ending.REFUSAL | Ending.FAILURE | Ending.WORDLESS:
            yield CARD.finding(
                message=f'{asked} was answered with a result (isError) instead of error {_INVALID_PARAMS}: "{words}"',
                severity=Severity.INFO,
                evidence=words,
            )
        case Ending.TIMEOUT | Ending.DIED | Ending.MALFORMED as ended:
            problem = {"timeout": "was not answered", "died": "ended the server"}.get(
                ended.value, "was not answered with a legal message"
            )
            severity = Severity.ERROR if ended is Ending.DIED else None
            yield CARD.finding(
                message=f"{asked} {problem}.",
                severity=severity,
                evidence=quote(call.detail, 200),
            )
        case _ if call.error is not None and call.error.code != _INVALID_PARAMS:
            yield CARD.finding(
                message=f"{asked} was answered with error {call.error.code} instead of {_INVALID_PARAMS}.",
                severity=Severity.INFO,
                evidence=f"error {call.error.code}: {words}",
            )
        case _:
            return
