"""Failures to and from RFC 9457, JSON:API and google.rpc.Status: what each can hold comes back as it was."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet import Envelope, EnvelopeError, FieldError, check_envelope, error_response, success_response
from toolvet.core.envelope import (
    ErrorCode,
    ErrorType,
    from_jsonapi,
    from_problem_details,
    from_rpc_status,
    to_jsonapi,
    to_problem_details,
    to_rpc_status,
)

FORMATS: Mapping[str, tuple[Callable[[Envelope], dict[str, Any]], Callable[[Mapping[str, object]], Envelope]]] = {
    "problem details": (to_problem_details, from_problem_details),
    "JSON:API": (to_jsonapi, from_jsonapi),
    "google.rpc.Status": (to_rpc_status, from_rpc_status),
}

WHOLE = error_response(
    "Two fields are wrong",
    error_code="VALIDATION_ERROR",
    errors=[
        FieldError("must be positive", pointer="/age", reason="TOO_SMALL"),
        FieldError("is not an address", field="email"),
    ],
    remediation="Fix both fields.",
    details={"schema": "person"},
    help_url="https://example.com/errors/validation",
    domain="people.example.com",
    retry_after_seconds=1.5,
    data={"attempt": 3},
    request_id="req_1",
    rate_limit={"limit": 5, "remaining": 2},
)


def test_problem_details_as_the_rfc_has_them() -> None:
    assert to_problem_details(WHOLE) == {
        "type": "https://example.com/errors/validation",
        "title": "Invalid input",
        "status": 400,
        "detail": "Two fields are wrong",
        "code": "VALIDATION_ERROR",
        "errors": [
            {"detail": "must be positive", "pointer": "#/age", "reason": "TOO_SMALL"},
            {"detail": "is not an address", "field": "email"},
        ],
        "error_type": "validation",
        "remediation": "Fix both fields.",
        "domain": "people.example.com",
        "retry_after_seconds": 1.5,
        "request_id": "req_1",
        "details": {"schema": "person"},
        "context": {"attempt": 3},
        "meta": {"rate_limit": {"limit": 5, "remaining": 2}},
    }


def test_a_problem_without_a_page_is_blank_and_named_like_its_status() -> None:
    document = to_problem_details(error_response("Gone fishing", error_code="UNAVAILABLE"))
    assert (document["type"], document["title"], document["status"]) == ("about:blank", "Service Unavailable", 503)


def test_json_api_has_one_error_for_each_field() -> None:
    document = to_jsonapi(WHOLE)
    common = {
        "status": "400",
        "code": "VALIDATION_ERROR",
        "title": "Invalid input",
        "links": {"type": "https://example.com/errors/validation"},
    }
    assert document["errors"] == [
        {**common, "detail": "must be positive", "source": {"pointer": "/age"}, "meta": {"reason": "TOO_SMALL"}},
        {**common, "detail": "is not an address", "source": {"parameter": "email"}},
    ]
    assert document["meta"]["message"] == "Two fields are wrong"


def test_a_status_has_the_standard_details() -> None:
    status = to_rpc_status(WHOLE)
    assert (status["code"], status["message"]) == (3, "Two fields are wrong")
    by_name = {detail["@type"].rpartition(".")[2]: detail for detail in status["details"]}
    assert by_name["ErrorInfo"]["reason"] == "VALIDATION_ERROR"
    assert by_name["ErrorInfo"]["domain"] == "people.example.com"
    assert by_name["BadRequest"]["fieldViolations"] == [
        {"field": "age", "description": "must be positive", "reason": "TOO_SMALL"},
        {"field": "email", "description": "is not an address"},
    ]
    assert by_name["RetryInfo"]["retryDelay"] == "1.5s"
    assert by_name["Help"]["links"][0]["url"] == "https://example.com/errors/validation"
    assert by_name["RequestInfo"]["requestId"] == "req_1"


NAMES = st.text("abcdefgh_", min_size=1, max_size=6)
WORDS = st.text(min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6)
)
PAYLOADS = st.dictionaries(NAMES, VALUES | st.lists(VALUES, max_size=2), max_size=2)
POINTERS = st.lists(NAMES | st.integers(0, 9).map(str), min_size=1, max_size=3).map(lambda steps: "/" + "/".join(steps))
ERRORS = st.builds(FieldError, WORDS, field=st.none() | WORDS, pointer=st.none() | POINTERS, reason=st.none() | WORDS)
CODES = st.sampled_from(ErrorCode).map(lambda code: (code.value, code.error_type.value))
OWN = st.tuples(st.sampled_from(["OUT_OF_BOOKS", "weird code"]), st.sampled_from(ErrorType).map(str) | st.just("own"))


@st.composite
def failures(draw: st.DrawFn) -> Envelope:
    code, kind = draw(CODES | OWN)
    return error_response(
        draw(WORDS),
        error_code=code,
        error_type=kind,
        remediation=draw(st.none() | WORDS),
        details=draw(st.none() | PAYLOADS),
        errors=draw(st.none() | st.lists(ERRORS, min_size=1, max_size=3)),
        # A Duration has nine digits behind the point.
        retry_after_seconds=draw(st.none() | st.integers(0, 10**6) | st.integers(0, 10**6).map(lambda n: n / 1000)),
        help_url=draw(st.none() | st.just("https://example.com/e/1")),
        domain=draw(st.none() | WORDS),
        data=draw(st.none() | PAYLOADS),
        request_id=draw(st.none() | WORDS),
        meta=draw(st.none() | st.just({"trace_id": "t"})),
    )


@pytest.mark.parametrize("name", FORMATS)
@examples(150)
@given(failure=failures())
def test_a_failure_comes_back_as_it_was(name: str, failure: Envelope) -> None:
    there, back = FORMATS[name]
    assert back(there(failure)).to_dict() == failure.to_dict()


@pytest.mark.parametrize("name", FORMATS)
def test_a_success_is_not_an_error_document(name: str) -> None:
    with pytest.raises(EnvelopeError, match="response must be the envelope of a failure"):
        FORMATS[name][0](success_response())


def test_a_problem_of_others_keeps_what_it_says() -> None:
    # The example of RFC 9457, section 3.
    built = from_problem_details(
        {
            "type": "https://example.com/probs/out-of-credit",
            "title": "You do not have enough credit.",
            "status": 403,
            "detail": "Your current balance is 30, but that costs 50.",
            "instance": "/account/12345/msgs/abc",
            "balance": 30,
        }
    ).to_dict()
    assert built["error"] == "Your current balance is 30, but that costs 50."
    assert built["data"]["error_code"] == "OUT_OF_CREDIT"
    assert built["data"]["error_type"] == "authorization"
    assert built["data"]["details"] == {
        "title": "You do not have enough credit.",
        "instance": "/account/12345/msgs/abc",
        "balance": 30,
        "help_url": "https://example.com/probs/out-of-credit",
    }


def test_a_json_api_document_of_others_keeps_its_sources() -> None:
    built = from_jsonapi(
        {
            "errors": [
                {
                    "status": "422",
                    "source": {"pointer": "/data/name"},
                    "title": "Too short",
                    "code": "brief",
                },
                {"status": "422", "source": {"parameter": "page"}, "detail": "No such page", "code": "paging"},
            ]
        }
    ).to_dict()
    assert (built["data"]["error_type"], built["data"]["error_code"]) == ("validation", "BRIEF")
    assert built["data"]["details"]["errors"] == [
        {"pointer": "/data/name", "message": "Too short"},
        {"field": "page", "reason": "paging", "message": "No such page"},
    ]


def test_an_answer_of_googles_apis_keeps_its_details() -> None:
    built = from_rpc_status(
        {
            "error": {
                "code": 429,
                "message": "Quota exceeded",
                "status": "RESOURCE_EXHAUSTED",
                "details": [
                    {
                        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                        "reason": "RATE_LIMIT_EXCEEDED",
                        "domain": "googleapis.com",
                        "metadata": {"service": "translate.googleapis.com"},
                    },
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "30s"},
                    {"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "de", "message": "Zu viel"},
                ],
            }
        }
    ).to_dict()
    assert built["data"]["retry_after_seconds"] == 30
    assert built["data"]["error_code"] == "RATE_LIMIT_EXCEEDED"
    assert built["data"]["details"]["domain"] == "googleapis.com"
    assert built["data"]["details"]["metadata"] == {"service": "translate.googleapis.com"}
    assert built["data"]["details"]["rpc_details"][0]["message"] == "Zu viel"


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (1, "unavailable"),
        (4, "unavailable"),
        (6, "conflict"),
        (9, "conflict"),
        (16, "authentication"),
        (99, "internal"),
    ],
)
def test_a_bare_status_has_the_nearest_type(number: int, kind: str) -> None:
    built = from_rpc_status({"code": number, "message": "x"})
    assert built.data["error_type"] == kind
    assert not [finding for finding in check_envelope(built) if finding.severity == "error"]


def test_a_status_that_is_ok_is_refused() -> None:
    with pytest.raises(EnvelopeError, match="document is OK"):
        from_rpc_status({"code": 0})


COMMON = ("type", "title", "status", "detail", "instance", "code", "errors", "error", "meta", "message", "details")
RARER = ("source", "links", "value", "pointer", "@type", "reason", "retryDelay", "fieldViolations", "href")
MEMBERS = (*COMMON, *RARER, "retry_after_seconds")
JUNK = st.recursive(
    VALUES,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(MEMBERS),
            inner | st.sampled_from(["type.googleapis.com/google.rpc.Help", "404", 404]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("name", FORMATS)
@examples(200)
@given(document=st.dictionaries(st.sampled_from(MEMBERS), JUNK, max_size=6))
def test_any_object_gives_a_good_envelope_unless_it_holds_no_error(name: str, document: Any) -> None:
    try:
        built = FORMATS[name][1](document)
    except EnvelopeError as refused:
        built = None
        argument = refused.argument
    if built is None:
        assert argument == "document"
    else:
        assert not [finding for finding in check_envelope(built) if finding.severity == "error"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("document", [None, [], "x", 7])
def test_what_is_not_object_is_a_type_error(name: str, document: Any) -> None:
    with pytest.raises(TypeError, match="document must be an object"):
        FORMATS[name][1](document)


def test_a_code_that_is_more_exact_than_its_status_decides() -> None:
    built = from_problem_details({"status": 403, "code": "feature-disabled", "detail": "No beta for you"})
    assert (built.data["error_code"], built.data["error_type"]) == ("FEATURE_DISABLED", "feature_flag")


def test_a_delay_beyond_every_float_is_written_out() -> None:
    document = to_rpc_status(error_response("Wait", retry_after_seconds=10**400))
    assert f"{10**400}s" in str(document)
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.e400s"}
    assert "retry_after_seconds" not in from_rpc_status({"code": 5, "message": "x", "details": [delay]}).data
