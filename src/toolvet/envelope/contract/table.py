"""The contract response-v2, said once: what stands where. The published schema and the checks are both made from it.

Source: the response schema guide that the contract comes from; what it leaves open (unknown metadata, further members
of `pagination`, `rate_limit` and `telemetry`, codes of one's own) is open here.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from toolvet.envelope.contract.shapes import (
    ANYTHING,
    Array,
    ContractViolation,
    Either,
    Field,
    Flag,
    JsonSchema,
    Members,
    Null,
    Number,
    Text,
    is_array,
    is_members,
)
from toolvet.envelope.contract.vocabulary import VERSION, ContentFidelity, ErrorCode, ErrorType, WarningSeverity

OBJECT = Members({}, others=ANYTHING)
COUNT = Number(kind="integer")
TIMESTAMP = Text(
    pattern=r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})",
    called="a date and time as RFC 3339 writes it",
)

PAGINATION = Members(
    {
        "cursor": Field(Either(Text(), Null(), "a string or null"), "Where the next page begins; null at the end."),
        "has_more": Field(Flag(), "Whether there is a next page."),
        "total_count": Field(COUNT, "How many items there are over all pages."),
        "page_size": Field(Number(least=1, kind="integer"), "How many items a page holds."),
    },
    others=ANYTHING,
)
RATE_LIMIT = Members(
    {
        "limit": Field(COUNT, "How many calls a period allows."),
        "remaining": Field(COUNT, "How many of them are left."),
        "reset_at": Field(
            Either(TIMESTAMP, Number(), "a date and time such as 2026-01-31T12:00:00Z"),
            "When the period ends, as RFC 3339 writes it; epoch seconds are accepted.",
        ),
        "period": Field(Text(), "The period that the limit is for, such as minute."),
        "retry_after": Field(Number(), "After how many seconds to try again."),
    },
    others=ANYTHING,
)
TELEMETRY = Members({"duration_ms": Field(Number(), "How long the call took, in milliseconds.")}, others=ANYTHING)
WARNING_DETAIL = Members(
    {
        "code": Field(Text(), "What kind of warning it is, in SCREAMING_SNAKE_CASE."),
        "severity": Field(Text(tuple(WarningSeverity)), "How much it matters."),
        "message": Field(Text(), "The warning in words."),
        "context": Field(OBJECT, "What else is known about it."),
    },
    required=("message",),
    others=ANYTHING,
)
META = Members(
    {
        "version": Field(Text((VERSION,)), "The contract.", f'Set meta.version to "{VERSION}".'),
        "request_id": Field(Text(), "The id that logs and traces know the request by."),
        "warnings": Field(Array(Text()), "What a reader should know although the call succeeded."),
        "warning_details": Field(Array(WARNING_DETAIL), "The same with code, severity and context."),
        "pagination": Field(PAGINATION, "Where in a longer list this page stands."),
        "rate_limit": Field(RATE_LIMIT, "What is left of the caller's quota."),
        "telemetry": Field(TELEMETRY, "Measurements of the call."),
        "content_fidelity": Field(Text(tuple(ContentFidelity)), "How much of the content is here."),
        "content_fidelity_schema_version": Field(Text(), "The version of the fidelity metadata."),
        "dropped_content_ids": Field(Array(Text()), "What was left out."),
        "content_archive_hashes": Field(
            Members({}, others=Text()), "The archives that hold what was left out, with the hashes of their content."
        ),
    },
    required=("version",),
    others=ANYTHING,
)
FAILURE = Members(
    {
        "error_code": Field(Text(), "What went wrong, for programs, in SCREAMING_SNAKE_CASE."),
        "error_type": Field(Text(), f"The kind of failure, for routing: {', '.join(ErrorType)}."),
        "remediation": Field(Text(), "What the caller can do about it."),
        "details": Field(OBJECT, "What else is known, such as the fields that are wrong."),
        "retry_after_seconds": Field(Number(), "After how many seconds to try again."),
    },
    others=ANYTHING,
)
ENVELOPE = Members(
    {
        "success": Field(Flag(), "Whether the operation succeeded."),
        "data": Field(OBJECT, "The payload, {} where there is none; the structured context of an error."),
        "error": Field(
            Either(Text(), Null(), "a sentence that says what went wrong, or null on success"),
            "What went wrong, for people; null on success.",
            "",
        ),
        "meta": Field(META, "Everything about the response that is not its payload."),
    },
    required=("success", "data", "error", "meta"),
)


class Condition(msgspec.Struct, frozen=True):
    """What holds between members: as a schema of the envelope, and as a check of one that is an object."""

    id: str
    schema: JsonSchema
    breaches: Callable[[Mapping[str, object]], Iterable[ContractViolation]]


def _success_has_no_error(envelope: Mapping[str, object]) -> Iterable[ContractViolation]:
    error = envelope.get("error")
    if error is None or envelope.get("success") is not True:
        return ()
    remedy = "Set error to null, or success to false if the call failed; part of a success goes into meta.warnings."
    return (ContractViolation("/error", "error must be null, because success is true", remedy, error),)


def _failure_has_a_message(envelope: Mapping[str, object]) -> Iterable[ContractViolation]:
    if envelope.get("success") is not False or envelope.get("error", "") is not None:
        return ()
    problem = "error must say what went wrong, because success is false"
    return (ContractViolation("/error", problem, "Write a sentence to error.", None),)


def _failure_has_its_fields(envelope: Mapping[str, object]) -> Iterable[ContractViolation]:
    data = envelope.get("data")
    if envelope.get("success") is not False or not is_members(data) or FAILURE.holds(data):
        return ()
    return FAILURE.breaches(data, "/data")


def _code_has_its_type(envelope: Mapping[str, object]) -> Iterable[ContractViolation]:
    data = envelope.get("data")
    if envelope.get("success") is not False or not is_members(data):
        return ()
    code, kind = data.get("error_code"), data.get("error_type")
    belongs = TYPE_OF_CODE.get(code) if isinstance(code, str) else None
    if belongs is None or kind == belongs or not isinstance(kind, str):
        return ()
    return (contradiction(str(code), kind, belongs),)


def contradiction(code: str, kind: str, belongs: str) -> ContractViolation:
    """A code and a type that exclude each other."""
    problem = f'error_code {code} belongs to error_type "{belongs}", not "{kind:.60}"'
    return ContractViolation(
        "/data/error_type", problem, f'Set error_type to "{belongs}", or use a code of that type.', kind
    )


def _full_drops_nothing(envelope: Mapping[str, object]) -> Iterable[ContractViolation]:
    meta = envelope.get("meta")
    if not is_members(meta) or meta.get("content_fidelity") != "full":
        return ()
    dropped = meta.get("dropped_content_ids")
    if not is_array(dropped) or not dropped:
        return ()
    problem = 'content_fidelity is "full", but dropped_content_ids names what was left out'
    remedy = 'Set content_fidelity to "partial", or drop nothing.'
    return (ContractViolation("/meta/content_fidelity", problem, remedy, "full"),)


TYPE_OF_CODE: Mapping[str, str] = {code.value: code.error_type.value for code in ErrorCode}


def _when(success: Literal["true", "false"], then: Mapping[str, object]) -> JsonSchema:
    return {
        "if": {"properties": {"success": {"const": success == "true"}}, "required": ["success"]},
        "then": {"properties": dict(then)},
    }


def _codes_of(kind: ErrorType) -> JsonSchema:
    codes = [code.value for code in ErrorCode if code.error_type is kind]
    return {
        "if": {"properties": {"error_code": {"enum": codes}}, "required": ["error_code"]},
        "then": {"properties": {"error_type": {"const": kind.value}}},
    }


CONDITIONS = (
    Condition("envelope-contradiction", _when("true", {"error": {"type": "null"}}), _success_has_no_error),
    Condition("envelope-malformed", _when("false", {"error": {"type": "string"}}), _failure_has_a_message),
    Condition("envelope-malformed", _when("false", {"data": FAILURE.schema()}), _failure_has_its_fields),
    Condition(
        "envelope-contradiction",
        _when("false", {"data": {"allOf": [_codes_of(kind) for kind in ErrorType]}}),
        _code_has_its_type,
    ),
    Condition(
        "envelope-contradiction",
        {
            "properties": {
                "meta": {
                    "if": {
                        "properties": {"dropped_content_ids": {"type": "array", "minItems": 1}},
                        "required": ["dropped_content_ids"],
                    },
                    "then": {"properties": {"content_fidelity": {"not": {"const": "full"}}}},
                }
            }
        },
        _full_drops_nothing,
    ),
)
