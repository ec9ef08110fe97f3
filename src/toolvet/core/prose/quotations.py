"""`quotations`: every pair of quotation marks in a paragraph, in the styles of `quotations.toml`.

A mark that opens in one language closes in another („…“ and “…”, «…» and »…«): the marks that are open decide. A mark
without a partner in its paragraph is not a quotation mark, and an apostrophe never is.
"""

import re
from functools import cache

import msgspec

from toolvet.core.discover.toml import read_toml

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
