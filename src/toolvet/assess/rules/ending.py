"""How a call ended. Rules agree by it which of them reports a fault, so that one fault is one finding."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final, cast

from toolvet.core.causes import State
from toolvet.core.checks import ResultVerdict, check_result
from toolvet.core.json_value import elements, members
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import ObservedCall, Outcome, ProtocolError

INVALID_ARGUMENTS: Final = frozenset({-32602, -32600, -32700})
# -32042 wants a person to open a URL, -32021 a capability of the client: both are right as protocol errors.
NEEDS_MORE: Final = frozenset({-32042, -32021})
_ABSENT: Final = re.compile(
    r"(?i)\b(?:not found|no (?:\w+ ){0,3}found|does(?:n't| not) exist|no such|(?:could|can)(?:not|n't| not) find"
    r"|did not resolve)\b"
)
# The same, said of a thing that was asked for by its id; what only mentions a lack ("no tags found") does not.
_MISSED: Final = re.compile(
    r"(?i)\b(?:not (?:be )?found|does(?:n't| not) exist|no such|(?:could|can)(?:not|n't| not) find|not exist"
    r"|unknown (?:id|\w+ id)|invalid (?:\w+ )?id|is unknown|no \w+ (?:with|has|named|called)\b|unable to find)\b"
)
_LISTS: Final = frozenset(
    {"list", "search", "find", "query", "count", "check", "exists", "exist", "filter", "is", "has", "validate"}
)
_SHORT: Final = 300  # Characters: a longer answer says more than that nothing is there.
_LONGEST: Final = 4_000  # Characters of an error that are searched.
_MOST_VALUES: Final = 1_000  # Members of a structured content that are read for its words.


class Ending(StrEnum):
    """How a call ended, for the client or the model that reads the answer."""

    SUCCESS = "success"
    UNFLAGGED_ERROR = "unflagged_error"  # the words of an error, without isError
    REFUSAL = "refusal"  # isError: the tool says in words that the call was wrong
    FAILURE = "failure"  # isError: the tool or what it depends on failed
    WORDLESS = "wordless"  # isError without any words
    PROTOCOL_REFUSAL = "protocol_refusal"  # a JSON-RPC error about the call
    PROTOCOL_FAILURE = "protocol_failure"  # a JSON-RPC error about anything else
    UNFINISHED = "unfinished"  # the server wants input, a task or a capability first
    MALFORMED = "malformed"  # not a legal tool result
    TIMEOUT = "timeout"
    DIED = "died"


REFUSALS: Final = frozenset({Ending.REFUSAL, Ending.PROTOCOL_REFUSAL})
ERRORS_IN_WORDS: Final = frozenset({*REFUSALS, Ending.FAILURE, Ending.UNFLAGGED_ERROR, Ending.PROTOCOL_FAILURE})
# What the surroundings of a tool do to it, and no argument can change.
OUTAGES: Final = frozenset({State.TIMEOUT, State.UNREACHABLE, State.UNAVAILABLE, State.MISCONFIGURED})


def ending(call: ObservedCall) -> Ending:
    """How a call ended. Total: every call has an ending."""
    match call.outcome:
        case Outcome.TIMEOUT:
            return Ending.TIMEOUT
        case Outcome.SERVER_DIED:
            return Ending.DIED
        case Outcome.INVALID_MESSAGE:
            return Ending.MALFORMED
        case Outcome.PROTOCOL_ERROR:
            return _protocol_ending(call)
        case Outcome.RESULT:
            return _result_ending(call)


def is_bad(call: ObservedCall) -> bool:
    """Whether the tool's own schema forbids the arguments of the call."""
    return bool(call.violations) or (call.breach is not None and call.breach.declared)


def verdict_of(call: ObservedCall) -> ResultVerdict | None:
    """The verdict; a protocol error is read as the error result that it should have been."""
    if call.verdict is not None or call.error is None:
        return call.verdict
    if call.error_verdict is not None:
        return call.error_verdict
    return check_result(call.tool.raw, call.arguments, error_as_result(call.error), call.category)


