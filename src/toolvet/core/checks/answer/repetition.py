"""Whether a text has run into a loop: its end is the same words over and over."""

from toolvet.core.checks.answer.quality import FailureSignal, SignalType

_TAIL = 800  # A model that loops does so until it is stopped, so the end of the text shows it.
_PROBE = 12
_TIMES = 5
_LONGEST_UNIT = 200
_SENTENCE_ENDS = ".!?\u3002\uff01\uff1f\u0964\u061f"
# A sentence said again and again is odd; the same words without even a sentence answer nothing.
_SENTENCES = 0.15


def repeated(text: str) -> FailureSignal | None:
    """The loop at the end of `text`: the same words at least five times in a row, three letters in them or more."""
    end = len(text.rstrip())
    begin = max(0, end - _TAIL)
    if text.count(text[max(0, end - _PROBE) : end], begin, end) < 2:
        return None
    tail = text[begin:end]
    unit = _unit(tail)
    if unit is None or sum(map(str.isalpha, unit)) < 3:
        return None
    start = end - _run(tail, len(unit))
    loops = not any(mark in unit for mark in _SENTENCE_ENDS)
    kind = SignalType.EMPTY_RESPONSE if loops else SignalType.INCOMPLETE_REASONING
    weight = kind.weight if loops else _SENTENCES
    return FailureSignal(
        type=kind,
        evidence=text[start : min(end, start + 2 * _LONGEST_UNIT)],
        weight=weight,
        position=start,
        label="repetition",
        source="shape",
    )


def _unit(tail: str) -> str | None:
    """The shortest words that the end of `tail` repeats five times."""
    probe = tail[-_PROBE:]
    at = tail.rfind(probe, 0, len(tail) - 1)
    while at >= 0:
        size = len(tail) - _PROBE - at
        if size > _LONGEST_UNIT:
            return None
        if _run(tail, size) >= _TIMES * size:
            return tail[-size:]
        at = tail.rfind(probe, 0, at + _PROBE - 1)
    return None


def _run(tail: str, size: int) -> int:
    """How many characters at the end of `tail` repeat with a period of `size`."""
    count = size
    while count < len(tail) and tail[-count - 1] == tail[-count - 1 + size]:
        count += 1
    return count
