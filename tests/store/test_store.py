"""The store, on SQLite and on PostgreSQL: what is added is kept, found and added up."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import text
from tests.store.postgres import PostgresServer

from toolvet import check_answer, check_arguments, check_envelope, check_result
from toolvet.core.json_value import elements, members
from toolvet.errors import StoreError, UsageError
from toolvet.store import FigureFilter, Store, VerdictFilter, VerdictRecord
from toolvet.store.audit import read_entries
from toolvet.store.database import open_engine
from toolvet.store.inserting import insert_records
from toolvet.store.records import EventRecord, SignalRecord, encode_document, encode_lines, new_id
from toolvet.store.retention import Retention

AT = 1_795_357_000.0
TOOL = {"name": "find_book", "inputSchema": {"type": "object", "required": ["title"]}}
REFUSAL = "I cannot help with that request."
NOT_FOUND = {"isError": True, "content": [{"type": "text", "text": "Book not found"}]}


def call(number: int, **more: Any) -> VerdictRecord:
    at = more.pop("at", AT + number)
    return VerdictRecord(id=new_id(at), at=at, kind="call", server="books", tool="find_book", outcome="success", **more)


def fill(store: Store) -> None:
    """One verdict of each kind."""
    store.add(check_arguments(TOOL, {}, trace="turn-1"), tool="find_book", server="books", at=AT)
    result = check_result(TOOL, {}, NOT_FOUND, trace="turn-1")
    store.add(result, tool="find_book", server="books", at=AT + 1, duration=0.2)
    store.add(check_envelope({"success": True}), tool="find_book", server="books", at=AT + 2)
    store.add(check_answer(REFUSAL, trace="turn-1"), text=REFUSAL, model="m1", variant="a", at=AT + 3)


def test_every_verdict_of_the_library_can_be_added_and_is_found_again(url: str) -> None:
    with Store(url) as store:
        fill(store)
        kinds = [verdict.kind for verdict in store.verdicts(order="oldest")]
        assert kinds == ["arguments", "result", "envelope", "answer"]
        (answer,) = store.verdicts(VerdictFilter(kind="answer"))
        assert (answer.score, answer.escalate, answer.text, answer.trace) == (0.25, True, REFUSAL, "turn-1")
        assert store.verdict(answer.id) == answer
        assert store.verdict("none") is None
        assert [verdict.kind for verdict in store.turn("turn").verdicts] == ["arguments", "result", "answer"]
        assert [turn.trace for turn in store.latest_turns()] == ["turn-1"]
        assert answer.detail["action"] == "route"


@pytest.mark.parametrize(
    ("wanted", "kinds"),
    [
        (VerdictFilter(signal="refusal"), ["answer"]),
        (VerdictFilter(signal="required"), ["arguments"]),
        (VerdictFilter(tool="find_book", failed=True), ["arguments", "result", "envelope"]),
        (VerdictFilter(escalated=True), ["answer"]),
        (VerdictFilter(escalated=False), ["arguments", "result", "envelope"]),
        (VerdictFilter(min_score=0.5), ["result"]),
        (VerdictFilter(max_score=0.3, kind="answer"), ["answer"]),
        (VerdictFilter(since=AT + 1, until=AT + 3), ["result", "envelope"]),
        (VerdictFilter(model="m1"), ["answer"]),
        (VerdictFilter(variant="b"), []),
        (VerdictFilter(text="cannot help"), ["answer"]),
        (VerdictFilter(text="HELP requ"), ["answer"]),
        (VerdictFilter(text="rejected book"), ["result"]),
        (VerdictFilter(text="'; drop -- \" OR ("), []),
        (VerdictFilter(text="…"), ["arguments", "result", "envelope", "answer"]),
        (VerdictFilter(state="not_found"), ["result"]),
        (VerdictFilter(blocked=True), []),
        (VerdictFilter(trace="turn-1"), ["arguments", "result", "answer"]),
    ],
)
def test_a_filter_finds_what_it_says(url: str, wanted: VerdictFilter, kinds: Sequence[str]) -> None:
    with Store(url) as store:
        fill(store)
        assert [verdict.kind for verdict in store.verdicts(wanted, order="oldest")] == list(kinds)
        assert store.count(wanted) == len(kinds)


def test_a_script_without_blanks_is_found_inside_its_sentences(url: str) -> None:
    with Store(url) as store:
        store.add_records([call(1, text="本を見つけられませんでした"), call(2, text="nothing")])
        assert store.count(VerdictFilter(text="見つけ")) == 1


def test_pages_follow_each_other_in_every_order(url: str) -> None:
    with Store(url) as store:
        store.add_records([call(number, score=number % 7 / 7, duration=float(number)) for number in range(25)])
        for order in ("newest", "oldest"):
            found: list[VerdictRecord] = []
            while page := store.verdicts(
                limit=10,
                order=order,
                after=found[-1].seq if found and order == "oldest" else None,
                before=found[-1].seq if found and order == "newest" else None,
            ):
                found += page
            assert len({verdict.id for verdict in found}) == len(found) == 25
        assert store.verdicts(order="slowest", limit=1)[0].duration == 24
        assert store.verdicts(order="lowest_score", limit=1, offset=24)[0].score == pytest.approx(6 / 7)


def test_texts_that_databases_refuse_are_kept_in_another_form(url: str) -> None:
    odd = "NUL \x00, half a pair \ud800, 𝄞, '\"; DROP TABLE verdicts"
    with Store(url) as store:
        store.add_records([call(1, text=odd, reason=odd, document=encode_document({"said": odd, "big": 10**400}))])
        store.add(check_answer(odd), text=odd)
        assert store.flush()
        first = store.verdicts(order="oldest")[0]
    assert first.text == "NUL �, half a pair ?, 𝄞, '\"; DROP TABLE verdicts"
    assert "said" in first.detail


def test_an_id_that_databases_refuse_is_found_again(url: str) -> None:
    with Store(url) as store:
        for _ in range(2):
            store.add_records([VerdictRecord(id="\x00", at=1.0, kind="call")])
            assert store.flush()
        found = store.verdict("\x00")
        assert len(store.verdicts()) == 1
    assert found is not None
    assert found.kind == "call"


def test_secrets_and_long_calls_do_not_reach_the_store(url: str, tmp_path: Path) -> None:
    said = "The password=hunter2-in-clear was refused."
    calls = [{"name": "log_in", "arguments": {"password": "hunter2-in-clear"}, "result": "x" * 500_000}]
    with Store(url) as store:
        store.add(check_answer(said, calls=calls), text=said, calls=calls, question="Is hunter2-in-clear right?")
        (answer,) = store.verdicts()
    assert answer.text == "The password=[redacted] was refused."
    (kept,) = elements(answer.detail["calls"])
    assert members(kept)["arguments"] == {"password": "[redacted]"}
    assert str(members(kept)["result"]).endswith("(cut)")
    assert "hunter2" not in bytes(answer.document).decode()
    assert b"hunter2" not in b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_what_is_no_verdict_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "verdicts.db") as store, pytest.raises(TypeError, match="not dict"):
        store.add({"score": 1})


def test_an_assessment_is_kept_with_its_report(url: str) -> None:
    report = {
        "schema": "toolvet-report/1",
        "server": {"name": "books", "command": "uvx books"},
        "score": 87.5,
        "status": "partially_working",
        "summary": {"findings": {"error": 2, "warning": 1}},
        "started_at": "2026-11-22T14:16:40+00:00",
    }
    with Store(url) as store:
        store.add(report)
        (kept,) = store.assessments("books")
        assert store.assessments("other") == []
    assert (kept.score, kept.status, kept.counts) == (87.5, "partially_working", {"error": 2, "warning": 1})
    assert kept.detail == report
    assert kept.at == AT


def test_the_overview_is_the_sum_of_what_was_added(url: str) -> None:
    with Store(url) as store:
        fill(store)
        store.add_records([call(60 * minute, duration=0.01 * (minute + 1)) for minute in range(200)])
        everything = store.overview()
        assert everything.total.verdicts == store.count() == 204
        assert (everything.total.failed, everything.total.escalated) == (3, 1)
        assert everything.kinds["answer"].average_score == 0.25
        assert [(tool.server, tool.tool, tool.figures.verdicts) for tool in everything.tools] == [
            ("books", "find_book", 203)
        ]
        assert {issue.type: issue.verdicts for issue in everything.issues}["refusal"] == 1
        begin, end = AT // 60 * 60 + 600, AT // 60 * 60 + 9000
        part = store.overview(FigureFilter(since=begin, until=end, kind="call"))
        assert part.total.verdicts == store.count(VerdictFilter(since=begin, until=end, kind="call"))
        trend = store.trend(FigureFilter(kind="call"), seconds=3600)
        assert sum(point.figures.verdicts for point in trend) == 200
        assert [point.seconds for point in trend] == [3600] * len(trend)
        assert [group.model for group in store.groups(("model", "variant")) if group.model] == ["m1"]
        calls = everything.kinds["call"]
        assert calls.duration_max == pytest.approx(2.0)
        assert calls.percentile(0.5) == 1.0


def test_the_same_lines_twice_are_counted_once(url: str) -> None:
    records = [call(number, signals=(SignalRecord("x"),)) for number in range(10)]
    with Store(url) as store:
        store.add_records(records)
        assert store.flush()
        store.add_records([*records, call(99)])
        assert store.flush()
        assert store.count() == store.overview().total.verdicts == 11
        assert store.overview().issues[0].verdicts == 10


def test_threads_write_and_read_at_once(url: str) -> None:
    with Store(url) as store:

        def work(start: int) -> None:
            for number in range(start, start + 50):
                store.add_records([call(number)])
                if number % 10 == 0:
                    store.count()

        threads = [threading.Thread(target=work, args=(start,)) for start in range(0, 400, 50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.flush(60)
        assert store.count() == 400


WRITER = """
import sys, os
from toolvet.store import Store, VerdictRecord
from toolvet.store.records import new_id
store = Store(sys.argv[1])
for number in range(100000):
    store.add_records([VerdictRecord(id=new_id(), at=float(number), kind="call", request_id=str(number))])
    os.write(1, b"%d\\n" % number)
