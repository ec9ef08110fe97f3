"""`AnswerScreen`: which texts of a column are certainly without a signal, found out without reading each.

Most answers are good, and end with the mark of a sentence. For these a few comparisons over the whole column, and one
scan of its buffer, do what `check_answer` does for each. The screen errs to one side only: a text that it lets pass has
no signal, and all others are judged as `check_answer` judges them. So it knows of each check only what cannot fire it.

A text whose shape is fine is read without a look at its shape, and where the scan of the buffer has seen hits in it,
those are placed: it is not scanned again.
"""

from functools import partial
from typing import Final

import numpy as np

from toolvet.batch.kernel.raw_starts import may_be_raw_error
from toolvet.batch.kernel.text_ends import Bytes, are_ended
from toolvet.batch.kernel.texts import Flags, Places, Texts
from toolvet.core.checks import ScreenedText, phrases
from toolvet.core.matching import Hit, PatternSet, RowScan
from toolvet.core.turn import USUAL, AnswerCheck

# As in `checks.answer.shape` and `repetition`: a text below these lengths may be too short, and a loop shows in this
# number of characters before the end.
_SHORT: Final = 200
_DENSE: Final = 3
_TAIL: Final = 800
_PROBE: Final = 12
_MOST_BYTES: Final = 4  # Of a character.
_NO_LIMIT: Final = 2**62
_SPACES: Final = b" \t\n\r\v\f\x1c\x1d\x1e\x1f"
_ALNUM: Final = bytes(byte for byte in range(128) if chr(byte).isalnum())
# First bytes of letters: Latin with accents, Cyrillic, Chinese. Each is one letter at least.
_LETTERS: Final = _ALNUM + bytes([0xC3, 0xD0, 0xD1, *range(0xE5, 0xEA)])
_OTHER_BYTES: Final = bytes(byte for byte in range(256) if byte not in _LETTERS)


class AnswerScreen:
    """The screen of one check. Where the check has patterns of the caller's own, no text passes it."""

    def __init__(self, check: AnswerCheck) -> None:
        self._min_length = USUAL if check.min_length is None else check.min_length
        self._scans: list[_PhraseScan] | None = None
        if check.custom.patterns is not None:
            return
        known = [phrases(), *([] if check.packs is None else [check.packs])]
        sets = [each.pattern_set if check.languages is None else each.only(check.languages) for each in known]
        try:
            self._scans = [_PhraseScan(each) for each in sets]
        except ValueError:
            # Without the engine that reads buffers each text is judged by itself.
            self._scans = None

    def suspects(self, texts: Texts) -> tuple[Flags, dict[int, ScreenedText]]:
        """Return which rows have to be judged, and what is known of some of them; the others have no signal."""
        found: Flags = texts.nulls | texts.long
        known: dict[int, ScreenedText] = {}
        if self._scans is None or not texts.buffer:
            found[:] = True
            return found, known
        data = np.frombuffer(texts.buffer, np.uint8)
        # Those with a character beyond ASCII.
        wide: Flags = np.zeros(len(texts), np.bool_)
        if not texts.buffer.isascii():
            wide[np.unique(texts.rows_of(np.flatnonzero(data >= 0x80)))] = True
        ended, ends = are_ended(texts, data)
        found |= ~ended
        found |= self._may_be_short(texts, data, wide, ends)
        found |= may_be_raw_error(texts, data, wide)
        rows = np.flatnonzero(~found)
        found[rows] = _may_loop(texts, rows, ends, wide)
        # A scan costs more than all of the above, so it reads only what is still clean.
        rows = np.flatnonzero(~found)
        narrow = rows[~wide[rows]]
        if len(narrow):
            found |= self._narrow_suspects(texts, narrow, self._scans, known)
        # The characters of a text that is not ASCII are settled first: it is scanned by itself. One scan behind the
        # other, before any text is read: the tables of the engine stay in the processor's cache.
        for row in rows[wide[rows]].tolist():
            own, *packs = (each.rows.scan_one(texts[row] or "") for each in self._scans)
            if own is not None:
                known[row] = ScreenedText(partial(self._scans[0].rows.place, own))
            elif any(each is not None for each in packs):
                known[row] = ScreenedText(_nothing)
            found[row] = row in known
        return found, known

    def _narrow_suspects(
        self, texts: Texts, rows: Places, scans: "list[_PhraseScan]", known: dict[int, ScreenedText]
    ) -> Flags:
        found: Flags = np.zeros(len(texts), np.bool_)
        chosen = texts if len(rows) == len(texts) else Texts(texts.array.take(rows))
        own, *packs = (each.hits(chosen) for each in scans)
        for hits in (own, *packs):
            found[rows[hits.rows]] = True
        scan = scans[0].rows
        for place in np.flatnonzero(found[rows]).tolist():
            row = int(rows[place])
            scanned = scan.found_in(texts[row] or "", own.ends(place))
            known[row] = ScreenedText(None if scanned is None else partial(scan.place, scanned))
        return found

    def _may_be_short(self, texts: Texts, data: Bytes, wide: Flags, ends: Places) -> Flags:
        """Which texts may say too little. `ends` are their ends without the white space there."""
        limit = max(_SHORT, _DENSE * self._min_length)
        size = texts.ends - texts.starts
        found = size <= np.where(wide, limit * _MOST_BYTES, limit)
        rows = np.flatnonzero(found & ~wide & (ends - texts.starts >= 2))
        first, last = data[texts.starts[rows]], data[ends[rows] - 2]
        letters = np.isin(np.arange(256), np.frombuffer(_ALNUM, np.uint8))
        spaces = np.isin(np.arange(256), np.frombuffer(_SPACES, np.uint8))
        says = (ends[rows] - texts.starts[rows] >= self._min_length) & ~spaces[first]
        found[rows] = ~(says & (letters[first] | letters[last]))
        for row in np.flatnonzero(found & wide).tolist():
            words = texts.buffer[texts.starts[row] : texts.ends[row]].translate(None, _OTHER_BYTES)
            found[row] = len(words) < max(1, self._min_length)
        return found


