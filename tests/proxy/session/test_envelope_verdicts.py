"""A failure's envelope is read wherever it stands: every kind, in every place, by the library and behind the proxy."""

import json
from typing import Any

import pytest

from toolvet import ResultVerdict, check_result, error_response, success_response
from toolvet.core.causes import ErrorCode, ErrorKind, ErrorType, State, cause_of, state_of_failure
from toolvet.proxy.session import CallEnded, Policies, ProxySettings, Session, ToClient, ToServer

Result = dict[str, Any]
# Every documented code, every type with a code of the server's own, and the codes that only one cause has.
KINDS = [
    *((code.value, code.error_type.value) for code in ErrorCode),
    *(("SHIP_LOST", kind.value) for kind in ErrorType),
    ("TIMEOUT", "unavailable"),
    ("QUOTA_EXCEEDED", "rate_limit"),
    ("PRECONDITION_FAILED", "conflict"),
]
MESSAGE = "The Aurora is not in port"
CARRIERS = ["text", "structured", "both", "meta"]


def failure(code: str, kind: str) -> Result:
    return error_response(MESSAGE, error_code=code, error_type=kind, remediation="Wait for the Aurora.").to_dict("v2")


def carried(envelope: Result, carrier: str, *, flagged: bool) -> Result:
    text = json.dumps(envelope)
    places: dict[str, Result] = {
        "text": {"content": [{"type": "text", "text": text}]},
        "structured": {"content": [{"type": "text", "text": MESSAGE}], "structuredContent": envelope},
        "both": {"content": [{"type": "text", "text": text}], "structuredContent": {"result": envelope}},
        "meta": {"content": [{"type": "text", "text": MESSAGE}], "_meta": {"dev.toolvet/envelope": envelope}},
    }
    result = places[carrier]
    return {**result, "isError": True} if flagged else result


def behind_the_proxy(result: Result) -> tuple[Result, ResultVerdict]:
    """The verdict that the client reads in `_meta`, and the one in the record."""
    session = Session(Policies(ProxySettings(verdict="always")))
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "find_ship", "arguments": {}}}
    steps = session.from_client(json.dumps(asked).encode())
    for step in [step for step in steps if isinstance(step, ToServer)]:
        question = json.loads(step.data)
        answer: Result = {"tools": [{"name": "find_ship", "inputSchema": {"type": "object"}}]}
        if question["method"] == "tools/call":
            answer = result
        steps = session.from_server(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": answer}).encode())
        for passed in [step for step in steps if isinstance(step, ToServer)]:
            final = {"jsonrpc": "2.0", "id": json.loads(passed.data)["id"], "result": result}
            steps = session.from_server(json.dumps(final).encode())
    sent = next(json.loads(step.data) for step in steps if isinstance(step, ToClient))
    note = next(step for step in steps if isinstance(step, CallEnded))
    assert note.verdict is not None
    return sent["result"]["_meta"]["dev.toolvet/verdict"], note.verdict


@pytest.mark.parametrize("flagged", [True, False], ids=["flagged", "unflagged"])
@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize(("code", "kind"), KINDS, ids=[f"{code}-{kind}" for code, kind in KINDS])
def test_the_verdict_agrees_with_the_envelope(code: str, kind: str, carrier: str, *, flagged: bool) -> None:
    result = carried(failure(code, kind), carrier, flagged=flagged)
    verdict = check_result({"name": "find_ship"}, {}, result)
    state = state_of_failure(code, kind)
    assert state is not None
    assert (verdict.state, verdict.error_kind, verdict.retry) == (state, cause_of(state).kind, state.retry)
    assert verdict.error_code == code
    assert verdict.is_error is flagged
    assert verdict.error_without_flag is not flagged
    assert ("error reported without isError" in verdict.issues) is not flagged
    # Never the JSON, and never a part of it.
    assert verdict.evidence[0].endswith(MESSAGE)
    seen, recorded = behind_the_proxy(result)
    assert recorded == verdict
    assert {**seen, "trace_id": None} == {**verdict.to_dict(), "trace_id": None}


def test_there_are_twenty_six_kinds() -> None:
    assert len(set(KINDS)) == 26


def test_a_crash_in_the_data_of_an_envelope_does_not_outweigh_it() -> None:
    envelope = failure("NOT_FOUND", "not_found")
    envelope["data"]["details"] = {"log": "Traceback (most recent call last): ECONNREFUSED"}
    verdict = check_result({"name": "find_ship"}, {}, carried(envelope, "text", flagged=True))
    assert (verdict.error_kind, verdict.state) == (ErrorKind.BUSINESS, State.NOT_FOUND)


def test_without_code_and_type_the_words_decide() -> None:
    for error, state in (
        (MESSAGE, None),
        ("Connection refused", State.UNREACHABLE),
        ("Ship 7 not found", State.NOT_FOUND),
    ):
        envelope = {"success": False, "data": {}, "error": error, "meta": {"version": "response-v2"}}
        verdict = check_result({"name": "find_ship"}, {}, carried(envelope, "text", flagged=False))
        assert verdict.error_without_flag
        assert state is None or verdict.state is state


def test_the_callers_own_words_outweigh_the_envelope() -> None:
    result = carried(failure("INTERNAL_ERROR", "internal"), "text", flagged=True)
    verdict = check_result({"name": "find_ship"}, {}, result, strong_patterns=["not in port"])
    assert verdict.error_kind is ErrorKind.BUSINESS


@pytest.mark.parametrize(
    "payload",
    [
        {"success": False, "score": 3},
        {"success": False, "data": {"reason": "lost the match"}},
        {"success": True, "data": {"error_code": "E1", "error_type": "not_found"}, "error": None},
        {"success": "false", "error": "x", "data": {"error_code": "NOT_FOUND"}},
        {"error_code": "NOT_FOUND", "meaning": "The thing does not exist."},
    ],
)
def test_other_objects_are_no_envelopes(payload: Result) -> None:
    assert check_result({"name": "find_ship"}, {}, carried(payload, "text", flagged=False)).state is None


def test_a_success_in_an_envelope_is_one_whatever_its_data_says() -> None:
    envelope = success_response({"log": ["Error: connection refused"], "status": "error"}).to_dict("v2")
    for carrier in CARRIERS:
        verdict = check_result({"name": "read_log"}, {}, carried(envelope, carrier, flagged=False))
        assert verdict.is_valid, carrier


def test_what_an_envelope_says_of_its_content_is_in_the_metadata() -> None:
    envelope = success_response(
        {"ships": [1, 2]},
        warnings=["2 of 5 ships are shown"],
        pagination={"cursor": "b", "has_more": True, "total_count": 5},
        meta={"content_fidelity": "partial", "content_fidelity_schema_version": "1.0", "dropped_content_ids": ["3"]},
    ).to_dict("v2")
    envelope["meta"]["warning_details"] = [{"code": "STALE_CACHE", "message": "An hour old"}]
    for carrier in CARRIERS:
        found = check_result({"name": "ships"}, {}, carried(envelope, carrier, flagged=False)).to_dict()
        told: Any = found["metadata"]
        assert told["warnings"] == ["2 of 5 ships are shown", "STALE_CACHE: An hour old"]
        assert told["pagination"] == {"cursor": "b", "has_more": True, "total_count": 5}
        assert told["content_fidelity"] == "partial"
        assert told["dropped_content_ids"] == ["3"]
    plain = check_result({"name": "ships"}, {}, {"content": [{"type": "text", "text": "two"}]}).to_dict()
    assert "warnings" not in str(plain["metadata"])
