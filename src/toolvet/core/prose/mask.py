"""`Masks`: the parts of a text that are not its author's own words, and why.

`quotations` finds every pair of quotation marks in a paragraph, in the styles of `quotations.toml`.

A mark that opens in one language closes in another („…“ and “…”, «…» and »…«): the marks that are open decide. A mark
without a partner in its paragraph is not a quotation mark, and an apostrophe never is.
"""

import re
from bisect import bisect_right
from enum import StrEnum
from functools import cache
from operator import itemgetter
from typing import NamedTuple

import msgspec

from toolvet.core.discover.toml import read_toml

_start = itemgetter(0)


class MaskKind(StrEnum):
    """Why these words are not the author's own."""

    CODE = "code"
    """A fenced block, or inline code."""
    QUOTATION = "quotation"
    BLOCK_QUOTE = "block_quote"
    LOG = "log"
    """Lines of a log, a stack trace, a console."""
    SAMPLE = "sample"
    """A text written for someone else to use, after its lead-in: a draft, a letter, a poem, a script."""
    FICTION = "fiction"
    """A story, a dialogue with named speakers, an action between asterisks."""


class Mask(NamedTuple):
    """The characters from `start` up to `end` are not the author's words."""

    start: int
    end: int
    kind: MaskKind


class Masks:
    """The masked parts of one text, each layer sorted and without overlaps."""

    def __init__(self, *layers: list[Mask]) -> None:
        self._layers = layers

    def kind_at(self, start: int, end: int) -> MaskKind | None:
        """Return why the words from `start` up to `end` are not the author's own, or None if they are.

        The first character decides for the phrase: in `I cannot say "yes"` it is the author's. An empty
        span is judged by the character at `start`, or the one before it if a mask ends there.
        """
        at = start - 1 if start == end and start else start
        for layer in self._layers:
            place = bisect_right(layer, start, key=_start) - 1
            if place >= 0 and at < layer[place].end:
                return layer[place].kind
        return None

    @property
    def spans(self) -> tuple[Mask, ...]:
        """All masks in order of place; those of different kinds may overlap."""
        return tuple(sorted(mask for layer in self._layers for mask in layer))


# Read by their neighbours, because the same character opens and closes.
_STRAIGHT = frozenset("\"'\u05f4")
_SINGLE = frozenset("'\u2019")


