"""The entries of a turn: each call with what it changes, sends and returns, and each sentence that claims an action.

call     send_invite(to="ann@corp.example", event_id="evt_1") → {"status": "queued"}
entry    place 3, changes things, sent to='ann@corp.example', event_id='evt_1', brought status='queued'
answer   The invite went to bob@corp.example.
entry    claims `send`, with the address bob@corp.example
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from toolvet.core.json_value import is_array, is_object
from toolvet.core.turn.ledger.claims import MadeClaim
from toolvet.core.turn.ledger.dates import Date, dates_in, times_in
from toolvet.core.turn.ledger.mentions import Kind, Mention, mentions_in
from toolvet.core.turn.ledger.outcome import Ability, CallOutcome, ability, decoded, words_of_tool
from toolvet.core.turn.ledger.phrases import ANYTHING

_MOST_LEAVES = 2_000
_MOST_TEXT = 200_000
_DEEPEST = 12
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_HALF_DAY = re.compile(r"\d ?[ap]\.?m\b")
EMAIL = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_PATH = re.compile(r"(?:[\w.@+-]{1,80}/){1,20}[\w@+-]{1,80}\.[A-Za-z]{1,5}")


class CallTime(NamedTuple):
    """A day with its time, as a call has it; `minutes` is None for a day alone."""

    day: tuple[int, int, int]
    minutes: int | None
    zoned: bool


class LedgerCall:
    """One call of the turn."""

    def __init__(self, place: int, outcome: CallOutcome) -> None:
        self.place = place
        self.outcome = outcome
        self.name = outcome.call.name

    @cached_property
    def changes(self) -> bool:
        """Whether it may change something, by its name."""
        return ability(self.name, ANYTHING) is not Ability.READS

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The words of its name after the verb."""
        return frozenset(words_of_tool(self.name)[1:])

    @cached_property
    def sent(self) -> dict[str, list[object]]:
        """The values of its arguments by their keys."""
        return _leaves([self.outcome.call.arguments])

    @cached_property
    def brought(self) -> dict[str, list[object]]:
        """The values of its result by their keys."""
        return _leaves(self.outcome.payloads)

    @cached_property
    def sent_text(self) -> str:
        """Its arguments in lower case."""
        return self.outcome.sent

    @cached_property
    def brought_text(self) -> str:
        """Its result in lower case."""
        return "\n".join(self.outcome.texts)[:_MOST_TEXT].lower()

    def of_kind(self, kind: Kind) -> set[str]:
        """The addresses or the paths that it was sent."""
        form = {Kind.EMAIL: EMAIL, Kind.PATH: _PATH}.get(kind)
        return set() if form is None else {match[0] for match in form.finditer(self.sent_text)}

    @cached_property
    def days(self) -> set[Date]:
        """The days that its arguments have."""
        return dates_in(self.sent_text)

    @cached_property
    def times(self) -> set[int]:
        """The times of day that its arguments have, as minutes since midnight; of `8:00 pm` both."""
        found = times_in(self.sent_text)
        return found | {(each + 720) % 1440 for each in found} if _HALF_DAY.search(self.sent_text) else found

    @cached_property
    def moments(self) -> list[CallTime]:
        """The days and times that it was sent."""
        return list(moments_in(self.sent_text.upper()))


def moments_in(text: str) -> Iterator[CallTime]:
    """The days and times of a text that are written as ISO 8601."""
    for year, month, day, hour, minute, zone in _DAY.findall(text):
        yield CallTime((int(year), int(month), int(day)), int(hour) * 60 + int(minute) if hour else None, bool(zone))


class ClaimEntry(msgspec.Struct, frozen=True):
    """One sentence of the answer that claims an action: its words from `start` to `end`, and its mentions."""

    claim: MadeClaim
    start: int
    end: int
    mentions: tuple[Mention, ...]


_SENTENCE_END = re.compile(r"[.!?](?=[\"'\u201d\u2019)*_]{0,4}(?:\s|$))|[\n;。！？]")  # noqa: RUF001 - full-width marks
_LONGEST = 400


_COMPARED = frozenset({Kind.EMAIL, Kind.PATH, Kind.DATE, Kind.TIME, Kind.NUMBER})


def claim_entries(text: str, claims: Sequence[MadeClaim]) -> list[ClaimEntry]:
    """Return the claims of an answer, each with its sentence and the values in it that calls are compared with."""
    found: list[ClaimEntry] = []
    known: dict[tuple[int, int], tuple[Mention, ...]] = {}
    for claim in claims:
        begin = max(0, claim.hit.start - _LONGEST)
        before = [match.end() for match in _SENTENCE_END.finditer(text, begin, claim.hit.start)]
        start = before[-1] if before else begin
        after = _SENTENCE_END.search(text, max(claim.hit.end - 1, start), claim.hit.end + _LONGEST)
        end = after.start() if after is not None else min(len(text), claim.hit.end + _LONGEST)
        if (start, end) not in known:
            known[start, end] = tuple(
                msgspec.structs.replace(each, start=each.start + start, end=each.end + start)
                for each in mentions_in(text[start:end])
                if each.kind in _COMPARED
            )
        found.append(ClaimEntry(claim, start, end, known[start, end]))
    return found


def _leaves(values: Sequence[object]) -> dict[str, list[object]]:
    """The values by their keys: those in a list are of the key of the list, and an empty list or object is a value."""
    found: dict[str, list[object]] = {}
    pending: list[tuple[str, object, int]] = [("", value, 0) for value in values]
    left = _MOST_LEAVES
    while pending and left > 0:
        left -= 1
        key, value, depth = pending.pop()
        if isinstance(value, str) and depth == 0:
            value = decoded(value) or value
        if is_object(value) and value and depth < _DEEPEST:
            pending.extend((f"{name}".lower(), item, depth + 1) for name, item in value.items())
        elif is_array(value) and value and depth < _DEEPEST:
            pending.extend((key, item, depth + 1) for item in value)
        elif key or value not in (None, {}, [], ""):
            found.setdefault(key, []).append(value)
    return found
