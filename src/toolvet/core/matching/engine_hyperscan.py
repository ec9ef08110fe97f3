"""Hyperscan: all patterns in one pass, about 1 GB/s, in linear time whatever the pattern and the text.

Hyperscan reports which patterns may match and where the matches end. `re` decides whether they match and where they
start, in a window around each end. Hyperscan can report starts, too (HS_FLAG_SOM_LEFTMOST), but that makes the database
eight times as large and the scan ten times as slow. It also crashes the engine of the 0.9.1 wheel: `a+b` over a
thousand `a` is a segmentation fault.

`CompiledSet`: the databases of a set of patterns, from the cache if the set is large.

One database has the patterns that any text may match, and a class for each family of scripts. Patterns that need a
letter of a family have their own database, loaded when a text first has such a letter. A program that reads only
English does not pay for Russian.
"""

import platform
import re
from _thread import allocate_lock
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import hyperscan

from toolvet.core.discover.background import announce, start_building
from toolvet.core.discover.cache import building, cached, digest, is_cached, keep
from toolvet.core.matching.index import PatternIndex, kept_index
from toolvet.core.matching.letters import RARE, OffsetMap, as_ascii, normalize_text
from toolvet.core.matching.pattern import WINDOW, Finder, HitScope, PlacedBefore, Translation, finder as finding
from toolvet.core.matching.tree import UnsafePattern

_FLAGS = {re.IGNORECASE: hyperscan.HS_FLAG_CASELESS, re.MULTILINE: hyperscan.HS_FLAG_MULTILINE}
_ONCE = hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_SINGLEMATCH


class CompiledSet:
    """The patterns of an index, ready to be looked for; raises `UnsafePattern`."""

    def __init__(self, index: PatternIndex) -> None:
        self._index = index
        self._key = digest(_engine_version() + index.key) if index.key else b""
        self._databases: dict[str, hyperscan.Database] = {}
        # Two threads that need it at once must not have one each. It is `threading.Lock`, which takes 1 ms to import.
        self._loading = allocate_lock()
        self._is_ready = not index.key
        self.rare_id = len(index)
        self.families = {len(index) + 1 + number: name for number, name in enumerate(index.classes)}
        """The numbers under which a scan reports that a text has letters of a family."""
        self.expression = index.__getitem__
        """The pattern of a number."""
        if not index.key:
            self._databases[""] = self._compile_family("")

    def is_kept(self) -> bool:
        """Whether every database was compiled before."""
        if not self._is_ready:
            self._is_ready = all(is_cached(self._key_of(family)) for family in self._index.families)
        return self._is_ready

    def is_ready(self) -> bool:
        """Whether a text can be scanned now; if not, another process is compiling the databases."""
        if not self.is_kept():
            # Where none can be started, this one compiles when a text asks for a database.
            self._is_ready = not start_building(__name__, self._index.key)
            if not self._is_ready:
                announce("in the background; checks are slower until it is done")
        return self._is_ready

    def prepare(self) -> None:
        """Load every database, which compiles and keeps those that are missing."""
        for family in self._index.families:
            self.database(family)

    def database(self, family: str) -> hyperscan.Database:
        """The patterns that need a letter of `family`, or those that need none."""
        with self._loading:
            database = self._databases.get(family)
            if database is not None:
                return database
            key = self._key_of(family)
            database = _read(key)
            if database is None:
                with building(key):
                    # Another process may have compiled it while this one waited.
                    database = _read(key)
                    if database is None:
                        announce()
                        database = self._compile_family(family)
                        keep(key, hyperscan.dumpb(database))
            self._databases[family] = database
        return database

    def _key_of(self, family: str) -> bytes:
        return family.encode() + self._key

    def _compile_family(self, family: str) -> hyperscan.Database:
        numbers = self._index.families[family]
        expressions = [self._index[number] for number in numbers]
        if family:
            return _compile_patterns(expressions, list(numbers), {})
        # Text to normalize is rare, and so are most scripts: one class for each, found once, shows what a text has.
        classes = dict(zip([self.rare_id, *self.families], [RARE, *self._index.classes.values()], strict=True))
        return _compile_patterns(expressions, list(numbers), classes)


def build(key: bytes) -> None:
    """Compile and keep every database of the index that is kept under `key`."""
    index = kept_index(key)
    if index is not None:
        CompiledSet(index).prepare()


def _read(key: bytes) -> hyperscan.Database | None:
    # The engine refuses a damaged one by a checksum of its own.
    kept = cached(key, checks_itself=True)
    try:
        return None if kept is None else hyperscan.loadb(kept, hyperscan.HS_MODE_BLOCK)
    except hyperscan.error:
        return None  # Of another engine, or damaged: it is compiled again, and replaced.


