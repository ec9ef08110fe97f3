"""The phrases of `languages/<language>/<signal type>.toml`, looked for in one pass over a text.

A file contains `[[phrase]]` entries and perhaps a `label` that all of them share: `languages/en/refusal.toml` has the
refusals in English. How files are read, and what `{name}` means in them, is at the head of
`toolvet.core.matching.phrasebook`. The fields of an entry:

    match     a regular expression in the dialect of `toolvet.core.matching`
    say       the same in plain words, instead of `match` (docs/languages.md)
    hits      texts in which it must count (the tests run them all)
    misses    near misses: texts that share words with the hits, in which it must not count
    weight    the cost of a hit, 0 to 1; by default that of its type
    label     what it is, more finely than its type
    strength  "mild" for a hedge that colours an answer more than it weakens it: it costs 0.14, its label is `mild`, and
              in an answer of more than 600 characters it counts only at either end
    where     "opening", "closing" or "edges" (either): it counts only in the first or last 300 characters of an
              answer, because refusals open or close one, and the middle of an essay is rarely its speaker's own voice
    at_most   it counts only in an answer of at most this many characters
    needs     a regular expression that must be found in its sentence too, such as the apology before "I can't"
    unless    a regular expression, or several: the hit does not count if one of them matches in its sentence, such
              as "if you" or "he said" before it
    followed  a regular expression: the hit does not count if it matches in the 200 characters after the hit. Then
              the answer goes on to give what was asked for ("I can't draw, but here is a description")
    softened  the cost of a hit if `followed` matches; without it such a hit does not count
    offered   a regular expression: if it matches in the 200 characters after the hit, before any match of
              `followed`, the answer offers something else, and the hit is a `partial_refusal`. If the offer is in
              the same sentence and much follows, the answer does help, and the hit does not count
    excuse    a regular expression, such as "as an AI": if it matches in the sentence of the hit, an offer in the next
              sentence counts like one in the same
    in_code   true if it counts in code, quotations and logs too, such as a placeholder comment
    cue       true if it costs nothing and only sends the answer to the learned model

`match`, `needs`, `unless` and `followed` are searched for without regard to case.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import msgspec

from toolvet.core.checks.answer.quality import SignalType
from toolvet.core.decodable import decodable
from toolvet.core.discover.cache import compiled_with_key
from toolvet.core.matching import Hit, Pattern, PatternSet
from toolvet.core.matching.pattern import (
    LANGUAGES,
    WORDS_FILE,
    HitScope,
    LazyPatterns,
    Phrase,
    PhraseFile,
    PlacedBefore,
)

if TYPE_CHECKING:
    from toolvet.core.matching.phrasebook import PhraseSource

_FILES: Final = (WORDS_FILE, *(f"{kind}.toml" for kind in SignalType))
_VERSION: Final = "phrases/3"
# The text of these modules is part of the key: they decide how the files are read.
_SOURCES: Final = (
    __name__,
    "toolvet.core.checks.answer.quality",
    "toolvet.core.matching.pattern",
    "toolvet.core.matching.phrasebook",
)
_MILD: Final = 0.14

EDGE: Final = 300
"""How many characters the opening and the closing of an answer have."""

SHORT: Final = 600
"""Mild phrases count everywhere in an answer of up to this many characters."""

PARTIAL: Final = "partial_refusal"
"""The label of what counts only where little follows."""

ANY_LANGUAGE: Final = "any"
"""The `language` of phrases in none, such as placeholders in code: the folder `languages/any`."""

APART: Final = frozenset({"en"})
"""For `languages=` of exactly these, a pattern set without the other languages is compiled and scanned."""

Place = Literal["opening", "closing", "edges"]


class SignalPhrase(Phrase, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One entry of a signal file."""

    PATTERNS: ClassVar[tuple[str, ...]] = ("match", "needs", "unless", "followed", "offered", "excuse")

    # The proofs stay in the files: phrases from the cache go without them.
    weight: float | None = None
    label: str | None = None
    strength: Literal["mild"] | None = None
    where: Place | None = None
    at_most: int | None = None
    needs: str | None = None
    unless: str | list[str] | None = None
    followed: str | None = None
    offered: str | None = None
    excuse: str | None = None
    softened: float | None = None
    in_code: bool = False
    cue: bool = False

    def scope(self) -> HitScope | None:
        """Where in an answer it may count at all."""
        where = self.where
        if where is None and self.label == PARTIAL:
            where = "closing"
        whole = 0
        if where is None and self.strength == "mild":
            where, whole = "edges", SHORT
        if where is None:
            return None if self.at_most is None else HitScope(self.at_most)
        # One more for a hit that ends exactly at the beginning of the closing.
        return HitScope(
            self.at_most,
            min(whole, self.at_most or whole),
            EDGE if where != "closing" else None,
            EDGE + 1 if where != "opening" else None,
        )


