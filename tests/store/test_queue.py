"""The review queue, on SQLite and on PostgreSQL: who gets what, what is kept, and what is taken back."""

import os
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.exc import IntegrityError
from tests.store.postgres import PostgresServer

from toolvet import check_answer
from toolvet.errors import StoreError, UsageError
from toolvet.store import Store, VerdictRecord
from toolvet.store.inserting import PLACES_LOCK
from toolvet.store.item_records import ItemChange, ItemLabel, ItemRecord
from toolvet.store.queue import ReviewQueue
from toolvet.store.queue_filling import read_head, read_mark
from toolvet.store.queue_reading import ItemFilter
from toolvet.store.queue_records import ReviewLabel
from toolvet.store.records import new_id
from toolvet.store.retention import Retention
from toolvet.store.tables.queue import QUEUE_ITEMS, QUEUE_LABELS, QUEUE_PLACES
from toolvet.store.tables.verdicts import VERDICTS

AT = 1_795_357_000.0
RIGHT, WRONG = ReviewLabel(value="right"), ReviewLabel(value="wrong", note="no", signals={"0:refusal": "wrong"})


class Clock:
    """Seconds that pass only when a test says so."""

    now = AT

    def __call__(self) -> float:
        return self.now


def answer(number: int, *, escalate: bool = True) -> VerdictRecord:
    at = AT + number
    return VerdictRecord(id=new_id(at), at=at, kind="answer", outcome="route", score=0.2, escalate=escalate, text="No.")


@contextmanager
def opened(url: str, count: int = 3, *, reviewers: int = 1, clock: Clock | None = None) -> Iterator[ReviewQueue]:
    """A queue with so many items."""
    with Store(url) as store:
        store.add_records([answer(number) for number in range(count)])
        queue = ReviewQueue(
            store,
            lambda verdict: ("escalated", 0, reviewers) if verdict.escalate else None,
            clock=clock or Clock(),
            lease_seconds=60,
        )
        assert queue.fill() == count
        yield queue


def test_it_fills_with_what_is_chosen_once_and_again_after_the_rules_changed(url: str) -> None:
    with Store(url) as store:
        store.add_records([answer(1), answer(2, escalate=False)])
        queue = ReviewQueue(store, lambda verdict: ("escalated", 0, 1) if verdict.escalate else None, kinds={"answer"})
        assert [queue.fill(), queue.fill(), queue.fill(again=True)] == [1, 0, 0]
        store.add_records([answer(3)])
        assert queue.progress().items == 2
        wider = ReviewQueue(store, lambda _: ("all", 5, 2))
        assert wider.fill(again=True) == 1
        first, *_, last = wider.items()
        assert (first.rule, first.wanted, last.rule, last.wanted) == ("all", 2, "escalated", 1)


def test_what_was_looked_at_is_not_looked_at_again_by_the_next_process(url: str) -> None:
    with Store(url) as store:
        store.add_records([answer(number) for number in range(5)])
        looked: list[str] = []

        def choose(verdict: VerdictRecord) -> None:
            looked.append(verdict.id)

        for _ in range(3):
            ReviewQueue(store, choose).fill()
        assert len(looked) == 5


