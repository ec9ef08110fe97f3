"""`contradictions`: the same question, answered differently over a conversation."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from toolvet.core.checks.answer import FailureSignal, SignalType
from toolvet.core.messages import Turn
from toolvet.core.turn.consistency.embedder import OFF, Embedder, EmbedderFailed, State, Vector, embed, similarity
from toolvet.core.turn.consistency.polarity import one_negated, yes_and_no
from toolvet.core.turn.consistency.sentences import Sentence, sentences
from toolvet.core.turn.grounding.tokens import numerals_in

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


class Consistency(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the answers of a conversation agree; `reason` is a sentence for a reader."""

    state: State
    reason: str
    contradictions: tuple[Contradiction, ...] = ()


def contradictions(
    turns: Sequence[Turn | tuple[str, str]], embedder: Embedder | None, *, same_question: float = SAME_QUESTION
) -> Consistency:
    """Where answers to the same question disagree: in numbers, names, yes and no, or by a negation.

    `turns` in the order of the conversation, as `toolvet.Turn` or (question, answer); the last 200 count. Questions ask
    the same from a similarity of `same_question` on. What changes with time ("How late is it?") changes rightly: leave
    such turns out. Never raises for what the texts hold or the model does.
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
            if alike < same_question or not _same_values(turns[earlier].question, turns[later].question):
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


def _same_values(one: str, two: str) -> bool:
    """Whether two questions ask about the same numbers and names: flights on Monday are not flights on Friday."""
    return _numbers(one) == _numbers(two) and not (_names(one) ^ _names(two))


def _clash(earlier: Turn, later: Turn, embedder: Embedder) -> tuple[Kind, Sentence, Sentence] | None:
    before, now = sentences(earlier.answer or ""), sentences(later.answer or "")
    if not before or not now:
        return None
    if yes_and_no(before[0].text, now[0].text):
        return "yes_no", before[0], now[0]
    vectors = embed(embedder, [_bare(sentence.text) for sentence in (*before, *now)])
    asked = {word.lower().removesuffix("s") for word in _WORD.findall(earlier.question + " " + later.question)}
    said_before, said_now = (
        _numbers_and_names(earlier.answer or "", asked),
        _numbers_and_names(later.answer or "", asked),
    )
    # Two short answers are about one thing; of long ones only sentences that differ in nothing but the value are.
    brief = len(before) <= _BRIEF and len(now) <= _BRIEF
    for says, vector in zip(now, vectors[len(before) :], strict=True):
        near = _nearest(vector, vectors[: len(before)])
        said = before[near]
        same_frame = _same_frame(said.text, says.text)
        if not (brief or same_frame) or similarity(vector, vectors[near]) < SAME_SENTENCE:
            continue
        if _apart(_numbers(said.text), _numbers(says.text), said_before[0], said_now[0]):
            return "numbers", said, says
        names_before, names_now = _names(said.text) - asked, _names(says.text) - asked
        # President Obama and Barack Obama are one: names that share a part don't disagree.
        prose = brief or (_PROSE.search(said.text) and _PROSE.search(says.text))  # Headings name what they like.
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


def _nearest(vector: Vector, others: list[list[float]]) -> int:
    return max(range(len(others)), key=lambda place: similarity(vector, others[place]))


def _numbers_and_names(answer: str, asked: set[str]) -> tuple[frozenset[object], frozenset[object]]:
    """The numbers and the names of a whole answer."""
    return frozenset(_numbers(answer[:6000])), frozenset(_names(answer[:6000]) - asked)


def _apart(said: set[str], says: set[str], all_said: frozenset[object], all_says: frozenset[object]) -> bool:
    """Whether each side names something that the other's whole answer does not have."""
    return bool(said - all_says and says - all_said)


def _same_frame(said: str, says: str) -> bool:
    one, two = (set(_WORD.findall(_NAME.sub(" ", text).lower())) for text in (said, says))
    shared = one & two
    return len(shared) >= 2 and len(shared) >= _FRAME * max(len(one), len(two))


def _numbers(text: str) -> set[str]:
    return {f"{value:g}" for value in numerals_in(text)}


def _names(text: str) -> set[str]:
    """Words with a capital inside a sentence, in lower case and without a plural's or a genitive's s."""
    return {name.lower().removesuffix("s") for name in _NAME.findall(text)}


def _bare(text: str) -> str:
    """A sentence without its numbers and names: what it is about."""
    return _NAME.sub("X", _NUMERAL.sub("0", text))