def quotations(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of every quotation of `text`, with its marks, nested ones too, by start. In linear time."""
    marks = _marks()
    open_at: list[tuple[str, int]] = []
    # How many of the open marks each closing mark could close: a mark that could close none is not looked for.
    closable: dict[str, int] = {}
    found: list[tuple[int, int]] = []
    for mark in marks.token.finditer(text):
        character, at = mark.group(), mark.start()
        if closable.get(character) and _may_close(text, at, character):
            while True:
                opening, start = open_at.pop()
                closers = marks.closers[opening]
                for closer in closers:
                    closable[closer] -= 1
                if character in closers:
                    break
            found.append((start, at + 1))
        elif character in marks.closers and _may_open(text, at, character, marks.elided):
            open_at.append((character, at))
            for closer in marks.closers[character]:
                closable[closer] = closable.get(closer, 0) + 1
    found.sort()
    return found


class _MarkTable(msgspec.Struct, frozen=True):
    """The content of `quotations.toml`."""

    pairs: tuple[tuple[str, str, str], ...]
    """An opening mark, a closing one, and where the pair is usual."""
    elided: tuple[str, ...]
    """What follows an apostrophe at the start of a word, as in 'tis."""


class _Marks:
    """The table as the scan needs it."""

    def __init__(self, table: _MarkTable) -> None:
        self.closers: dict[str, tuple[str, ...]] = {}
        for opening, closing, _where in table.pairs:
            self.closers[opening] = (*self.closers.get(opening, ()), closing)
        every = {mark for opening, closing, _where in table.pairs for mark in (opening, closing)}
        self.token = re.compile(f"[{re.escape(''.join(sorted(every)))}]")
        self.elided = re.compile(rf"['\u2018\u2019](?:{'|'.join(table.elided)}|\d\ds)\b", re.IGNORECASE)


@cache
def _marks() -> _Marks:
    return _Marks(read_toml("toolvet.core.prose", "quotations.toml", _MarkTable))


def _may_close(text: str, at: int, character: str) -> bool:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if character in _SINGLE and _is_letter(after):
        return False  # don't
    if character in "\u00ab\u2039\u201c":
        # It closes in one language and opens in another, where a space is before it.
        return bool(before) and not before.isspace()
    if character in _STRAIGHT:
        # A space before and a letter after: it opens another one.
        return not before.isspace() or not _is_letter(after)
    return True


def _may_open(text: str, at: int, character: str, elided: re.Pattern[str]) -> bool:
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if character in "'\u2018\"\u05f4\u201d" and (not after or after.isspace()):
        return False
    if character in "'\u2018":
        return not _is_letter(before) and elided.match(text, at) is None
    if character in '"\u05f4\u201d':
        # Five inches (5"), and Hebrew abbreviations; Chinese and Japanese put no space before a quotation.
        return not (before.isascii() and before.isalnum()) and not (_is_letter(before) and _is_letter(after))
    if character in "\u00bb\u203a":
        return bool(after) and not after.isspace() and not _is_letter(before)
    return True


def _is_letter(character: str) -> bool:
    """A letter or digit of a script that puts spaces between words."""
    return character.isalnum() and character < "\u2e80"


_BACKTICKS = re.compile(r"`+")
_ACTION = re.compile(
    r"(?:^[ \t]*|(?<=[.!?\u2026]\s)|(?<=\u3002))\*(?=[^\W\d_])([^*\n]{2,120}?[^\W_])[.\u2026]{0,3}\*(?![\w*])",
    re.MULTILINE,
)


_ENTRY = re.compile(r"\s{0,8}(?:[-*+\u2022]|\(?\d{1,3}[.)])\s{1,4}[*_]{0,3}")
_GLOSS = re.compile(r"[*_]{0,3}\s{0,2}\([^()\n]{2,200}\)")


def inline_masks(paragraph: str) -> list[Mask]:
    """Return inline code, quotations and actions of one paragraph; the outer ones only, in order."""
    found = _code_spans(paragraph)
    if found:
        # Marks inside code are code: blanked out, so that every place stays.
        pieces: list[str] = []
        reached = 0
        for start, end, _kind in found:
            pieces += paragraph[reached:start], "x" * (end - start)
            reached = end
        paragraph = "".join([*pieces, paragraph[reached:]])
    for start, end in quotations(paragraph):
        # An entry of a list of phrases, with its translation: `1. "I can't help." (Ich kann nicht helfen.)`.
        gloss = _GLOSS.match(paragraph, end) if _ENTRY.fullmatch(paragraph, 0, start) else None
        found.append(Mask(start, gloss.end() if gloss is not None else end, MaskKind.QUOTATION))
    if "*" in paragraph:
        for action in _ACTION.finditer(paragraph):
            if action.group(1)[0].islower():
                found.append(Mask(paragraph.index("*", action.start()), action.end(), MaskKind.FICTION))
    found.sort(key=lambda mask: (mask.start, -mask.end))
    outer: list[Mask] = []
    for mask in found:
        if not outer or mask.start >= outer[-1].end:
            outer.append(mask)
    return outer


def _code_spans(paragraph: str) -> list[Mask]:
    """Runs of backticks that a run of the same length closes (CommonMark 6.1), in linear time."""
    if "`" not in paragraph:
        return []
    runs = [(run.start(), run.end()) for run in _BACKTICKS.finditer(paragraph)]
    of_length: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        of_length.setdefault(runs[number][1] - runs[number][0], []).append(number)
    found: list[Mask] = []
    number = 0
    while number < len(runs):
        later = of_length[runs[number][1] - runs[number][0]]
        while later and later[-1] <= number:
            later.pop()
        if later:
            found.append(Mask(runs[number][0], runs[later[-1]][1], MaskKind.CODE))
            number = later[-1]
        number += 1
    return found
