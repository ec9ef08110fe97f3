"""What checks reply, as types: for the OpenAPI document, so that clients can be generated from it.

The verdicts of the library are the origin; a test holds these types against what the checks reply.
"""

from typing import Any

import msgspec


class SignalReply(msgspec.Struct, frozen=True, kw_only=True):
    """One reason to doubt an answer."""

    type: str
    evidence: str
    weight: float
    source: str
    position: int | None = None
    context: str | None = None
    label: str | None = None
    language: str | None = None
    against: str | None = None
    certainty: float | None = None


class AnswerReply(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on an answer: `AnswerQuality`."""

    score: float
    likely_good: float
    signals: list[SignalReply]
    should_escalate: bool
    reason: str
    assessment_confidence: float
    action: str
    failed_calls: list[dict[str, Any]] = []
    partial_calls: list[dict[str, Any]] = []
    feedback: str | None = None
    trace_id: str | None = None


class ArgumentsReply(msgspec.Struct, frozen=True, kw_only=True):
    """The report on arguments: `ArgumentReport`. `error` is absent for valid ones."""

    valid: bool
    error: dict[str, Any] | None = None
    unchecked: str | None = None
    trace_id: str | None = None


class ResultReply(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a result: `ResultVerdict`."""

    is_valid: bool
    is_error: bool
    classification: str
    confidence: float
    issues: list[str]
    evidence: list[str]
    error_kind: str | None
    state: str | None
    retry: str | None
    factors: list[dict[str, Any]]
    response_metadata: dict[str, Any]
    error_without_flag: bool
    leaks: list[dict[str, Any]]
    framework: str | None = None
    certainty: float | None = None
    error_code: str | None = None
    trace_id: str | None = None


class FindingReply(msgspec.Struct, frozen=True, kw_only=True):
    """One breach of the contract of envelopes."""

    id: str
    severity: str
    confidence: int
    pointer: str
    message: str
    evidence: str
    remedy: str


class EnvelopeReply(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with an envelope."""

    valid: bool
    findings: list[FindingReply]


class CallReply(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one call of a turn. `arguments` is absent where no definition of the tool was given."""

    name: str
    failed: bool
    result: ResultReply | None
    id: str | None = None
    arguments: ArgumentsReply | None = None


class TurnReply(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one turn; `messages` are the places of its messages."""

    messages: list[int]
    answer: AnswerReply | None
    calls: list[CallReply]
    notes: list[str]


class ConversationReply(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a conversation: `ConversationVerdict`."""

    should_escalate: bool
    turns: list[TurnReply]
