"""Where request, calls and answer disagree about an action that the answer claims.

    wrong_target          the answer names the address or file that was asked for; the call went to another one
    wrong_value           the same with a day, a time of day, an amount, or a title in quotation marks
    differs_from_request  the call went to an address that the person did not give, and the answer says so
    not_persisted         a later read lacks what was changed, or has the old value
    after failure         a call that was asked for failed, none did it later, and the answer claims success

Every rule needs two witnesses against the third, and each signal quotes both. A difference is a fault only if the value
in the call comes neither from the request nor from a result: agents choose values too, and say so.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import Final, NamedTuple, cast

from msgspec import structs

from toolvet.core.causes import State
from toolvet.core.checks.answer import FailureSignal
from toolvet.core.json_value import is_array, is_object
from toolvet.core.schema.naming import words_of
from toolvet.core.turn.ledger.claims import AnswerClaims, MadeClaim
from toolvet.core.turn.ledger.clause import LEADING, WORD
from toolvet.core.turn.ledger.dates import (
    Date,
    civil,
    dates_in,
    days_since_epoch,
    months,
    numeric_date,
    times_in,
    weekdays,
)
from toolvet.core.turn.ledger.entries import EMAIL, CallTime, ClaimEntry, LedgerCall, claim_entries
from toolvet.core.turn.ledger.mentions import Kind, Mention
from toolvet.core.turn.ledger.outcome import (
    Ability,
    CallOutcome,
    ability,
    signal_of,
    verb_of,
    words_of_tool,
    written,
)
from toolvet.core.turn.ledger.phrases import families, phrases
from toolvet.core.turn.ledger.quantities import AmountSlots
from toolvet.core.turn.ledger.request import TITLE, PersonRequest
from toolvet.core.turn.ledger.support import COMMIT, ClaimSupport, kind_of
from toolvet.core.turn.ledger.tokens import form_of
from toolvet.core.turn.ledger.work import (
    AgentAction,
    UnprovenRun,
    actions_of,
    claims_in,
    own_words,
    unproven_runs,
)

WRONG_TARGET = "wrong_target"
WRONG_VALUE = "wrong_value"
DIFFERS = "differs_from_request"
NOT_PERSISTED = "not_persisted"
AFTER_FAILURE = "claimed_success_after_failure"
WITHOUT_CALL = "claimed_without_call"
_WEIGHT = 0.5
# The answer reports the action truthfully; only the person wanted something else.
_WEIGHT_TRUE = 0.4
_WEIGHT_RUN = 0.7
_WEIGHT_NO_RUN = 0.45
_CERTAIN = 0.3
_MOST_UNFOUNDED = 8
_MOST_ANSWER = 40_000
_MOST_CALLS = 200
_MOST_CLAIMS = 50
_STEM = 4
_SHORTEST_ID = 5
_EMPTY: Final[tuple[object, ...]] = ("", [], {}, None)
_REST = re.compile(r"[^.,;:!?\n\u3002\uff01\uff1f\uff0c\u0964]{0,60}")
_CAPITALS = re.compile(r"(?<![.!?:\n] )(?<!^)\b(?:[A-Z][\w-]+)(?: [A-Z][\w-]+)*")
_ALONE = frozenset({"run", "execute", "exec", "bash", "shell", "terminal", "command", "python", "code", "script"})


class Disagreement(NamedTuple):
    """Where an answer, from `start` to `end`, disagrees with the calls or the request, and what these say."""

    start: int
    end: int
    label: str
    against: str
    weight: float = _WEIGHT
    language: str | None = None


class TurnLedger:
    """The request, the calls and the claims of one turn, each as entries that can be compared.

    `is_whole` says that the calls are all of the session.
    """

    def __init__(self, outcomes: Sequence[CallOutcome], request: PersonRequest, *, is_whole: bool = True) -> None:
        self._outcomes = outcomes
        self._request = request
        self._is_whole = is_whole
        self._last_slots: AmountSlots | None = None
        self._support = ClaimSupport(outcomes)
        self._unproven: tuple[str, list[UnprovenRun]] = ("", [])

    @cached_property
    def actions(self) -> list[AgentAction]:
        """The action of each call, as work on code. Its result decides how it ended, not only the caller."""
        return actions_of(
            structs.replace(each.call, failed=True) if each.failed and not each.went_on else each.call
            for each in self._outcomes
        )

    @cached_property
    def _calls(self) -> list[LedgerCall]:
        return [LedgerCall(place, outcome) for place, outcome in enumerate(self._outcomes[-_MOST_CALLS:])]

    @cached_property
    def _changes(self) -> list[LedgerCall]:
        return [call for call in self._calls if call.changes and not call.outcome.failed]

    @cached_property
    def _reads(self) -> list[LedgerCall]:
        return [call for call in self._calls if not call.changes]

    @cached_property
    def _read_text(self) -> str:
        return "\n".join(call.brought_text for call in self._reads)

    def disagreements(self, text: str, said: AnswerClaims, *, admits: bool, goes_on: bool) -> list[FailureSignal]:
        """Return where the calls and the request disagree with the claims of `text`.

        If the turn `goes_on`, only claims that no call supports count. `admits` says that the answer reports a failure.
        """
        found = list(islice(self._unfounded(text, said.claims, admits=admits), _MOST_UNFOUNDED))
        if self._outcomes and not goes_on:
            known = {each.label for each in found if each.weight >= _CERTAIN}
            claims = [claim for claim in said.claims if claim.asked or not claim.text_work][:_MOST_CLAIMS]
            for rule in (self._apart(text, claims, admits=admits), self._runs(text)):
                # One of each label; what is certain without the values needs none of them.
                first: dict[str, Disagreement] = {}
                for each in rule:
                    first.setdefault(each.label, each)
                found += (each for each in first.values() if each.label not in known)
                known.clear()
        return [
            signal_of(text, (each.start, each.end), each.label, each.weight, each.against, language=each.language)
            for each in found
        ]

    def unproven(self, text: str) -> list[UnprovenRun]:
        """Return the runs of tests and builds that `text` reports as successful and that the calls do not bear out."""
        if self._unproven[0] != text:
            said = own_words(text[-_MOST_ANSWER:])
            # Most answers claim no run, and need no reading of the calls.
            runs = (
                unproven_runs(said, self._request.text, self.actions, is_whole=self._is_whole)
                if claims_in(said)
                else ()
            )
            self._unproven = text, list(runs)
        return self._unproven[1]

    def _runs(self, text: str) -> Iterator[Disagreement]:
        for run in self.unproven(text):
            at = max(0, text.find(run.said))
            label, weight = (AFTER_FAILURE, _WEIGHT_RUN) if run.why == "failed" else (WITHOUT_CALL, _WEIGHT_NO_RUN)
            yield Disagreement(at, at + len(run.said), label, run.against, weight)

    def _unfounded(self, text: str, claims: Sequence[MadeClaim], *, admits: bool) -> Iterator[Disagreement]:
        for claim, apart in self._support.unfounded(text, claims, admits=admits):
            hit = claim.hit
            words = text[hit.start : hit.end]
            rest = None if words[-1:] in ".,!:" else _REST.match(text, hit.end)
            yield Disagreement(
                hit.start + len(words) - len(words.lstrip(LEADING)),
                hit.end if rest is None else rest.end(),
                AFTER_FAILURE if apart.failed else WITHOUT_CALL,
                apart.against,
                apart.weight,
                hit.id.partition(":")[0],
            )

    def _apart(self, text: str, claims: Sequence[MadeClaim], *, admits: bool) -> Iterator[Disagreement]:
        if not claims:
            return
        entries = claim_entries(text, claims)
        for entry in entries if self._changes else ():
            apart = list(self._other_value(text, entry))
            yield from apart or self._not_as_asked(text, entry)
        yield from self._other_target(text, entries)
        if not admits:
            asked = [entry for entry in entries if entry.claim.asked]
            yield from self._left_out(text, asked)
            yield from self._failed(text, asked)
            yield from self._not_there(text, entries)

    def _other_value(self, text: str, entry: ClaimEntry) -> Iterator[Disagreement]:
        """Yield a signal for a claimed value of the request if the calls sent another one, from no known source."""
        request, lower = self._request.lower, text.lower() if entry.mentions else ""
        for mention in entry.mentions:
            token = mention.token.lower()
            if token not in request:
                continue
            if mention.kind is Kind.DATE:
                other = self._other_day(mention, entry)
            elif any(token in call.sent_text or token in call.brought_text for call in self._changes):
                continue
            else:
                others = [
                    (call, value)
                    for call in self._changes
                    for value in sorted(call.of_kind(mention.kind))
                    if value not in request and value not in self._read_text and value not in lower
                ]
                other = others[0] if others else None
            if other is not None:
                label = WRONG_VALUE if mention.kind is Kind.DATE else WRONG_TARGET
                yield Disagreement(mention.start, mention.end, label, f"{other[0].name} was called with {other[1]}")
                return
        for slot in (self._other_time, self._other_amount, self._other_count, self._other_title, self._other_kind):
            apart = slot(text, entry)
            if apart is not None:
                start, end, call, value = apart
                yield Disagreement(start, end, WRONG_VALUE, f"{call.name} was called with {value}")
                return

    def _not_as_asked(self, text: str, entry: ClaimEntry) -> Iterator[Disagreement]:
        """Yield a disagreement for an amount or a count that a call was sent, if the person asked for another one."""
        if not entry.claim.asked:
            return
        slots = self._slots(text, entry)
        found = slots.unasked_amount(self._request.text) or slots.unasked_count(self._request.text)
        if found is not None:
            call, sent, wanted = found
            hit = entry.claim.hit
            against = f"{call.name} was called with {sent}; the request names {wanted}"
            yield Disagreement(hit.start, hit.end, DIFFERS, against, _WEIGHT_TRUE)

    def _doers(self, entry: ClaimEntry) -> list[LedgerCall]:
        """The calls that may have done what is claimed."""
        family = entry.claim.family
        able = [call for call in self._changes if ability(call.name, family) is Ability.THIS]
        return able or self._changes

    def _other_time(self, text: str, entry: ClaimEntry) -> tuple[int, int, LedgerCall, str] | None:
        """A day or a time of day that the claim has ("set for Friday, 8 am"), if its call was sent others alone."""
        doers = self._doers(entry)
        if any(moment.zoned for call in doers for moment in call.moments):
            return None
        for is_day in (True, False):
            sent = [(call, call.days if is_day else call.times) for call in doers]
            if not any(there for _, there in sent):
                continue
            said = list(self._days_of(text, entry) if is_day else _times_of(text, entry))
            if not any(linked for *_, linked in said):
                continue
            if any(not there and not _removes(call) for call, there in sent):
                # The claim may be about the call without a time.
                continue
            start, end = next((start, end) for start, end, _, linked in said if linked)
            token = text[start:end].lower()
            sentences = [each for each in _SENTENCES.split(self._request.lower) if token in each]
            if _SHIFTED.search("\n".join(sentences) or self._request.lower) or _SHIFTED.search(
                text, entry.start, entry.end
            ):
                continue
            read = "\n".join(call.brought_text for call in self._changes) + ("" if sentences else self._read_text)
            known = set[Date | int](dates_in(read) if is_day else times_in(read))
            for call in self._changes:
                known |= call.days if is_day else call.times
            if any(is_same(each) for _, _, is_same, _ in said for each in known):
                continue
            call, there = next(each for each in sent if each[1])
            return start, end, call, _shown(max(there))
        return None

    def _days_of(self, text: str, entry: ClaimEntry) -> Iterator[tuple[int, int, Callable[[object], bool], bool]]:
        """The days of a claim: where, whether another one is the same, and whether it is when something is done."""
        for each in entry.mentions:
            if each.kind is Kind.DATE:
                yield each.start, each.end, partial(_is_among, each.dates), _is_adverbial(text, each.start, each.end)
        for match in _SHORT_DAY.finditer(text, entry.start, entry.end):
            if _is_adverbial(text, match.start(), match.end()):
                month, day = int(match[1]), int(match[2])
                yield *match.span(), partial(_is_among, ((0, month, day), (0, day, month))), True
        for match in WORD.finditer(text, entry.start, entry.end):
            weekday = weekdays().get(match[0].lower())
            if (weekday is None and match[0].lower() not in _NEAR) or not _is_adverbial(text, *match.span()):
                continue
            if weekday is not None:
                yield *match.span(), partial(_is_weekday, weekday), True
            elif (today := self._today) is not None:
                date = civil(today + _NEAR[match[0].lower()])
                yield *match.span(), partial(_is_among, (date,)), True

    @cached_property
    def _today(self) -> int | None:
        found = {match[1] for match in _TODAY.finditer(self._request.context[:_MOST_CONTEXT])}
        days = {days_since_epoch(date) for token in found for date in numeric_date(token)}
        return days.pop() if len(days) == 1 else None

    def _slots(self, text: str, entry: ClaimEntry) -> AmountSlots:
        # Most claims are about the same calls.
        doers = self._doers(entry)
        if self._last_slots is not None and self._last_slots.are_of(text, doers):
            return self._last_slots
        others = [call for call in self._calls if call not in doers]
        self._last_slots = AmountSlots(text, doers, self._changes, others, self._request.context)
        return self._last_slots

    def _other_amount(self, text: str, entry: ClaimEntry) -> tuple[int, int, LedgerCall, str] | None:
        return self._slots(text, entry).other_amount(entry, self._request.text)

    def _other_count(self, text: str, entry: ClaimEntry) -> tuple[int, int, LedgerCall, str] | None:
        return self._slots(text, entry).other_count(entry, self._request.text)

    def _other_title(self, text: str, entry: ClaimEntry) -> tuple[int, int, LedgerCall, str] | None:
        """A title in quotation marks that was asked for and is claimed, if the call was sent another one."""
        for match in TITLE.finditer(text, entry.start, entry.end):
            title = match[1].strip(".,!?").lower()
            if title not in self._request.lower:
                continue
            bare = _bare(title)
            done = _bare("".join(f"{call.sent_text}{call.brought_text}" for call in self._changes))
            if not bare or bare in done:
                return None
            for call in self._doers(entry):
                for key in _TITLES.intersection(call.sent):
                    value = call.sent[key][0]
                    if isinstance(value, str) and value.lower() not in self._request.lower and "\n" not in value:
                        return match.start(1), match.end(1), call, f"{key}={value[:60]}"
        return None

    def _other_kind(self, text: str, entry: ClaimEntry) -> tuple[int, int, LedgerCall, str] | None:
        """A kind of thing that the answer names ("to your gift card"), if the call was sent the id of another kind."""
        sent = [
            (call, match)
            for call in self._doers(entry)
            for key, values in call.sent.items()
            if key.endswith("id") and _PEOPLE.isdisjoint(words_of(key))
            for value in values
            if isinstance(value, str) and (match := _KINDED.fullmatch(value.lower())) is not None
        ]
        kinds = {match[1] for _, match in sent}
        if len(kinds) != 1:
            return None
        lower, (kind,) = text.lower(), kinds
        if kind.replace("_", " ") in lower or kind in lower or ("card" in kind and _BY_CARD.search(lower)):
            return None
        persons = {f"{each}".lower() for call in self._calls for key in _USERS for each in call.sent.get(key, ())}
        found = islice(_KINDED.finditer(self._read_text), _MOST_KINDS)
        for other in sorted({match[1] for match in found if match[0] not in persons} - kinds):
            words = other.replace("_", " ")
            match = re.search(rf"\b(?:to|using|with|from|on|by|via) (?:your |the |my )?(?:\w+ )?{words}\b", lower)
            if match is not None and not any(other in call.sent_text for call in self._changes):
                call, value = sent[-1]
                return match.start(), match.end(), call, value[0]
        return None

    def _other_day(self, mention: Mention, entry: ClaimEntry) -> tuple[LedgerCall, str] | None:
        days = {date for date in mention.dates if date[0]}
        clock = {minute for each in entry.mentions if each.kind is Kind.TIME for minute in each.minutes}
        apart: list[tuple[LedgerCall, str]] = []
        for call in self._changes:
            if any(mention.token.lower() in words for words in (call.sent_text, call.brought_text)):
                return None
            for moment in call.moments:
                if any(_is_same_day(moment, day, clock) for day in days):
                    return None
                shown = "{:04}-{:02}-{:02}".format(*moment.day)
                if shown not in self._request.lower and all(shown not in each.token for each in entry.mentions):
                    apart.append((call, shown))
        return apart[0] if apart and days else None

    def _other_target(self, text: str, entries: Sequence[ClaimEntry]) -> Iterator[Disagreement]:
        """A call went to an address, or to the number of a thing, that neither the person nor a result named."""
        request, lower = self._request.lower, text.lower()
        wanted = {each.lower() for each in EMAIL.findall(self._request.text)} if "@" in request else set[str]()
        first = entries[0].claim.hit
        for call in self._changes:
            addresses = sorted(call.of_kind(Kind.EMAIL)) if wanted else []
            named = [
                (key, sent)
                for key, sent in call.sent.items()
                if key.endswith(("id", "ids")) or key in _RECIPIENTS | _NAMES or _PLACE.search(key)
            ]
            known = "\n".join(each.brought_text for each in self._calls[: call.place]) if addresses or named else ""
            for value in addresses:
                if value not in request and not any(w in call.sent_text for w in wanted) and value not in known:
                    at = lower.find(value)
                    yield (
                        Disagreement(at, at + len(value), DIFFERS, f"the request names {min(wanted)}", _WEIGHT_TRUE)
                        if at >= 0
                        else Disagreement(first.start, first.end, WRONG_TARGET, f"{call.name} was called with {value}")
                    )
            for key, sent in named:
                is_id = key.endswith(("id", "ids"))
                there = self._known_ids(call, key.removesuffix("s"), sent) if is_id else []
                for value in (each for each in sent if isinstance(each, str)):
                    small = value.lower()
                    if (
                        (there and small not in request and small not in known and _is_invented(value, there))
                        or (key in _RECIPIENTS and self._is_stranger(value, known))
                        or (key in _NAMES and self._is_unheard(value, f"{known}\n{lower}"))
                        or (_PLACE.search(key) and self._is_elsewhere(value, f"{known}\n{lower}"))
                    ):
                        yield Disagreement(
                            first.start,
                            first.end,
                            WRONG_TARGET,
                            f"{call.name} was called with {key}={value[:60]}, which nothing before it has"
                            f"{f'; there it is {there[0]}' if there else ''}",
                        )

    def _known_ids(self, call: LedgerCall, key: str, sent: Sequence[object]) -> list[str]:
        """The names of a thing of this key before the call: in results, or else by the person."""
        found = (value for each in self._calls[: call.place] for value in each.brought.get(key, ()))
        known = [value for value in found if isinstance(value, str)]
        if known or verb_of(call.name) in families().family["create"].tools:
            return known
        context = self._request.context
        strange = (each for each in sent if isinstance(each, str) and len(each) >= _SHORTEST_ID)
        forms = (form_of(each) for each in strange if each.lower() not in context and any(map(str.isdecimal, each)))
        return [match[0] for form in forms if form is not None for match in form.finditer(context)]

    def _is_stranger(self, value: str, known: str) -> bool:
        """Whether something goes to a name of which most letters are in nothing that the agent has read."""
        if not _HANDLE.fullmatch(value):
            return False
        name = "".join(filter(str.isalpha, value.lower()))
        parts = [name[at : at + 3] for at in range(len(name) - 2)]
        return 2 * sum(part in known or part in self._request.context for part in parts) < len(parts)

    def _is_unheard(self, value: str, known: str) -> bool:
        """Whether a thing is named in three words or more of which none is in the request, a result, or the answer."""
        words = [word[:_STEM] for word in WORD.findall(value.lower()) if len(word) >= _STEM]
        return (
            len(words) >= _FEWEST_WORDS
            and value.isascii()
            and self._request.context.isascii()
            and not any(word in known or word in self._request.context for word in words)
        )

    def _is_elsewhere(self, value: str, known: str) -> bool:
        """Whether a postal address has numbers, and none of them is in the request, a result, or the answer."""
        numbers = _HOUSE.findall(value)
        heard = f"{known}\n{self._request.context}"
        return bool(numbers) and not any(re.search(rf"(?<!\d){each}(?!\d)", heard) for each in numbers)

    def _left_out(self, text: str, entries: Sequence[ClaimEntry]) -> Iterator[Disagreement]:
        """Yield a signal for a new state that was asked for and claimed by name, but that no call mentions."""
        entries = [entry for entry in entries if entry.claim.family == "update"]
        if not entries or not any(call.sent for call in self._changes):
            return
        if any(not _ALONE.isdisjoint(words_of_tool(call.name)) for call in self._changes):
            return
        done = "\n".join(f"{call.name}\n{call.sent_text}\n{call.brought_text}" for call in self._changes).lower()
        bare = "".join(filter(str.isalnum, done))
        for entry in entries:
            words = text[entry.claim.hit.start : entry.end]
            names = [name for name in _CAPITALS.findall(words) if name in self._request.text and not _is_day(name)]
            things = [thing for thing in entry.claim.things if len(thing) >= _STEM and thing in self._request.lower]
            if (
                names
                and things
                and not any("".join(filter(str.isalnum, name.lower())) in bare for name in names)
                and not any(thing[:_STEM] in done for thing in things)
            ):
                hit = entry.claim.hit
                yield Disagreement(
                    hit.start,
                    min(entry.end, hit.end + len(names[-1]) + 8),
                    WITHOUT_CALL,
                    f"no call has {names[-1]}; only {', '.join(dict.fromkeys(call.name for call in self._changes))} "
                    "changed something",
                    _WEIGHT_TRUE,
                )

    def _failed(self, text: str, entries: Sequence[ClaimEntry]) -> Iterator[Disagreement]:
        """Yield a signal if everything is claimed, but a changing call failed and no later call did its work."""
        if not entries:
            return
        for call in self._calls:
            if not (call.outcome.failed and call.changes) or call.outcome.went_on:
                continue
            if any(_does_the_same(later, call) for later in self._calls[call.place + 1 :]):
                continue
            words = " ".join(text[entry.start : entry.end].lower() for entry in entries)
            done = frozenset(noun for later in self._changes if later.place > call.place for noun in later.nouns)
            # A later call did this, so the failed one was for something else.
            kinds = {
                entry.claim.family
                for entry in entries
                if not _names(text[entry.claim.hit.start : entry.claim.hit.end].lower(), done - call.nouns)
            }
            if not (_names(words, call.nouns - done) or _is_of_kind(call, kinds)):
                continue
            hit = entries[0].claim.hit
            yield Disagreement(hit.start, hit.end, AFTER_FAILURE, call.outcome.quoted())

    def _not_there(self, text: str, entries: Sequence[ClaimEntry]) -> Iterator[Disagreement]:
        """A read after the change does not find the thing, has the old value, or lacks everything that is claimed."""
        at = entries[0].claim.hit.start, entries[0].claim.hit.end
        for change in self._changes:
            ends = _removes(change) or not _ENDS.isdisjoint(words_of_tool(change.name))
            for read in self._reads:
                if read.place < change.place or not _is_of(read, change):
                    continue
                if ends or read.outcome.failed:
                    alive = next((str(each) for key in _STATES for each in read.brought.get(key, ()) if ends), "")
                    if ends and alive.lower() in _ALIVE:
                        yield Disagreement(*at, NOT_PERSISTED, f"{read.name} brought {alive} afterwards")
                    elif not ends and read.outcome.state is State.NOT_FOUND:
                        yield Disagreement(*at, NOT_PERSISTED, read.outcome.quoted())
                    continue
                if any(later.place > read.place and _is_of(read, later) for later in self._changes):
                    continue
                lost = self._lost(change, read)
                if lost:
                    yield Disagreement(*at, NOT_PERSISTED, f"{read.name} brought {lost} afterwards")
        for entry in entries:
            gone = self._empty(text, entry)
            if gone:
                yield Disagreement(entry.claim.hit.start, entry.claim.hit.end, NOT_PERSISTED, gone)

    def _lost(self, change: LedgerCall, read: LedgerCall) -> str:
        """The member that was sent with a value and is read back empty, or as it was read before."""
        for key, now in read.brought.items():
            sent = change.sent.get(key) or [
                value
                for value in (_member(change.outcome.call.arguments, key),)
                if value is not None and value not in _EMPTY
            ]
            if not key or not sent or any(value in now for value in sent):
                continue
            if all(value in _EMPTY for value in now):
                return f"{key}={written(now[0])}"
            before = [each for each in self._reads if each.place < change.place and each.name == read.name]
            if any(each.brought.get(key) == now and each.sent == read.sent for each in before):
                return f"{key}={written(now[0])[:60]}, as before"
        return ""

    def _empty(self, text: str, entry: ClaimEntry) -> str:
        """Return the list that has the name of the claimed thing, and was empty when it was last read."""
        changed = [call.place for call in self._changes]
        words = {word.lower() for word in WORD.findall(text[entry.claim.hit.start : entry.end]) if len(word) >= _STEM}
        for read in reversed(self._reads):
            if read.outcome.failed or (changed and read.place < changed[-1]) or not changed:
                continue
            for key, now in read.brought.items():
                parts = [part.rstrip("s") for part in key.split("_")]
                if (
                    all(value in ([], {}) for value in now)
                    and len(parts) > 1
                    and all(any(word.startswith(part) for word in words) for part in parts if len(part) >= _STEM)
                ):
                    return f"{read.name} brought {key}={written(now[0])} afterwards"
        return ""


# Verbs after which a thing is no longer in a state of `_ALIVE`.
_ENDS = frozenset({"complete", "close", "resolve", "finish", "disable", "deactivate", "archive"})
_STATES = ("status", "state")
_ALIVE = frozenset({"active", "open", "opened", "enabled", "live", "todo", "incomplete", "in progress", "in_progress"})
_RECIPIENTS = frozenset({"to", "receiver", "receivers", "recipient", "recipients", "attendees", "cc", "invitees"})
_HANDLE = re.compile(r"@?[A-Za-z][\w.-]{3,40}")
_NAMES = frozenset({"title", "name", "event_name", "task", "label"})
_PLACE = re.compile(r"(?:^|_)(?:address(?:_?line)?_?1?|street(?:_address)?|line_?1)\Z")
_HOUSE = re.compile(r"(?<!\d)\d{2,6}(?!\d)")
# credit_card_9513926: what kind of thing it is, and which one.
_KINDED = re.compile(r"(?<![a-z\d_])([a-z]{4,20}(?:_[a-z]{3,20}){0,2})_\d{3,12}(?![\w])")
_USERS = ("user_id", "customer_id", "account_id", "member_id")
_PEOPLE = frozenset({"user", "customer", "account", "member", "client", "owner"})
_MOST_KINDS = 2_000
_BY_CARD = re.compile(r"(?<!gift )\bcard\b|\b(?:visa|mastercard|amex|american express|credit|debit)\b")
_TITLES = _NAMES | {"subject", "summary", "headline"}
_FEWEST_WORDS = 3
_SENTENCES = re.compile(r"(?<=[.!?])\s|\n")
_SHORT_DAY = re.compile(r"(?<![\w/.-])(\d{1,2})/(\d{1,2})(?![\w/-])")
# Today, as the rules of an agent or the state of its program say.
_TODAY = re.compile(
    r"(?:\btoday(?:'s date)?|\bcurrent[ _-]?(?:date|time|day)\w*|\bnow|timestamp)\b\W{0,4}(?:is\W{1,3})?"
    r"(?:[a-z]{6,9},? )?(\d{4}-\d\d-\d\d)"
)
_NEAR = {"today": 0, "tonight": 0, "tomorrow": 1}
# 1970-01-01 was one; Monday is 0.
_THURSDAY = 3
_MOST_CONTEXT = 20_000
# A time that is reckoned from another one.
_SHIFTED = re.compile(
    r"\b(?:before|after|earlier|later|prior|ahead|advance|delay\w*|postpon\w*|forward|back|until|between|within|minutes?|"
    r"hours?|mins?|hrs?|vor|nach|avant|après|antes|después|depois|prima|dopo|voor|przed|po)\b|前|後|后|전|후"
)
_LINK = re.compile(
    r"(?:\b(?:for|at|on|to|um|am|für|auf|à|le|au|pour|las|el|al|para|às|em|alle|il|per|om|op|na|на|para el|del)"
    r"(?: the| this| next)?|[:(|→])[\s*_`~]*\Z",
    re.IGNORECASE,
)
# "The 8:00 call": the time only says which call.
_NOUN_AFTER = re.compile(
    r"\s(?!(?:[ap]\.?m\b|o'clock|uhr|sharp|today|tomorrow|tonight|local))([^\W\d_]{2,20})", re.IGNORECASE
)


def _is_adverbial(text: str, start: int, end: int) -> bool:
    """Whether a day or a time says when something is done, and not which one is meant."""
    if _LINK.search(text[max(0, start - 12) : start]) is None:
        return False
    after = _NOUN_AFTER.match(text, end)
    return after is None or phrases().grammar["en"].is_cut(after[1])


def _times_of(text: str, entry: ClaimEntry) -> Iterator[tuple[int, int, Callable[[object], bool], bool]]:
    for each in entry.mentions:
        if each.kind is Kind.TIME:
            yield each.start, each.end, frozenset(each.minutes).__contains__, _is_adverbial(text, each.start, each.end)


def _is_among(days: Collection[Date], other: object) -> bool:
    return isinstance(other, tuple) and any(
        other[not (day[0] and other[0]) :] == day[not (day[0] and other[0]) :] for day in days
    )


def _is_weekday(weekday: int, other: object) -> bool:
    if not isinstance(other, tuple):
        return False
    day = cast("Date", other)
    return not day[0] or (days_since_epoch(day) + _THURSDAY) % 7 == weekday


def _shown(value: object) -> str:
    if isinstance(value, int):
        return f"{value // 60:02}:{value % 60:02}"
    return "{:04}-{:02}-{:02}".format(*cast("Date", value)) if isinstance(value, tuple) else ""


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _is_same_day(moment: CallTime, day: tuple[int, int, int], clock: set[int]) -> bool:
    if moment.day == day:
        return True
    # The same time of day on another day is not another zone.
    if not moment.zoned or (moment.minutes is not None and moment.minutes in clock):
        return False
    return abs(days_since_epoch(moment.day) - days_since_epoch(day)) == 1


def _is_day(name: str) -> bool:
    return any(word in weekdays() or word in months() for word in name.lower().split())


def _is_invented(value: str, there: Sequence[str]) -> bool:
    if len(value) < _SHORTEST_ID or not any(map(str.isdecimal, value)):
        return False
    head, tail = _parted(value)
    form = form_of(tail)
    return form is not None and any(
        first == head and len(rest) == len(tail) and (head or form.fullmatch(rest))
        for first, rest in map(_parted, there)
    )


def _parted(value: str) -> tuple[str, str]:
    """The word that an identifier begins with, and the rest: `rec_` and `44fc1821`."""
    head, mark, tail = value.strip("#").rpartition("_")
    return f"{head}{mark}", tail


def _does_the_same(later: LedgerCall, failed: LedgerCall) -> bool:
    if later.outcome.failed or not later.changes:
        return False
    if later.name == failed.name or (failed.sent_text == later.sent_text and len(failed.sent_text) > 2):
        return True
    if not _ALONE.isdisjoint(words_of_tool(later.name)):
        # What runs tests or a build changes nothing else.
        return not actions_of([later.outcome.call])[0].kinds
    known = families().family
    if (verb_of(later.name) in known[COMMIT].tools) != (verb_of(failed.name) in known[COMMIT].tools):
        return False
    kinds = [
        {kind for kind, family in known.items() if word in family.tools}
        for word in (verb_of(later.name), verb_of(failed.name))
    ]
    if kinds[0].isdisjoint(kinds[1]):
        return False
    alike = frozenset(word for kind in kinds[1] for word in known[kind].tools)
    nouns = [call.nouns - alike for call in (later, failed)]
    return not nouns[0] or not nouns[1] or not nouns[0].isdisjoint(nouns[1])


def _names(words: str, nouns: Collection[str]) -> bool:
    return any(noun[:_STEM] in words for noun in nouns if len(noun) >= _STEM)


def _is_of_kind(call: LedgerCall, kinds: set[str]) -> bool:
    """Whether claims of these families may be about a call, by its verb."""
    known, verb = families().family, verb_of(call.name)
    return kind_of(call.name) in kinds or any(verb in known[kind].tools for kind in kinds if kind in known)


def _is_of(read: LedgerCall, change: LedgerCall) -> bool:
    """Whether a read is about the thing that a call changed: it sent or returned one of its values."""
    if read.outcome.failed and not read.sent_text.strip("{}"):
        return not read.nouns.isdisjoint(change.nouns) or _server(read.name) == _server(change.name) != ""
    values = _identities(change.sent) or _identities(change.brought)
    return not values.isdisjoint(_identities(read.sent) or _identities(read.brought))


def _identities(values: Mapping[str, Sequence[object]]) -> set[str]:
    """The values that say which thing is meant: identifiers, paths and addresses."""
    return {
        value.lower()
        for key, each in values.items()
        for value in each
        if isinstance(value, str) and len(value) >= _SHORTEST_ID and key.endswith(("id", "path", "file", "url", "uri"))
    }


def _removes(call: LedgerCall) -> bool:
    return not families().family["delete"].tools.isdisjoint(words_of_tool(call.name))


def _server(name: str) -> str:
    head, mark, _ = name.replace("__", ".").partition(".")
    return head if mark else ""


def _member(arguments: object, key: str) -> object:
    if not is_object(arguments):
        return None
    value = arguments.get(key)
    return value if is_object(value) or is_array(value) else None
