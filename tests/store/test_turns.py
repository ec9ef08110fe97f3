"""Turns of a record: the proxy's calls and the answer that was handed in later, under one id."""

import sqlite3
import stat
from pathlib import Path

import pytest
from tests.proxy.notes import ORIGIN, Conversation, text

from toolvet import AnswerQuality, check_answer
from toolvet.errors import StoreError, UsageError
from toolvet.proxy.record.recording import Recording, recorder_of
from toolvet.store import RecordedTurn, Store

TRACE = "0af7651916cd43dd8448eb211c80319c"
META = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


def record_answer(path: Path | str, quality: AnswerQuality, text: str | None = None) -> None:
    with Store(path) as store:
        store.add(quality, text=text)


def read_turn(path: Path, trace: str) -> RecordedTurn:
    with Store(path, missing="refuse") as store:
        return store.turn(trace)


def latest_turns(path: Path) -> list[RecordedTurn]:
    with Store(path, missing="refuse") as store:
        return store.latest_turns()


names = pytest.mark.parametrize("name", ["calls.db", "calls.jsonl"])


def recorded(path: Path) -> Path:
    """A record of one turn of two calls, and another call."""
    conversation = Conversation()
    conversation.call({"titel": "Emma"}, meta=META)
    conversation.call({"title": "Emma"}, text("Book not found", isError=True), id=2, meta=META)
    conversation.call({"title": "Emma"}, id=3)
    with recorder_of(Recording(store=path)) as recorder:
        for note in conversation.notes:
            recorder.take(ORIGIN, note)
    return path


@names
def test_a_turn_is_its_calls_and_the_answer_that_came_later(tmp_path: Path, name: str) -> None:
    path = recorded(tmp_path / name)
    record_answer(
        path, check_answer("I cannot help with that request.", trace=TRACE), "I cannot help with that request."
    )
    turn = read_turn(path, TRACE)
    assert [call.outcome for call in turn.calls] == ["refused", "tool_error"]
    (answer,) = turn.answers
    assert (answer.score, answer.escalate, answer.text) == (0.25, True, "I cannot help with that request.")
    assert turn.verdicts[-1] is answer
    assert [found.trace for found in latest_turns(path)] == [turn_of_third(path), TRACE]


def turn_of_third(path: Path) -> str:
    (other,) = [found.trace for found in latest_turns(path) if found.trace != TRACE]
    return other


@names
def test_the_beginning_of_an_id_is_enough_where_it_is_the_only_one(tmp_path: Path, name: str) -> None:
    path = recorded(tmp_path / name)
    record_answer(path, check_answer("It is the first of two.", trace="turn-1"))
    record_answer(path, check_answer("It is the second of two.", trace="turn-10"))
    assert read_turn(path, TRACE[:6]).trace == TRACE
    assert read_turn(path, "turn-1").trace == "turn-1"
    with pytest.raises(UsageError, match="2 turns begin with 'turn-': turn-1"):
        read_turn(path, "turn-")
    with pytest.raises(UsageError, match="no turn whose id is or begins with 'zzz'"):
        read_turn(path, "zzz")


@names
def test_an_answer_can_begin_a_record_without_its_text_and_without_secrets(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    said = "I cannot help: the password=hunter2-in-clear was refused."
    record_answer(str(path), check_answer(said, trace="a"))
    record_answer(str(path), check_answer(said, trace="b"), said)
    assert read_turn(path, "a").answers[0].text is None
    assert "[redacted]" in (read_turn(path, "b").answers[0].text or "")
    assert b"hunter2" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@names
def test_reading_creates_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="there is no such store"):
        read_turn(tmp_path / name, "a")
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_file_is_not_a_record(tmp_path: Path) -> None:
    (tmp_path / "foreign.db").write_bytes(b"not SQLite, but long enough to be taken for something else" * 20)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (x)").connection.close()
    for name in ("foreign.db", "other.db"):
        with pytest.raises(StoreError, match="not a"):
            read_turn(tmp_path / name, "a")


def test_half_a_line_is_left_out(tmp_path: Path) -> None:
    path = recorded(tmp_path / "calls.jsonl")
    with path.open("ab") as lines:
        lines.write(b'{"type": "verdict", "at": 1, "trace": "' + TRACE.encode() + b"\n")
    assert len(read_turn(path, TRACE).calls) == 2
