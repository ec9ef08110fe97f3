"""A turn through the real proxy: one id in the answers, the envelopes, the record and the story."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.proxy.stdio_client import PROXY, RAW_SERVER, Client, Life

from toolvet import check_answer, check_envelope
from toolvet.store import Store

ROOT = Path(__file__).parent.parent.parent
TRACE = "0af7651916cd43dd8448eb211c80319c"
ASKING = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "dev.toolvet/verdict": True}
OPENING: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.mark.parametrize("name", ["calls.db", "calls.jsonl"])
def test_a_turn_with_a_server_of_envelopes(tmp_path: Path, name: str) -> None:
    record = tmp_path / name
    server = (sys.executable, str(ROOT / "examples" / "enveloped_server.py"), "mcpserver")
    client = Client(*PROXY, *server, STORE=str(record), SETTINGS='{"record": "calls"}')
    try:
        client.ask("initialize", 1, **OPENING)
        client.send("notifications/initialized")
        refused = client.ask("tools/call", 2, name="get_ship", arguments={"id": "ship-1"}, _meta=ASKING)["result"]
        answered = client.ask("tools/call", 3, name="get_ship", arguments={"ship_id": "ship-1"}, _meta=ASKING)["result"]
        missing = client.ask("tools/call", 4, name="get_ship", arguments={"ship_id": "ship-x"}, _meta=ASKING)["result"]
        client.end()
    finally:
        client.close()
    envelope = refused["structuredContent"]
    assert check_envelope(envelope) == ()
    assert json.loads(refused["content"][0]["text"]) == envelope
    assert (envelope["data"]["error_code"], envelope["meta"]["request_id"]) == ("VALIDATION_ERROR", TRACE)
    verdicts = [result["_meta"]["dev.toolvet/verdict"] for result in (refused, answered, missing)]
    assert [verdict["state"] for verdict in verdicts] == ["invalid_input", None, "not_found"]
    assert {verdict["trace_id"] for verdict in verdicts} == {TRACE}
    said = "There is no ship-x in this harbour."
    with Store(record) as store:
        store.add(check_answer(said, trace=TRACE), text=said)
        turn = store.turn(TRACE[:8])
    assert [call.outcome for call in turn.calls] == ["refused", "success", "tool_error"]
    assert [call.state for call in turn.calls] == ["invalid_input", None, "not_found"]
    assert turn.answers[0].text == said
    told = subprocess.run(
        [sys.executable, "-m", "toolvet", "trace", TRACE[:8], "--store", str(record)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    ).stdout
    places = [told.index(words) for words in ("refused by toolvet, not sent", "answered after", "failed after", said)]
    assert places == sorted(places)


@pytest.mark.parametrize("name", ["calls.db", "calls.jsonl"])
@pytest.mark.parametrize("kept", ["calls", "verdicts"])
def test_an_answer_is_compared_with_the_calls_that_the_store_has(tmp_path: Path, name: str, kept: str) -> None:
    record = tmp_path / name
    server = (sys.executable, str(ROOT / "examples" / "enveloped_server.py"), "mcpserver")
    client = Client(*PROXY, *server, STORE=str(record), SETTINGS=json.dumps({"record": kept}))
    try:
        client.ask("initialize", 1, **OPENING)
        client.send("notifications/initialized")
        for number, ship in enumerate(("ship-1", "ship-2", "ship-1"), start=2):
            client.ask("tools/call", number, name="get_ship", arguments={"ship_id": ship}, _meta=ASKING)
        client.end()
    finally:
        client.close()

    def judged(said: str, *words: str, **turn: object) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "toolvet", "check", "answer", "--json", "--store", str(record), *words],
            input=json.dumps({"answer": said, **turn}),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.stderr == ""
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    invented = "The ship is the Aurora, and its order number is ORD-99812-XK."
    labels = [signal["label"] for signal in judged(invented, "--trace", TRACE)["signals"]]
    # The part of the results that was not kept may have the number.
    assert labels == (["unsupported_id"] if kept == "calls" else [])
    claimed = judged("I have sent the invoice to the captain by mail.", "--trace", TRACE)
    assert claimed["should_escalate"]
    assert claimed["signals"][0]["against"] == "only get_ship was called"
    # Without a trace id, under one without calls, or beside calls of one's own, the store says nothing.
    assert judged(invented)["signals"] == judged(invented, trace="another")["signals"] == []
    own = [{"name": "find", "arguments": {}, "result": "Aurora, order ORD-99812-XK"}]
    assert judged(invented, trace=TRACE, calls=own)["signals"] == []


def test_a_call_that_a_dead_server_leaves_open_has_a_verdict(tmp_path: Path) -> None:
    life, record = Life(tmp_path), tmp_path / "calls.db"
    client = Client(*PROXY, *RAW_SERVER, LIFE=str(life.path), STORE=str(record))
    try:
        client.ask("tools/list", 0)
        client.send("tools/call", 1, name="hold", arguments={}, _meta=ASKING)
        client.send("kill", 2)
        error = client.read()["error"]
        assert client.process.wait() == 128 + signal.SIGKILL
    finally:
        client.close()
        life.close()
    verdict = error["data"]["dev.toolvet/verdict"]
    assert (verdict["error_kind"], verdict["state"], verdict["retry"]) == ("tool_failure", "unavailable", "backoff")
    assert (verdict["trace_id"], error["data"]["dev.toolvet/trace"]) == (TRACE, TRACE)
    with Store(record) as store:
        (call,) = store.turn(TRACE).calls
    assert (call.outcome, call.state, call.detail["code"]) == ("protocol_error", "unavailable", -32603)
