"""Answers held against their question and against earlier answers, by meaning: what needs a sentence-embedding model.

    contradictions   the same question, answered differently over a conversation
    off_topic        an answer that is about something else than its question
    add_signals      the verdict on an answer, weighed again with the signals of these

The model is any object with the one method of `Embedder`; `toolvet.agents.integrations.embedding` has one that runs
locally. Without a model the results say that this part is off.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from operator import mul
from typing import Literal, Protocol

import msgspec

from toolvet.core.checks.answer import AnswerQuality, FailureSignal, SignalType
from toolvet.core.discover.toml import read_toml
from toolvet.core.messages import Turn
from toolvet.core.turn.check import checked_threshold, verdict
from toolvet.core.turn.ledger.tokens import numerals_in

SAME_QUESTION = 0.8
"""The similarity from which on two questions ask the same, for WordLlama's vectors of 256 numbers."""

SAME_SENTENCE = 0.7
"""The similarity from which on two sentences say something of the same, their numbers and names left out."""

_MOST_TURNS = 200
_BRIEF = 2  # Sentences.
_FRAME = 0.6  # The share of the longer sentence's words that the other one has too, where only the values differ.
_NUMERAL = re.compile(r"\d[\d.,:/'\u00a0\u202f]*")
_NAME = re.compile(r"(?<![.!?]\s)(?<=\S\s)[^\W\d_a-z][^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_PROSE = re.compile(r"[.!?。\uff01\uff1f।؟]\Z")

Kind = Literal["numbers", "names", "yes_no", "negation"]
_WEIGHTS: dict[Kind, float] = {"numbers": 0.6, "names": 0.6, "yes_no": 0.6, "negation": 0.5}


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """Two answers to the same question that cannot both be right.

    `earlier` and `later` are the numbers of the turns (from 0); `said` and `says` the sentences that disagree,
    `position` where the later one begins in its answer. `alike` (0 to 1) is how near the questions are.
    """

    kind: Kind
    earlier: int
    later: int
    said: str
    says: str
    position: int
    alike: float

    @property
    def signal(self) -> FailureSignal:
        """The signal for the later answer: one of the two is made up, and nothing here shows which."""
        return FailureSignal(
            type=SignalType.HALLUCINATION_RISK,
            evidence=self.says,
            weight=_WEIGHTS[self.kind],
            position=self.position,
            label="contradiction",
            source="semantics",
            against=self.said,
        )


State = Literal["checked", "off", "not_judged"]
"""`off`: no model, or it failed; `not_judged`: the texts give the model too little evidence."""


class Consistency(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the answers of a conversation agree; `reason` is a sentence for a reader."""

    state: State
    reason: str
    contradictions: tuple[Contradiction, ...] = ()


class Embedder(Protocol):
    """A model that turns texts into vectors, in which near means alike."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text, all of the same length; they need not be normalised."""
        ...


def contradictions(
    turns: Sequence[Turn | tuple[str, str]], embedder: Embedder | None, *, same_question: float = SAME_QUESTION
) -> Consistency:
    """Where answers to the same question disagree: in numbers, names, yes and no, or by a negation.

    `turns` in the order of the conversation, as `toolvet.Turn` or (question, answer); the last 200 count. Questions ask
    the same from a similarity of `same_question` on. What changes with time ("How late is it?") changes rightly: leave
    such turns out. Never raises, whatever the texts hold or the model does.
    """
    if embedder is None:
        return Consistency(state="off", reason=OFF)
    first = max(0, len(turns) - _MOST_TURNS)
    read = [each if isinstance(each, Turn) else Turn(*each) for each in turns[first:]]
    if len(read) < 2:
        return Consistency(state="not_judged", reason="There are not two answers to compare.")
    try:
        found = list(_found(read, first, embedder, same_question))
    except EmbedderFailed as error:
        return Consistency(state="off", reason=str(error))
    if not found:
        return Consistency(state="checked", reason="No two answers to the same question disagree.")
    count = "One answer disagrees" if len(found) == 1 else f"{len(found)} answers disagree"
    return Consistency(
        state="checked", reason=f"{count} with an earlier one to the same question.", contradictions=tuple(found)
    )


def _found(turns: list[Turn], first: int, embedder: Embedder, same_question: float) -> Iterator[Contradiction]:
    """At most one contradiction for each later turn: with the latest earlier one that it disagrees with."""
    asked = embed(embedder, [turn.question for turn in turns])
    for later in range(1, len(turns)):
        for earlier in range(later - 1, -1, -1):
            alike = similarity(asked[earlier], asked[later])
            if alike < same_question:
                continue
            one, two = turns[earlier].question, turns[later].question
            # Flights on Monday are not flights on Friday.
            if _numbers(one) != _numbers(two) or _names(one) != _names(two):
                continue
            clash = _clash(turns[earlier], turns[later], embedder)
            if clash is not None:
                kind, said, says = clash
                yield Contradiction(
                    kind=kind,
                    earlier=first + earlier,
                    later=first + later,
                    said=said.text,
                    says=says.text,
                    position=says.start,
                    alike=round(min(1.0, alike), 4),
                )
                break


class Sentence(msgspec.Struct, frozen=True):
    """A sentence, and its start in the answer."""

    text: str
    start: int


def _clash(earlier: Turn, later: Turn, embedder: Embedder) -> tuple[Kind, Sentence, Sentence] | None:
    before, now = sentences(earlier.answer or ""), sentences(later.answer or "")
    if not before or not now:
        return None
    if yes_and_no(before[0].text, now[0].text):
        return "yes_no", before[0], now[0]
    # A sentence without its numbers and names: its subject.
    vectors = embed(embedder, [_NAME.sub("X", _NUMERAL.sub("0", sentence.text)) for sentence in (*before, *now)])
    asked = {word.lower().removesuffix("s") for word in _WORD.findall(earlier.question + " " + later.question)}
    said_before, said_now = (
        _numbers_and_names(earlier.answer or "", asked),
        _numbers_and_names(later.answer or "", asked),
    )
    # Two short answers are about one thing; of long ones only sentences that differ in nothing but the value are.
    brief = len(before) <= _BRIEF and len(now) <= _BRIEF
    for says, vector in zip(now, vectors[len(before) :], strict=True):
        alike = [similarity(vector, other) for other in vectors[: len(before)]]
        near = alike.index(max(alike))
        said = before[near]
        one, two = (set(_WORD.findall(_NAME.sub(" ", text).lower())) for text in (said.text, says.text))
        shared = one & two
        same_frame = len(shared) >= 2 and len(shared) >= _FRAME * max(len(one), len(two))
        if not (brief or same_frame) or similarity(vector, vectors[near]) < SAME_SENTENCE:
            continue
        if _apart(_numbers(said.text), _numbers(says.text), said_before[0], said_now[0]):
            return "numbers", said, says
        names_before, names_now = _names(said.text) - asked, _names(says.text) - asked
        # President Obama and Barack Obama are one: names that share a part don't disagree.
        prose = brief or (_PROSE.search(said.text) and _PROSE.search(says.text))  # Headings may name anything.
        if (
            same_frame
            and prose
            and not names_before & names_now
            and _apart(names_before, names_now, said_before[1], said_now[1])
        ):
            return "names", said, says
        if one_negated(said.text, says.text):
            return "negation", said, says
    return None


Vector = Sequence[float]


def _numbers_and_names(answer: str, asked: set[str]) -> tuple[frozenset[object], frozenset[object]]:
    return frozenset(_numbers(answer[:6000])), frozenset(_names(answer[:6000]) - asked)


def _apart(said: set[str], says: set[str], all_said: frozenset[object], all_says: frozenset[object]) -> bool:
    return bool(said - all_says and says - all_said)


def _numbers(text: str) -> set[str]:
    return {f"{value:g}" for value in numerals_in(text)}


def _names(text: str) -> set[str]:
    """Words with a capital inside a sentence, in lower case and without a plural's or a genitive's s."""
    return {name.lower().removesuffix("s") for name in _NAME.findall(text)}


_WORD_OR_CONTRACTION = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
# What French and Italian elide before a vowel: n'est is est, with a not that pas repeats.
_ELIDED = re.compile(r"\b(?:[nldcsjmt]|qu|dell|nell|un)'(?=[^\W\d_])")
_APOSTROPHES = str.maketrans("\u2018\u2019", "''")
# "No doubt", "no problem" and "no, thanks" are not a no: only a word alone decides.
_OPENING = re.compile(r"\W*([^\W\d_]+)\s*(?:[,.!;:\u2013\u2014-]|\Z)")


class Polarity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language, with pairs that say opposite things and pairs that don't."""

    yes: frozenset[str]
    no: frozenset[str]
    negations: frozenset[str] = msgspec.field(name="not")
    hits: tuple[tuple[str, str], ...]
    misses: tuple[tuple[str, str], ...]


@cache
def polarities() -> dict[str, Polarity]:
    """Every language that `polarity.toml` has."""
    return read_toml("toolvet.core.turn", "polarity.toml", dict[str, Polarity])


def yes_and_no(one: str, two: str) -> bool:
    """Whether one answer opens with a yes and the other with a no, in the same language."""
    first, second = _opening(one), _opening(two)
    return any(
        (first in words.yes and second in words.no) or (first in words.no and second in words.yes)
        for words in polarities().values()
    )


def one_negated(one: str, two: str) -> bool:
    """Whether two sentences are made of the same words but for a negation in one of them."""
    first, second = _words(one), _words(two)
    for words in polarities().values():
        negated = bool(first & words.negations), bool(second & words.negations)
        if negated[0] != negated[1]:
            # French negates with two words, English with a helper: so a word or two may differ.
            rest = (first ^ second) - words.negations
            shared = first & second
            if len(shared) >= 3 and len(rest) <= len(shared) // 3:
                return True
    return False


def _opening(text: str) -> str:
    match = _OPENING.match(text[:80].lower())
    return match[1] if match else ""


def _words(text: str) -> set[str]:
    return set(_WORD_OR_CONTRACTION.findall(_ELIDED.sub("", text.lower().translate(_APOSTROPHES))))


OFF_TOPIC = "off_topic"
THRESHOLD = 0.1
"""The similarity below which an answer is about something else, for WordLlama's vectors of 256 numbers.

Of 2,690 good English answers of six public sources 0.7 % lie below it, of the same answers given to another question
of their source 36 % do (docs/semantics.md). Another model needs a threshold of its own.
"""

_SHORTEST_ANSWER = 60  # Characters: "Paris." is an answer, but nothing to measure.
_WEIGHT = 0.4
_SHOWN = 200


class Relevance(msgspec.Struct, frozen=True, kw_only=True):
    """How near an answer is to its question.

    `similarity` (-1 to 1) is that of its nearest sentence, or of its beginning if that is nearer; None unless
    `state` is `checked`. `signal` is set if the answer is off topic; `reason` is a sentence for a reader.
    """

    state: State
    reason: str
    similarity: float | None = None
    signal: FailureSignal | None = None


def off_topic(question: str, answer: str, embedder: Embedder | None, *, threshold: float = THRESHOLD) -> Relevance:
    """Whether `answer` is about what `question` asks, by the meaning that `embedder` gives both.

    An answer below `threshold` has a signal of the type `confusion`: its speaker took the question for another one. It
    costs 0.4, because a similarity proves nothing. Never raises; a model that fails makes the state `off`.
    """
    if embedder is None:
        return Relevance(state="off", reason=OFF)
    if len(answer.strip()) < _SHORTEST_ANSWER or not question.strip():
        return Relevance(
            state="not_judged", reason="The question or the answer is too short to be compared by meaning."
        )
    parts = [question, answer[:600], *(sentence.text for sentence in sentences(answer))]
    try:
        asked, *answered = embed(embedder, parts)
    except EmbedderFailed as error:
        return Relevance(state="off", reason=str(error))
    if not any(asked) or not any(map(any, answered)):
        return Relevance(state="not_judged", reason="The embedding model sees nothing in the question or the answer.")
    nearest = round(max(similarity(asked, vector) for vector in answered), 4)
    if nearest >= threshold:
        return Relevance(state="checked", reason="The answer is about what was asked.", similarity=nearest)
    start = len(answer) - len(answer.lstrip())
    signal = FailureSignal(
        type=SignalType.CONFUSION,
        evidence=answer.strip()[:_SHOWN],
        weight=_WEIGHT,
        position=start,
        label=OFF_TOPIC,
        source="semantics",
        against=question.strip()[:_SHOWN],
    )
    reason = f"The answer seems to be about something else (similarity {nearest:.2f}, below {threshold:.2f})."
    return Relevance(state="checked", reason=reason, similarity=nearest, signal=signal)


OFF = "No embedding model was given, so this was not checked (see toolvet.agents.integrations.embedding)."


class EmbedderFailed(Exception):  # noqa: N818 - it never leaves this package.
    """The model raised, or answered with something other than one vector for each text."""


def embed(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    """Return a vector of length 1 for each text (zero if the model sees nothing in it); raise `EmbedderFailed`."""
    if not texts:
        return []
    try:
        vectors = [[float(value) for value in vector] for vector in embedder.embed(texts)]
    except Exception as error:  # A model is foreign code, and may raise anything.
        raise EmbedderFailed(f"The embedding model failed: {type(error).__name__}: {error}") from error
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1:
        raise EmbedderFailed("The embedding model did not give one vector of the same length for each text.")
    units: list[list[float]] = []
    for vector in vectors:
        length = math.sqrt(sum(map(mul, vector, vector)))
        usable = length and math.isfinite(length)
        units.append([value / length for value in vector] if usable else [0.0] * len(vector))
    return units


def similarity(one: Vector, two: Vector) -> float:
    """The cosine of two unit vectors, -1 to 1."""
    return math.fsum(map(mul, one, two))


_SENTENCE = re.compile(r"(?:[^.!?。\uff01\uff1f؟।\n]|[.!?](?=\S))+[.!?。\uff01\uff1f؟।]*")
_MARKER = re.compile(r"\s*(?:[-*•#>]+|\d{1,2}[.)](?=\s))\s*")
_MOST = 24  # Sentences of an answer that are looked at …
_SHORTEST_SENTENCE = 2  # … with at least this many characters …
_LONGEST = 400  # … of which at most this many are read.
_READ = 6000  # Characters of an answer that are looked at.


def sentences(answer: str) -> list[Sentence]:
    """The first sentences of an answer, without list markers."""
    found: list[Sentence] = []
    for match in _SENTENCE.finditer(answer, 0, _READ):
        marker = _MARKER.match(match.group())
        start = match.start() + (marker.end() if marker else 0)
        text = answer[start : match.end()]
        start += len(text) - len(text.lstrip())
        text = text.strip()
        if len(text) >= _SHORTEST_SENTENCE:
            found.append(Sentence(text[:_LONGEST], start))
            if len(found) == _MOST:
                break
    return found


def add_signals(
    quality: AnswerQuality, signals: Iterable[FailureSignal | None], *, mode: Literal["normal", "strict"] = "normal"
) -> AnswerQuality:
    """Return `quality` weighed again with `signals` beside its own; None among them counts as no signal."""
    more = [signal for signal in signals if signal is not None]
    if not more:
        return quality
    weighed = verdict([*quality.signals, *more], threshold=checked_threshold(None, strict=mode == "strict"))
    return msgspec.structs.replace(
        weighed, failed_calls=quality.failed_calls, partial_calls=quality.partial_calls, trace_id=quality.trace_id
    )