class KnownPhrase(msgspec.Struct, frozen=True, gc=False):
    """A phrase with its type, language and weight, which follow from its file."""

    phrase: SignalPhrase
    type: SignalType
    language: str
    weight: float

    def demand(self) -> re.Pattern[str] | None:
        """The pattern that must be in the same sentence; compiled at the first call."""
        return None if self.phrase.needs is None else _compiled(self.phrase.needs)

    def remedy(self) -> re.Pattern[str] | None:
        """The pattern that must not follow; compiled at the first call."""
        return None if self.phrase.followed is None else _compiled(self.phrase.followed)

    def offer(self) -> re.Pattern[str] | None:
        """The pattern of an offer after the hit; compiled at the first call."""
        return None if self.phrase.offered is None else _compiled(self.phrase.offered)

    def excused(self) -> re.Pattern[str] | None:
        """The pattern of an excuse in the sentence; compiled at the first call."""
        return None if self.phrase.excuse is None else _compiled(self.phrase.excuse)

    def voids(self) -> list[re.Pattern[str]]:
        """The patterns that must not be in the same sentence; compiled at the first call."""
        unless = self.phrase.unless
        return [_compiled(each) for each in ([unless] if isinstance(unless, str) else unless or ())]


class SignalFile(PhraseFile[SignalPhrase], frozen=True, kw_only=True):
    """A file of one signal type in one language."""

    label: str | None = None


class SignalPhrases:
    """All phrases of all languages, found in one pass.

    Who asks for English alone, as most do who ask, gets a set of its own: its database is scanned in less than half of
    the time. For other languages the phrases of the others are left out of what the whole set finds.
    """

    def __init__(self, known: Mapping[str, KnownPhrase], kept: "CachedPhrases | None" = None) -> None:
        self.by_id = known
        self.languages = kept.languages if kept is not None else _languages_of(known)
        self._key = kept.key if kept is not None else b""
        self.pattern_set = PatternSet(_patterns_of(known) if kept is None else kept.source(known))
        self._narrowed: dict[frozenset[str], PatternSet] = {}
        self._later: dict[frozenset[str] | None, PatternSet] = {}

    def scan(
        self,
        text: str,
        languages: frozenset[str] | None = None,
        *,
        is_whole: bool = False,
        is_later: bool = False,
        most: int | None = None,
        placed: PlacedBefore | None = None,
    ) -> list[Hit]:
        """Return every hit in `text`, by place, then in the order of the phrases: of all languages, or of these.

        For a whole answer (`is_whole`), the scan may leave out hits outside the scope of their phrase. For a later part
        of a longer answer (`is_later`), it leaves out all phrases that count only in the opening. `most` and `placed`
        are those of `PatternSet.scan`.
        """
        chosen = self.pattern_set if languages is None else self.only(languages)
        if is_later:
            later = self._later.get(languages)
            if later is None:
                spoken = (self.languages if languages is None else languages) | {ANY_LANGUAGE}
                later = self._later[languages] = chosen.only(
                    each.id
                    for each in chosen.patterns
                    if self.by_id[each.id].phrase.where != "opening" and self.by_id[each.id].language in spoken
                )
            chosen = later
        return chosen.scan(text, most, in_scope=is_whole, placed=placed)

    def only(self, languages: frozenset[str]) -> PatternSet:
        """The phrases of these languages, and those of `any`."""
        narrowed = self._narrowed.get(languages)
        if narrowed is None:
            wanted = languages | {ANY_LANGUAGE}
            chosen = {identifier: each for identifier, each in self.by_id.items() if each.language in wanted}
            if languages != APART:
                narrowed = self.pattern_set.only(chosen)
            elif self._key:
                ids, scopes = tuple(chosen), tuple(each.phrase.scope() for each in chosen.values())
                key = self._key + "\0".join(ids).encode()
                narrowed = PatternSet(LazyPatterns(key, ids, scopes, lambda: _patterns_of(chosen)))
            else:
                narrowed = PatternSet(_patterns_of(chosen))
            self._narrowed[languages] = narrowed
        return narrowed


