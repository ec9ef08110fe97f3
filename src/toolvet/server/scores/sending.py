"""`send_scores`: sends the verdicts of a store that a platform does not have yet, and remembers which."""

import secrets
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec

from toolvet.errors import StoreError, UsageError
from toolvet.server.scores.platform import Destination, Score, ScoreSender, score_of
from toolvet.store import Store, VerdictFilter, VerdictRecord
from toolvet.store.records import EVERYTHING
from toolvet.store.score_sends import claim, count_unsent, mark_sent, read_beginnings, read_unsent, release

_BATCH: Final = 200
CLAIM_SECONDS: Final = 300.0
"""How long a batch may take before another process may send; longer than the SDKs wait for an answer."""
_MOST_COMPLAINTS: Final = 5


class Sending(msgspec.Struct, frozen=True, kw_only=True):
    """How far it is.

    `sent` are in the place now, of `total` that it lacked. `left_out` cannot be tied to anything there; `waiting`
    belong to something that the place does not have yet, so the next run tries them again. `complaints` is what the
    place said of scores that it dropped.
    """

    place: str
    total: int
    sent: int = 0
    left_out: int = 0
    waiting: int = 0
    complaints: tuple[str, ...] = ()


def send_scores(
    store: Store, platform: Destination, wanted: VerdictFilter = EVERYTHING, *, only_look: bool = False
) -> Iterator[Sending]:
    """Send what a filter finds and the platform lacks, oldest first; yield after each batch.

    `only_look` sends nothing, and says what would be sent.

    Raises:
        UsageError: The SDK or a variable is missing, or the store is a file of lines, which remembers nothing.
        UnreachableError: The platform does not answer, or refuses. What was sent before stays noted.
        AuthenticationError: It wants other credentials.
        StoreError: The store cannot be read or written, or another process sends to the same place.
    """
    if store.address.kind == "lines":
        raise UsageError(
            f"{store.address.shown} cannot remember what was sent: read it into a database with `toolvet store import`"
        )
    with platform.open() as sender, _claimed(store, sender.place, only_look=only_look) as renew:
        place = sender.place
        with store.reading() as connection:
            state = Sending(place=place, total=count_unsent(connection, place, wanted))
        yield state
        after = 0
        while True:
            # Before the reading: what another process sent since then is not read.
            renew()
            with store.reading() as connection:
                records = read_unsent(connection, place, wanted, after=after, limit=_BATCH)
            if not records:
                break
            after = records[-1].seq
            scores = _scores(store, records)
            state = _send(store, sender, scores, state, only_look=only_look)
            yield state


@contextmanager
def _claimed(store: Store, place: str, *, only_look: bool) -> Generator[Callable[[], None]]:
    """Let no other process send to this place meanwhile: events have no id by which a collector knew them again.

    Yields what has to be called before each batch.
    """
    owner = secrets.token_hex(16)

    def renew() -> None:
        if only_look:
            return
        now = time.time()
        with store.connect() as connection:
            is_mine = claim(connection, place, owner, now, now + CLAIM_SECONDS)
        if not is_mine:
            raise StoreError(
                f"another process sends verdicts of {store.address.shown} to {place} now; what was killed meanwhile"
                f" stands in the way for at most {CLAIM_SECONDS / 60:.0f} minutes"
            )

    renew()
    try:
        yield renew
    finally:
        if not only_look:
            with store.connect() as connection:
                release(connection, place, owner)


def _scores(store: Store, records: Sequence[VerdictRecord]) -> list[Score]:
    traces = sorted({record.trace for record in records if record.trace is not None})
    with store.reading() as connection:
        began = read_beginnings(connection, traces)
    return [score_of(record, began.get(record.trace or "")) for record in records]


def _send(store: Store, sender: ScoreSender, scores: Sequence[Score], state: Sending, *, only_look: bool) -> Sending:
    usable = [score for score in scores if sender.accepts(score)]
    left_out = state.left_out + len(scores) - len(usable)
    if only_look or not usable:
        return msgspec.structs.replace(state, left_out=left_out)
    there = sender.send(usable)
    with store.connect() as connection:
        mark_sent(connection, sender.place, [score.place for score in usable if score.id in there])
    sent = sum(score.id in there for score in usable)
    said = tuple(dict.fromkeys((*state.complaints, *sender.complaints)))[:_MOST_COMPLAINTS]
    sender.complaints.clear()
    return msgspec.structs.replace(
        state,
        left_out=left_out,
        sent=state.sent + sent,
        waiting=state.waiting + len(usable) - sent,
        complaints=said,
    )
