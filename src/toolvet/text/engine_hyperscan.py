"""Hyperscan: all patterns in one pass, about 1 GB/s, in linear time whatever the pattern and the text."""

import platform
import re
import threading
from collections.abc import Sequence

import hyperscan

from toolvet.discover import cached, keep
from toolvet.text.dialect import Translation, UnsafePattern
from toolvet.text.lookalikes import FULL_WIDTH, as_ascii, narrow

_FLAGS = {
    re.IGNORECASE: hyperscan.HS_FLAG_CASELESS,
    re.MULTILINE: hyperscan.HS_FLAG_MULTILINE,
    re.DOTALL: hyperscan.HS_FLAG_DOTALL,
}
# Full-width letters are rare: one more pattern in the same pass says whether the text has any, at no cost without.
_WIDE = (FULL_WIDTH.encode(), hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_SINGLEMATCH)
# Compiling fewer is quicker than reading the database back, and a caller's own patterns would fill the cache folder.
_WORTH_KEEPING = 50

Match = tuple[int, int, int]


class HyperscanEngine:
    """Finds expressions with Hyperscan."""

    def __init__(self, expressions: Sequence[Translation]) -> None:
        self._wide_id = len(expressions)
        self._spans = tuple(expression.spans for expression in expressions)
        self._database = _database(expressions)
        self._of_thread = threading.local()

    def find(self, text: str) -> list[Match]:
        """Every match, in characters, with the longest end per start."""
        found: list[Match] = []
        if text.isascii():
            self._scan(text.encode("ascii"), found)
            return self._longest(found) if found else found
        text = as_ascii(text)
        data = text.encode("utf-8", "replace")
        self._scan(data, found)
        if any(index == self._wide_id for index, _, _ in found):
            found = []
            data = narrow(text).encode("utf-8", "replace")
            self._scan(data, found)
        return _in_characters(self._longest(found), data) if found else found

    def _scan(self, data: bytes, found: list[Match]) -> None:
        try:
            scratch: hyperscan.Scratch = self._of_thread.scratch
        except AttributeError:
            # A scratch serves one scan at a time: one per thread.
            scratch = self._of_thread.scratch = hyperscan.Scratch(self._database)
        self._database.scan(data, match_event_handler=_record, context=found, scratch=scratch)

    def _longest(self, found: list[Match]) -> list[Match]:
        """Hyperscan reports every place where a match can end: keep the last one of each start.

        Of a pattern without spans it does not know the start: keep the first end.
        """
        spans = self._spans
        ends: dict[tuple[int, int], int] = {}
        firsts: dict[int, int] = {}
        for index, start, end in found:
            if not spans[index]:
                firsts.setdefault(index, end)
            elif end > ends.get((index, start), -1):
                ends[index, start] = end
        longest = [(index, end, end) for index, end in firsts.items()]
        longest += [(index, start, end) for (index, start), end in ends.items()]
        return longest


def _record(index: int, start: int, end: int, _flags: int, found: object) -> None:
    found.append((index, start, end))  # type: ignore[attr-defined]  # The list that `scan` was given as its context.


def _in_characters(found: list[Match], data: bytes) -> list[Match]:
    """Byte offsets to character offsets, walking the text once."""
    place: dict[int, int] = {}
    byte = character = 0
    for offset in sorted({offset for _, start, end in found for offset in (start, end)}):
        character += len(data[byte:offset].decode("utf-8", "replace"))
        byte = offset
        place[offset] = character
    return [(index, place[start], place[end]) for index, start, end in found]


def _database(expressions: Sequence[Translation]) -> hyperscan.Database:
    sources = [expression.hyperscan.encode("utf-8") for expression in expressions]
    flags = [_hyperscan_flags(expression) for expression in expressions]
    if len(sources) < _WORTH_KEEPING:
        return _compiled(expressions, sources, flags)
    key = b"\0".join([_engine_version(), *(str(flag).encode() for flag in flags), *sources, _WIDE[0]])
    kept = cached(key)
    if kept is not None:
        try:
            return hyperscan.loadb(kept, hyperscan.HS_MODE_BLOCK)
        except hyperscan.error:
            pass  # A damaged or foreign entry: compile, and replace it.
    database = _compiled(expressions, sources, flags)
    keep(key, hyperscan.dumpb(database))
    return database


def _engine_version() -> bytes:
    """A database fits one version of the engine on one kind of processor: both, as the engine itself tells them."""
    probe = hyperscan.Database()
    _compile(probe, [b"a"], [0])
    return f"{probe.info()!r} {platform.machine()} {platform.system()}".encode()


def _hyperscan_flags(expression: Translation) -> int:
    flags = sum(ours for theirs, ours in _FLAGS.items() if expression.flags & theirs)
    if expression.spans:
        flags |= hyperscan.HS_FLAG_SOM_LEFTMOST
    if not expression.is_ascii:
        flags |= hyperscan.HS_FLAG_UTF8
    return flags


def _compiled(expressions: Sequence[Translation], sources: list[bytes], flags: list[int]) -> hyperscan.Database:
    database = hyperscan.Database()
    try:
        _compile(database, [*sources, _WIDE[0]], [*flags, _WIDE[1]])
    except hyperscan.error:
        # The engine does not say which one it means.
        for expression, source, flag in zip(expressions, sources, flags, strict=True):
            try:
                _compile(hyperscan.Database(), [source], [flag])
            except hyperscan.error as problem:
                raise UnsafePattern(expression.regex, str(problem)) from None
        raise
    return database


def _compile(database: hyperscan.Database, sources: list[bytes], flags: list[int]) -> None:
    database.compile(expressions=sources, ids=list(range(len(sources))), elements=len(sources), flags=flags)
