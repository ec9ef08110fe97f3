"""The phrases of `signals/<type>/<language>.toml`, ready to be looked for in one pass over a text.

A file holds `[[phrase]]` entries and perhaps a `label` that all of them share; `signals/refusal/en.toml` is refusals in
English, and a second file for the same language is called `en-<what>.toml`. Of an entry

    match     a regular expression in the dialect of `toolvet.matching`
    hits      texts in which it must count (the tests run them all)
    misses    near misses: texts that share words with the hits, in which it must not count
    weight    what a hit costs, 0 to 1; the default of its type where it is not given
    label     what it is, more finely than its type
    strength  "mild" for a hedge that colours an answer more than it weakens it: it costs 0.14, its label is `mild`, and
              in an answer of more than 600 characters it counts only at either end
    where     "opening", "closing" or "edges" (either): it counts only in the first or last 300 characters of an
              answer, because refusals open or close one, and the middle of an essay is rarely its speaker's own voice
    at_most   it counts only in an answer of at most so many characters
    needs     a regular expression that must be found in its sentence too, such as the apology before "I can't"
    unless    a regular expression, or several: the hit does not count where one of them is found in its sentence, such
              as "if you" or "he said" before it
    followed  a regular expression: the hit does not count where it is found in the 200 characters after it, because the
              answer goes on to give what was asked for ("I can't draw, but here is a description")
    softened  what a hit costs where `followed` is found, instead of not counting
    in_code   true where it counts in code, quotations and logs too, such as a placeholder comment
    cue       true where it costs nothing and only makes the answer one that the learned model looks at

`match` and `unless` are searched for without regard to case. Both may name parts: `{cannot}` stands for what `[parts]`
of the file gives for it, or `signals/<language>.toml`, which holds the words that the types of a language share. A part
may name those that stand before it.
"""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from typing import Literal

import msgspec

from toolvet.checks.answer.quality import SignalType
from toolvet.discover import data_files
from toolvet.discover.cache import compiled_from, is_built
from toolvet.matching import Pattern, PatternSet

_PACKAGE = "toolvet.checks.answer"
_VERSION = "phrases"
# What is kept depends on how this file reads the others, so its own text counts, too.
_SOURCES = ("phrases.py",)
_MILD = 0.14
_PART = re.compile(r"\{([a-z_]+)\}")

ANY_LANGUAGE = "any"
"""The `language` of phrases in none, such as placeholders in code: `signals/<type>/any.toml`."""

Place = Literal["opening", "closing", "edges"]