"""


@pytest.mark.parametrize("lines", [1, 300, 3000])
def test_what_was_acknowledged_before_a_kill_is_there(url: str, lines: int) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    last = b""
    for _ in range(lines):
        last = writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    rest = writer.stdout.read().splitlines(keepends=True)
    writer.wait()
    writer.stdout.close()
    acknowledged = int([line for line in [last, *rest] if line.endswith(b"\n")][-1])
    with Store(url) as store:
        kept = {int(call.request_id or -1) for call in store.verdicts(limit=200_000)}
        assert store.overview().total.verdicts == len(kept)
    assert kept >= set(range(acknowledged + 1))


def test_half_a_line_in_the_spool_is_left_out(url: str) -> None:
    folder = Store(url).address.spool
    folder.mkdir(parents=True)
    (folder / "0-1.jsonl").write_bytes(encode_lines([call(1), call(2)]) + b'{"type":"verdict","id":"')
    with Store(url) as store:
        assert store.count() == 2
    assert not folder.exists()


def test_the_files_are_for_their_owner_alone(url: str) -> None:
    with Store(url) as store:
        store.add_records([call(1)])
        spool = store.address.spool
        assert spool.stat().st_mode & 0o777 == 0o700
        assert {file.stat().st_mode & 0o777 for file in spool.iterdir()} == {0o600}
        assert store.flush()
        if store.address.path is not None:
            assert store.address.path.stat().st_mode & 0o777 == 0o600


def test_an_export_becomes_the_same_store_again(url: str, tmp_path: Path) -> None:
    with Store(url) as store:
        fill(store)
        store.add_records([EventRecord(id=new_id(), at=AT, kind="list_failed", message="no answer")])
        for name in ("all.jsonl", "all.parquet"):
            if name.endswith(".parquet"):
                pytest.importorskip("pyarrow")
            assert list(store.export(tmp_path / name))[-1] >= 4
            with Store(tmp_path / f"{name}.db") as copy:
                list(copy.take_in(tmp_path / name))
                list(copy.take_in(tmp_path / name))
                there = [msgspec.structs.replace(each, seq=0) for each in copy.verdicts(order="oldest")]
                here = [msgspec.structs.replace(each, seq=0) for each in store.verdicts(order="oldest")]
                assert [bytes(each.document) for each in there] == [bytes(each.document) for each in here]
                bare = [msgspec.structs.replace(each, document=msgspec.Raw(b"")) for each in there]
                assert bare == [msgspec.structs.replace(each, document=msgspec.Raw(b"")) for each in here]
                assert copy.overview() == store.overview()
                assert copy.events() == store.events()


def test_what_the_hourly_retention_deletes_stands_in_the_audit_log(url: str) -> None:
    with Store(url) as store, store.connect() as connection:
        # Verdicts of 2001, which the store received before its retention was set.
        insert_records(connection, [msgspec.structs.replace(call(number), at=1e9) for number in range(3)])
    with Store(url, older_than="52w") as store:
        store._tidy()
        store._tidy()
        deeds = [(entry.who, entry.target) for entry in read_entries(store, action="delete")]
        assert store.count() == 0
    assert deeds == [("", "3 verdicts, 0 events, 0 assessments: past what the settings keep")]


def test_old_verdicts_go_and_the_sums_of_hours_stay(url: str) -> None:
    with Store(url) as store:
        store.add_records([call(number, text=f"word{number}", signals=(SignalRecord("x"),)) for number in range(3000)])
        new = call(0, at=AT + 10**9, text="word0 new")
        store.add_records([new])
        assert store.flush(60)
        from toolvet.store.retention import prune  # noqa: PLC0415 - with a clock of its own

        engine = open_engine(store.address)
        pruned = prune(engine, Retention(older_than=3600.0), now=AT + 10**9)
        engine.dispose()
        assert pruned.verdicts == 3000
        assert [each.id for each in store.verdicts()] == [new.id]
        assert store.count(VerdictFilter(text="word0")) == 1
        assert store.count(VerdictFilter(text="word7")) == 0
        assert store.overview().total.verdicts == 3001
        assert store.health().problems == ()


def test_a_store_deletes_by_itself_what_it_is_told_not_to_keep(url: str) -> None:
    with Store(url) as store:
        store.add_records([call(number, at=1e9 + number) for number in range(10)])
    said: list[str] = []
    with Store(url, older_than="52w", complain=said.append) as store:
        new = call(0, at=datetime.now(UTC).timestamp())
        store.add_records([new])
        assert store.flush(60)
        # Old rows go after new ones were moved; the second flush comes after that.
        assert store.flush(60)
        assert [each.id for each in store.verdicts()] == [new.id]
    assert said == []


def test_the_oldest_verdicts_make_room(url: str) -> None:
    with Store(url) as store:
        store.add_records([call(number, text=os.urandom(600).hex()) for number in range(4000)])
        assert store.flush(60)
        before = store.health().bytes
        pruned = store.prune(Retention(max_bytes=before // 2))
        assert 0 < pruned.verdicts < 4000
        assert pruned.bytes_after <= before // 2
        assert store.verdicts(limit=1)[0].at == AT + 3999


def test_a_lost_server_loses_nothing(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    said: list[str] = []
    with Store(postgres.database(), complain=said.append) as store:
        store.add_records([call(1)])
        assert store.flush(30)
        postgres.stop()
        try:
            store.add_records([call(2)])
            assert not store.flush(1)
            with pytest.raises(StoreError):
                store.count()
        finally:
            postgres.start()
        assert store.flush(60)
        assert store.count() == 2
    assert any("connect" in words for words in said)


def test_a_store_of_a_later_release_is_left_alone(url: str) -> None:
    with Store(url) as store:
        store.count()
        with store.connect() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with Store(url) as store, pytest.raises(StoreError, match="later release"):
        store.count()


def test_a_url_of_another_database_is_refused_and_a_password_never_shown(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="PostgreSQL"):
        Store("mysql://ann:secret@db/verdicts")
    store = Store("postgresql://ann:secret@localhost:1/verdicts?password=alsosecret")
    assert "secret" not in store.address.shown
    store.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_an_export_is_for_its_owner_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    (tmp_path / name).chmod(0o666)
    with Store(tmp_path / "a.db") as store:
        list(store.export(tmp_path / name))
        list(store.export(tmp_path / f"new-{name}"))
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / f"new-{name}").stat().st_mode & 0o777 == 0o600
