"""Whether a text breaks off, by how it ends, in any language.

Most texts end with the mark of a sentence: then only a code fence that stays open is looked for. All other ends are
judged by `last_lines`.
"""

import re
from typing import Literal, NamedTuple

from toolvet.core.checks.answer.ending_marks import EndingMarks, ending_marks

_FENCE = "```"
_WINDOW = 6000  # Characters before the end that are looked at.
_SENTENCE = 600  # A longer one counts as so long.
_SHOWN = 40  # Characters before the break that are its evidence.
_BARE_ITEM = re.compile(r"\n[ \t>|]*(?:[-*•+▪◦]|\*{0,2}\d{1,3}[.)])[ \t]*\Z")
_BOUNDARY = re.compile(r"[.!?\u2026][\"'\u201d\u2019)*_]*\s+|[\u3002\uff01\uff1f\u0964\u06d4\u061f]|\n\s*")

# "Training is a U.S.": an abbreviation that stands for an adjective. "He lives in the U.S." is whole.
_ABBREVIATION = re.compile(r"(?:\A|[\s(])([^\W\d_][\w.]{0,5})\.\Z")
_ADJECTIVE = re.compile(r"\b(?:an?|every|each)(?: [a-z]+)? (?:[A-Z]\.){2,3}\Z")

Strength = Literal["certain", "strong", "weak"]
"""How sure a break is: code that stays open, a sentence that must go on, a mark that is missing."""


class Break(NamedTuple):
    """Where a text breaks off: its last words, and how sure that is.

    `share` is the part of the text that the broken sentence makes, 0 to 1.
    """

    start: int
    end: int
    strength: Strength
    share: float


def break_off(text: str) -> Break | None:
    """Where `text` breaks off, or None where it ends as texts do. Looks at 6000 characters, and counts fences."""
    known = ending_marks()
    end = len(text.rstrip())
    if not end:
        return None
    # To look for one character costs a twentieth of looking for three.
    if "`" in text and text.count(_FENCE) % 2:
        return _broken(text, end, "certain")
    last = text[end - 1]
    if last in ">]" and text.endswith(known.turn_ends, 0, end):
        return None
    if last in known.sentence_ends:
        # A number with a dot alone on the last line is the marker of an item that never came.
        if last == "." and (_BARE_ITEM.search(text, max(0, end - 20), end) or _is_abbreviated(text, end, known)):
            return _broken(text, end, "strong")
        return _broken(text, end, "weak") if _is_quoting(text, end) else None
    tail = text[max(0, end - _WINDOW) : end]
    # Only a text that ends without a mark pays for what knows all other ends.
    from toolvet.core.checks.answer.last_lines import LastLines  # noqa: PLC0415

    lines = LastLines(tail, known, is_all=end <= _WINDOW)
    if lines.are_whole():
        return None
    return _broken(text, end, "strong" if lines.must_go_on() else "weak")


def _is_abbreviated(text: str, end: int, known: EndingMarks) -> bool:
    """Whether the last full stop is that of an abbreviation that never ends a sentence: "e.g.", "Dr."."""
    match = _ABBREVIATION.search(text, max(0, end - 8), end)
    if match is None:
        return False
    if match[1].casefold() in known.abbreviations:
        return True
    # Only "U.S." has a full stop before its last letter.
    return text[end - 3 : end - 2] == "." and _ADJECTIVE.search(text[max(0, end - 40) : end]) is not None


def _is_quoting(text: str, end: int) -> bool:
    """Whether the last paragraph opens with a quotation mark and never closes it."""
    start = text.rfind("\n", 0, end) + 1
    first = text[start]
    if first == '"':
        return start > 0 and text.count('"', start, end) == 1
    return first == "“" and start > 0 and "”" not in text[start:end]


def _broken(text: str, end: int, strength: Strength) -> Break:
    begin = max(0, end - _SENTENCE)
    for match in _BOUNDARY.finditer(text, begin, end - 1):
        begin = match.end()
    return Break(max(begin, end - _SHOWN), end, strength, (end - begin) / end)
