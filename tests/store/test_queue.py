"""The review queue, on SQLite and on PostgreSQL: how it fills, what is found in it, and what is kept."""

import threading
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import delete, select, text
from tests.store.postgres import PostgresServer
from tests.store.queues import AT, RIGHT, WRONG, Clock, answer, opened

from toolvet import check_answer
from toolvet.errors import UsageError
from toolvet.store import Store, VerdictRecord
from toolvet.store.inserting import PLACES_LOCK
from toolvet.store.queue import ReviewQueue, read_head, read_mark
from toolvet.store.queue_reading import ItemFilter
from toolvet.store.queue_records import QueueItem, ReviewLabel
from toolvet.store.records import ItemChange, ItemLabel, ItemRecord
from toolvet.store.retention import Retention
from toolvet.store.tables.queue import QUEUE_PLACES
from toolvet.store.tables.verdicts import VERDICTS


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
            # A writer with places that no other process sees yet.
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
        queue.label(ids[0], "eve", ReviewLabel(value="right", missed={"refusal": "No."}, final=True))
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
        # A label given here stays; a missing one is added.
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


def test_a_place_that_is_kept_for_a_person_goes_to_nobody_else(url: str) -> None:
    clock = Clock()
    with opened(url, clock=clock) as queue:
        first, second, third = (item.id for item in queue.items())
        queue.assign(third, "bob", who="ada")
        assert queue.count(ItemFilter(assigned="bob")) == 1
        assert taken(queue.next("bob")) == third
        # Not after the lease is over, either; what is skipped is free for others.
        clock.now += 61
        assert [taken(queue.next(name)) for name in ("ada", "eve")] == [first, second]
        assert queue.next("zoe") is None
        with pytest.raises(UsageError, match="other reviewers have"):
            queue.lease(third, "zoe")
        assert taken(queue.next("bob")) == third
        queue.skip(third, "bob")
        assert taken(queue.next("zoe")) == third
        # A second person gets a further place, and one who has a place keeps it.
        assert queue.assign(third, "bob", who="ada").wanted == 2
        assert queue.assign(third, "bob", who="ada").wanted == 2
        assert queue.assign(third, "zoe", who="ada").assigned == ("bob",)
        assert taken(queue.next("bob")) == third


def test_a_final_label_and_missed_faults_are_kept_and_taken_back(url: str) -> None:
    with opened(url, 1, reviewers=2) as queue:
        (item,) = queue.items()
        secret = "sk-proj-" + "a1B2" * 12
        queue.label(item.id, "ada", ReviewLabel(value="wrong", missed={"refusal": f"No. {secret}"}))
        with pytest.raises(UsageError, match="1 of 2 labels"):
            queue.label(item.id, "eve", ReviewLabel(value="right", final=True))
        queue.label(item.id, "bob", RIGHT)
        assert queue.count(ItemFilter(state="disputed")) == 1
        final = ReviewLabel(value="wrong", missed={"refusal": f"No. {secret}"}, final=True)
        settled = queue.label(item.id, "eve", final)
        assert settled.final is not None
        assert (settled.final.reviewer, settled.wanted, settled.is_disputed) == ("eve", 2, False)
        assert secret not in f"{settled}"
        assert settled.labels[0].missed.keys() == {"refusal"}
        assert [label.final for label in queue.labels()] == [False, False, True]
        assert queue.count(ItemFilter(state="disputed")) == 0
        queue.label(item.id, "eve", ReviewLabel(value="unsure", final=True))
        for value in ("wrong", None):
            undone = queue.undo("eve")
            assert undone is not None
            assert (undone.final.value if undone.final else None) == value
        assert queue.store.health().problems == ()


def taken(item: QueueItem | None) -> str:
    assert item is not None
    return item.id
