"""`PatternIndex`: the translations of a set of patterns, which both engines need; of a large set they are kept."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final

import msgspec

from toolvet.core.decodable import decodable
from toolvet.core.discover.background import announce
from toolvet.core.discover.cache import building, cached, digest, fingerprint, keep
from toolvet.core.matching.pattern import Translation, finder

# Compiling fewer is quicker than reading them back, and a caller's own patterns would fill the cache folder.
_WORTH_KEEPING: Final = 50
# How many translations are read at once: all 1,800 of the phrases are 5 MB, and a text that hits needs a few.
_PART: Final = 64


Expression = tuple[str, int, bool]
"""The regex, the flags and the spans of a pattern."""

Parts = list[Sequence[msgspec.Raw]]
"""The translations of a set as they are stored, a fixed number in each part."""


class _CachedIndex(msgspec.Struct, frozen=True, array_like=True):
    """The stored index of a set: the patterns of each family. A text without hits needs nothing else."""

    families: dict[str, tuple[int, ...]]
    """The numbers of the patterns that need a letter of a family; the empty name is for the others."""
    classes: dict[str, str]
    """A class of the letters of each family."""


class PatternIndex:
    """The translations of the patterns of a set, by number."""

    def __init__(self, key: bytes, kept: _CachedIndex, read: Callable[[int], Sequence[msgspec.Raw]]) -> None:
        """`read` returns the part of this number of the translations."""
        self.key = key
        """The key of the patterns and their translations; empty for a set that is not stored."""
        self.families = kept.families
        """The numbers of the patterns that need a letter of a family; the empty name is for the others."""
        self.classes = kept.classes
        """A class of the letters of each family."""
        self._count = sum(map(len, kept.families.values()))
        # They are megabytes: read where something is found, part by part.
        self._read = read
        self._parts: dict[int, Sequence[msgspec.Raw]] = {}
        self._known: dict[int, Translation] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> Translation:
        known = self._known.get(number)
        if known is None:
            place, within = divmod(number, _PART)
            part = self._parts.get(place)
            if part is None:
                part = self._parts[place] = self._read(place)
            known = self._known[number] = msgspec.msgpack.decode(part[within], type=decodable(Translation))
        return known


def index_of(patterns: Sequence[Expression], *, is_kept: bool | None = None) -> PatternIndex:
    """Return the index of patterns, from the cache if `is_kept`; by default it is if there are many.

    What is in the cache was made from these very patterns by these very sources. Raises `UnsafePattern`.
    """
    if not (len(patterns) >= _WORTH_KEEPING if is_kept is None else is_kept):
        expressions = _translate_all(patterns)
        parts = _parts(expressions)
        return PatternIndex(b"", _families(expressions, by_family=False), parts.__getitem__)
    return index_made_from(msgspec.msgpack.encode(patterns), lambda: patterns)


def index_made_from(source: bytes, make: Callable[[], Sequence[Expression]]) -> PatternIndex:
    """Return the index of the patterns that `make` returns, from the cache.

    `source` is what they are made from, and they are made only if the cache does not have them. Raises as `index_of`.
    """
    # The translation of a pattern depends on the files of this package.
    key = digest(msgspec.msgpack.encode((fingerprint("toolvet.core.matching", ".py", "letters.toml"), source)))
    found = _read(key)
    if found is None:
        with building(_name(key)):
            # Another process may have built it while this one waited.
            found = _read(key)
            if found is None:
                announce()
                found, parts = _built(key, make())
                keep(_name(key), msgspec.msgpack.encode(found))
                # Where no folder can be written, they are nowhere else.
                return PatternIndex(key, found, parts.__getitem__)

    @cache
    def rebuilt() -> Parts:
        return _built(key, make())[1]

    # A cleanup of old files may have deleted a part.
    return PatternIndex(key, found, lambda number: _read_part(key, number) or rebuilt()[number])


def kept_index(key: bytes) -> PatternIndex | None:
    """Return the index that is kept under this key, None if there is none."""
    kept = _read(key)
    if kept is None:
        return None
    parts = [_read_part(key, number) for number in range(-(-sum(map(len, kept.families.values())) // _PART))]
    known = [each for each in parts if each is not None]
    return PatternIndex(key, kept, known.__getitem__) if len(known) == len(parts) else None


def _built(key: bytes, patterns: Iterable[Expression]) -> tuple[_CachedIndex, Parts]:
    """Translate patterns, and keep the parts: before the rest, so that a process that finds it finds them, too."""
    expressions = _translate_all(patterns)
    parts = _parts(expressions)
    for number, part in enumerate(parts):
        keep(_part_name(key, number), msgspec.msgpack.encode(part))
    return _families(expressions, by_family=True), parts


def _families(expressions: Sequence[Translation], *, by_family: bool) -> _CachedIndex:
    from toolvet.core.matching.letters import letters  # noqa: PLC0415 - A set that is in the cache needs none.

    of_family: dict[str, list[int]] = {"": []}
    for number, expression in enumerate(expressions):
        of_family.setdefault(expression.family if by_family else "", []).append(number)
    classes = {
        name: f"[{''.join(f'{chr(low)}-{chr(high)}' for low, high in letters().families[name])}]"
        for name in of_family
        if name
    }
    return _CachedIndex({name: tuple(numbers) for name, numbers in of_family.items()}, classes)


def _parts(expressions: Sequence[Translation]) -> Parts:
    written = [msgspec.Raw(msgspec.msgpack.encode(expression)) for expression in expressions]
    return [written[begin : begin + _PART] for begin in range(0, len(written), _PART)]


def _name(key: bytes) -> bytes:
    return b"families" + key


def _part_name(key: bytes, number: int) -> bytes:
    return b"part %d of " % number + key


def _read(key: bytes) -> _CachedIndex | None:
    kept = cached(_name(key))
    try:
        return None if kept is None else msgspec.msgpack.decode(kept, type=decodable(_CachedIndex))
    except msgspec.MsgspecError:
        return None  # It is translated again, and replaced.


def _read_part(key: bytes, number: int) -> list[msgspec.Raw] | None:
    kept = cached(_part_name(key, number))
    try:
        return None if kept is None else msgspec.msgpack.decode(kept, type=list[msgspec.Raw])
    except msgspec.MsgspecError:
        return None  # As above.


def _translate_all(patterns: Iterable[Expression]) -> tuple[Translation, ...]:
    # A set that is in the cache needs no translator.
    from toolvet.core.matching.dialect import translate  # noqa: PLC0415

    expressions = tuple(translate(regex, re.RegexFlag(flags), spans=spans) for regex, flags, spans in patterns)
    for expression in expressions:
        # The translator always writes a valid regular expression; `re` may still reject a very large one.
        if expression.tree is not None:
            finder(expression, ascii_text=True)
    return expressions
