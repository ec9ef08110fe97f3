"""A reply to a request about resources, prompts or completion → the request that the rules judge → the report's entry.

As with tools, the rules see the request as it was, and the report has it without secrets and cut. Both are made when
the answer comes: the end of a run need not wait for them, and of a large answer only an excerpt is kept.
"""

import re
from dataclasses import dataclass
from typing import Final

import msgspec

from toolvet.assess.exchange import (
    MOST_VALUES,
    MOST_WHOLE,
    LargeExcerpt,
    explain_malformed,
    read_error,
    shorten_payload,
)
from toolvet.assess.report.document import ItemRequest
from toolvet.assess.rules import ListedItem, ObservedRequest, Outcome, Purpose, judge_request
from toolvet.assess.rules.ending import outage_of_call
from toolvet.assess.rules.item import as_call
from toolvet.core.json_value import count_values
from toolvet.core.redact import SecretMask, redact, redact_text
from toolvet.findings import Finding
from toolvet.mcp.transport import Answer, ConnectionLost, Malformed, Reply, RpcError, TimedOut

_LONGEST_NOTE: Final = 200
_NAMES: Final = {
    Purpose.LISTED: "as it is listed",
    Purpose.OFFERED: "with values that the server offers",
    Purpose.GUESSED: "with values made up for it",
    Purpose.MISSING_ARGUMENT: "without a required argument",
    Purpose.ABSENT: "one that does not exist",
    Purpose.UNKNOWN_SCHEME: "a scheme that does not exist",
    Purpose.NO_URI: "a text that is not a URI",
    Purpose.COMPLETION: "values to choose from",
    Purpose.ABSENT_REFERENCE: "values for what does not exist",
    Purpose.BAD_CURSOR: "a cursor that was never given",
}
_WITHOUT_ANSWER: Final = {
    Outcome.TIMEOUT: "no answer in time",
    Outcome.SERVER_DIED: "the server died",
    Outcome.INVALID_MESSAGE: "the answer is not a JSON-RPC response",
}


@dataclass(frozen=True, kw_only=True)
class PlannedRequest:
    """A request before it is sent. `detail` completes the name of its purpose, `origin` says whence its values are."""

    method: str
    params: dict[str, object]
    purpose: Purpose
    item: ListedItem | None = None
    detail: str = ""
    origin: str = ""
    missing: str = ""
    is_generated: bool = False

    @property
    def name(self) -> str:
        """The request in words, for the report."""
        return f"{_NAMES[self.purpose]} ({self.detail})" if self.detail else _NAMES[self.purpose]


@dataclass(frozen=True)
class AssessedRequest:
    """A request that was made, as the rules judge it, how it was planned, and the report's entry, still without an id.

    `findings` are those about this request alone.
    """

    plan: PlannedRequest
    request: ObservedRequest
    entry: ItemRequest
    findings: tuple[Finding, ...] = ()


def observe_request(plan: PlannedRequest, reply: Reply, *, protocol_version: str, detail: str = "") -> ObservedRequest:
    """Return the planned request with its outcome.

    Args:
        plan: The request that was sent.
        reply: The reply from the transport.
        protocol_version: The MCP revision of the session that it went through.
        detail: An explanation of a timeout, for a person to read.
    """
    facts = ObservedRequest(
        method=plan.method,
        params=plan.params,
        purpose=plan.purpose,
        outcome=Outcome.INVALID_MESSAGE,
        item=plan.item,
        protocol_version=protocol_version,
        duration_ms=round(reply.duration * 1000, 3),
        missing=plan.missing,
        is_generated=plan.is_generated,
    )
    replace = msgspec.structs.replace
    match reply:
        case Answer():
            return replace(facts, outcome=Outcome.RESULT, result=reply.result)
        case RpcError():
            return replace(facts, outcome=Outcome.PROTOCOL_ERROR, error=read_error(reply)[0])
        case TimedOut():
            return replace(facts, outcome=Outcome.TIMEOUT, detail=detail)
        case ConnectionLost():
            code = "" if reply.exit_code is None else f" with exit code {reply.exit_code}"
            return replace(
                facts, outcome=Outcome.SERVER_DIED, detail=f"{reply.reason}{code}\n{reply.stderr_tail}".strip()
            )
        case Malformed():
            return replace(facts, detail=explain_malformed(reply))