def _compile_patterns(
    expressions: Sequence[Translation], ids: Sequence[int], classes: Mapping[int, str]
) -> hyperscan.Database:
    sources = [expression.hyperscan.encode("ascii") for expression in expressions]
    flags = [sum(ours for theirs, ours in _FLAGS.items() if expression.flags & theirs) for expression in expressions]
    database = hyperscan.Database()
    more = [each.encode() for each in classes.values()]
    try:
        _compile(database, [*sources, *more], [*ids, *classes], [*flags, *(_ONCE for _ in more)])
    except hyperscan.error:
        # The engine does not say which one it means.
        for expression, source, flag in zip(expressions, sources, flags, strict=True):
            try:
                _compile(hyperscan.Database(), [source], [0], [flag])
            except hyperscan.error as problem:
                raise UnsafePattern(expression.regex, str(problem)) from None
        raise
    return database


@cache
def _engine_version() -> bytes:
    """The version of the engine and the kind of processor, as the engine reports them: a database fits only these."""
    probe = hyperscan.Database()
    _compile(probe, [b"a"], [0], [0])
    return f"{probe.info()!r} {platform.machine()} {platform.system()}".encode()


def _compile(database: hyperscan.Database, sources: list[bytes], ids: list[int], flags: list[int]) -> None:
    database.compile(expressions=sources, ids=ids, elements=len(sources), flags=flags)


_INSIDE_CHARACTERS = bytes(range(0x80, 0xC0))

# How many searches in a growing text are kept, each of up to this many characters. A window of a stream has 30.
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
        """Return where in a text matches may end, from one pass over it; the matches are not checked. None: nowhere."""
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
        normalized, places = normalize_text(data.decode("utf-8"))
        data = normalized.encode("utf-8")
        ends = self._ends(data)
        # A letter in several parts that has no whole form is still rare.
        ends.pop(self._rare_id, None)
        return Scanned(_Words(normalized, placed), _to_characters(ends, data), places)

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
        found: list[Match] = []
        for index, start, end in self._place(ends, words, only, most):
            last = places.end(end)
            found.append((index, places.start(start) if self._compiled.expression(index).spans else last, last))
        return found

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
        """The ends without those around which no match can lie in the scope of its pattern.

        The match that is found around an end begins up to `width` before it, and ends less than 2 * `width` + 2 after
        it. Where the next end is that far away, what was found before does not change what is found there.
        """
        kept: dict[int, list[int]] = {}
        for index, places in ends.items():
            scope = scopes[index]
            if scope is None or length <= scope.whole:
                kept[index] = places
                continue
            if scope.at_most is not None and length > scope.at_most:
                continue
            within, width = places, self._compiled.expression(index).width
            if width is not None and not (scope.first is None and scope.last is None):
                opening = bisect_left(places, scope.first + width) if scope.first is not None else 0
                closing = len(places)
                if scope.last is not None:
                    closing = bisect_left(places, length - scope.last - 2 * width - 2)
                while opening < closing < len(places) and places[closing] - places[closing - 1] < 3 * width + 4:
                    closing -= 1
                if opening < closing:
                    within = places[:opening] + places[closing:]
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
        # Two ends whose windows touch are one window. A search reads on after its last end, so one for each of many
        # ends in a row read every character a hundred times: 8 µs each, where none of them was a match.
        near = 2 * width + 2 if expression.width is not None else 0
        # Text that arrives later may still change the matches around the last ends.
        open_from = len(words.text) if words.placed is None else len(words.text) - width - 2
        found: list[Match] = []
        reached, limit = 0, -1
        for number, end in enumerate(ends):
            if end <= reached:
                continue
            if end > limit:
                # The last of the ends that follow each other from here, those that are open apart from those before.
                last, is_open = number, end > open_from
                while (
                    last + 1 < len(ends)
                    and ends[last + 1] - ends[last] <= near
                    and (is_open or ends[last + 1] <= open_from)
                ):
                    last += 1
                limit = ends[last]
            match = words.search(finder, max(reached, end - width), limit, expression)
            if match is None:
                # No match begins up to here. The next search begins after it, so no place is tried twice.
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
        """As of the finder. A match that later text cannot change is searched only once."""
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

    `places` leads from normalized words to the original text.
    """

    words: _Words
    ends: dict[int, list[int]]
    places: OffsetMap | None = None


def scanned_in_ascii(text: str, ends: dict[int, list[int]]) -> Scanned:
    """Return a text of ASCII characters in which a pass over a buffer has found these ends."""
    return Scanned(_Words(text, None, ascii_only=True), ends)


def _record(index: int, _start: int, end: int, _flags: int, found: object) -> None:
    # `found` is the dictionary that the scan was given as its context.
    found.setdefault(index, []).append(end)  # type: ignore[attr-defined]


def _to_characters(ends: dict[int, list[int]], data: bytes) -> dict[int, list[int]]:
    """Byte offsets to character offsets, walking the text once; an offset inside a character counts as after it."""
    place: dict[int, int] = {}
    byte = character = 0
    for offset in sorted({offset for places in ends.values() for offset in places}):
        character += len(data[byte:offset].translate(None, _INSIDE_CHARACTERS))
        byte = offset
        place[offset] = character
    return {index: [place[end] for end in places] for index, places in ends.items()}
