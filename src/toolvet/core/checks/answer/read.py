"""Finds the signals in a text. The worked example is at the head of `toolvet.core.checks.answer`."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import msgspec

from toolvet.core.checks.answer.custom import NO_CUSTOM, BadOption, CustomPatterns, custom_patterns
from toolvet.core.checks.answer.phrases import (
    ANY_LANGUAGE,
    EDGE,
    PARTIAL,
    SHORT,
    KnownPhrase,
    SignalPhrase,
    SignalPhrases,
    phrases,
)
from toolvet.core.checks.answer.quality import FailureSignal, SignalType
from toolvet.core.checks.answer.shape import finish_kind, shape_signals
from toolvet.core.matching import Hit
from toolvet.core.matching.pattern import PlacedBefore
from toolvet.core.prose import Masks

if TYPE_CHECKING:
    from toolvet.core.checks.answer.model import Model


_AROUND = 40  # Characters of context on either side of the evidence.
_SENTENCE_END = re.compile(r"[.!?\u0964\u061f\u06d4]\s|[\u3002\uff01\uff1f]|\n")
_SENTENCE = 200  # How far a sentence is followed from a hit, in characters.
_NEAR = 60
_MOST_KNOWN = 1_000  # Answers of patterns that are kept while one text is read.
_MOST = 100  # Signals reported for one answer; more would add nothing.
# Hits of one phrase that are placed in a whole answer, the first ones: a text made of nothing else cost 3 µs a
# character. The most in a labelled answer are 19. Where what is left out could count, all are placed (`_hides`).
_MOST_HITS = 2 * _MOST
# Signals that leave nothing to ask the learned model.
_DECIDING = 0.3

ConditionAnswers = dict[tuple[int, str], int]
"""Where a pattern, by its identity, is found in some words; -1 for nowhere."""


class ReadingMemory(NamedTuple):
    """The findings about a growing text that the next reading of it can reuse."""

    conditions: ConditionAnswers
    placed: PlacedBefore


class Found(NamedTuple):
    """A phrase that was found, its place in the whole text, and the signal that it gives if it counts.

    `conceded`: it goes on to what can be done, and excuses rather than refuses: it counts only where little follows.
    """

    known: KnownPhrase
    signal: FailureSignal
    start: int
    end: int
    conceded: bool = False


class ScreenedText(NamedTuple):
    """A text that a screening already looked at: its shape gives no signal.

    `place` returns the hits of the phrases in the text, up to a number of each; None if the phrases must be searched.
    """

    place: Callable[[int | None], list[Hit]] | None = None


class FullPhrase(NamedTuple):
    """A phrase with `_MOST_HITS` placed hits, and the start of the last of them."""

    known: KnownPhrase
    last: int


class _Aftermath(NamedTuple):
    """The cost and the label of a hit, given the text that follows it; `conceded` as in `Found`."""

    cost: float
    label: str | None
    conceded: bool = False


class _Conditions:
    """The conditions that phrases set for the sentences of one text.

    Models that run into a loop repeat themselves, so each pattern and each sentence are compared only once.
    """

    def __init__(self, text: str, known: ConditionAnswers | None = None) -> None:
        self._text = text
        # By the identity of a pattern: hashing one reads all of it.
        self._known: ConditionAnswers = {} if known is None else known

    def void(self, hit: Hit, about: KnownPhrase) -> bool:
        """Whether the sentence of a hit voids it."""
        demand = about.demand()
        if not about.phrase.unless and demand is None:
            return False
        sentence = sentence_around(self._text, hit.start, hit.end).replace("\u2019", "'")
        if demand is not None and self._place(demand, sentence) < 0:
            return True
        return any(self._place(pattern, sentence) >= 0 for pattern in about.voids())

    def aftermath(self, hit: Hit, about: KnownPhrase) -> _Aftermath | None:
        """Return the cost and label of a hit, given the text after it; None if the answer goes on to help."""
        remedy, offer = about.remedy(), about.offer()
        label = about.phrase.label
        if remedy is None and offer is None:
            return _Aftermath(about.weight, label)
        after = self._text[hit.end : hit.end + _SENTENCE].replace("\u2019", "'")
        given = -1 if remedy is None else self._place(remedy, after)
        offered = -1 if offer is None else self._place(offer, after)
        if given >= 0 and (offered < 0 or given <= offered):
            return None if about.phrase.softened is None else _Aftermath(about.phrase.softened, label)
        if offered < 0:
            return _Aftermath(about.weight, label)
        excuse = about.excused()
        conceded = _SENTENCE_END.search(after, 0, offered) is None or (
            excuse is not None and self._place(excuse, sentence_around(self._text, hit.start, hit.end)) >= 0
        )
        return _Aftermath(about.weight, PARTIAL, conceded)

    def _place(self, pattern: re.Pattern[str], words: str) -> int:
        """Where the pattern is found in the words, or -1."""
        key = id(pattern), words
        place = self._known.get(key)
        if place is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            match = pattern.search(words)
            place = self._known[key] = -1 if match is None else match.start()
        return place


def read_answer(
    text: str,
    *,
    min_length: int = 20,
    languages: frozenset[str] | None = None,
    custom: CustomPatterns = NO_CUSTOM,
    packs: SignalPhrases | None = None,
    finish_reason: str | None = None,
    model: "Model | None" = None,
    screened: ScreenedText | None = None,
) -> list[FailureSignal]:
    """Every signal in `text`, the gravest first, then in order of position; at most 100 of them.

    `model` is the learned model for texts that the rules leave open; None is the shipped one. `screened`
    holds known facts about the text.
    """
    shape = shape_signals(text, min_length, finish_reason) if screened is None else []
    placing = None if screened is None else screened.place
    own = custom.signals(text) if custom.patterns is not None else []
    # A failed step is retried if a call follows: only the last message of a turn reports a failure.
    left_out = SignalType.TOOL_FAILURE if finish_kind(finish_reason) == "calling" else None
    full: list[FullPhrase] | None = []
    while True:
        found = find(text, languages, custom.replaced, packs=packs, length=len(text), full=full, placing=placing)
        if not (found or own or shape or full):
            return []
        counted = counting(found, text)
        of_phrases = [each.signal for each in counted if not each.known.phrase.cue and each.known.type is not left_out]
        signals = apart([*of_phrases, *own])
        undecided = any(each.known.phrase.cue for each in counted)
        if not full or not any(_hides(each, signals, undecided=undecided) for each in full):
            break
        full = None
    signals = [*shape, *signals]
    if undecided and not any(signal.weight > _DECIDING for signal in signals):
        signals += [each for each in judged(text, model) if each.type not in custom.replaced]
    return sorted(signals, key=gravity)[:_MOST]


def _hides(full: FullPhrase, signals: Iterable[FailureSignal], *, undecided: bool) -> bool:
    """Whether the hits of a phrase that were not placed could add a signal.

    They cannot if `_MOST` signals that weigh at least as much come before them, because no more are reported. After one
    cue, further cues add nothing. A hit that is quoted, void or made good is not a signal, so no number of such hits
    hides one that counts.
    """
    phrase = full.known.phrase
    if phrase.cue:
        return not undecided
    weight = max(full.known.weight, phrase.softened or 0.0)
    before = (each for each in signals if (each.position or 0) + len(each.evidence) <= full.last)
    return sum(each.weight >= weight for each in before) < _MOST


def find(
    text: str,
    languages: frozenset[str] | None = None,
    replaced: frozenset[SignalType] = frozenset(),
    offset: int = 0,
    known: SignalPhrases | None = None,
    *,
    packs: SignalPhrases | None = None,
    since: int = 0,
    length: int | None = None,
    memory: ReadingMemory | None = None,
    full: list[FullPhrase] | None = None,
    placing: Callable[[int | None], list[Hit]] | None = None,
) -> list[Found]:
    """The phrases in `text` that their sentence does not void.

    `offset` is where `text` begins in the whole text. `known` are the phrases to look for, by default all of toolvet's.
    `packs` are looked for in addition. A phrase that begins before `since` in the whole text is left out, and so is one
    that does not fit in a whole text of `length`; from `since` after the opening, also what counts only there.
    `memory` is of what was asked of the same text before, and grows. With `full`, at most `_MOST_HITS` hits of each
    phrase are placed, and those that reach it are added to `full`. `placing` returns the hits of toolvet's own phrases
    where a scan of many texts has found them, as in `ScreenedText`.
    """
    found: list[Found] = []
    conditions = _Conditions(text, None if memory is None else memory.conditions)
    most = None if full is None else _MOST_HITS
    for some in (known or phrases(), packs):
        if some is None:
            continue
        if placing is not None and some is not packs:
            hits = placing(most)
        else:
            hits = some.scan(
                text,
                languages,
                is_whole=length == len(text),
                is_later=since >= EDGE,
                most=most,
                placed=None if memory is None else memory.placed,
            )
        if full is not None and len(hits) >= _MOST_HITS:
            often = Counter(hit.id for hit in hits)
            last = {hit.id: hit.start for hit in hits}
            full += [FullPhrase(some.by_id[each], last[each]) for each in often if often[each] >= _MOST_HITS]
        for hit in hits:
            about = some.by_id[hit.id]
            if about.type in replaced or hit.start + offset < since:
                continue
            # Checks that need not read the sentence come first: most hits in a long answer are in other places.
            if length is not None and not _stands(about.phrase, hit.start + offset, hit.end + offset, length):
                continue
            if conditions.void(hit, about):
                continue
            aftermath = conditions.aftermath(hit, about)
            if aftermath is not None:
                signal = FailureSignal(
                    type=about.type,
                    evidence=text[hit.start : hit.end],
                    weight=aftermath.cost,
                    position=hit.start + offset,
                    context=around(text, hit.start, hit.end),
                    label=aftermath.label,
                    language=None if about.language == ANY_LANGUAGE else about.language,
                )
                found.append(Found(about, signal, hit.start + offset, hit.end + offset, aftermath.conceded))
    return found


def is_anything_in(
    text: str,
    languages: frozenset[str] | None = None,
    packs: SignalPhrases | None = None,
    placed: PlacedBefore | None = None,
    *,
    since: int = 0,
) -> bool:
    """Return whether any phrase matches in `text`, whatever its sentence.

    `placed` is as in a scan. Matches that begin before `since` in the whole text do not matter.
    """
    return any(
        some.scan(text, languages, is_later=since >= EDGE, placed=placed)
        for some in (phrases(), packs)
        if some is not None
    )


def counting(found: Iterable[Found], text: str) -> list[Found]:
    """The phrases that count in the whole `text`, cues among them."""
    fitting = [each for each in found if fits(each, len(text))]
    asked = sorted(each.start for each in fitting if not each.known.phrase.in_code)
    regions = None
    if asked:
        # Finding masks costs more than finding phrases, so an answer without phrases does without.
        from toolvet.core.prose import masks  # noqa: PLC0415

        regions = masks(text, asked)
    return [each for each in fitting if counts(each, len(text), regions)]


def counts(found: Found, length: int, regions: Masks | None) -> bool:
    """Whether a phrase that was found says something of the answer, by the conditions of its entry."""
    if not fits(found, length):
        return False
    return found.known.phrase.in_code or regions is None or regions.kind_at(found.start, found.end) is None


def fits(found: Found, length: int) -> bool:
    """Whether a phrase is in the place that its entry requires, in an answer of this length."""
    if found.conceded and length - found.end > EDGE:
        return False
    return _stands(found.known.phrase, found.start, found.end, length)


def _stands(phrase: SignalPhrase, start: int, end: int, length: int) -> bool:
    """The part of `fits` that needs no look at the text."""
    if phrase.at_most is not None and length > phrase.at_most:
        return False
    where = phrase.where
    if where is None:
        if phrase.label == PARTIAL and length - end > EDGE:
            return False
        if phrase.strength != "mild" or length <= SHORT:
            return True
        where = "edges"
    opens = where != "closing" and start < EDGE
    closes = where != "opening" and end > length - EDGE
    return opens or closes


def settled_length(found: Found) -> int:
    """Return the length of an answer beyond which `fits` says the same of a phrase, however long it grows."""
    return max(found.known.phrase.at_most or 0, found.end + EDGE, SHORT)


def apart(signals: Sequence[FailureSignal]) -> list[FailureSignal]:
    """Of signals of one type that overlap, the heaviest, and of equally heavy ones the longest."""
    if len(signals) < 2:
        return list(signals)
    kept: list[FailureSignal] = []
    reached: dict[SignalType, int] = {}
    last: dict[SignalType, int] = {}
    for signal in sorted(signals, key=lambda each: each.position or 0):
        start = signal.position or 0
        end = start + len(signal.evidence)
        if signal.type in last and start < reached[signal.type]:
            rival = kept[last[signal.type]]
            if (signal.weight, len(signal.evidence)) > (rival.weight, len(rival.evidence)):
                kept[last[signal.type]] = signal
        else:
            last[signal.type] = len(kept)
            kept.append(signal)
        reached[signal.type] = max(reached.get(signal.type, 0), end)
    return kept


def judged(text: str, model: "Model | None" = None) -> list[FailureSignal]:
    """Return the signals that a learned model is sure enough of; None for the shipped model."""
    # Loaded only when asked (6 ms): most texts are decided without it.
    from toolvet.core.checks.answer.model import judge  # noqa: PLC0415

    return [
        FailureSignal(
            type=each.type,
            evidence=each.evidence,
            weight=each.weight,
            position=each.position,
            context=around(text, each.position, each.position + len(each.evidence)),
            label=each.label,
            source="model",
            model=each.model,
        )
        for each in judge(text, model=model)
    ]


def gravity(signal: FailureSignal) -> tuple[float, int]:
    """The key by which signals are sorted: by weight, then position."""
    return (-signal.weight, signal.position or 0)


def around(text: str, start: int, end: int) -> str:
    """The evidence with 40 characters on either side."""
    return text[max(0, start - _AROUND) : end + _AROUND]


def sentence_around(text: str, start: int, end: int) -> str:
    """The sentence around the characters from `start` up to `end`, at most 200 characters either way."""
    first = max(0, start - _SENTENCE)
    near = max(first, start - _NEAR)
    # Most sentences begin not far away.
    for match in [*_SENTENCE_END.finditer(text, near, start)][-1:] or _SENTENCE_END.finditer(text, first, near + 1):
        first = match.end()
    after = _SENTENCE_END.search(text, end, end + _SENTENCE)
    return text[first : after.end() if after is not None else end + _SENTENCE]


class OwnRules:
    """The caller's exceptions and weights.

    `exceptions` void a signal of their type if one of them matches in its sentence. `weights` are the most that the
    types cost; each signal of a type is scaled by its new weight over its default.
    """

    def __init__(self, exceptions: CustomPatterns, weights: Mapping[SignalType, float]) -> None:
        self._exceptions = exceptions
        self.weights = weights
        self.changes_nothing = exceptions.patterns is None and not weights

    def apply(self, text: str, signals: Sequence[FailureSignal]) -> list[FailureSignal]:
        """Return the signals that count, each with its cost."""
        if self.changes_nothing:
            return list(signals)
        counted: list[FailureSignal] = []
        for signal in signals:
            weight = self.weights.get(signal.type)
            if weight == 0:
                continue
            if self._exceptions.patterns is not None:
                start = signal.position or 0
                sentence = sentence_around(text, start, start + len(signal.evidence))
                if any(found.type is signal.type for found in self._exceptions.signals(sentence)):
                    continue
            if weight is None:
                counted.append(signal)
            else:
                scaled = round(min(1.0, signal.weight * weight / signal.type.weight), 4)
                counted.append(msgspec.structs.replace(signal, weight=scaled))
        return counted


NO_OWN_RULES: Final = OwnRules(custom_patterns(None), {})


def own_rules(
    exceptions: Mapping[str, Iterable[str | re.Pattern[str]]] | None, weights: Mapping[str, float] | None
) -> OwnRules:
    """Compile the caller's exceptions and weights.

    Args:
        exceptions: For each signal type patterns (as in `custom_patterns`): a signal of that type does not count where
            one of them is found in its sentence.
        weights: The cost of each signal type, 0 to 1; 0 leaves the type out.

    Raises:
        BadOption: There is no such type, or a weight is not a number from 0 to 1.
        UnsafePattern: A pattern is not a regular expression, or cannot be matched in linear time.
    """
    if not exceptions and not weights:
        return NO_OWN_RULES
    compiled = custom_patterns(exceptions, option="exceptions")
    given = cast("object", weights or {})
    if not isinstance(given, Mapping):
        raise BadOption(f"weights must map signal types to numbers, and is of type {type(given).__name__}")
    found: dict[SignalType, float] = {}
    for name, weight in cast("Mapping[object, object]", given).items():
        if name not in list(SignalType):
            raise BadOption(f"weights: there is no signal type {name!r}; there are {', '.join(SignalType)}")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
            raise BadOption(f"weights[{str(name)!r}] must be a number from 0 to 1, not {weight!r}")
        found[SignalType(str(name))] = float(weight)
    return OwnRules(compiled, found)