def _may_loop(texts: Texts, rows: Places, ends: Places, wide: Flags) -> list[bool]:
    """Which of these texts have their last words in their tail a second time, as those of a text in a loop are."""
    count, buffer = texts.buffer.count, texts.buffer
    starts, last = texts.starts[rows], ends[rows]
    probes = np.maximum(starts, last - _PROBE)
    tails = np.maximum(starts, last - np.where(wide[rows], _TAIL * _MOST_BYTES, _TAIL))
    # No function of Arrow or NumPy looks for another word in each row; this takes 0.3 µs for each.
    return [
        count(buffer[probe:end], tail, end) > 1
        for probe, tail, end in zip(probes.tolist(), tails.tolist(), last.tolist(), strict=True)
    ]


def _nothing(most: int | None) -> list[Hit]:
    del most
    return []


class _PhraseScan:
    """One set of phrases, and the bounds for leaving out hits in places where their phrase does not count."""

    def __init__(self, patterns: PatternSet) -> None:
        self.rows = RowScan(patterns)
        # For each phrase: it counts in a text of how many characters at most, of how many anywhere, before which, and
        # how near the end.
        bounds: list[tuple[int, int, int, int]] = []
        for scope, width in self.rows.reach:
            at_most = _NO_LIMIT if scope is None or scope.at_most is None else scope.at_most
            if scope is None or width is None or (scope.first is None and scope.last is None):
                bounds.append((at_most, _NO_LIMIT, 0, 0))
                continue
            opening = 0 if scope.first is None else scope.first + width
            closing = 0 if scope.last is None else scope.last + 2 * width + 2
            bounds.append((at_most, scope.whole, opening, closing))
        self._at_most, self._anywhere, self._opening, self._closing = np.array(bounds, np.int64).T

    def hits(self, texts: Texts) -> "_RowHits":
        raw = self.rows.scan(texts.buffer)
        if not raw:
            return _RowHits(*(np.zeros(0, np.int64) for _ in range(4)))
        ends = np.concatenate([np.asarray(places, np.int64) for places in raw.values()])
        numbers = np.repeat(list(raw), [len(places) for places in raw.values()])
        rows = texts.rows_of(ends - 1)
        # What ends behind a text is of two texts.
        within = ends <= texts.ends[rows]
        ends, numbers, rows = ends[within], numbers[within], rows[within]
        ends -= texts.starts[rows]
        # A match is looked for from its longest before a place on, and may end so far behind it.
        lengths = (texts.ends - texts.starts)[rows]
        near = (ends < self._opening[numbers]) | (ends >= lengths - self._closing[numbers])
        counted = (lengths <= self._at_most[numbers]) & ((lengths <= self._anywhere[numbers]) | near)
        return _RowHits(np.unique(rows[counted]), rows, numbers, ends)


class _RowHits:
    """Where in texts phrases may be found: `rows` are those in which one may count."""

    def __init__(self, rows: Places, of: Places, numbers: Places, ends: Places) -> None:
        self.rows = rows
        order = np.argsort(of, kind="stable")
        self._of, self._numbers, self._ends = of[order], numbers[order], ends[order]

    def ends(self, row: int) -> dict[int, list[int]]:
        begin, end = np.searchsorted(self._of, (row, row + 1)).tolist()
        found: dict[int, list[int]] = {}
        for number, place in zip(self._numbers[begin:end].tolist(), self._ends[begin:end].tolist(), strict=True):
            found.setdefault(number, []).append(place)
        return found
