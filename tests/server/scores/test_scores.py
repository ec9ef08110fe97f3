"""Verdicts as scores, whatever the platform: in batches, once, and by one process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.server.scores.scoring import AT, fill

from toolvet.errors import StoreError, UnreachableError, UsageError
from toolvet.server.scores import Sending, platform, send_scores
from toolvet.server.scores.platform import Score
from toolvet.store import Store, VerdictFilter, VerdictRecord, score_sends
from toolvet.store.retention import Retention


class Pretend:
    """A platform of the test's own, which takes scores on command."""

    def __init__(self) -> None:
        self.place = "pretend here"
        self.complaints: list[str] = []
        self.batches: list[list[str]] = []

    def accepts(self, score: Score) -> bool:
        return score.trace is not None

    def send(self, scores: Any) -> frozenset[str]:
        self.batches.append([score.id for score in scores])
        return frozenset(self.batches[-1])


def pretended(sender: Pretend) -> Any:
    from toolvet.server.scores.platform import Destination  # noqa: PLC0415

    @contextmanager
    def opened() -> Iterator[Pretend]:
        yield sender

    return Destination("Pretend", opened, "a trace")


def test_many_verdicts_go_in_batches_and_what_a_filter_leaves_out_is_sent_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    sender = Pretend()
    with Store(tmp_path / "v.db") as store:
        store.add_records(
            [VerdictRecord(id=f"{number:032x}", at=AT + number, kind="answer", trace="t") for number in range(450)]
        )
        late = list(send_scores(store, pretended(sender), VerdictFilter(since=AT + 200)))
        assert [state.sent for state in late] == [0, 200, 250]
        assert list(send_scores(store, pretended(sender)))[-1].sent == 200
        assert len({each for batch in sender.batches for each in batch}) == 450
        # A verdict that was deleted takes what is known of it along.
        store.prune(Retention(older_than=1.0, max_bytes=None))
        with store.reading() as connection:
            from toolvet.store.tables.score_sends import SCORE_SENDS  # noqa: PLC0415

            assert connection.execute(SCORE_SENDS.select()).fetchall() == []


def test_a_batch_that_fails_leaves_what_was_sent_before_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    class Failing(Pretend):
        def send(self, scores: Any) -> frozenset[str]:
            if len(self.batches) == 1:
                raise UnreachableError("down")
            return super().send(scores)

    failing, whole = Failing(), Pretend()
    with Store(tmp_path / "v.db") as store:
        store.add_records(
            [VerdictRecord(id=f"{number:032x}", at=AT + number, kind="answer", trace="t") for number in range(450)]
        )
        with pytest.raises(UnreachableError):
            list(send_scores(store, pretended(failing)))
        assert list(send_scores(store, pretended(whole)))[-1].sent == 250
    assert not {*failing.batches[0]} & {each for batch in whole.batches for each in batch}


def test_looking_sends_nothing_and_notes_nothing(store: Store) -> None:
    sender = Pretend()
    (*_, last) = send_scores(store, pretended(sender), only_look=True)
    assert (last.total, last.sent, last.left_out, sender.batches) == (3, 0, 1, [])
    assert list(send_scores(store, pretended(sender)))[-1].sent == 2


def test_a_store_of_lines_cannot_remember(tmp_path: Path) -> None:
    with Store(tmp_path / "v.jsonl") as store:
        fill(store)
        with pytest.raises(UsageError, match="import"):
            list(send_scores(store, pretended(Pretend())))


def test_two_processes_do_not_send_to_one_place_at_a_time(store: Store) -> None:
    sender = Pretend()
    first = send_scores(store, pretended(sender))
    next(first)
    with pytest.raises(StoreError, match=r"another process is sending verdicts of .* to pretend here"):
        sent_by(store, Pretend())
    # Looking sends nothing, and another place is another matter.
    assert list(send_scores(store, pretended(Pretend()), only_look=True))[-1].total == 3
    elsewhere = Pretend()
    elsewhere.place = "pretend there"
    assert sent_by(store, elsewhere).sent == 2
    assert list(first)[-1].sent == 2
    assert sent_by(store, Pretend()).total == 1


def test_a_claim_ends_with_its_process_or_in_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Pretend):
        def send(self, scores: Any) -> frozenset[str]:  # noqa: ARG002 - as the others have it
            raise UnreachableError("the network is down")

    with pytest.raises(UnreachableError):
        sent_by(store, Broken())
    # A process that was killed never lets go.
    with store.connect() as connection:
        assert score_sends.claim(connection, "pretend here", "killed", 1000.0, 1300.0)
        assert not score_sends.claim(connection, "pretend here", "other", 1299.0, 1599.0)
    monkeypatch.setattr("toolvet.server.scores.platform.time.time", lambda: 1299.0)
    with pytest.raises(StoreError):
        sent_by(store, Pretend())
    monkeypatch.setattr("toolvet.server.scores.platform.time.time", lambda: 1300.0)
    assert sent_by(store, Pretend()).sent == 2


def test_who_lost_its_claim_stops_before_the_next_batch(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "_BATCH", 1)
    now = 1000.0
    monkeypatch.setattr("toolvet.server.scores.platform.time.time", lambda: now)
    sender = Pretend()
    run = send_scores(store, pretended(sender))
    next(run)
    next(run)
    now += platform.CLAIM_SECONDS
    other = Pretend()
    taking = send_scores(store, pretended(other))
    next(taking)
    with pytest.raises(StoreError, match="another process"):
        next(run)
    assert list(taking)[-1].sent == 1
    assert [len(each.batches) for each in (sender, other)] == [1, 1]


def sent_by(store: Store, sender: Pretend) -> Sending:
    return list(send_scores(store, pretended(sender)))[-1]