class SignalPhrase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One entry of a signal file."""

    match: str
    # The proofs stay in the files: what is looked for goes without them.
    hits: list[str] = []
    misses: list[str] = []
    weight: float | None = None
    label: str | None = None
    strength: Literal["mild"] | None = None
    where: Place | None = None
    at_most: int | None = None
    needs: str | None = None
    unless: str | list[str] = []
    followed: str | None = None
    softened: float | None = None
    in_code: bool = False
    cue: bool = False


class KnownPhrase(msgspec.Struct, frozen=True, gc=False):
    """A phrase with what its place says of it."""

    phrase: SignalPhrase
    type: SignalType
    language: str
    weight: float

    def demand(self) -> re.Pattern[str] | None:
        """What must stand in its sentence too; compiled when first asked for."""
        return None if self.phrase.needs is None else _compiled(self.phrase.needs)

    def remedy(self) -> re.Pattern[str] | None:
        """What must not follow it; compiled when first asked for."""
        return None if self.phrase.followed is None else _compiled(self.phrase.followed)

    def voids(self) -> list[re.Pattern[str]]:
        """What must not stand in its sentence; compiled when first asked for."""
        unless = self.phrase.unless
        return [_compiled(each) for each in ([unless] if isinstance(unless, str) else unless)]


class _SignalFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    phrase: list[SignalPhrase] = []
    label: str | None = None
    parts: dict[str, str] = {}


class SignalPhrases:
    """All phrases of all languages, found in one pass."""

    def __init__(self, known: dict[str, KnownPhrase]) -> None:
        self.by_id = known
        self.languages = frozenset(each.language for each in known.values()) - {ANY_LANGUAGE}
        self._set = PatternSet(Pattern(identifier, each.phrase.match) for identifier, each in known.items())
        self.scan = self._set.scan
        self._narrowed: dict[frozenset[str], PatternSet] = {}

    def only(self, languages: frozenset[str]) -> PatternSet:
        """The phrases of these languages, and those of none."""
        if languages not in self._narrowed:
            wanted = languages | {ANY_LANGUAGE}
            self._narrowed[languages] = self._set.only(
                identifier for identifier, each in self.by_id.items() if each.language in wanted
            )
        return self._narrowed[languages]


@cache
def phrases() -> SignalPhrases:
    """Every phrase that toolvet ships; read at the first call, from the cache where it has them."""
    built = compiled_from(_PACKAGE, ".toml", _built, _VERSION, _SOURCES)
    return SignalPhrases(msgspec.msgpack.decode(built, type=dict[str, KnownPhrase]))


def are_phrases_kept() -> bool:
    """Whether some process before this one has read these phrases: the first compiles them, too, for some seconds."""
    return is_built(_PACKAGE, ".toml", _VERSION, _SOURCES)


def _built(files: Iterable[tuple[str, bytes]]) -> bytes:
    """The phrases as they are kept: without their proofs, which are most of the files."""
    return msgspec.msgpack.encode(
        {
            identifier: msgspec.structs.replace(known, phrase=msgspec.structs.replace(known.phrase, hits=[], misses=[]))
            for identifier, known in _parsed(files).items()
        }
    )


@cache
def _compiled(unless: str) -> re.Pattern[str]:
    return re.compile(unless, re.IGNORECASE)


def read_phrases() -> dict[str, KnownPhrase]:
    """The signal files with their proofs, parsed: an identifier such as `refusal/en:3` to the phrase."""
    return _parsed(data_files(_PACKAGE, ".toml"))


def _parsed(files: Iterable[tuple[str, bytes]]) -> dict[str, KnownPhrase]:
    known: dict[str, KnownPhrase] = {}
    shared: dict[str, dict[str, str]] = {}
    for path, content in files:
        folder, _, rest = path.partition("/")
        if folder != "signals":
            continue
        kind, _, name = rest.rpartition("/")
        stem = name.removesuffix(".toml")
        language = stem.partition("-")[0]
        file = msgspec.convert(tomllib.loads(content.decode("utf-8")), _SignalFile)
        parts = _filled_parts(file.parts, shared.get(language, {}))
        if not kind:
            # The files of a folder come before those of its sub-folders: what a language shares is read first.
            shared[language] = parts
            continue
        for number, phrase in enumerate(file.phrase):
            whole = _with_parts(phrase, parts)
            known[f"{kind}/{stem}:{number}"] = _known(whole, SignalType(kind), language, file.label)
    return known


def _filled_parts(own: dict[str, str], shared: dict[str, str]) -> dict[str, str]:
    parts = dict(shared)
    for name, value in own.items():
        parts[name] = f"(?:{_filled(value, parts)})"
    return parts


def _with_parts(phrase: SignalPhrase, parts: dict[str, str]) -> SignalPhrase:
    given = [phrase.unless] if isinstance(phrase.unless, str) else phrase.unless
    unless = [_filled(each, parts) for each in given]
    needs = None if phrase.needs is None else _filled(phrase.needs, parts)
    followed = None if phrase.followed is None else _filled(phrase.followed, parts)
    return msgspec.structs.replace(
        phrase, match=_filled(phrase.match, parts), needs=needs, unless=unless, followed=followed
    )


def _filled(pattern: str, parts: dict[str, str]) -> str:
    """The pattern with its parts put in. One that nobody gives is a `KeyError`; a repeat such as {0,3} is no part."""
    return _PART.sub(lambda match: parts[match.group(1)], pattern)


def _known(phrase: SignalPhrase, signal_type: SignalType, language: str, label: str | None) -> KnownPhrase:
    mild = phrase.strength == "mild"
    if phrase.label is None and (mild or label is not None):
        phrase = msgspec.structs.replace(phrase, label="mild" if mild else label)
    weight = phrase.weight
    if weight is None:
        weight = _MILD if mild else signal_type.weight
    return KnownPhrase(phrase, signal_type, language, 0.0 if phrase.cue else weight)
