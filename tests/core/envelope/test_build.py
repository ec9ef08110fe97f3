"""The builders keep the contract, copy what they are given, and name the argument that they cannot use."""

import contextvars
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet import (
    Envelope,
    EnvelopeError,
    FieldError,
    WarningDetail,
    check_envelope,
    duplicate_entry_error,
    error_response,
    internal_error,
    invalid_format_error,
    missing_required_error,
    not_found_error,
    rate_limit_error,
    success_response,
    unavailable_error,
    validation_error,
)
from toolvet.core.causes import State, cause_of, state_of_failure
from toolvet.core.envelope import ContentFidelity, ErrorCode, ErrorType, ResponseContract, WarningCode, request_id


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


def loop() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


def deep() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(50_000):
        value = {"a": value}
    return value


# How to call it wrong: the call, the argument that the error names, words of the message.
REFUSED: Mapping[str, tuple[Callable[[], object], str, str]] = {
    "an empty message": (lambda: error_response(""), "message", "must not be empty"),
    "a message of a byte order mark": (lambda: error_response("\ufeff"), "message", "must not be empty"),
    "a blank message": (lambda: error_response(" \n"), "message", "must not be empty"),
    "an unknown level": (
        lambda: success_response(content_fidelity="most"),
        "content_fidelity",
        '"full" or "partial" or "summary" or "reference_only"',
    ),
    "an unknown severity": (
        lambda: success_response(warning_details=[{"message": "m", "severity": "bad"}]),
        "warning_details/0/severity",
        '"info" or "warning" or "error"',
    ),
    "a warning without a message": (
        lambda: success_response(warning_details=[{"code": "STALE_CACHE"}]),
        "warning_details",
        "message is missing",
    ),
    "an empty warning": (lambda: success_response(warnings=["a", ""]), "warnings/1", "must not be empty"),
    "one warning instead of several": (lambda: success_response(warnings="a"), "warnings", "must be a list, not str"),
    "a list as data": (lambda: success_response([1]), "data", "must be an object (a dict), not list"),  # type: ignore[arg-type]
    "a number as a message": (lambda: error_response(7), "message", "must be a string, not int"),  # type: ignore[arg-type]
    "an empty request id": (lambda: success_response(request_id=""), "request_id", "must not be empty"),
    "a page of no size": (lambda: success_response(pagination={"page_size": 0}), "pagination/page_size", "at least 1"),
    "a moment in words": (lambda: success_response(rate_limit={"reset_at": "soon"}), "rate_limit/reset_at", "date"),
    "a moment nowhere": (
        lambda: success_response(rate_limit={"reset_at": datetime(2026, 1, 1)}),  # noqa: DTZ001 - that is the fault
        "rate_limit/reset_at",
        "has no time zone",
    ),
    "a moment beyond time": (lambda: success_response(rate_limit={"reset_at": 1e300}), "rate_limit/reset_at", "epoch"),
    "a code of another type": (
        lambda: error_response("x", error_code="NOT_FOUND", error_type="validation"),
        "error_type",
        'belongs to error_type "not_found"',
    ),
    "a code in data of another type": (
        lambda: error_response("x", data={"error_code": "NOT_FOUND"}, error_type="validation"),
        "error_type",
        'belongs to error_type "not_found"',
    ),
    "items dropped from all of it": (
        lambda: success_response(content_fidelity="full", dropped_content_ids=["a"]),
        "content_fidelity",
        "dropped_content_ids",
    ),
    "a negative delay": (lambda: error_response("x", retry_after_seconds=-1), "retry_after_seconds", "at least 0"),
    "a field error without words": (
        lambda: validation_error("x", errors=[{"field": "a"}]),
        "errors/0/message",
        "string",
    ),
    "a reserved name in meta": (lambda: success_response(meta={"warnings": "x"}), "meta/warnings", "must be an array"),
    "a set": (
        lambda: success_response({"a": [{1}]}),
        "data/a/0",
        "is a set, which JSON cannot hold",
    ),
    "a moment in the payload": (
        lambda: success_response({"at": datetime.now(UTC)}),
        "data/at",
        "is a datetime, which JSON cannot hold: give its isoformat()",
    ),
    "a day": (lambda: success_response({"a/b": date(2026, 1, 1)}), "data/a~1b", "is a date"),
    "a UUID": (lambda: success_response({"id": UUID(int=1)}), "data/id", "is a UUID"),
    "a decimal": (lambda: success_response({"sum": Decimal(1)}), "data/sum", "is a Decimal"),
    "an enum": (lambda: success_response({"c": Colour.RED}), "data/c", "give its value"),
    "bytes": (lambda: success_response({"b": b"x"}), "data/b", "is a bytes"),
    "not a number": (lambda: success_response({"x": float("nan")}), "data/x", "is nan"),
    "infinity": (lambda: error_response("x", details={"x": float("-inf")}), "details/x", "is -inf"),
    "a key that is not a string": (lambda: success_response({"a": {1: 2}}), "data/a", "has a key of type int"),
    "half a surrogate pair": (lambda: success_response({"t": "\ud800"}), "data/t", "surrogate"),
    "half a surrogate pair in a message": (lambda: error_response("\ud800"), "message", "surrogate"),
    "an object that holds itself": (lambda: success_response(loop()), "data", "contains itself"),
    "an object without end": (lambda: success_response(deep()), "data/a/a", "nested deeper"),
    "an unknown contract": (lambda: success_response().to_dict("v3"), "contract", "must be v1 or v2"),
    "a request without an id": (lambda: request_id("").__enter__(), "request_id", "must not be empty"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_held_is_refused_with_the_name_of_the_argument(name: str) -> None:
    call, argument, words = REFUSED[name]
    with pytest.raises(EnvelopeError) as refused:
        call()
    assert isinstance(refused.value, ValueError)
    assert refused.value.argument.startswith(argument)
    assert words in str(refused.value)


@pytest.mark.parametrize("code", ErrorCode)
def test_a_code_gives_its_type_and_a_type_its_code(code: ErrorCode) -> None:
    assert error_response("x", error_code=code).data["error_type"] == code.error_type
    assert error_response("x", error_type=code.error_type).data["error_code"] == code.error_type.default_code
    assert code.error_type.default_code.error_type is code.error_type
    assert code.headline
    assert not set(code.aliases) & set(ErrorCode)


@pytest.mark.parametrize("state", State)
def test_a_code_that_only_one_cause_has_gives_its_type_and_reads_as_that_cause(state: State) -> None:
    cause = cause_of(state)
    data = error_response("x", error_code=cause.error_code).data
    assert data["error_type"] == cause.error_type
    # A crash and an error of unknown cause are written as internal errors, which say no more.
    read = state_of_failure(data["error_code"], data["error_type"])
    assert read is (state if state not in (State.CRASH, State.UNKNOWN) else State.INTERNAL)


@pytest.mark.parametrize("kind", ErrorType)
def test_every_type_has_its_row(kind: ErrorType) -> None:
    assert 400 <= kind.http_status < 600
    assert kind.retry
    assert kind.grpc_status.isupper()
    assert kind.headline


@pytest.mark.parametrize("code", WarningCode)
def test_a_documented_warning_gets_its_severity(code: WarningCode) -> None:
    built = success_response(warning_details=[WarningDetail("m", code), {"message": "m", "code": code, "context": {}}])
    assert {detail["severity"] for detail in built.meta["warning_details"]} == {code.severity.value}


def test_a_severity_that_is_given_stays() -> None:
    built = success_response(warning_details=[WarningDetail("m", "STALE_CACHE", "error", {"age": 7})])
    expected = {"message": "m", "code": "STALE_CACHE", "severity": "error", "context": {"age": 7}}
    assert built.meta["warning_details"] == [expected]


def test_a_code_and_a_type_of_ones_own_stay() -> None:
    assert error_response("x", error_code="MODEL_BUSY", error_type="ai_provider").data == {
        "error_code": "MODEL_BUSY",
        "error_type": "ai_provider",
    }
    assert error_response("x", error_type="ai_provider").data["error_code"] == "AI_PROVIDER"


def test_no_enum_is_left_in_what_is_sent() -> None:
    built = error_response(
        "x", error_code=ErrorCode.CONFLICT, error_type=ErrorType.CONFLICT, details={"level": Level.LOW}
    ).to_dict()
    fidelity = success_response(content_fidelity=ContentFidelity.SUMMARY).to_dict()["meta"]["content_fidelity"]
    assert {type(value) for value in built["data"].values()} == {str, dict}
    assert type(built["data"]["details"]["level"]) is int
    assert type(fidelity) is str


def test_tuples_and_mappings_are_written_as_json_has_them() -> None:
    built = success_response({"pair": (1, 2), "map": OrderedDict(a=1), "big": 2**70}).to_dict()
    assert built["data"] == {"pair": [1, 2], "map": {"a": 1}, "big": 2**70}
    assert type(built["data"]["map"]) is dict


def test_later_changes_of_what_was_given_or_got_change_no_response() -> None:
    items = [{"id": 1}]
    built = success_response({"items": items})
    before = json.dumps(built.to_dict())
    items.append({"id": 2})
    built.to_dict()["data"]["items"].append(3)
    built.to_dict()["meta"]["version"] = "mine"
    assert json.dumps(built.to_dict()) == before


def test_a_response_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        success_response().success = False  # type: ignore[misc]


@pytest.mark.parametrize(
    "moment",
    [1_764_158_400, 1_764_158_400.0, datetime(2025, 11, 26, 13, tzinfo=timezone(timedelta(hours=1)))],
)
def test_a_moment_is_written_as_rfc_3339_has_it(moment: float | datetime) -> None:
    built = success_response(rate_limit={"reset_at": moment})
    assert built.meta["rate_limit"] == {"reset_at": "2025-11-26T12:00:00Z"}


def test_the_request_id_of_the_surroundings_is_taken_unless_another_is_given() -> None:
    with request_id("outer"):
        assert success_response().meta["request_id"] == "outer"
        with request_id("inner"):
            assert error_response("x").meta["request_id"] == "inner"
        assert not_found_error("Book", "7").meta["request_id"] == "outer"
        assert success_response(request_id="own").meta["request_id"] == "own"
        assert success_response(meta={"request_id": "meta"}).meta["request_id"] == "meta"
        assert success_response(meta={"request_id": "meta"}, request_id="own").meta["request_id"] == "own"
    assert "request_id" not in success_response().meta


def test_the_request_id_of_one_thread_is_not_that_of_another() -> None:
    seen: list[object] = []
    with request_id("mine"):
        thread = threading.Thread(target=lambda: seen.append(success_response().meta.get("request_id")))
        thread.start()
        thread.join()
        seen.append(contextvars.copy_context().run(lambda: success_response().meta["request_id"]))
    assert seen == [None, "mine"]


def test_members_of_data_goes_with_what_is_given() -> None:
    data = {"details": {"a": 1}, "remediation": "Wait.", "error_code": "CONFLICT"}
    assert error_response("x", data=data, domain="d").data == {
        "error_code": "CONFLICT",
        "error_type": "conflict",
        "remediation": "Wait.",
        "details": {"a": 1, "domain": "d"},
    }


def test_v1_is_the_bare_payload() -> None:
    assert success_response({"n": 3}, warnings=["w"]).to_dict("v1") == {"n": 3}
    assert not_found_error("Book", "7").to_dict(ResponseContract.V1) == {
        "resource_type": "Book",
        "resource_id": "7",
        "error_code": "NOT_FOUND",
        "error_type": "not_found",
        "remediation": "Verify the book ID exists.",
        "error": "Book '7' not found",
    }


def test_several_fields_that_are_wrong_are_in_details() -> None:
    built = validation_error("Two fields are wrong", errors=[FieldError("too old", pointer="/age"), {"message": "b"}])
    assert built.data["details"] == {"errors": [{"pointer": "/age", "message": "too old"}, {"message": "b"}]}


def test_helpers_say_what_a_reader_expects() -> None:
    assert missing_required_error("email").to_dict()["data"] == {
        "error_code": "MISSING_REQUIRED",
        "error_type": "validation",
        "remediation": "Provide email.",
        "details": {"field": "email", "constraint": "required"},
    }
    assert not_found_error("Task", "t1", error_code="TASK_NOT_FOUND").data["error_code"] == "TASK_NOT_FOUND"
    assert not_found_error("API key", "k").data["remediation"] == "Verify the API key ID exists."
    assert rate_limit_error(5, "hour", 1).data["remediation"] == "Wait 1 second before retrying."


def test_a_rate_limit_says_what_is_left_and_until_when() -> None:
    built = rate_limit_error(5, "hour", 60, remaining=2, reset_at=datetime(2026, 1, 2, 3, tzinfo=UTC))
    assert built.meta["rate_limit"] == {
        "limit": 5,
        "remaining": 2,
        "reset_at": "2026-01-02T03:00:00Z",
        "period": "hour",
        "retry_after": 60,
    }
    assert "remaining" not in rate_limit_error(5, "hour", 1).meta["rate_limit"]
    assert check_envelope(built.to_dict()) == ()


def test_a_wrong_form_and_a_duplicate_have_their_own_codes() -> None:
    form = invalid_format_error("start", "a date", details={"received": "tomorrow"})
    assert (form.error, form.data["error_code"], form.data["error_type"]) == (
        "start must be a date",
        "INVALID_FORMAT",
        "validation",
    )
    assert form.data["details"] == {
        "field": "start",
        "constraint": "format",
        "expected": "a date",
        "received": "tomorrow",
    }
    twice = duplicate_entry_error("API key", "k1", request_id="r")
    assert (twice.data["error_code"], twice.data["error_type"]) == ("DUPLICATE_ENTRY", "conflict")
    assert twice.data["remediation"] == "Use another ID, or update the existing API key."
    assert check_envelope(form.to_dict()) == check_envelope(twice.to_dict()) == ()


def test_an_internal_error_names_the_request_where_it_is_known() -> None:
    assert "request ID" not in internal_error().data["remediation"]
    assert internal_error(request_id="req-9").data["remediation"].endswith("mention the request ID req-9.")
    with request_id("req-1"):
        assert "req-1" in internal_error().data["remediation"]
        assert "req-1" not in internal_error(remediation="Wait.").data["remediation"]


def test_who_is_unavailable_is_asked_again_with_backoff() -> None:
    assert unavailable_error().data["remediation"] == "Retry with exponential backoff."
    assert "2 seconds" in unavailable_error(retry_after_seconds=2).data["remediation"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=2) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "data": st.dictionaries(st.text(max_size=4), VALUES, max_size=3) | VALUES,
        "warnings": st.lists(st.text(max_size=3), max_size=2) | VALUES,
        "warning_details": st.lists(
            st.fixed_dictionaries({"message": st.text(max_size=3)}, optional={"code": VALUES, "severity": VALUES})
        )
        | VALUES,
        "pagination": st.fixed_dictionaries({}, optional={"has_more": VALUES, "page_size": VALUES}),
        "rate_limit": st.fixed_dictionaries({}, optional={"reset_at": VALUES, "limit": VALUES}),
        "telemetry": VALUES,
        "request_id": VALUES,
        "content_fidelity": st.sampled_from(ContentFidelity) | VALUES,
        "content_fidelity_schema_version": VALUES,
        "dropped_content_ids": VALUES,
        "content_archive_hashes": VALUES,
        "meta": st.dictionaries(st.sampled_from(["version", "request_id", "warnings", "x"]), VALUES) | VALUES,
    },
)
ERROR_CALLS = st.fixed_dictionaries(
    {"message": st.text(max_size=4) | VALUES},
    optional={
        "error_code": st.sampled_from(ErrorCode) | VALUES,
        "error_type": st.sampled_from(ErrorType) | VALUES,
        "remediation": VALUES,
        "details": VALUES,
        "errors": VALUES,
        "retry_after_seconds": VALUES,
        "help_url": VALUES,
        "domain": VALUES,
        "data": st.dictionaries(st.sampled_from(["error_code", "details", "remediation", "a"]), VALUES) | VALUES,
        "rate_limit": VALUES,
        "telemetry": VALUES,
        "request_id": VALUES,
        "meta": VALUES,
    },
)


@examples(150)
@given(st.tuples(st.just(success_response), CALLS) | st.tuples(st.just(error_response), ERROR_CALLS))
def test_any_arguments_are_refused_clearly_or_keeps_the_contract(call: tuple[Any, dict[str, Any]]) -> None:
    build, arguments = call
    built: Envelope | None = None
    refused: EnvelopeError | None = None
    try:
        built = build(**arguments)
    except EnvelopeError as error:
        refused = error
    if refused is not None:
        assert refused.argument.partition("/")[0] in arguments
    if built is not None:
        sent = built.to_dict()
        assert not [finding for finding in check_envelope(sent) if finding.severity == "error"]
        assert json.loads(json.dumps(sent, allow_nan=False)) == sent
