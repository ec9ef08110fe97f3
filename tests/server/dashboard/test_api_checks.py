"""`POST /v1/check/…` gives what the library gives, in one spelling."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from tests.server.dashboard.serving import serving

from toolvet import check_answer, check_result
from toolvet.server.dashboard.api import replies

REFUSAL = "I cannot help with that request."
SHIP = {
    "name": "find_ship",
    "inputSchema": {"type": "object", "properties": {"shipName": {"type": "string"}}, "required": ["shipName"]},
}
DOWN = {"content": [{"type": "text", "text": "Error: connection refused"}], "isError": True}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    with serving(f"{tmp_path_factory.mktemp('checks')}/a.db") as running, running.client() as made:
        yield made


def post(client: httpx2.Client, kind: str, body: dict[str, Any]) -> Any:
    reply = client.post(f"/v1/check/{kind}", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_an_answer_gets_the_verdict_of_the_library(client: httpx2.Client) -> None:
    found = post(client, "answer", {"text": REFUSAL, "trace": "t1"})
    expected = check_answer(REFUSAL, trace="t1")
    reply = msgspec.convert(found, replies.AnswerReply)
    assert (found, msgspec.structs.asdict(reply)["score"]) == (expected.to_dict(), expected.score)
    assert (found["should_escalate"], found["trace_id"]) == (True, "t1")


def test_an_answer_is_compared_with_its_calls(client: httpx2.Client) -> None:
    calls = [{"name": "find_ship", "arguments": {}, "result": DOWN}]
    found = post(client, "answer", {"text": "The Aurora sails at nine from Lisbon.", "calls": calls})
    assert found["failed_calls"][0]["tool"] == "find_ship"


def test_a_short_answer_to_a_question_is_one(client: httpx2.Client) -> None:
    turns: list[dict[str, Any]] = [
        {},
        {"question": "How many?"},
        {"calls": [{"name": "count", "arguments": {}, "result": "42"}]},
        {"question": "Write an essay about whales."},
    ]
    judged = [post(client, "answer", {"text": "42", **turn}) for turn in turns]
    assert [each["should_escalate"] for each in judged] == [True, False, False, True]
    path = f"/v1/check/stream/{client.post('/v1/check/stream', json={}).json()['id']}"
    client.post(path, json={"text": "42"})
    assert not client.post(f"{path}/finish", json={"question": "How many?"}).json()["should_escalate"]


def test_options_are_those_of_the_library(client: httpx2.Client) -> None:
    found = post(client, "answer", {"text": "Not my department, sorry.", "custom_patterns": {"refusal": ["my dep"]}})
    assert found["signals"][0]["source"] == "custom"


def test_arguments_keep_the_names_of_the_callers_properties(client: httpx2.Client) -> None:
    found = post(client, "arguments", {"tool": SHIP, "arguments": {"shipname": "Aurora"}})
    msgspec.convert(found, replies.ArgumentsReply)
    assert found["valid"] is False
    assert list(found["error"]["valid_example"]) == ["shipName"]
    assert found["error"]["repair"]["arguments"] == {"shipName": "Aurora"}
    assert "shipName" in found["error"]["schema"]["properties"]


def test_a_result_says_whose_error_it_is(client: httpx2.Client) -> None:
    found = post(client, "result", {"tool": SHIP, "result": DOWN})
    msgspec.convert(found, replies.ResultReply)
    assert found == check_result(SHIP, None, DOWN).to_dict()
    assert "content_types" in found["metadata"]


def test_an_envelope_is_held_against_its_contract(client: httpx2.Client) -> None:
    found = post(client, "envelope", {"response": {"success": True}})
    msgspec.convert(found, replies.EnvelopeReply)
    assert found["valid"] is False


def test_a_conversation_is_judged_turn_by_turn_in_one_spelling(client: httpx2.Client) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find_ship", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Where is the Aurora?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Error: connection refused"},
        {"role": "assistant", "content": REFUSAL},
    ]
    found = post(client, "conversation", {"messages": messages, "tools": [SHIP]})
    msgspec.convert(found, replies.ConversationReply)
    assert found["turns"][0]["calls"][0]["result"]["is_valid"] is False
    assert found["turns"][0]["calls"][0]["arguments"]["error"]["issues"][0]["keyword"] == "required"


def test_a_batch_has_a_verdict_or_an_error_for_each_check(client: httpx2.Client) -> None:
    checks = [
        {"kind": "answer", "text": REFUSAL},
        {"kind": "answer"},
        {"kind": "poem", "text": "x"},
        {"text": "x"},
        {"kind": "arguments", "tool": {}, "arguments": {}},
        {"kind": "envelope", "response": {}, "colour": "red"},
    ]
    found = post(client, "batch", {"checks": checks})
    assert found["errors"] == 5
    first, *rest = found["results"]
    assert first["verdict"] == post(client, "answer", {"text": REFUSAL})
    assert [each["error"]["data"].get("details", {}).get("field") for each in rest] == [
        "text",
        "kind",
        "kind",
        None,
        "colour",
    ]


def test_a_batch_has_a_limit(client: httpx2.Client) -> None:
    reply = client.post("/v1/check/batch", json={"checks": [{}] * 1001})
    assert (reply.status_code, reply.json()["data"]["details"]["field"]) == (422, "checks")


def test_a_stream_ends_with_the_verdict_on_the_whole(client: httpx2.Client) -> None:
    opened = client.post("/v1/check/stream", json={})
    assert opened.status_code == 201
    path = f"/v1/check/stream/{opened.json()['id']}"
    scores = [client.post(path, json={"text": text}).json()["score"] for text in ("The Aurora. ", "I cannot ", "help.")]
    assert scores[0] == 1.0
    assert scores[-1] < 1.0
    whole = client.post(f"{path}/finish", json={"finish_reason": "stop", "trace": "t9"})
    assert whole.json()["score"] == check_answer("The Aurora. I cannot help.", finish_reason="stop").score
    assert whole.json()["trace_id"] == "t9"
    assert client.post(path, json={"text": "more"}).status_code == 404


def test_a_stream_can_be_forgotten(client: httpx2.Client) -> None:
    path = f"/v1/check/stream/{client.post('/v1/check/stream', json={'strict': True}).json()['id']}"
    assert client.delete(path).status_code == 204
    assert client.delete(path).status_code == 404


def test_somebody_elses_stream_is_not_there(tmp_path: Path) -> None:
    with (
        serving(f"{tmp_path}/a.db", people=[("ada", "viewer"), ("ben", "viewer")]) as running,
        running.client("ada") as ada,
        running.client("ben") as ben,
    ):
        path = f"/v1/check/stream/{ada.post('/v1/check/stream', json={}).json()['id']}"
        assert ben.post(path, json={"text": "x"}).status_code == 404
        assert ada.post(path, json={"text": "x"}).status_code == 200


def test_nobody_may_open_too_many_streams(client: httpx2.Client) -> None:
    replies_ = [client.post("/v1/check/stream", json={}) for _ in range(101)]
    assert replies_[-1].status_code == 429
    assert replies_[-1].headers["retry-after"] == "10"
    for reply in replies_[:-1]:
        client.delete(f"/v1/check/stream/{reply.json()['id']}")
