"""`check_envelope` and the published schema agree, and each violation is reported with its place and a remedy."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import jsonschema  # type: ignore[import-untyped]
import jsonschema_rs
import pytest
from hypothesis import example, given, strategies as st
from tests.examples import examples

from toolvet import Severity, check_envelope, error_response, success_response
from toolvet.core import envelope
from toolvet.core.envelope.check import intended_name
from toolvet.core.envelope.contract.table import SCHEMA_FILE, envelope_schema, output_schema

OK: Mapping[str, Any] = {"success": True, "data": {}, "error": None, "meta": {"version": "response-v2"}}
FAILED: Mapping[str, Any] = {
    "success": False,
    "data": {"error_code": "NOT_FOUND", "error_type": "not_found"},
    "error": "Book 7 not found",
    "meta": {"version": "response-v2"},
}


def having(base: Mapping[str, Any], data: Mapping[str, Any] | None = None, **meta: object) -> dict[str, Any]:
    return {**base, "data": {**base["data"], **(data or {})}, "meta": {**base["meta"], **meta}}


def test_the_published_schema_is_what_the_table_gives() -> None:
    path = Path(envelope.__file__).parent / SCHEMA_FILE
    assert json.loads(path.read_text(encoding="utf-8")) == envelope_schema(), (
        "run: python -m tests.core.envelope.publish"
    )


def test_the_published_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(envelope_schema())


@pytest.mark.parametrize("good", [OK, FAILED, success_response({"a": 1}), error_response("x").to_dict()])
def test_a_good_envelope_has_no_finding(good: object) -> None:
    assert check_envelope(good) == ()


def test_the_schema_for_tools_is_the_published_one_without_its_names() -> None:
    published = {name: part for name, part in envelope_schema().items() if not name.startswith("$")}
    assert output_schema() == published
    assert published["type"] == "object"


# The fault: (envelope, check, severity, pointer, words of the message, words of the remedy).
BREACHES: Mapping[str, tuple[object, str, str, str, str, str]] = {
    "no object": ([1], "malformed", "error", "", "must be an object, not an array", "object"),
    "text instead of JSON": ('{"success": true}', "malformed", "error", "", "must be an object", "object"),
    "a key is missing": (
        {**OK, "meta": {}},
        "malformed",
        "error",
        "/meta/version",
        "version is missing",
        "response-v2",
    ),
    "a key too much": ({**OK, "x/y": 1}, "malformed", "error", "/x~1y", "x/y has no place", "success, data, error"),
    "a key that is not a string": (
        cast("dict[object, object]", OK) | {1: 2},
        "malformed",
        "error",
        "",
        "key is not a string",
        "strings",
    ),
    "success in words": ({**OK, "success": "yes"}, "malformed", "error", "/success", 'not "yes"', "true or false"),
    "an error on success": ({**OK, "error": "x"}, "contradiction", "error", "/error", "must be null", "null"),
    "a failure without a word": ({**FAILED, "error": None}, "malformed", "error", "/error", "must say", "sentence"),
    "a failure with a blank": (
        {**FAILED, "error": " "},
        "malformed",
        "error",
        "/error",
        "must be a sentence",
        "sentence",
    ),
    "data in a list": ({**OK, "data": [1]}, "malformed", "error", "/data", "must be an object, not an array", "object"),
    "another version": (having(OK, version="v3"), "malformed", "error", "/meta/version", 'not "v3"', "response-v2"),
    "a request without an id": (having(OK, request_id=""), "malformed", "error", "/meta/request_id", "empty", "string"),
    "a warning that is none": (
        having(OK, warnings=["a", 1]),
        "malformed",
        "error",
        "/meta/warnings/1",
        "must be a string",
        "string",
    ),
    "a severity of one's own": (
        having(OK, warning_details=[{"message": "m", "severity": "fatal"}]),
        "malformed",
        "error",
        "/meta/warning_details/0/severity",
        'not "fatal"',
        '"info" or "warning" or "error"',
    ),
    "a warning without a message": (
        having(OK, warning_details=[{"code": "STALE_CACHE"}]),
        "malformed",
        "error",
        "/meta/warning_details/0/message",
        "message is missing",
        "Add message",
    ),
    "a page of no size": (
        having(OK, pagination={"page_size": 0}),
        "malformed",
        "error",
        "/meta/pagination/page_size",
        "at least 1, not 0",
        "integer",
    ),
    "no way to the next page": (
        having(OK, pagination={"has_more": True, "total_count": 9}),
        "hint-unusable",
        "warning",
        "/meta/pagination",
        "no cursor",
        "cursor",
    ),
    "a moment in words": (
        having(OK, rate_limit={"reset_at": "soon"}),
        "malformed",
        "error",
        "/meta/rate_limit/reset_at",
        "date and time",
        "2026-01-31T12:00:00Z",
    ),
    "a moment as a number": (
        having(OK, rate_limit={"reset_at": 1_700_000_000}),
        "hint-unusable",
        "info",
        "/meta/rate_limit/reset_at",
        "milliseconds",
        "RFC 3339",
    ),
    "more left than allowed": (
        having(OK, rate_limit={"limit": 5, "remaining": 6}),
        "contradiction",
        "warning",
        "/meta/rate_limit/remaining",
        "more than the limit",
        "left",
    ),
    "a code of another type": (
        having(FAILED, {"error_type": "validation"}),
        "contradiction",
        "error",
        "/data/error_type",
        'belongs to error_type "not_found"',
        "not_found",
    ),
    "a code misspelt": (
        having(FAILED, {"error_code": "NOTFOUND"}),
        "code-unclear",
        "warning",
        "/data/error_code",
        "looks like NOT_FOUND",
        'Did you mean "NOT_FOUND"?',
    ),
    "a code in lower case": (
        having(FAILED, {"error_code": "book lost"}),
        "code-unclear",
        "warning",
        "/data/error_code",
        "SCREAMING_SNAKE_CASE",
        "BOOK_LOST",
    ),
    "a code by another name": (
        having(FAILED, {"error_code": "RATE_LIMITED", "error_type": "rate_limit"}),
        "code-unclear",
        "info",
        "/data/error_code",
        "another name for RATE_LIMIT_EXCEEDED",
        "clients know it",
    ),
    "a type misspelt": (
        having(FAILED, {"error_code": "BOOK_LOST", "error_type": "not-found"}),
        "code-unclear",
        "warning",
        "/data/error_type",
        "not one of the documented types",
        'Did you mean "not_found"?',
    ),
    "a warning code misspelt": (
        having(OK, warning_details=[{"message": "m", "code": "STALE_CASHE"}]),
        "code-unclear",
        "warning",
        "/meta/warning_details/0/code",
        "STALE_CACHE",
        "Did you mean",
    ),
    "a success with an error code": (
        having(OK, {"error_code": "CONFLICT", "error_type": "conflict"}),
        "contradiction",
        "warning",
        "/data/error_code",
        "although success is true",
        "success to false",
    ),
    "metadata under data": (
        having(OK, {"rate_limit": {"limit": 1}}),
        "metadata-misplaced",
        "warning",
        "/data/rate_limit",
        "under data",
        "meta.rate_limit",
    ),
    "metadata misspelt": (
        having(OK, requestId="r1"),
        "metadata-misplaced",
        "warning",
        "/meta/requestId",
        "no requestId",
        "request_id",
    ),
    "a level without its version": (
        having(OK, content_fidelity="summary"),
        "fidelity-unclear",
        "warning",
        "/meta/content_fidelity_schema_version",
        "is missing",
        "1.0",
    ),
    "items dropped without a level": (
        having(OK, dropped_content_ids=["a"]),
        "fidelity-unclear",
        "warning",
        "/meta/content_fidelity",
        "is missing",
        "partial",
    ),
    "items dropped from all of it": (
        having(OK, dropped_content_ids=["a"], content_fidelity="full", content_fidelity_schema_version="1.0"),
        "contradiction",
        "error",
        "/meta/content_fidelity",
        "left out",
        "partial",
    ),
    "an unknown level": (
        having(OK, content_fidelity="most"),
        "malformed",
        "error",
        "/meta/content_fidelity",
        'not "most"',
        '"partial"',
    ),
    "half a hash": (
        having(OK, content_archive_hashes={"a": "sha256:e3b0..."}),
        "fidelity-unclear",
        "info",
        "/meta/content_archive_hashes/a",
        "not a whole hash",
        "64 digits",
    ),
    "hints that differ": (
        having(FAILED, {"retry_after_seconds": 5}, rate_limit={"retry_after": 9}),
        "contradiction",
        "warning",
        "/data/retry_after_seconds",
        "is 5, but",
        "same number",
    ),
    "what JSON cannot hold": (
        having(OK, {"when": {1, 2}}),
        "malformed",
        "error",
        "/data/when",
        "is a set",
        "JSON's own types",
    ),
    "no number": (having(OK, {"x": [float("nan")]}), "malformed", "error", "/data/x/0", "is nan", "JSON's own types"),
}


@pytest.mark.parametrize("name", BREACHES)
def test_a_breach_is_reported_once_with_its_place_and_a_remedy(name: str) -> None:
    broken, check, severity, pointer, words, remedy = BREACHES[name]
    (found,) = check_envelope(broken)
    assert (found.id, found.severity, found.pointer) == (f"envelope-{check}", severity, pointer)
    assert words in found.message
    assert remedy in found.remedy


NEAR_MISSES: Mapping[str, object] = {
    "metadata of one's own": having(OK, trace_id="t", session="s", x_foo=1),
    "a code of one's own": having(FAILED, {"error_code": "BOOK_LOST"}),
    "a code that ends like ours": having(FAILED, {"error_code": "TAG_NOT_FOUND"}),
    "the last page": having(OK, pagination={"has_more": False, "cursor": None}),
    "pages by number": having(OK, pagination={"has_more": True, "page": 2}),
    "a count in the payload": having(OK, {"total_findings": 5, "metadata": {"version": "1"}}),
    "nothing truncated": having(OK, {"truncated": False}),
    "a whole number with a point": having(OK, pagination={"total_count": 3.0}),
    "a level with its version": having(OK, content_fidelity="partial", content_fidelity_schema_version="1.0"),
    "a whole hash": having(OK, content_archive_hashes={"a": "sha256:" + "0f" * 32}),
    "the same hint twice": having(FAILED, {"retry_after_seconds": 5}, rate_limit={"retry_after": 5.0}),
    "a number beyond 64 bits": having(OK, {"n": 2**80}),
    "a payload with an error code alone": having(OK, {"error_code": 7}),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_what_only_looks_like_a_breach_is_left_alone(name: str) -> None:
    assert check_envelope(NEAR_MISSES[name]) == ()


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        ("NOTFOUND", "NOT_FOUND"),
        ("not_found", "NOT_FOUND"),
        ("VALIDATOIN_ERROR", "VALIDATION_ERROR"),
        ("VALIDATIONERROR", "VALIDATION_ERROR"),
        ("CONFLICTS", "CONFLICT"),
        ("TAG_NOT_FOUND", None),
        ("TEST_NOT_FOUND", None),
        ("BOOK_NOT_FOUND", None),
        ("NOT_FOUND", None),
        ("", None),
        ("X" * 10_000, None),
    ],
)
def test_a_code_is_near_another_when_it_is_the_same_but_for_a_slip(sent: str, wanted: str | None) -> None:
    assert intended_name(sent, [code.value for code in envelope.ErrorCode]) == wanted


Values = st.SearchStrategy[Any]
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def part(*likely: object) -> Values:
    """Mostly valid values, sometimes any: broken envelopes are broken in few places."""
    return st.one_of(*[st.just(value) for value in likely] * 3, JSON)


def objects(optional: Mapping[str, Values], **required: Values) -> Values:
    whole = st.fixed_dictionaries(required, optional=dict(optional))
    return st.one_of(whole, whole, whole, whole, JSON)


WARNING = {"severity": part("info", "fatal"), "code": part("X", ""), "context": part({})}
PAGINATION = {
    "cursor": part(None, "c"),
    "has_more": part(True),
    "total_count": part(0, 2.0, -1, 0.5),
    "page_size": part(1, 0),
}
RATE_LIMIT = {
    "limit": part(1),
    "remaining": part(0, -1),
    "reset_at": part("2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+01:00", "2026-01-31", 1.5, -1),
    "period": part("day"),
    "retry_after": part(1.5, -1),
}
META = {
    "request_id": part("r1", "", "\u2003"),
    "warnings": st.lists(part("w"), max_size=3) | JSON,
    "warning_details": st.lists(objects(WARNING, message=part("m")), max_size=2),
    "pagination": objects(PAGINATION),
    "rate_limit": objects(RATE_LIMIT),
    "telemetry": objects({"duration_ms": part(1.5, -1)}),
    "content_fidelity": part("full", "partial", "Full"),
    "content_fidelity_schema_version": part("1.0", 1),
    "dropped_content_ids": st.lists(part("a"), max_size=2) | JSON,
    "content_archive_hashes": st.dictionaries(st.text(max_size=3), part("sha256:ab"), max_size=2) | JSON,
    "foo": JSON,
}
DATA = {
    "error_code": part("NOT_FOUND", "CONFLICT", "OWN", ""),
    "error_type": part("not_found", "conflict", "own"),
    "remediation": part("r"),
    "details": part({}),
    "retry_after_seconds": part(0, -1),
}
ENVELOPES = objects(
    {},
    success=part(True, False),
    data=objects(DATA),
    error=part(None, "x", " ", ""),
    meta=objects(META, version=part("response-v2")),
)
PYTHON = jsonschema.Draft202012Validator(envelope_schema())
RUST = jsonschema_rs.Draft202012Validator(envelope_schema())


@examples(200)
@given(ENVELOPES | st.dictionaries(st.sampled_from(["success", "data", "error", "meta", "x"]), JSON))
@example({**OK, "success": 1})
@example(having(OK, pagination={"total_count": True}))
@example(having(FAILED, {"error_code": "CONFLICT", "error_type": None}))
def test_the_schema_refuses_exactly_what_has_an_error(value: object) -> None:
    errors = [finding for finding in check_envelope(value) if finding.severity is Severity.ERROR]
    assert bool(errors) is not PYTHON.is_valid(value)
    assert bool(errors) is not RUST.is_valid(value)


@examples(200)
@given(ENVELOPES)
def test_every_finding_has_words_and_a_pointer_that_leads_somewhere_or_to_what_is_missing(value: object) -> None:
    for finding in check_envelope(value):
        assert finding.message.endswith(".")
        assert finding.remedy
        assert finding.pointer == "" or finding.pointer.startswith("/")


def knot() -> dict[str, Any]:
    value = having(OK)
    value["data"]["self"] = value
    value["meta"]["loop"] = value["meta"]
    return value


def deep(levels: int) -> object:
    value: object = 0
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    "value",
    [
        knot(),
        deep(50_000),
        having(OK, {"deep": deep(50_000)}),
        having(OK, foo=deep(50_000)),
        having(OK, {"half": "\ud800"}),
        {1: 2, None: 3, (1, 2): 4, 10**5000: 5},
        {**OK, "meta": {10**5000: 1}},
        {**OK, "success": 10**5000},
        object(),
        float("nan"),
        b"{}",
        having(OK, rate_limit={"limit": 10**400, "retry_after": float("inf")}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_object_gets_an_answer(value: object) -> None:
    assert check_envelope(value)


def test_a_secret_in_a_broken_envelope_is_not_shown() -> None:
    (found,) = check_envelope(having(OK, version="sk-ant-api03-" + "a1B2" * 12))
    assert "a1B2a1B2" not in found.message + found.evidence
