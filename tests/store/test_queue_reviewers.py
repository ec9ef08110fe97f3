"""Many reviewers at one queue: who gets which item, for how long, and what each may see and take back."""

import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, insert, update
from sqlalchemy.exc import IntegrityError
from tests.store.queues import RIGHT, WRONG, Clock, answer, opened

from toolvet.errors import StoreError, UsageError
from toolvet.store.tables.queue import QUEUE_ITEMS, QUEUE_LABELS, QUEUE_PLACES


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