def error_as_result(error: ProtocolError) -> dict[str, object]:
    """Return a protocol error as the result of a tool that says the same."""
    return {"content": [{"type": "text", "text": f"MCP error {error.code}: {error.message}"}], "isError": True}


def words_of(call: ObservedCall) -> str:
    """The words that a model reads: the protocol error's message, the text blocks, or else the structured content."""
    if call.error is not None:
        return call.error.message
    texts = [text for text in _texts(members(call.result).get("content")) if text.strip()]
    if not texts:
        texts = list(_strings(members(call.result).get("structuredContent")))
    return "\n".join(texts)


def speaks_of_absence(words: str) -> bool:
    """Whether an error says that something does not exist ("not found"): no schema could have said that before."""
    return _ABSENT.search(words[:_LONGEST]) is not None


def _protocol_ending(call: ObservedCall) -> Ending:
    code = call.error.code if call.error is not None else None
    if code in NEEDS_MORE or call.tool.runs_as_task:
        return Ending.UNFINISHED
    if code in INVALID_ARGUMENTS:
        return Ending.PROTOCOL_REFUSAL
    verdict = verdict_of(call)
    refused = verdict is not None and verdict.error_kind == "business"
    return Ending.PROTOCOL_REFUSAL if refused else Ending.PROTOCOL_FAILURE


def _result_ending(call: ObservedCall) -> Ending:
    result, verdict = call.result, call.verdict
    if not isinstance(result, Mapping):
        return Ending.MALFORMED
    if _is_unfinished(cast("Mapping[str, object]", result)):
        return Ending.UNFINISHED
    if verdict is None or not isinstance(members(cast("object", result)).get("content"), list):
        return Ending.MALFORMED
    if not verdict.is_error:
        unflagged = verdict.error_without_flag or _misses_its_thing(call)
        return Ending.UNFLAGGED_ERROR if unflagged else Ending.SUCCESS
    if call.tool.runs_as_task:
        return Ending.UNFINISHED
    if not words_of(call).strip():
        return Ending.WORDLESS
    if verdict.error_kind == "business":
        return Ending.REFUSAL
    # Unclear words after wrong arguments, without any sign of a crash: the error is the refusal that is due.
    wrong = is_bad(call) or call.breach is not None
    return Ending.REFUSAL if wrong and verdict.state is State.UNKNOWN else Ending.FAILURE


def _misses_its_thing(call: ObservedCall) -> bool:
    """Whether a tool that was asked for a thing which does not exist says so, and not that this is an error.

    "Task 99 not found" to `get_task(99)` is an error. "No tasks found" to `list_tasks(project_id=99)` is a result.
    """
    if not call.absent or call.absent not in call.tool.required or _LISTS.intersection(word_segments(call.tool.name)):
        return False
    words = words_of(call).strip()
    return len(words) <= _SHORT and _MISSED.search(words) is not None


def _is_unfinished(result: Mapping[str, object]) -> bool:
    """Multi round-trip requests and tasks (2026-07-28: `resultType`; 2025-11-25: `task` instead of content)."""
    kind = result.get("resultType")
    return kind in ("input_required", "task") or (isinstance(result.get("task"), Mapping) and "content" not in result)


def _texts(content: object) -> Iterator[str]:
    for block in elements(content):
        text = members(block).get("text")
        if isinstance(text, str):
            yield text


def _strings(value: object) -> Iterator[str]:
    """The strings in a JSON value, in order; the first thousand members are enough to be read."""
    pending, seen = [value], 0
    while pending and seen < _MOST_VALUES:
        here = pending.pop()
        seen += 1
        if isinstance(here, str):
            yield here
        elif isinstance(here, Mapping):
            pending.extend(reversed(list(cast("Mapping[object, object]", here).values())))
        else:
            pending.extend(reversed(elements(here)))
