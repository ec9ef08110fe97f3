"""Hyperscan: all patterns in one pass, about 1 GB/s, in linear time whatever the pattern and the text.

Hyperscan says which patterns may match and where the matches end. Whether they do, and where they start, `re`
decides in a window around each end: asking Hyperscan for starts (HS_FLAG_SOM_LEFTMOST) made the database three times as
large and the scan up to ten times as slow, and the engine of the 0.9.1 wheel dies of it: `a+b` over a thousand `a` is a
segmentation fault.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import hyperscan

from toolvet.core.matching.compiled import CompiledSet
from toolvet.core.matching.normal import OffsetMap, as_ascii, settle
from toolvet.core.matching.pattern import HitScope, PlacedBefore
from toolvet.core.matching.translation import WINDOW, Finder, Translation, finder as finding

_INSIDE_CHARACTERS = bytes(range(0x80, 0xC0))

# What is kept of the searches in a text that grows: so many, of so many characters. A window of a stream has 30.
_MOST_PLACED = 200
_LONGEST_PLACED = 2_000

Match = tuple[int, int, int]


class HyperscanEngine:
    """Finds expressions with Hyperscan."""

    def __init__(self, compiled: CompiledSet) -> None:
        self._compiled = compiled
        self._rare_id = compiled.rare_id
        # A scratch serves one scan at a time. They are kept for all threads together: a server has forty, of which
        # few scan at the same moment, and a scratch takes megabytes.
        self._free: dict[str, list[tuple[hyperscan.Database, hyperscan.Scratch]]] = {}
        self._finders: dict[tuple[int, bool], Finder] = {}

    def find(
        self,
        text: str,
        only: frozenset[int] | None = None,
        most: int | None = None,
        scopes: Sequence[HitScope | None] | None = None,
        placed: PlacedBefore | None = None,
    ) -> list[Match]:
        """Every match, or the first `most` of each pattern, in characters."""
        scanned = self.scan(text, placed)
        return self.place(scanned, only, most, scopes) if scanned is not None else []

    def scan(self, text: str, placed: PlacedBefore | None = None) -> "Scanned | None":
        """Where in a text matches may end: the one pass over it, without a look at what is there. None: nowhere."""
        if text.isascii():
            ends = self._ends(text.encode("ascii"))
            return Scanned(_Words(text, placed, ascii_only=True), ends) if ends else None
        data = as_ascii(text).encode("utf-8", "replace")
        ends = self._ends(data)
        if not ends:
            return None
        if self._rare_id not in ends:
            ends = _to_characters(ends, data)
            return Scanned(_Words(data.decode("utf-8"), placed), ends) if ends else None
        settled, places = settle(data.decode("utf-8"))
        data = settled.encode("utf-8")
        ends = self._ends(data)
        # A letter in several parts that has no whole form is still rare.
        ends.pop(self._rare_id, None)
        return Scanned(_Words(settled, placed), _to_characters(ends, data), places)

    def place(
        self,
        scanned: "Scanned",
        only: frozenset[int] | None = None,
        most: int | None = None,
        scopes: Sequence[HitScope | None] | None = None,
    ) -> list[Match]:
        """The matches in a text that was scanned; the parameters are those of `find`."""
        words, ends, places = scanned
        if places is None:
            if scopes is not None:
                ends = self._in_scope(ends, scopes, len(words.text))
            return self._place(ends, words, only, most) if ends else []
        found = self._place(ends, words, only, most)
        return [_to_original(match, places, spans=self._compiled.expression(match[0]).spans) for match in found]

    def prepare(self) -> None:
        """Load every database, which compiles those that are missing."""
        self._compiled.prepare()

    def _ends(self, data: bytes) -> dict[int, list[int]]:
        """Per pattern, every place where a match may end, in bytes."""
        found: dict[int, list[int]] = {}
        self._scan("", data, found)
        if found:
            for number, family in self._compiled.families.items():
                if found.pop(number, None) is not None:
                    self._scan(family, data, found)
        return found

    def _scan(self, family: str, data: bytes, found: dict[int, list[int]]) -> None:
        free = self._free.setdefault(family, [])
        try:
            database, scratch = free.pop()
        except IndexError:
            database = self._compiled.database(family)
            scratch = hyperscan.Scratch(database)
        try:
            database.scan(data, match_event_handler=_record, context=found, scratch=scratch)
        finally:
            free.append((database, scratch))

    def _in_scope(
        self, ends: dict[int, list[int]], scopes: Sequence[HitScope | None], length: int
    ) -> dict[int, list[int]]:
        """The ends without those around which no match can lie in the scope of its pattern."""
        kept: dict[int, list[int]] = {}
        for index, places in ends.items():
            scope = scopes[index]
            if scope is None or length <= scope.whole:
                kept[index] = places
            elif scope.at_most is not None and length > scope.at_most:
                continue
            else:
                width = self._compiled.expression(index).width
                within = places if width is None else _places_in_scope(places, scope, width, length)
                if within:
                    kept[index] = within
        return kept

    def _place(
        self, ends: dict[int, list[int]], words: "_Words", only: frozenset[int] | None, most: int | None
    ) -> list[Match]:
        found: list[Match] = []
        for index, places in ends.items():
            if only is not None and index not in only:
                continue
            expression = self._compiled.expression(index)
            if expression.spans:
                found += self._matches(index, expression, places, words, most)
            elif words.ascii_only and expression.exact:
                found.append((index, places[0], places[0]))
            else:
                matches = self._matches(index, expression, places, words, 1)
                found += [(index, end, end) for _index, _start, end in matches]
        return found

    def _matches(
        self, index: int, expression: Translation, ends: list[int], words: "_Words", most: int | None
    ) -> list[Match]:
        """The matches of one pattern, or its first `most`, none overlapping, as `re` finds them around the ends."""
        finder = self._finders.get((index, words.ascii_only))
        if finder is None:
            finder = self._finders[index, words.ascii_only] = finding(expression, ascii_text=words.ascii_only)
        width = expression.width or WINDOW
        # Two ends whose windows touch are one window. A search reads on behind its last end, so one for each of many
        # ends in a row read every character a hundred times: 8 µs each, where none of them was a match.
        near = 2 * width + 2 if expression.width is not None else 0
        # What comes behind a text that grows may still change what is found around the last ends.
        open_from = len(words.text) if words.placed is None else len(words.text) - width - 2
        found: list[Match] = []
        reached, limit = 0, -1
        for number, end in enumerate(ends):
            if end <= reached:
                continue
            if end > limit:
                limit = _last_near(ends, number, near, open_from)
            match = words.search(finder, max(reached, end - width), limit, expression)
            if match is None:
                # None begins up to here: what comes next begins behind it, so no place is tried twice.
                reached = limit + 1
            else:
                found.append((index, *match))
                if len(found) == most:
                    break
                reached = match[1]
        return found


class _Words(NamedTuple):
    """A text in which matches are placed, and what scans of it before have placed, if it grows."""

    text: str
    placed: PlacedBefore | None
    ascii_only: bool = False

    def search(self, finder: Finder, start: int, limit: int, about: Translation) -> tuple[int, int] | None:
        """As of the finder; what the words alone decide, whatever comes behind them, is searched once."""
        last = limit + (about.width or WINDOW) + 2
        placed = self.placed
        if placed is None or last > len(self.text) or last - start > _LONGEST_PLACED:
            return finder.search(self.text, start, limit)
        # The character before is asked for a border, and where the text begins, too.
        first = max(0, start - 1)
        key = id(finder), start == 0, self.text[first:last]
        if key in placed:
            known = placed[key]
            return None if known is None else (known[0] + first, known[1] + first)
        match = finder.search(self.text, start, limit)
        if match is None or (about.tree is None and match[0] <= limit and match[1] + 2 <= last):
            if len(placed) >= _MOST_PLACED:
                placed.clear()
            placed[key] = None if match is None else (match[0] - first, match[1] - first)
        return match


class Scanned(NamedTuple):
    """A text after the pass over it: its words as patterns read them, and where in them each pattern may end.

    `places` leads from settled words to the original text.
    """

    words: _Words
    ends: dict[int, list[int]]
    places: OffsetMap | None = None


def scanned_in_ascii(text: str, ends: dict[int, list[int]]) -> Scanned:
    """Return a text of ASCII characters in which a pass over a buffer has found these ends."""
    return Scanned(_Words(text, None, ascii_only=True), ends)


def _last_near(ends: list[int], number: int, near: int, open_from: int) -> int:
    """The last of the ends that follow each other from this one on, none more than `near` behind the one before.

    Those from `open_from` on stay apart from those before.
    """
    is_open = ends[number] > open_from
    while (
        number + 1 < len(ends)
        and ends[number + 1] - ends[number] <= near
        and (is_open or ends[number + 1] <= open_from)
    ):
        number += 1
    return ends[number]


def _places_in_scope(ends: list[int], scope: HitScope, width: int, length: int) -> list[int]:
    """The ends that decide which matches of at most `width` characters lie in the scope.

    The match that is found around an end begins up to `width` before it, and ends less than 2 * `width` + 2 behind it.
    Where the next end is that far away, what was found before does not change what is found there.
    """
    if scope.first is None and scope.last is None:
        return ends
    opening = bisect_left(ends, scope.first + width) if scope.first is not None else 0
    if scope.last is None:
        return ends[:opening]
    closing = bisect_left(ends, length - scope.last - 2 * width - 2)
    while opening < closing < len(ends) and ends[closing] - ends[closing - 1] < 3 * width + 4:
        closing -= 1
    return ends if closing <= opening else ends[:opening] + ends[closing:]


def _record(index: int, _start: int, end: int, _flags: int, found: object) -> None:
    # `found` is the dictionary that the scan was given as its context.
    found.setdefault(index, []).append(end)  # type: ignore[attr-defined]


def _to_characters(ends: dict[int, list[int]], data: bytes) -> dict[int, list[int]]:
    """Byte offsets to character offsets, walking the text once; an offset inside a character counts behind it."""
    place: dict[int, int] = {}
    byte = character = 0
    for offset in sorted({offset for places in ends.values() for offset in places}):
        character += len(data[byte:offset].translate(None, _INSIDE_CHARACTERS))
        byte = offset
        place[offset] = character
    return {index: [place[end] for end in places] for index, places in ends.items()}


def _to_original(match: Match, places: OffsetMap, *, spans: bool) -> Match:
    index, start, end = match
    last = places.end(end)
    return index, places.start(start) if spans else last, last
