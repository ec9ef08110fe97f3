"""Faults of a text that do not depend on its words: it is empty, broken off, or the same over and over."""

import unicodedata

from toolvet.core.checks.answer.ending import break_off
from toolvet.core.checks.answer.finish import finish_kind
from toolvet.core.checks.answer.quality import FailureSignal, SignalType
from toolvet.core.checks.answer.raw_error import raw_error
from toolvet.core.checks.answer.repetition import repeated

_DENSE = 3  # No answer is shorter, in characters, than a third of its length in letters of an alphabet.
# A long answer, or one of several whole sentences, has said most of what it had to say when it breaks off.
_LONG = 600
_SMALL_SHARE = 0.15
_LITTLE = 0.25
_CUT_WEIGHT = SignalType.INCOMPLETE_REASONING.weight
_KINDS = {
    "filtered": (SignalType.INCOMPLETE_REASONING, "filtered"),
    "refused": (SignalType.REFUSAL, "refused"),
    "unfinished": (SignalType.INCOMPLETE_REASONING, "unfinished"),
    "failed": (SignalType.TOOL_FAILURE, "generation"),
}


def shape_signals(text: str, min_length: int = 20, finish_reason: str | None = None) -> list[FailureSignal]:
    """The signals that the shape of `text`, and why the model stopped, give."""
    found: list[FailureSignal] = []
    stopped = None
    if finish_reason is not None:
        stopped = finish_kind(finish_reason)
        if stopped in _KINDS:
            kind, label = _KINDS[stopped]
            found.append(_signal(kind, f"{finish_reason}"[:40], kind.weight, None, label))
    # What is said before a call may be short, or nothing, and ends as it likes: "Let me look:".
    if stopped != "calling":
        if len(text) < _DENSE * min_length or len(text) < 200:
            empty = _empty(text, min_length)
            if empty is not None:
                return [*found, empty]
        elif text.isspace():
            return [*found, _signal(SignalType.EMPTY_RESPONSE, "", SignalType.EMPTY_RESPONSE.weight, 0, "blank")]
        cut = _cut(text, reported=stopped == "cut", ended=stopped == "complete")
        if cut is not None:
            found.append(cut)
    raw = raw_error(text) if text else None
    if raw is not None:
        found.append(raw)
    again = repeated(text)
    if again is not None:
        found.append(again)
    return found


def length(text: str) -> int:
    """How long a text is in letters of an alphabet: a Chinese character says as much as three, kana, hangul as two."""
    stripped = text.strip()
    if stripped.isascii():
        return len(stripped)
    return sum(_says(character) for character in stripped)


def _says(character: str) -> int:
    if (
        "\u4e00" <= character <= "\u9fff"
        or "\u3400" <= character <= "\u4dbf"
        or "\U00020000" <= character <= "\U0003ffff"
    ):
        return 3
    if "\u3000" <= character <= "\u30ff" or "\uff00" <= character <= "\uffef" or "\uac00" <= character <= "\ud7a3":
        return 2
    # Zero-width characters and byte-order marks are nothing to read.
    return 0 if character.isspace() is False and unicodedata.category(character) in ("Cf", "Cc") else 1


def _empty(text: str, min_length: int) -> FailureSignal | None:
    said = length(text)
    if said and said >= min_length and (len(text) > 200 or any(map(_means, text))):
        return None
    words = text.strip()
    label = "blank" if not said or not any(map(_means, words)) else "too_short"
    return _signal(SignalType.EMPTY_RESPONSE, words, SignalType.EMPTY_RESPONSE.weight, 0, label)


def _means(character: str) -> bool:
    """Whether a character can say something alone: a letter, a digit, a symbol, an emoji."""
    return character.isalnum() or unicodedata.category(character) in ("So", "Sm", "Sc", "Mn", "Mc", "Lo", "Co", "Cn")


def _cut(text: str, *, reported: bool, ended: bool) -> FailureSignal | None:
    """The cut that the model's vendor reports, or that the text shows.

    A model that ended by itself may well leave out a full stop, so then only an end that cannot be meant counts.
    """
    found = break_off(text)
    if reported:
        end = len(text.rstrip())
        start = max(0, end - 40)
        return _signal(SignalType.INCOMPLETE_REASONING, text[start:end], _CUT_WEIGHT, start, "truncated")
    if found is None or (ended and found.strength == "weak"):
        return None
    little = found.strength == "weak" or found.end > _LONG or found.share < _SMALL_SHARE
    weight = _LITTLE if little and found.strength != "certain" else _CUT_WEIGHT
    return _signal(SignalType.INCOMPLETE_REASONING, text[found.start : found.end], weight, found.start, "truncated")


def _signal(kind: SignalType, evidence: str, weight: float, position: int | None, label: str) -> FailureSignal:
    return FailureSignal(type=kind, evidence=evidence, weight=weight, position=position, label=label, source="shape")
