"""`are_ended`: which texts of a column certainly end as texts do, by their last few bytes.

`checks.answer.ending` judges one text; here a text passes only if it ends with the mark of a sentence, and nothing that
is looked at besides (fences, abbreviations, items of a list, quotations) can make it one that breaks off.
"""

from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolvet.batch.kernel.texts import Flags, Places, Texts
from toolvet.core.checks import ending_marks

_SPACES: Final = b" \t\n\r\v\f\x1c\x1d\x1e\x1f"
_MOST_SPACES: Final = 8  # At the end of a text: one with more is judged by itself.
_TAIL: Final = 8  # Characters in which an abbreviation ends a text.
_FENCE: Final = b"```"
_QUOTES: Final = (b'\n"', "\n“".encode())
_DOT: Final = ord(".")

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


class _EndTable(NamedTuple):
    """The marks of a sentence as numbers: those of one byte, and those of two or three."""

    narrow: Flags
    wide: NDArray[np.int64]
    spaces: Flags
    opens: Flags
    abbreviations: Words


@cache
def _marks() -> _EndTable:
    known = ending_marks()
    marks = [mark.encode() for mark in known.sentence_ends]
    spaces = _table(_SPACES)
    words = [word.encode() for word in known.abbreviations if word.isascii() and len(word) < _TAIL]
    padded = b"".join(word.rjust(_TAIL - 1, b"\0") + b"\0" for word in words)
    return _EndTable(
        narrow=_table(b"".join(mark for mark in marks if len(mark) == 1)),
        wide=np.array([int.from_bytes(mark) for mark in marks if len(mark) > 1], np.int64),
        spaces=spaces,
        opens=_table(_SPACES + b"("),
        abbreviations=np.frombuffer(padded, np.uint64),
    )


def are_ended(texts: Texts, data: Bytes) -> tuple[Flags, Places]:
    """Return which texts certainly do not break off, and where each ends without white space."""
    known = _marks()
    ends = np.array(texts.ends)
    for _ in range(_MOST_SPACES):
        blank = (ends > texts.starts) & known.spaces[data[ends - 1]]
        if not blank.any():
            break
        ends -= blank
    last = data[ends - 1]
    ended = known.narrow[last]
    # Or with a mark of two or three bytes, such as a Chinese full stop.
    rows = np.flatnonzero(last >= 0x80)
    if len(rows):
        at = ends[rows]
        two = data[at - 2].astype(np.int64) << 8 | last[rows]
        three = data[at - 3].astype(np.int64) << 16 | two
        ended[rows] |= np.isin(two, known.wide) | np.isin(three, known.wide)
    ended &= ends > texts.starts
    dotted = np.flatnonzero(ended & (last == _DOT))
    ended[dotted[_may_not_end(texts, data, dotted, ends, known)]] = False
    # Of an odd number of fences one may stay open.
    fences = np.fromiter(texts.find_all(_FENCE), np.int64)
    fenced, counts = np.unique(texts.rows_of(fences), return_counts=True)
    ended[fenced[counts % 2 == 1]] = False
    ended[_with_quotation(texts, ends)] = False
    return ended, ends


def _table(characters: bytes) -> Flags:
    found: Flags = np.zeros(256, np.bool_)
    found[list(characters)] = True
    return found


def _may_not_end(texts: Texts, data: Bytes, rows: Places, ends: Places, known: _EndTable) -> Flags:
    """Which of these texts, all with a full stop at the end, may end with an abbreviation or the number of an item."""
    at = ends[rows]
    places = at[:, None] + np.arange(-_TAIL, 0)
    inside = places >= texts.starts[rows][:, None]
    tails = np.where(inside, data[np.maximum(places, 0)], np.uint8(0x20))
    before = tails[:, -2]
    found: Flags = ((before >= ord("0")) & (before <= ord("9"))) | (tails[:, -3] == _DOT)
    # The letters of the last word, in lower case, without its full stop.
    letters = tails[:, :-1]
    of_word = np.logical_and.accumulate(~known.opens[letters][:, ::-1], axis=1)[:, ::-1]
    lower = letters + np.uint8(32) * ((letters >= ord("A")) & (letters <= ord("Z")))
    words = np.zeros((len(rows), _TAIL), np.uint8)
    words[:, :-1] = np.where(of_word, lower, np.uint8(0))
    found |= np.isin(words.view(np.uint64)[:, 0], known.abbreviations)
    # In letters of other scripts a character has more bytes: these words are read.
    for number in np.flatnonzero((tails >= 0x80).any(axis=1) & ~found).tolist():
        tail = texts.buffer[max(int(texts.starts[rows[number]]), int(at[number]) - 4 * _TAIL) : int(at[number])]
        word = tail.decode("utf-8", "ignore").replace("(", " ").split()[-1][:-1]
        found[number] = (
            word.casefold() in ending_marks().abbreviations or not word or not word[-1].isalpha() or "." in word
        )
    return found


def _with_quotation(texts: Texts, ends: Places) -> Places:
    found: list[int] = []
    for quote in _QUOTES:
        places = np.fromiter(texts.find_all(quote), np.int64)
        for place, row in zip(places.tolist(), texts.rows_of(places + 1).tolist(), strict=True):
            # A text that itself begins with one has its separator before it.
            if place >= texts.starts[row] and texts.buffer.find(b"\n", place + 1, int(ends[row])) < 0:
                found.append(row)
    return np.array(found, np.int64)