def assess_request(
    plan: PlannedRequest, request: ObservedRequest, size: int, known_paths: tuple[str, ...]
) -> AssessedRequest:
    """Return the request as it is kept: judged, as the report shows it, and of a large answer an excerpt.

    Args:
        plan: The request that was sent.
        request: The request with its outcome.
        size: The bytes of the answer.
        known_paths: The absolute paths that the server has from the caller, and those that it lists itself.
    """
    borders: tuple[str, ...] = ()
    judged = request = msgspec.structs.replace(request, known_paths=known_paths)
    excerpt = ""
    if size > MOST_WHOLE:
        part = LargeExcerpt(request.result)
        request = msgspec.structs.replace(request, result=part.value)
        is_whole = count_values(judged.result, MOST_VALUES) <= MOST_VALUES
        judged, borders = judged if is_whole else request, tuple(part.borders)
        excerpt = f"of {size:,} bytes an excerpt is {'shown' if is_whole else 'shown and judged'}"
    findings = judge_request(judged)
    # The note quotes the answer, and the answer may repeat what was sent.
    mask = SecretMask.learned(request.params, msgspec.to_builtins(request.error), request.result, *borders)
    passed, note = judge_outcome(request)
    answer = request.result if request.error is None else {"error": msgspec.to_builtins(request.error)}
    entry = ItemRequest(
        id=request.method,
        name=_cut(plan.name),
        method=request.method,
        params=shorten_payload(redact(request.params)),
        outcome=request.outcome.value,
        passed=passed,
        result=shorten_payload(mask.value(answer)),
        duration_ms=request.duration_ms,
        note="; ".join(words for words in (mask.text(note), excerpt) if words),
        origin=plan.origin,
    )
    return AssessedRequest(plan, request, entry, findings)


def numbered(assessed: AssessedRequest, number: int) -> ItemRequest:
    """The entry with its id; `number` counts all requests from 1."""
    return msgspec.structs.replace(assessed.entry, id=f"{assessed.request.method}#{number}")


def judge_outcome(request: ObservedRequest) -> tuple[bool | None, str]:
    """Whether what came back is what should come back, and why, in a sentence; None if nothing follows from it."""
    if request.outcome in _WITHOUT_ANSWER:
        note = f"{_WITHOUT_ANSWER[request.outcome]}: {request.detail}".rstrip(": ").splitlines()[0]
        return None if request.outage_nearby else False, note
    is_right = request.is_valid or request.purpose is Purpose.COMPLETION
    if is_right and request.error is None:
        return (True, "answered") if request.succeeded else (None, "wants input first, which an assessment cannot give")
    if request.error is not None and not is_right:
        return True, "refused, as it should be"
    if request.error is not None:
        words = _cut(f"{request.error.message}")
        missing = outage_of_call(as_call(request))
        if missing is not None:
            return None, f"an outage; missing is {missing}: {words}"
        if request.purpose is Purpose.GUESSED:
            return None, f"refused the values that were made up: {words}"
        return False, f"error {request.error.code}: {words}"
    if request.is_generated:
        return None, "a template of the server makes such a resource"
    if request.purpose in {Purpose.ABSENT_REFERENCE, Purpose.BAD_CURSOR}:
        return None, "answered as if it existed"
    return False, "answered as if it were right"


def _cut(text: str) -> str:
    words = re.sub(r"\s+", " ", redact_text(text[: 20 * _LONGEST_NOTE]))
    return words if len(words) <= _LONGEST_NOTE else f"{words[:_LONGEST_NOTE]}…"
