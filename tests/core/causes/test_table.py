"""The table of causes: complete, without contradictions, and each row with its proofs."""

from collections import Counter
from http import HTTPStatus

import msgspec
import pytest

from toolvet import check_answer, check_result
from toolvet.core.causes import (
    Cause,
    ErrorCode,
    ErrorKind,
    ErrorType,
    Retry,
    State,
    causes,
    found_nothing,
    google_rpc_names,
    state_of_failure,
    state_of_google_rpc,
    state_of_http,
    state_of_json_rpc,
)
from toolvet.core.checks.answer import SignalType
from toolvet.core.discover.toml import read_toml
from toolvet.core.turn.ledger import ToolCall
from toolvet.core.turn.ledger.phrases import read_sources

ROWS = [pytest.param(state, cause, id=state.value) for state, cause in causes().items()]
# What google.rpc.Code says that its codes are over HTTP (googleapis, google/rpc/code.proto).
HTTP_OF_GOOGLE = {
    "INVALID_ARGUMENT": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ABORTED": 409,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
    "INTERNAL": 500,
    "DATA_LOSS": 500,
    "UNKNOWN": 500,
}


class HonestProof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    error: str
    answers: tuple[str, ...]
    verdict: tuple[SignalType, ...]


class HonestProofs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    proof: tuple[HonestProof, ...]


HONEST = read_toml("toolvet.core.causes", "honest.toml", HonestProofs).proof


def flagged(text: str) -> dict[str, object]:
    return {"isError": True, "content": [{"type": "text", "text": text}]}


def test_every_state_has_a_row_and_every_word_a_state() -> None:
    assert list(causes()) == list(State)
    assert {cause.error_type for cause in causes().values()} == set(ErrorType)
    assert {code.state for code in ErrorCode} <= set(State)
    assert {state for state in State if state.retry is None} == {State.UNKNOWN}
    assert {cause.retry for cause in causes().values()} == {*Retry, None}


@pytest.mark.parametrize(("state", "cause"), ROWS)
def test_what_a_row_writes_is_read_as_that_cause_or_as_its_like(state: State, cause: Cause) -> None:
    # An unknown cause is written as an internal error.
    kind = ErrorKind.TOOL_FAILURE if cause.kind is ErrorKind.UNKNOWN else cause.kind
    alike = {other for other, row in causes().items() if row.kind is kind}
    assert state_of_http(cause.http_status) in alike
    assert state_of_google_rpc(cause.google_rpc) in alike
    read = state_of_failure(cause.error_code, cause.error_type)
    # A crash and an unknown cause are reported as an internal error: callers read nothing of the program.
    assert read is (State.INTERNAL if state in (State.CRASH, State.UNKNOWN) else state)


@pytest.mark.parametrize(("state", "cause"), ROWS)
def test_each_row_keeps_its_proofs(state: State, cause: Cause) -> None:
    assert cause.hits
    assert cause.misses
    for error in cause.hits:
        verdict = check_result({"name": "do_it"}, {"id": 1}, flagged(error))
        assert (verdict.state, verdict.error_kind, verdict.retry) == (state, cause.kind, cause.retry), error
    for error in cause.misses:
        assert check_result({"name": "do_it"}, {"id": 1}, flagged(error)).state is not state, error


def test_no_code_is_read_by_two_rows() -> None:
    rows = causes().values()
    for read in (
        [status for row in rows for status in row.reads.http_status],
        [code for row in rows for code in row.reads.json_rpc],
        [name for row in rows for name in row.reads.google_rpc],
    ):
        assert [code for code, count in Counter(read).items() if count > 1] == []


def test_reason_phrases_are_those_of_http() -> None:
    assert {cause.http_reason for cause in causes().values()} == {
        HTTPStatus(cause.http_status).phrase for cause in causes().values()
    }


def test_google_codes_mean_what_google_says_of_them_over_http() -> None:
    assert len(set(google_rpc_names())) == 16
    for name, status in HTTP_OF_GOOGLE.items():
        assert state_of_google_rpc(name) is state_of_http(status), name


@pytest.mark.parametrize("code", ErrorCode)
def test_a_documented_code_is_its_cause_with_and_without_its_type(code: ErrorCode) -> None:
    assert state_of_failure(code.value, code.error_type.value) is code.state
    assert state_of_failure(code.value.lower(), "") is code.state
    for alias in code.aliases:
        assert state_of_failure(alias, "") is code.state


@pytest.mark.parametrize("kind", ErrorType)
def test_a_type_decides_over_a_code_that_does_not_belong_to_it(kind: ErrorType) -> None:
    assert state_of_failure("", kind.value) is kind.state
    assert state_of_failure("SHIP_LOST", kind.value) is kind.state
    other = next(code for code in ErrorCode if code.error_type is not kind)
    assert state_of_failure(other.value, kind.value) is kind.state


def test_a_code_of_its_own_says_more_within_its_type() -> None:
    assert state_of_failure("TIMEOUT", "unavailable") is State.TIMEOUT
    assert state_of_failure("QUOTA_EXCEEDED", "rate_limit") is State.QUOTA
    assert state_of_failure("SEARCH_TIMED_OUT", "") is State.TIMEOUT
    assert state_of_failure("", "") is None
    assert state_of_failure("SHIP", "ship") is None
    assert state_of_failure("X" * 100_000, "Y" * 100_000) is None


def test_json_rpc_codes() -> None:
    assert state_of_json_rpc(-32602) is State.INVALID_INPUT
    assert state_of_json_rpc(-32002) is State.NOT_FOUND
    assert state_of_json_rpc(-32601) is State.UNSUPPORTED
    assert state_of_json_rpc(-32000) is None
    verdict = check_result({"name": "do_it"}, {"id": 1}, {"code": -32002, "message": "file:///a.txt"})
    assert verdict.state is State.NOT_FOUND


@pytest.mark.parametrize(("state", "cause"), ROWS)
def test_only_errors_of_the_call_have_honest_words(state: State, cause: Cause) -> None:
    assert bool(cause.words) is (cause.kind is ErrorKind.BUSINESS)
    assert cause.takes_back <= {*SignalType, "incapable"}
    assert cause.answer_label in ("", "tool_failure")
    assert state is State.RATE_LIMITED or bool(cause.takes_back) is (cause.kind is ErrorKind.BUSINESS)


def test_honest_words_are_phrases_of_the_languages() -> None:
    known = {name for source in read_sources() for name in source.file.honest}
    assert found_nothing().words <= known
    for cause in causes().values():
        assert cause.words <= known


@pytest.mark.parametrize("proof", HONEST, ids=lambda proof: f"{proof.error} {proof.verdict}")
def test_the_table_of_honest_reports_keeps_its_proofs(proof: HonestProof) -> None:
    call = ToolCall("do_it", {"id": "ORD-404"}, flagged(proof.error))
    for answer in proof.answers:
        found = {signal.type for signal in check_answer(answer, calls=[call], min_length=1).signals}
        assert found == set(proof.verdict), answer
