"""`Destination`: a platform that takes scores; `Score`: a verdict as platforms take it; `send_scores`: sends them.

Each platform has a file in `destinations`, found because it is there. `send_scores` sends the verdicts of a store that
a platform does not have yet, and remembers which.
"""

import hashlib
import os
import secrets
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

import msgspec

from toolvet.core.discover import module_names
from toolvet.errors import StoreError, UsageError
from toolvet.store import Store, VerdictFilter, VerdictRecord
from toolvet.store.records import EVERYTHING
from toolvet.store.score_sends import claim, count_unsent, mark_sent, read_beginnings, read_unsent, release

_FOLDER: Final = "toolvet.server.scores.destinations"


ScoreLabel: TypeAlias = Literal["pass", "warn", "fail"]


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict for another platform.

    `id` is derived from the verdict's id, so a platform takes a score that is sent twice for one. `evaluator` is the
    check (`toolvet.answer`), `version` the release of toolvet that judged. `value` is 0 to 1; `outcome` is the
    verdict's own word. `began` is when the turn began, `at` when this was judged, in seconds since the epoch.
    """

    id: str
    verdict: str
    place: int
    evaluator: str
    version: str
    value: float
    label: ScoreLabel
    outcome: str = ""
    explanation: str = ""
    trace: str | None = None
    conversation: str | None = None
    server: str = ""
    tool: str | None = None
    model: str | None = None
    variant: str | None = None
    state: str | None = None
    signals: tuple[str, ...] = ()
    at: float = 0.0
    began: float = 0.0
    duration: float | None = None

    @property
    def metadata(self) -> Mapping[str, object]:
        """What all platforms keep beside the score: where it came from, and the verdict in short."""
        known: dict[str, object] = {
            "evaluator": self.evaluator,
            "evaluator_version": self.version,
            "toolvet_verdict": self.verdict,
            "toolvet_trace": self.trace,
            "label": self.label,
            "outcome": self.outcome,
            "server": self.server,
            "tool": self.tool,
            "model": self.model,
            "variant": self.variant,
            "state": self.state,
            "signals": list(self.signals),
        }
        return {key: value for key, value in known.items() if value not in (None, "", [])}


class ScoreSender(Protocol):
    """A connection to one project of a platform."""

    @property
    def place(self) -> str:
        """Where it sends to, without secrets: the platform, its address and the project."""
        ...

    @property
    def complaints(self) -> list[str]:
        """Return the platform's complaints about scores that it dropped, a sentence each; reading them empties it."""
        ...

    def accepts(self, score: Score) -> bool:
        """Return whether the platform has something that this score can be tied to."""
        ...

    def send(self, scores: Sequence[Score]) -> frozenset[str]:
        """Send scores, and return the ids of those that the platform has when this returns.

        Raises UnreachableError if it does not answer or refuses, AuthenticationError if it wants other keys.
        """
        ...


@dataclass(frozen=True)
class Destination:
    """A platform.

    Attributes:
        title: Its name as a person writes it.
        open: Opens a connection; credentials come from the environment, under the names that the platform's own SDK
            has for them. Leaving the block closes it. Raises UsageError if a variable is missing.
        needs: The parts that a verdict must have to be tied to something there, in words.
    """

    title: str
    open: Callable[[], AbstractContextManager[ScoreSender]]
    needs: str


def destination_names() -> tuple[str, ...]:
    """Return the names of the platforms, without importing their SDKs."""
    return module_names(_FOLDER)


def destination(name: str) -> Destination:
    """Return a platform by its name. Raises UsageError for another."""
    if name not in destination_names():
        raise UsageError(f"{name} is not one of the destinations: {', '.join(destination_names())}")
    found: Destination = import_module(f"{_FOLDER}.{name}").DESTINATION
    return found


def from_environment(title: str, *names: str) -> list[str]:
    """Return the values of these variables. Raises UsageError that names all which are missing."""
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise UsageError(f"{title} needs {' and '.join(missing)} in the environment")
    return [os.environ[name] for name in names]


def shown_url(url: str) -> str:
    """Return a URL without credentials and query."""
    parts = urlsplit(url)
    port = "" if parts.port is None else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path.rstrip('/')}"


"""`fail`: what was judged went wrong. `warn`: a person should see it."""

