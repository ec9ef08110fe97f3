"""`CompiledSet`: the databases of a set of patterns, from the cache if the set is large.

One database has the patterns that any text may match, and a class for each family of scripts. The patterns that need a
letter of a family have a database of their own, which is loaded when a text first has such a letter: a program that
reads only English does not pay for Russian.
"""

import platform
import re
import threading
from collections.abc import Iterable, Mapping, Sequence

import hyperscan
import msgspec

from toolvet.discover.cache import cached, digest, fingerprint, keep
from toolvet.matching.normal import RARE
from toolvet.matching.translation import Translation, finder
from toolvet.matching.unsafe import UnsafePattern

_FLAGS = {re.IGNORECASE: hyperscan.HS_FLAG_CASELESS, re.MULTILINE: hyperscan.HS_FLAG_MULTILINE}
_ONCE = hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_SINGLEMATCH
# Compiling fewer is quicker than reading the database back, and a caller's own patterns would fill the cache folder.
_WORTH_KEEPING = 50


class _Index(msgspec.Struct, frozen=True, array_like=True):
    """A set without its databases: each pattern, and the patterns of each family."""

    expressions: tuple[msgspec.Raw, ...]
    families: dict[str, tuple[int, ...]]
    """The numbers of the patterns that need a letter of a family; the empty name is for the others."""
    classes: dict[str, str]
    """A class of the letters of each family."""


class CompiledSet:
    """(regex, flags, spans) of each pattern, ready to be looked for; raises `UnsafePattern`.

    What is in the cache was made from these very patterns by these very sources.
    """

    def __init__(self, patterns: Sequence[tuple[str, int, bool]]) -> None:
        self._patterns = patterns
        self._is_large = len(patterns) >= _WORTH_KEEPING
        self._key = b""
        if self._is_large:
            # The translation of a pattern depends on the files of this package.
            sources = fingerprint("toolvet.matching", ".py", "letters.toml")
            self._key = digest(msgspec.msgpack.encode((_engine_version(), sources, patterns)))
        self._known: dict[int, Translation] = {}
        self._databases: dict[str, hyperscan.Database] = {}
        # Two threads that need it at once must not have one each.
        self._loading = threading.Lock()
        self._index = self._read_index()
        self.rare_id = len(patterns)
        self.families = {len(patterns) + 1 + number: name for number, name in enumerate(self._index.classes)}
        """The numbers under which a scan reports that a text has letters of a family."""
        if not self._is_large:
            self._databases[""] = self._compile_family("")

    def expression(self, number: int) -> Translation:
        """The pattern of that number."""
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = msgspec.msgpack.decode(self._index.expressions[number], type=Translation)
        return known

    def database(self, family: str) -> hyperscan.Database:
        """The patterns that need a letter of `family`, or those that need none."""
        with self._loading:
            database = self._databases.get(family)
            if database is None:
                database = self._databases[family] = self._load(family)
        return database

    def _read_index(self) -> _Index:
        key = b"index" + self._key if self._key else b""
        kept = cached(key) if key else None
        if kept is not None:
            try:
                return msgspec.msgpack.decode(kept, type=_Index)
            except msgspec.MsgspecError:
                pass  # Translate, and replace it.
        expressions = _translate_all(self._patterns)
        self._known = dict(enumerate(expressions))
        of_family: dict[str, list[int]] = {"": []}
        for number, expression in enumerate(expressions):
            of_family.setdefault(expression.family if key else "", []).append(number)
        index = _Index(
            tuple(msgspec.Raw(msgspec.msgpack.encode(expression)) for expression in expressions),
            {name: tuple(numbers) for name, numbers in of_family.items()},
            {name: _class_of(name) for name in of_family if name},
        )
        if key:
            keep(key, msgspec.msgpack.encode(index))
        return index

    def _load(self, family: str) -> hyperscan.Database:
        key = family.encode() + self._key
        kept = cached(key)
        if kept is not None:
            try:
                return hyperscan.loadb(kept, hyperscan.HS_MODE_BLOCK)
            except hyperscan.error:
                pass  # Compile, and replace it.
        database = self._compile_family(family)
        keep(key, hyperscan.dumpb(database))
        return database

    def _compile_family(self, family: str) -> hyperscan.Database:
        numbers = self._index.families[family]
        expressions = [self.expression(number) for number in numbers]
        if family:
            return _compile_patterns(expressions, list(numbers), {})
        # What has to be settled is rare, and so are most scripts: a class of each, found once, says what a text has.
        classes = dict(zip([self.rare_id, *self.families], [RARE, *self._index.classes.values()], strict=True))
        return _compile_patterns(expressions, list(numbers), classes)


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


def _engine_version() -> str:
    """The version of the engine and the kind of processor, as the engine reports them: a database fits only these."""
    probe = hyperscan.Database()
    _compile(probe, [b"a"], [0], [0])
    return f"{probe.info()!r} {platform.machine()} {platform.system()}"


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


def _flags_of(expression: Translation) -> int:
    return sum(ours for theirs, ours in _FLAGS.items() if expression.flags & theirs)


def _compile(database: hyperscan.Database, sources: list[bytes], ids: list[int], flags: list[int]) -> None:
    database.compile(expressions=sources, ids=ids, elements=len(sources), flags=flags)
