"""A review queue of a store with some answers, and a clock that is set by hand."""

from collections.abc import Iterator
from contextlib import contextmanager

from toolvet.store import Store, VerdictRecord
from toolvet.store.queue import ReviewQueue
from toolvet.store.queue_records import ReviewLabel
from toolvet.store.records import new_id

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
    """A queue with some number of items."""
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