# Every id below is made from this and from an id of ours, so that the same verdict always gets the same one.
_NAMESPACE: Final = uuid.UUID("6f1c4f0e-5d53-5c0e-9d0a-0d6b8f2f7a11")
_MOST_WORDS: Final = 500
_MOST_SIGNALS: Final = 20


def score_of(record: VerdictRecord, began: float | None = None) -> Score:
    """Return a verdict of the store as a score; `began` is when its turn began.

    >>> score_of(VerdictRecord(id="0193", at=1.0, kind="result", failed=True)).label
    'fail'
    """
    evaluator = f"toolvet.{record.kind}"
    score = record.score if record.score is not None else float(not record.failed)
    return Score(
        id=str(uuid.uuid5(_NAMESPACE, f"{record.id}/{evaluator}")),
        verdict=record.id,
        place=record.seq,
        evaluator=evaluator,
        version=record.version,
        value=min(1.0, max(0.0, score)),
        label="fail" if record.failed else "warn" if record.escalate else "pass",
        outcome=record.outcome,
        explanation=(record.reason or "")[:_MOST_WORDS],
        trace=record.trace,
        conversation=record.conversation,
        server=record.server,
        tool=record.tool,
        model=record.model,
        variant=record.variant,
        state=record.state,
        signals=tuple(dict.fromkeys(signal.type for signal in record.signals))[:_MOST_SIGNALS],
        at=record.at,
        began=record.at if began is None else began,
        duration=record.duration,
    )


def trace_id_of(trace: str) -> str:
    """Return a trace id as W3C Trace Context writes it: 32 hexadecimal digits.

    An id of another form becomes the first half of its SHA-256, as `Langfuse.create_trace_id(seed=…)` does.

    >>> trace_id_of("0af7651916cd43dd8448eb211c80319c")
    '0af7651916cd43dd8448eb211c80319c'
    >>> trace_id_of("turn-1") == trace_id_of("turn-1")
    True
    """
    plain = trace.replace("-", "").lower()
    if len(plain) == 32 and set(plain) <= set("0123456789abcdef") and set(plain) != {"0"}:
        return plain
    return hashlib.sha256(trace.encode("utf-8", "replace")).hexdigest()[:32]


def uuid7_of(name: str, at: float) -> str:
    """Return a name as a UUID of version 7, which begins with its time; a name that is one already is kept.

    >>> uuid7_of("0193d5f2-0b6e-7c3a-8f00-1234567890ab", 0.0)
    '0193d5f2-0b6e-7c3a-8f00-1234567890ab'
    >>> uuid7_of("turn-1", 1_700_000_000.0)[:15]
    '018bcfe5-6800-7'
    """
    if is_uuid7(name):
        return str(uuid.UUID(name))
    digest = int.from_bytes(hashlib.sha256(name.encode("utf-8", "replace")).digest()[:10], "big")
    milliseconds = int(at * 1000) & 0xFFFF_FFFF_FFFF
    whole = milliseconds << 80 | 7 << 76 | (digest >> 64 & 0xFFF) << 64 | 2 << 62 | digest & (1 << 62) - 1
    return str(uuid.UUID(int=whole))


def is_uuid7(name: str) -> bool:
    """Whether a name is a UUID of version 7, with or without its hyphens."""
    try:
        return uuid.UUID(name).version == 7
    except ValueError:
        return False


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
        UnreachableError: The platform does not answer, or refuses. The scores sent before stay noted.
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
            traces = sorted({record.trace for record in records if record.trace is not None})
            with store.reading() as connection:
                began = read_beginnings(connection, traces)
            scores = [score_of(record, began.get(record.trace or "")) for record in records]
            state = _send(store, sender, scores, state, only_look=only_look)
            yield state


@contextmanager
def _claimed(store: Store, place: str, *, only_look: bool) -> Generator[Callable[[], None]]:
    """Yields what to call before each batch. No other process sends there meanwhile: events have no id."""
    owner = secrets.token_hex(16)

    def renew() -> None:
        if only_look:
            return
        now = time.time()
        with store.connect() as connection:
            is_mine = claim(connection, place, owner, now, now + CLAIM_SECONDS)
        if not is_mine:
            raise StoreError(
                f"another process is sending verdicts of {store.address.shown} to {place}; if it was killed, try again"
                f" in {CLAIM_SECONDS / 60:.0f} minutes"
            )

    renew()
    try:
        yield renew
    finally:
        if not only_look:
            with store.connect() as connection:
                release(connection, place, owner)


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
