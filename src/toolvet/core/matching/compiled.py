"""`CompiledSet`: the databases of a set of patterns, from the cache if the set is large.

One database has the patterns that any text may match, and a class for each family of scripts. The patterns that need a
letter of a family have a database of their own, which is loaded when a text first has such a letter: a program that
reads only English does not pay for Russian.
"""

import platform
import re
from _thread import allocate_lock
from collections.abc import Mapping, Sequence
from functools import cache

import hyperscan

from toolvet.core.discover.background import announce, start_building
from toolvet.core.discover.cache import building, cached, digest, is_cached, keep
from toolvet.core.matching.index import PatternIndex, kept_index
from toolvet.core.matching.normal import RARE
from toolvet.core.matching.translation import Translation
from toolvet.core.matching.unsafe import UnsafePattern

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
            if database is None:
                database = self._databases[family] = self._load(family)
        return database

    def _load(self, family: str) -> hyperscan.Database:
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
        return database

    def _key_of(self, family: str) -> bytes:
        return family.encode() + self._key

    def _compile_family(self, family: str) -> hyperscan.Database:
        numbers = self._index.families[family]
        expressions = [self._index[number] for number in numbers]
        if family:
            return _compile_patterns(expressions, list(numbers), {})
        # What has to be settled is rare, and so are most scripts: a class of each, found once, says what a text has.
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
    flags = [_flags_of(expression) for expression in expressions]
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


def _flags_of(expression: Translation) -> int:
    return sum(ours for theirs, ours in _FLAGS.items() if expression.flags & theirs)


def _compile(database: hyperscan.Database, sources: list[bytes], ids: list[int], flags: list[int]) -> None:
    database.compile(expressions=sources, ids=ids, elements=len(sources), flags=flags)