class CachedPhrases(msgspec.Struct, frozen=True, array_like=True):
    """The phrases as they are kept: those that are found are decoded, of the others only what a scan needs."""

    phrases: dict[str, msgspec.Raw]
    scopes: tuple[HitScope | None, ...]
    languages: frozenset[str]
    key: bytes = b""
    """The key of the files that the phrases were made from."""

    def source(self, known: Mapping[str, KnownPhrase]) -> LazyPatterns:
        """The patterns, made only if their compiled form is not stored."""
        return LazyPatterns(self.key, tuple(self.phrases), self.scopes, lambda: _patterns_of(known))


class _DecodedPhrases(Mapping[str, KnownPhrase]):
    """The phrases by their identifiers, each decoded when it is asked for: all of them take 5 ms."""

    def __init__(self, kept: dict[str, msgspec.Raw]) -> None:
        self._kept = kept
        self._known: dict[str, KnownPhrase] = {}

    def __getitem__(self, identifier: str) -> KnownPhrase:
        known = self._known.get(identifier)
        if known is None:
            known = msgspec.msgpack.decode(self._kept[identifier], type=decodable(KnownPhrase))
            self._known[identifier] = known
        return known

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


def _languages_of(known: Mapping[str, KnownPhrase]) -> frozenset[str]:
    return frozenset(each.language for each in known.values()) - {ANY_LANGUAGE}


def _patterns_of(known: Mapping[str, KnownPhrase]) -> Iterator[Pattern]:
    return (Pattern(identifier, each.phrase.match, scope=each.phrase.scope()) for identifier, each in known.items())


@cache
def phrases() -> SignalPhrases:
    """Return every phrase that toolvet ships; the first call reads them, from the cache if possible."""
    key, built = compiled_with_key(LANGUAGES, _FILES, _built, _VERSION, _SOURCES)
    kept = msgspec.structs.replace(msgspec.msgpack.decode(built, type=decodable(CachedPhrases)), key=key)
    return SignalPhrases(_DecodedPhrases(kept.phrases), kept)


def known_phrases(sources: Iterable["PhraseSource[SignalFile]"]) -> dict[str, KnownPhrase]:
    """The phrases of these files by an identifier such as `refusal/en:3`, in order of type, language and number.

    Where two phrases are found in the same words, the order decides which one counts.
    """
    return {
        f"{source.name}/{source.folder}:{number}": known_phrase(
            phrase, SignalType(source.name), source.folder, source.file.label
        )
        for source in sorted(sources, key=lambda each: (each.name, each.folder))
        for number, phrase in enumerate(source.file.phrase)
    }


def read_sources(language: str | None = None) -> list["PhraseSource[SignalFile]"]:
    """The signal files of all languages, or of one, with their proofs."""
    # A process that finds its phrases in the cache needs no reader of files.
    from toolvet.core.matching.phrasebook import read_languages  # noqa: PLC0415

    return read_languages(_FILES, SignalFile, language)


def read_phrases() -> dict[str, KnownPhrase]:
    """The phrases of all signal files with their proofs; see `known_phrases`."""
    return known_phrases(read_sources())


def _built(files: Iterable[tuple[str, bytes]]) -> bytes:
    """The phrases as they are kept: without their proofs, which are most of the files."""
    # A process that finds its phrases in the cache needs no reader of files.
    from toolvet.core.matching.phrasebook import read_phrases as read_files  # noqa: PLC0415

    known = {
        identifier: msgspec.structs.replace(each, phrase=msgspec.structs.replace(each.phrase, hits=[], misses=[]))
        for identifier, each in known_phrases(read_files(LANGUAGES, files, SignalFile)).items()
    }
    return msgspec.msgpack.encode(
        CachedPhrases(
            {identifier: msgspec.Raw(msgspec.msgpack.encode(each)) for identifier, each in known.items()},
            tuple(each.phrase.scope() for each in known.values()),
            _languages_of(known),
        )
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def known_phrase(phrase: SignalPhrase, signal_type: SignalType, language: str, label: str | None = None) -> KnownPhrase:
    """Return a phrase with what follows from its file: type, language, and the label of phrases without their own."""
    mild = phrase.strength == "mild"
    if phrase.label is None:
        phrase = msgspec.structs.replace(phrase, label="mild" if mild else label)
    weight = phrase.weight
    if weight is None:
        weight = _MILD if mild else signal_type.weight
    return KnownPhrase(phrase, signal_type, language, 0.0 if phrase.cue else weight)