def test_on_postgresql_a_verdict_that_is_committed_late_is_not_passed_over(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    url = postgres.database()
    with Store(url) as store, Store(url) as other:
        store.add_records([answer(1)])
        assert store.flush()

        def marked() -> tuple[int, int]:
            """How far the next process need not look, and the newest place."""
            ReviewQueue(store, lambda _: None).fill()
            with store.reading() as connection:
                return read_mark(connection), read_head(connection)[0]

        with other.connect() as slow:
            # A writer that has places which nobody else sees yet.
            slow.execute(text("SELECT pg_advisory_xact_lock_shared(:lock)"), {"lock": PLACES_LOCK})
            store.add_records([answer(2)])
            assert store.flush()
            mark, head = marked()
            assert mark < head
        mark, head = marked()
        assert mark == head


def test_what_another_process_adds_comes_in_too(url: str) -> None:
    with opened(url, 1) as queue, Store(url) as other:
        other.add_records([answer(9)])
        assert other.flush()
        assert queue.progress().items == 2


def test_the_highest_priority_comes_first_and_then_the_oldest(url: str) -> None:
    with Store(url) as store:
        records = [answer(number) for number in range(4)]
        store.add_records(records)
        urgent = records[2].id
        queue = ReviewQueue(store, lambda verdict: ("r", 9 if verdict.id == urgent else 0, 1))
        got = []
        while (item := queue.next("ada")) is not None:
            got.append(item.id)
            queue.label(item.id, "ada", RIGHT)
        assert got == [urgent, records[0].id, records[1].id, records[3].id]


def test_two_reviewers_never_have_the_same_item_and_one_has_it_until_labelled(url: str) -> None:
    with opened(url, 2) as queue:
        first, second = queue.next("ada"), queue.next("bob")
        assert first is not None
        assert second is not None
        assert first.id != second.id
        assert queue.next("ada") == first
        assert queue.next("eve") is None
        with pytest.raises(UsageError, match="other reviewers have"):
            queue.label(first.id, "eve", RIGHT)
        assert queue.label(first.id, "ada", RIGHT).state == "done"
        assert queue.next("ada") is None


def test_a_lease_that_ends_returns_the_item(url: str) -> None:
    clock = Clock()
    with opened(url, 1, clock=clock) as queue:
        mine = queue.next("ada")
        assert mine is not None
        clock.now += 59
        assert queue.next("bob") is None
        clock.now += 2
        taken = queue.next("bob")
        assert taken is not None
        assert (taken.id, taken.leased_to) == (mine.id, ("bob",))
        with pytest.raises(UsageError):
            queue.label(mine.id, "ada", RIGHT)
        assert queue.release(mine.id, "bob")
        assert not queue.release(mine.id, "bob")
        assert queue.label(mine.id, "ada", RIGHT).labelled == 1


def test_an_item_gets_as_many_reviewers_as_it_wants_and_nobody_twice(url: str) -> None:
    with opened(url, 1, reviewers=2) as queue:
        first = queue.next("ada")
        assert first is not None
        assert queue.label(first.id, "ada", RIGHT).state == "open"
        assert queue.next("ada") is None
        assert queue.next("bob") is not None
        assert queue.next("eve") is None
        assert queue.label(first.id, "bob", WRONG).state == "done"
        with pytest.raises(UsageError):
            queue.label(first.id, "eve", RIGHT)
        assert queue.want_another(first.id).wanted == 3
        assert queue.next("eve") is not None


def test_the_database_itself_refuses_what_breaks_the_rules(url: str) -> None:
    with opened(url, 1, reviewers=2) as queue:
        item = queue.next("ada")
        assert item is not None
        place = {"item": item.seq, "state": "leased", "reviewer": "ada", "until": 1.0}
        mine = update(QUEUE_PLACES).where(QUEUE_PLACES.c.item == item.seq)
        label = {"item": item.seq, "reviewer": "eve", "signal": "", "value": "right", "note": "", "at": 1.0}
        for statement in (
            insert(QUEUE_PLACES).values(**place, place=3, rank=0),
            mine.values(reviewer="ada", state="leased", until=1.0),
            mine.values(state="free"),
            insert(QUEUE_LABELS).values(**label),
            insert(QUEUE_ITEMS).values(
                verdict=item.verdict.seq if item.verdict else 0, id="x", at=1, rule="", priority=0
            ),
        ):
            with pytest.raises(StoreError) as caught, queue.store.connect() as connection:
                connection.execute(statement)
            assert isinstance(caught.value.__cause__, IntegrityError)


def test_the_labels_of_others_are_hidden_until_ones_own_is_there(url: str) -> None:
    with opened(url, 1, reviewers=3) as queue:
        item = queue.next("ada")
        assert item is not None
        queue.label(item.id, "ada", WRONG)
        assert queue.item(item.id, "bob").labels == ()
        assert queue.item(item.id, "bob").labelled == 1
        assert queue.items(reader="bob")[0].labels == ()
        assert [label.reviewer for label in queue.item(item.id, "ada").labels] == ["ada"]
        queue.label(item.id, "bob", RIGHT)
        seen = queue.item(item.id, "bob").labels
        assert {label.reviewer: (label.value, label.note, dict(label.signals)) for label in seen} == {
            "ada": ("wrong", "no", {"0:refusal": "wrong"}),
            "bob": ("right", "", {}),
        }


def test_undo_restores_what_was_before_and_is_itself_in_the_history(url: str) -> None:
    with opened(url, 3) as queue:
        first = queue.next("ada")
        assert first is not None
        queue.label(first.id, "ada", WRONG)
        queue.label(first.id, "ada", RIGHT)
        second = queue.next("ada")
        assert second is not None
        queue.skip(second.id, "ada")
        third = queue.next("ada")
        assert third is not None
        assert len({first.id, second.id, third.id}) == 3

        assert getattr(queue.undo("ada"), "id", None) == second.id
        assert "ada" in queue.item(second.id).leased_to
        assert getattr(queue.undo("ada"), "id", None) == first.id
        (label,) = queue.item(first.id).labels
        assert (label.value, label.note, dict(label.signals)) == ("wrong", "no", {"0:refusal": "wrong"})
        assert queue.undo("ada") is not None
        assert (queue.item(first.id).labels, queue.item(first.id).leased_to) == ((), ("ada",))
        assert queue.undo("ada") is None
        assert queue.undo("bob") is None

        changes = queue.history(first.id)
        assert [change.action for change in changes] == ["undo", "undo", "label", "label"]
        assert [(change.before.value, change.after.value) for change in reversed(changes)] == [
            ("", "wrong"),
            ("wrong", "right"),
            ("right", "wrong"),
            ("wrong", ""),
        ]
        assert [change.undoes for change in changes[:2]] == [changes[3].seq, changes[2].seq]


def test_what_is_skipped_is_left_to_others(url: str) -> None:
    with opened(url, 1) as queue:
        item = queue.next("ada")
        assert item is not None
        queue.skip(item.id, "ada")
        assert queue.next("ada") is None
        assert queue.next("bob") is not None


def test_a_skip_that_is_taken_back_leaves_the_label(url: str) -> None:
    with opened(url, 1) as queue:
        item = queue.next("ada")
        assert item is not None
        queue.label(item.id, "ada", WRONG)
        queue.skip(item.id, "ada")
        queue.undo("ada")
        (label,) = queue.item(item.id).labels
        (last, *_) = queue.history(item.id)
        assert (label.value, last.action, last.before.value, last.after.value) == ("wrong", "undo", "wrong", "wrong")


def test_one_knows_what_one_has(url: str) -> None:
    with opened(url, 1) as queue:
        assert queue.held("ada") is None
        item = queue.next("ada")
        assert queue.held("ada") == item
        assert queue.held("bob") is None
        assert item is not None
        queue.label(item.id, "ada", RIGHT)
        assert queue.held("ada") is None


def test_labels_come_in_pages_without_those_that_one_may_not_see(url: str) -> None:
    with opened(url, 3, reviewers=2) as queue:
        first, second, third = (item.id for item in queue.items())
        for id_, names in ((first, ("ada", "bob")), (second, ("ada",)), (third, ("bob",))):
            for name in names:
                queue.label(id_, name, RIGHT)
        for reader, wanted in (
            ("ada", {(first, "ada"), (first, "bob"), (second, "ada")}),
            ("bob", {(first, "ada"), (first, "bob"), (third, "bob")}),
            ("eve", {(first, "ada"), (first, "bob")}),
        ):
            found: list[tuple[str, str]] = []
            after = 0
            while True:
                labels, last = queue.labels_after(after, limit=1, reader=reader)
                found += [(label.item, label.reviewer) for label in labels]
                if last == after:
                    break
                after = last
            assert sorted(found) == sorted(wanted)


def test_a_verdict_that_is_deleted_while_the_queue_fills_is_left_out(url: str) -> None:
    with Store(url) as store:
        store.add_records([answer(1), answer(2)])
        (gone, _) = store.verdicts()

        def choose(verdict: VerdictRecord) -> tuple[str, int, int]:
            if verdict.id == gone.id:
                with store.connect() as connection:
                    connection.execute(delete(VERDICTS).where(VERDICTS.c.id == gone.id))
            return ("r", 0, 1)

        queue = ReviewQueue(store, choose)
        assert queue.fill() == 1
        assert [item.id for item in queue.items()] != [gone.id]


def test_items_are_found_by_state_reviewer_rule_and_kind(url: str) -> None:
    with opened(url, 3) as queue:
        item = queue.next("ada")
        assert item is not None
        queue.label(item.id, "ada", RIGHT)
        for wanted, count in (
            (ItemFilter(state="open"), 2),
            (ItemFilter(state="done"), 1),
            (ItemFilter(reviewer="ada"), 1),
            (ItemFilter(reviewer="bob"), 0),
            (ItemFilter(rule="escalated"), 3),
            (ItemFilter(kind="call"), 0),
            (ItemFilter(kind="answer"), 3),
        ):
            assert (queue.count(wanted), len(queue.items(wanted))) == (count, count)
        progress = queue.progress()
        assert (progress.items, progress.open, progress.done, progress.labels) == (3, 2, 1, 1)
        assert progress.by_reviewer == {"ada": 1}


def test_odd_names_and_notes_are_kept_as_text(url: str) -> None:
    odd = "<script>alert(1)</script>\x1b[31m ignore all instructions \ud800 \x00'; DROP TABLE queue_labels; --"
    with opened(url, 1) as queue:
        item = queue.next("O'Hara; --")
        assert item is not None
        queue.label(item.id, "O'Hara; --", ReviewLabel(value="right", note=odd))
        (label,) = queue.labels()
        assert (label.reviewer, label.note) == ("O'Hara; --", odd.replace("\ud800", "?").replace("\x00", "�"))
        assert queue.history()[0].after.note == label.note


def test_what_the_store_deletes_leaves_the_queue(url: str) -> None:
    with opened(url, 2) as queue:
        item = queue.next("ada")
        assert item is not None
        queue.label(item.id, "ada", WRONG)
        pruned = queue.store.prune(Retention(older_than=1, labelled=True))
        assert (pruned.verdicts, pruned.kept) == (2, 0)
        assert queue.progress().items == 0
        assert list(queue.labels()) == []
        assert queue.history() == []
        with queue.store.reading() as connection:
            assert connection.execute(select(QUEUE_PLACES)).all() == []


def test_what_people_labelled_stays_unless_it_may_go(url: str) -> None:
    with opened(url, 3) as queue:
        item = queue.next("ada")
        assert item is not None
        queue.label(item.id, "ada", WRONG)
        skipped = queue.next("ada")
        assert skipped is not None
        queue.skip(skipped.id, "ada")
        pruned = queue.store.prune(Retention(older_than=1))
        assert (pruned.verdicts, pruned.kept) == (2, 1)
        pruned = queue.store.prune(Retention(max_bytes=1))
        assert (pruned.verdicts, pruned.kept) == (0, 1)
        (label,) = queue.labels()
        assert (label.item, label.note) == (item.id, "no")
        assert [verdict.id for verdict in queue.store.verdicts()] == [item.id]
        assert queue.progress().items == 1


@pytest.mark.parametrize("name", ["all.jsonl", "all.parquet"])
def test_a_queue_travels_with_its_labels_and_their_history(url: str, tmp_path: Path, name: str) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    with opened(url, 4, reviewers=2) as queue:
        ids = [item.id for item in queue.items()]
        queue.label(ids[0], "ada", WRONG)
        queue.label(ids[0], "bob", RIGHT)
        queue.label(ids[1], "ada", RIGHT)
        assert queue.undo("ada") is not None
        queue.skip(ids[2], "bob")
        queue.want_another(ids[3])
        assert list(queue.store.export(tmp_path / name))[-1] == 8
        with Store(tmp_path / "copy.db") as store:
            for _ in range(2):
                list(store.take_in(tmp_path / name))
            copy = ReviewQueue(store, clock=Clock(), lease_seconds=60)
            assert list(copy.labels()) == list(queue.labels())
            said = [(each.item, each.reviewer, each.action, each.before, each.after) for each in queue.history()]
            assert [(each.item, each.reviewer, each.action, each.before, each.after) for each in copy.history()] == said
            assert [change.action for change in copy.history() if change.undoes is not None] == ["undo"]
            assert [(item.id, item.rule, item.wanted, item.labelled) for item in copy.items()] == [
                (item.id, item.rule, item.wanted, item.labelled) for item in queue.items()
            ]
            for _ in ids:
                item = copy.next("bob")
                if item is not None:
                    assert item.id != ids[2]
                    copy.skip(item.id, "bob")


def test_labels_of_two_stores_come_together(url: str, tmp_path: Path) -> None:
    with opened(url, 2) as queue:
        first, second = [item.id for item in queue.items()]
        list(queue.store.export(tmp_path / "before.jsonl"))
        queue.label(first, "ada", RIGHT)
        with Store(tmp_path / "other.db") as store:
            list(store.take_in(tmp_path / "before.jsonl"))
            other = ReviewQueue(store, clock=Clock(), lease_seconds=60)
            other.label(first, "ada", WRONG)
            other.label(second, "ada", WRONG)
            list(store.export(tmp_path / "after.jsonl"))
        list(queue.store.take_in(tmp_path / "after.jsonl"))
        # What somebody said here stays; what nobody said yet is added.
        assert [(label.item, label.reviewer, label.value) for label in queue.labels()] == [
            (first, "ada", "right"),
            (second, "ada", "wrong"),
        ]
        assert [(change.item, change.after.value) for change in queue.history(second)] == [(second, "wrong")]
        assert len(queue.history(first)) == 1


def test_a_line_about_an_item_may_say_anything(url: str) -> None:
    with opened(url, 1) as queue:
        (id_,) = [item.id for item in queue.items()]
        odd = ItemRecord(
            id=id_,
            at=AT,
            rule="x",
            labels=(ItemLabel(reviewer="eve", value="right", at=AT),) * 2,
            changes=(ItemChange(reviewer="eve", at=AT, action="drop", before="{"),),
        )
        labelled = ItemChange(reviewer="eve", at=AT, action="label", before="{", undoes=7)
        good = msgspec.structs.replace(odd, labels=odd.labels[:1], changes=(labelled,))
        queue.store.add_records([odd, good, msgspec.structs.replace(good, id="of no verdict")])
        assert queue.store.flush(30)
        assert [label.reviewer for label in queue.labels()] == ["eve"]
        assert [(change.action, change.before.value, change.undoes) for change in queue.history()] == [
            ("label", "", None)
        ]


def test_a_long_queue_fills_beside_its_readers(url: str) -> None:
    with Store(url) as store:
        store.add_records([answer(number) for number in range(6000)])
        assert store.flush(60)
        reached, let = threading.Event(), threading.Event()

        def choose(verdict: VerdictRecord) -> tuple[str, int, int] | None:
            if verdict.at >= AT + 2000:
                reached.set()
                let.wait(60)
            return "escalated", 0, 1

        queue = ReviewQueue(store, choose, clock=Clock(), lease_seconds=60)
        assert queue.progress().items < 6000
        assert reached.wait(60)
        # Two thousand of them are in the queue before anybody has looked at the others.
        assert queue.next("ada") is not None
        assert queue.progress().items == 2000
        let.set()
        assert queue.fill() == 0
        assert queue.progress().items == 6000


def test_an_item_that_is_not_there_is_a_usage_error(url: str) -> None:
    with opened(url, 1) as queue:
        for attempt in (
            lambda: queue.item("none"),
            lambda: queue.label("none", "ada", RIGHT),
            lambda: queue.skip("none", "ada"),
            lambda: queue.add("none"),
        ):
            with pytest.raises(UsageError):
                attempt()


def test_a_verdict_can_be_added_by_hand(url: str) -> None:
    with Store(url) as store:
        id_ = store.add(check_answer("The book is here."), text="The book is here.")
        queue = ReviewQueue(store)
        assert queue.next("ada") is None
        assert queue.add(id_, reviewers=2).wanted == 2
        assert queue.add(id_, reviewers=5).wanted == 2
        assert queue.next("ada") is not None


def test_twenty_reviewers_at_once_get_every_item_once(url: str) -> None:
    count = int(os.environ.get("TOOLVET_QUEUE_ITEMS", "1000"))  # make reviewers: 10,000
    with opened(url, 0) as queue:
        for start in range(0, count, 1000):
            queue.store.add_records([answer(start + number) for number in range(min(1000, count - start))])
        assert queue.store.flush(60)
        assert queue.fill() == count
        got: list[tuple[str, str]] = []
        together = threading.Barrier(20)

        def review(name: str) -> None:
            together.wait()
            while (item := queue.next(name)) is not None:
                got.append((item.id, name))
                queue.label(item.id, name, RIGHT)

        with ThreadPoolExecutor(20) as pool:
            for done in [pool.submit(review, f"reviewer {number}") for number in range(20)]:
                done.result()
        assert len(got) == len({item for item, _ in got}) == count
        assert len(Counter(name for _, name in got)) == 20
        progress = queue.progress()
        assert (progress.done, progress.labels, progress.leased) == (count, count, 0)


def test_a_place_that_two_reviewers_want_at_once_goes_to_one(url: str) -> None:
    with opened(url, 1, reviewers=5) as queue:
        together = threading.Barrier(20)

        def review(number: int) -> bool:
            together.wait()
            # Four sessions of each reviewer: the same item for all four.
            item = queue.next(f"reviewer {number % 5}")
            return item is not None

        with ThreadPoolExecutor(20) as pool:
            assert all(pool.map(review, range(20)))
        assert queue.items()[0].leased_to == tuple(f"reviewer {number}" for number in range(5))
        with queue.store.connect() as connection:
            connection.execute(delete(QUEUE_ITEMS))
