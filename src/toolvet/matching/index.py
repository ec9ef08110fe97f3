"""`PatternIndex`: the translations of a set of patterns, which both engines need; of a large set they are kept."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from toolvet.discover.background import announce
from toolvet.discover.cache import building, cached, digest, fingerprint, keep
from toolvet.matching.translation import Translation, finder

# Compiling fewer is quicker than reading them back, and a caller's own patterns would fill the cache folder.
_WORTH_KEEPING: Final = 50


class _KeptIndex(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of a set: each pattern, and the patterns of each family."""

    expressions: tuple[msgspec.Raw, ...]
    families: dict[str, tuple[int, ...]]
    """The numbers of the patterns that need a letter of a family; the empty name is for the others."""
    classes: dict[str, str]
    """A class of the letters of each family."""


class PatternIndex:
    """The translations of the patterns of a set, by number."""

    def __init__(self, key: bytes, kept: _KeptIndex) -> None:
        self.key = key
        """What the patterns and their translations depend on; empty for a set that is not kept."""
        self.families = kept.families
        """The numbers of the patterns that need a letter of a family; the empty name is for the others."""
        self.classes = kept.classes
        """A class of the letters of each family."""
        self._expressions = kept.expressions
        self._known: dict[int, Translation] = {}

    def __len__(self) -> int:
        return len(self._expressions)

    def __getitem__(self, number: int) -> Translation:
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = msgspec.msgpack.decode(self._expressions[number], type=Translation)
        return known


def index_of(patterns: Sequence[tuple[str, int, bool]], *, is_kept: bool | None = None) -> PatternIndex:
    """Return the index of (regex, flags, spans) of each pattern, from the cache if `is_kept`.

    By default it is if there are many. What is in the cache was made from these very
    patterns by these very sources. Raises `UnsafePattern`.
    """
    if not (len(patterns) >= _WORTH_KEEPING if is_kept is None else is_kept):
        return PatternIndex(b"", _translate(patterns, by_family=False))
    # The translation of a pattern depends on the files of this package.
    sources = fingerprint("toolvet.matching", ".py", "letters.toml")
    key = digest(msgspec.msgpack.encode((sources, patterns)))
    found = _read(key)
    if found is None:
        with building(_name(key)):
            # Another process may have built it while this one waited.
            found = _read(key)
            if found is None:
                announce()
                found = _translate(patterns, by_family=True)
                keep(_name(key), msgspec.msgpack.encode(found))
    return PatternIndex(key, found)


def kept_index(key: bytes) -> PatternIndex | None:
    """Return the index that is kept under this key, None if there is none."""
    kept = _read(key)
    return None if kept is None else PatternIndex(key, kept)


def _translate(patterns: Sequence[tuple[str, int, bool]], *, by_family: bool) -> _KeptIndex:
    expressions = _translate_all(patterns)
    of_family: dict[str, list[int]] = {"": []}
    for number, expression in enumerate(expressions):
        of_family.setdefault(expression.family if by_family else "", []).append(number)
    return _KeptIndex(
        tuple(msgspec.Raw(msgspec.msgpack.encode(expression)) for expression in expressions),
        {name: tuple(numbers) for name, numbers in of_family.items()},
        {name: _class_of(name) for name in of_family if name},
    )


def _name(key: bytes) -> bytes:
    return b"index" + key


def _read(key: bytes) -> _KeptIndex | None:
    kept = cached(_name(key))
    try:
        return None if kept is None else msgspec.msgpack.decode(kept, type=_KeptIndex)
    except msgspec.MsgspecError:
        return None  # It is translated again, and replaced.


def _translate_all(patterns: Iterable[tuple[str, int, bool]]) -> tuple[Translation, ...]:
    # A set that is in the cache needs no translator.
    from toolvet.matching.dialect import translate  # noqa: PLC0415

    expressions = tuple(translate(regex, re.RegexFlag(flags), spans=spans) for regex, flags, spans in patterns)
    for expression in expressions:
        # What the translator writes is a regular expression; only of a very large one it may still be said to be so.
        if expression.tree is not None:
            finder(expression, ascii_text=True)
    return expressions


def _class_of(family: str) -> str:
    from toolvet.matching.letters import letters  # noqa: PLC0415 - As above.

    return f"[{''.join(f'{chr(low)}-{chr(high)}' for low, high in letters().families[family])}]"
