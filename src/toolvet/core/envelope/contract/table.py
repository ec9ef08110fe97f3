"""The contract response-v2 as one table: every member, its shape and its purpose, and the conditions between members.

The checks use the table directly, and `envelope_schema` makes the published JSON Schema from it. Source: the response
schema guide that the contract comes from. The table leaves open whatever the guide leaves open: unknown metadata,
further members of `pagination`, `rate_limit` and `telemetry`, and a server's own codes.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal

import msgspec

from toolvet.core.causes import ErrorCode, ErrorType
from toolvet.core.envelope.contract.shapes import (
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
    is_sequence,
)
from toolvet.core.envelope.contract.vocabulary import VERSION, ContentFidelity, WarningSeverity
from toolvet.core.json_value import is_object

SCHEMA_FILE: Final = "response-v2.schema.json"
"""The published JSON Schema, in the folder of `toolvet.core.envelope`; tests/core/envelope/publish.py writes it."""
TYPE_OF_CODE: Final[Mapping[str, str]] = {code.value: code.error_type.value for code in ErrorCode}

OBJECT: Final = Members({}, others=ANYTHING)
COUNT: Final = Number(kind="integer")
TIMESTAMP: Final = Text(
    pattern=r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})",
    called="a date and time as RFC 3339 writes it",
)

PAGINATION: Final = Members(
    {
        "cursor": Field(Either(Text(), Null(), "a string or null"), "Where the next page begins; null at the end."),
        "has_more": Field(Flag(), "Whether there is a next page."),
        "total_count": Field(COUNT, "How many items there are over all pages."),
        "page_size": Field(Number(least=1, kind="integer"), "How many items a page holds."),
    },
    others=ANYTHING,
)
RATE_LIMIT: Final = Members(
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
TELEMETRY: Final = Members(
    {"duration_ms": Field(Number(), "How long the call took, in milliseconds.")}, others=ANYTHING
)
WARNING_DETAIL: Final = Members(
    {
        "code": Field(Text(), "What kind of warning it is, in SCREAMING_SNAKE_CASE."),
        "severity": Field(Text(tuple(WarningSeverity)), "How much it matters."),
        "message": Field(Text(), "The warning in words."),
        "context": Field(OBJECT, "What else is known about it."),
    },
    required=("message",),
    others=ANYTHING,
)
META: Final = Members(
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
FAILURE: Final = Members(
    {
        "error_code": Field(Text(), "What went wrong, for programs, in SCREAMING_SNAKE_CASE."),
        "error_type": Field(Text(), f"The kind of failure, for routing: {', '.join(ErrorType)}."),
        "remediation": Field(Text(), "What the caller can do about it."),
        "details": Field(OBJECT, "What else is known, such as the fields that are wrong."),
        "retry_after_seconds": Field(Number(), "After how many seconds to try again."),
    },
    others=ANYTHING,
)
ENVELOPE: Final = Members(
    {
        "success": Field(Flag(), "Whether the operation succeeded."),
        "data": Field(OBJECT, "The payload, {} if there is none; the structured context of an error."),
        "error": Field(
            Either(Text(), Null(), "a sentence that says what went wrong, or null on success"),
            "What went wrong, for people; null on success.",
        ),
        "meta": Field(META, "Everything about the response that is not its payload."),
    },
    required=("success", "data", "error", "meta"),
)


class Condition(msgspec.Struct, frozen=True):
    """A rule between members, stated as a schema of the envelope and as a check of an envelope that is an object.

    `id` is the catalogue's id of the finding.
    """

    id: str
    schema: JsonSchema
    violations: Callable[[Mapping[str, object]], Iterable[ContractViolation]]


def _check_success_without_error(envelope: Mapping[str, object]) -> Iterable[ContractViolation]:
    error = envelope.get("error")
    if error is None or envelope.get("success") is not True:
        return ()
    remedy = "Set error to null, or success to false if the call failed; part of a success goes into meta.warnings."
    return (ContractViolation("/error", "error must be null, because success is true", remedy, error),)


def _check_failure_with_message(envelope: Mapping[str, object]) -> Iterable[ContractViolation]:
    if envelope.get("success") is not False or envelope.get("error", "") is not None:
        return ()
    problem = "error must say what went wrong, because success is false"
    return (ContractViolation("/error", problem, "Write a sentence to error.", None),)


def _check_fields_of_failure(envelope: Mapping[str, object]) -> Iterable[ContractViolation]:
    data = envelope.get("data")
    if envelope.get("success") is not False or not is_object(data) or FAILURE.holds(data):
        return ()
    return FAILURE.violations(data, "/data")


def _check_type_of_code(envelope: Mapping[str, object]) -> Iterable[ContractViolation]:
    data = envelope.get("data")
    if envelope.get("success") is not False or not is_object(data):
        return ()
    code, kind = data.get("error_code"), data.get("error_type")
    documented = TYPE_OF_CODE.get(code) if isinstance(code, str) else None
    if documented is None or kind == documented or not isinstance(kind, str):
        return ()
    return (contradiction(str(code), kind, documented),)


def contradiction(code: str, kind: str, documented: str) -> ContractViolation:
    """The violation of an `error_type` (`kind`) that is not the type that `code` belongs to (`documented`)."""
    problem = f'error_code {code} belongs to error_type "{documented}", not "{kind:.60}"'
    return ContractViolation(
        "/data/error_type", problem, f'Set error_type to "{documented}", or use a code of that type.', kind
    )


def _check_full_without_dropped(envelope: Mapping[str, object]) -> Iterable[ContractViolation]:
    meta = envelope.get("meta")
    if not is_object(meta) or meta.get("content_fidelity") != "full":
        return ()
    dropped = meta.get("dropped_content_ids")
    if not is_sequence(dropped) or not dropped:
        return ()
    problem = 'content_fidelity is "full", but dropped_content_ids names what was left out'
    remedy = 'Set content_fidelity to "partial", or drop nothing.'
    return (ContractViolation("/meta/content_fidelity", problem, remedy, "full"),)


def _if_success(success: Literal["true", "false"], then: Mapping[str, object]) -> JsonSchema:
    return {
        "if": {"properties": {"success": {"const": success == "true"}}, "required": ["success"]},
        "then": {"properties": dict(then)},
    }


# Each documented code belongs to one type.
_TYPE_RULES: Final = [
    {
        "if": {
            "properties": {"error_code": {"enum": [code.value for code in ErrorCode if code.error_type is kind]}},
            "required": ["error_code"],
        },
        "then": {"properties": {"error_type": {"const": kind.value}}},
    }
    for kind in ErrorType
]
CONDITIONS: Final = (
    Condition("envelope-contradiction", _if_success("true", {"error": {"type": "null"}}), _check_success_without_error),
    Condition("envelope-malformed", _if_success("false", {"error": {"type": "string"}}), _check_failure_with_message),
    Condition("envelope-malformed", _if_success("false", {"data": FAILURE.schema()}), _check_fields_of_failure),
    Condition(
        "envelope-contradiction",
        _if_success("false", {"data": {"allOf": _TYPE_RULES}}),
        _check_type_of_code,
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
        _check_full_without_dropped,
    ),
)


def envelope_schema() -> dict[str, object]:
    """The published JSON Schema (2020-12) of an envelope.

    Returns:
        A new dict. The schema refuses exactly the envelopes for which `check_envelope` reports an error.

    Example:
        >>> envelope_schema()["required"]
        ['success', 'data', 'error', 'meta']
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:toolvet:response-v2",
        "title": "Response envelope, response-v2",
        "description": "The one shape of a tool's responses: success, data, error and meta.",
        **ENVELOPE.schema(),
        "allOf": [condition.schema for condition in CONDITIONS],
    }


def output_schema() -> dict[str, object]:
    """The same schema for the `outputSchema` of a tool, without `$schema` and `$id`.

    A client's validator may know only its own draft. And Ajv, for one, refuses to compile a second schema under an id
    that it has, so a second tool with the same output would break the client.

    Example:
        >>> "$id" in envelope_schema(), "$id" in output_schema()
        (True, False)
    """
    return {name: part for name, part in envelope_schema().items() if name not in {"$schema", "$id"}}
