"""The API can read back everything it stores, on SQLite and on PostgreSQL."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.dashboard.serving import Running, serving
from tests.store.postgres import PostgresServer

from toolvet.assess.report.document import SCHEMA_ID
from toolvet.errors import StoreError
from toolvet.store import Store

REFUSAL = "I cannot help with that request."
RESULT = {"content": [{"type": "text", "text": "Error: password=hunter2secret refused"}], "isError": True}


@pytest.fixture
def running(url: str) -> Iterator[Running]:
    with serving(url) as made:
        yield made


@pytest.fixture
def client(running: Running) -> Iterator[httpx2.Client]:
    with running.client() as made:
        yield made


def keep(client: httpx2.Client, **body: Any) -> Any:
    reply = client.post("/v1/verdicts", json=body)
    assert reply.status_code == 201, reply.text
    return reply.json()


def test_an_answer_is_judged_on_arrival(client: httpx2.Client) -> None:
    kept = keep(client, kind="answer", trace_id="t1", text=REFUSAL, verdict=None)
    assert (kept["should_escalate"], kept["score"]) == (True, 0.25)
    read = client.get(f"/v1/verdicts/{kept['id']}").json()
    assert (read["text"], read["trace_id"], read["signals"][0]["type"]) == (REFUSAL, "t1", "refusal")
    assert read["detail"]["likely_good"] < 0.5


def test_an_answer_is_compared_with_the_calls_under_its_trace_id(client: httpx2.Client) -> None:
    for number in (4411, 4412, 4413):
        result = {"content": [{"type": "text", "text": f'{{"order_id": "ORD-{number}", "status": "open"}}'}]}
        keep(client, kind="call", trace_id="t1", tool="get_order", arguments={"id": f"ORD-{number}"}, result=result)
    invented = {"kind": "answer", "text": "Your orders are open, and the latest one is ORD-9987."}
    kept = keep(client, trace_id="t1", **invented)
    assert kept["score"] < 1
    assert client.get(f"/v1/verdicts/{kept['id']}").json()["detail"]["signals"][0]["label"] == "unsupported_id"
    assert keep(client, trace_id="t1", kind="answer", text="The order ORD-4412 is open.")["score"] == 1
    # Under another trace id there are no calls, and that none was made is something only the caller knows.
    assert [keep(client, **invented, **more)["score"] for more in ({}, {"trace_id": "t2"})] == [1, 1]
    cancelled = {"kind": "answer", "trace_id": "t1", "text": "I have cancelled your order ORD-4411."}
    assert keep(client, **cancelled)["should_escalate"]
    call = {"name": "cancel_order", "arguments": {"id": "ORD-4411"}, "result": "cancelled"}
    assert keep(client, **cancelled, calls=[call])["score"] == 1


def test_what_the_store_left_out_of_a_result_may_support_an_answer(client: httpx2.Client) -> None:
    result = {"content": [{"type": "text", "text": "password: hunter2secret"}]}
    keep(client, kind="call", trace_id="t3", tool="make_key", arguments={}, result=result)
    assert keep(client, kind="answer", trace_id="t3", text="The new key has the id KEY-88123-AB.")["score"] == 1


def test_a_short_answer_is_stored_as_fine_where_its_question_or_calls_are_known(client: httpx2.Client) -> None:
    calls = [{"name": "get_price", "arguments": {}, "result": "4.90 EUR"}]
    given: list[dict[str, Any]] = [{}, {"question": "What does it cost?"}, {"calls": calls}]
    kept = [keep(client, kind="answer", text="4.90 EUR.", **turn) for turn in given]
    assert [each["should_escalate"] for each in kept] == [True, False, False]


def test_a_given_verdict_is_kept_as_it_is(client: httpx2.Client) -> None:
    given = client.post("/v1/check/answer", json={"text": REFUSAL}).json()
    given = {**given, "score": 0.5, "should_escalate": False}
    kept = keep(client, kind="answer", text="Fine.", verdict=given)
    assert (kept["score"], kept["should_escalate"]) == (0.5, False)


@pytest.mark.parametrize(
    ("kind", "body", "outcome"),
    [
        ("arguments", {"tool": {"name": "f", "inputSchema": {"required": ["a"]}}, "arguments": {}}, "invalid"),
        ("arguments", {"tool": "f", "verdict": {"valid": True}}, "valid"),
        ("result", {"tool": "f", "result": RESULT}, "tool_error"),
        ("call", {"tool": {"name": "f"}, "arguments": {"password": "hunter2secret"}, "result": RESULT}, "tool_error"),
        ("envelope", {"response": {"success": True}}, "invalid"),
        ("envelope", {"verdict": {"findings": []}}, "valid"),
    ],
)
def test_every_kind_can_be_kept(client: httpx2.Client, kind: str, body: dict[str, Any], outcome: str) -> None:
    kept = keep(client, kind=kind, trace_id="turn", **body)
    read = client.get(f"/v1/verdicts/{kept['id']}")
    assert (read.json()["kind"], read.json()["outcome"]) == (kind, outcome)
    assert "hunter2secret" not in read.text
    assert client.get("/v1/turns/turn").json()["verdicts"][0]["id"] == kept["id"]


def test_a_given_verdict_comes_back_from_its_own_check(client: httpx2.Client) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("result", {"tool": {"name": "f"}, "result": RESULT}),
        ("envelope", {"response": {"success": 1}}),
        ("arguments", {"tool": {"name": "f", "inputSchema": {"required": ["a"]}}, "arguments": {}}),
    ]
    for kind, body in cases:
        given = client.post(f"/v1/check/{kind}", json=body).json()
        assert keep(client, kind=kind, **body, verdict=given)["failed"] is True


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "answer"}, "text"),
        ({"kind": "poem", "text": "x"}, "kind"),
        ({"text": "x"}, "kind"),
        ({"kind": "answer", "text": "x", "verdict": {"score": 2}}, "verdict.score"),
        ({"kind": "answer", "text": "x", "verdict": {"score": 1.0}}, "verdict.signals"),
        ({"kind": "call", "tool": "a\x00b", "result": {}}, "tool"),
        ({"kind": "result", "tool": "a\x00b", "result": {}}, "tool"),
        ({"kind": "arguments", "tool": "a\x00b", "verdict": {"valid": True}}, "tool"),
        ({"kind": "call", "tool": "a" * 501, "result": {}}, "tool"),
        ({"kind": "answer", "text": "x", "server": "a\x00b"}, "server"),
        ({"kind": "answer", "text": "x", "trace_id": "a b"}, "trace_id"),
        ({"kind": "answer", "text": "x", "at": -1}, "at"),
        ({"kind": "answer", "text": "x", "colour": "red"}, "colour"),
        ({"kind": "arguments", "tool": "f", "arguments": {}}, "tool"),
        ({"kind": "result", "result": {}, "verdict": {"is_valid": "yes"}}, "verdict.is_valid"),
    ],
)
def test_a_bad_body_names_its_field(client: httpx2.Client, body: dict[str, Any], field: str) -> None:
    reply = client.post("/v1/verdicts", json=body)
    assert (reply.status_code, reply.json()["data"]["details"]["field"]) == (422, field)
    assert client.get("/v1/verdicts").json()["total"] == 0


def test_the_same_id_is_kept_once(client: httpx2.Client) -> None:
    id_ = "0" * 31 + "1"
    assert [keep(client, kind="answer", text="A fine answer.", id=id_)["id"] for _ in range(2)] == [id_, id_]
    assert client.get("/v1/verdicts").json()["total"] == 1


@pytest.mark.parametrize("order", ["newest", "oldest", "lowest_score", "slowest"])
def test_pages_hold_every_verdict_once(client: httpx2.Client, order: str) -> None:
    ids = {keep(client, kind="answer", text=f"The Aurora sails at {hour}.", duration=hour)["id"] for hour in range(7)}
    seen: list[str] = []
    cursor: int | None = None
    while True:
        after = "" if cursor is None else f"&cursor={cursor}"
        page = client.get(f"/v1/verdicts?limit=3&order={order}{after}").json()
        assert page["total"] == 7
        seen += [each["id"] for each in page["verdicts"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert len(seen) == 7
    assert set(seen) == ids


def test_filters_hold(client: httpx2.Client) -> None:
    keep(client, kind="answer", text=REFUSAL, server="a", model="m1")
    keep(client, kind="answer", text="The Aurora sails at nine.", server="b")
    assert client.get("/v1/verdicts", params={"escalated": "true"}).json()["total"] == 1
    assert client.get("/v1/verdicts", params={"server": "b", "signal": "refusal"}).json()["total"] == 0
    assert client.get("/v1/verdicts", params={"text": "aurora"}).json()["total"] == 1
    assert client.get("/v1/verdicts", params={"count": "false"}).json()["total"] is None
    wrong = client.get("/v1/verdicts", params={"limit": "many"})
    assert (wrong.status_code, wrong.json()["data"]["details"]["field"]) == (422, "limit")


def test_sums_and_trends(client: httpx2.Client) -> None:
    for _ in range(3):
        keep(client, kind="answer", text=REFUSAL, at=1_700_000_000)
    keep(client, kind="result", tool="f", server="s", result=RESULT, at=1_700_003_600, duration=0.5)
    overview = client.get("/v1/overview").json()
    assert (overview["total"]["verdicts"], overview["kinds"]["answer"]["escalation_rate"]) == (4, 1.0)
    assert overview["tools"][0]["tool"] == "f"
    points = client.get("/v1/trend", params={"since": 1_699_999_200, "until": 1_700_006_400, "seconds": 3600}).json()
    assert [each["figures"]["verdicts"] for each in points["points"] if each["figures"]["verdicts"]] == [3, 1]
    assert client.get("/v1/groups", params={"by": "kind"}).json()["groups"][0]["kind"] == "answer"
    assert client.get("/v1/groups", params={"by": "weather"}).status_code == 422
    assert client.get("/v1/events").json() == {"events": []}


def test_an_assessment_is_kept_and_read(client: httpx2.Client) -> None:
    summary = {"tools": 0, "findings": {"error": 1, "warning": 0, "info": 0}}
    report = {
        "schema": SCHEMA_ID,
        "server": {"name": "ships"},
        "score": 80.0,
        "status": "fully_working",
        "tools": [],
        "findings": [],
        "summary": summary,
    }
    refused = client.post("/v1/assessments", json={"report": {**report, "tools": 5}})
    assert (refused.status_code, refused.json()["data"]["details"]["field"][:6]) == (422, "report")
    kept = client.post("/v1/assessments", json={"report": report})
    assert kept.status_code == 201, kept.text
    read = client.get(f"/v1/assessments/{kept.json()['id']}").json()
    assert read["report"]["server"]["name"] == "ships"
    assert client.get("/v1/assessments", params={"server": "ships"}).json()["assessments"][0]["report"] is None
    assert client.get("/v1/audit").json()["entries"][0]["action"] == "import"


@pytest.mark.parametrize("path", ["/v1/verdicts/nope", "/v1/verdicts/%00", "/v1/turns/nope", "/v1/assessments/%00"])
def test_what_is_not_there_is_a_404(client: httpx2.Client, path: str) -> None:
    reply = client.get(path)
    assert (reply.status_code, reply.json()["data"]["error_code"]) == (404, "NOT_FOUND")


def test_a_full_disk_acknowledges_nothing(tmp_path: Path) -> None:
    class Full(Store):
        def add_records(self, records: Any) -> None:
            raise StoreError(f"{len(records)} records: No space left on device")

    with serving("", store=Full(tmp_path / "a.db")) as running, running.client() as client:
        reply = client.post("/v1/verdicts", json={"kind": "answer", "text": "x"})
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "5")
        assert "No space" not in reply.text
        assert client.get("/v1/verdicts").json()["total"] == 0


def test_a_locked_database_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with serving(str(path)) as running, running.client() as client:
        keep(client, kind="answer", text="The first answer.")
        assert client.get("/v1/verdicts").json()["total"] == 1
        with sqlite3.connect(path, isolation_level=None) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            keep(client, kind="answer", text="The second answer.")
            lock.execute("ROLLBACK")
        running.site.store.flush()
        assert client.get("/v1/verdicts").json()["total"] == 2


def test_a_lost_database_is_a_503_and_loses_nothing(postgres: PostgresServer, home: Callable[[], None]) -> None:
    home()
    with serving(postgres.database()) as running, running.client() as client:
        keep(client, kind="answer", text="The first answer.")
        assert client.get("/healthz").status_code == 200
        postgres.stop()
        try:
            kept = keep(client, kind="answer", text="The second answer.")
            assert client.get("/v1/verdicts").status_code == 503
            assert client.get("/").status_code == 503
        finally:
            postgres.start()
        assert client.get(f"/v1/verdicts/{kept['id']}").json()["text"] == "The second answer."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setenv("XDG_STATE_HOME", os.fspath(tmp_path / "state"))
