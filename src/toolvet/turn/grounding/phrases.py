"""The phrases of `languages/<language>/claims.toml` and the table `families.toml`, ready to be looked for.

A claims file contains how an assistant claims to have acted (`[[phrase]]` with a `family`), which words before it in
its sentence take the claim back (`unless`), and which words report a failure to the reader (`admits`) or ask for what
was missing (`asks`). A claim marked `passive` reports a state that a result may report too; one marked `text_work` may
be about a text that the answer itself contains, so it is only checked against calls that failed.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import ClassVar, Final

import msgspec

from toolvet.discover.toml import read_toml
from toolvet.matching import Pattern, PatternSet
from toolvet.matching.phrase import Phrase, PhraseFile
from toolvet.matching.phrasebook import PhraseSource, read_languages

ADMITS: Final = "admits"
ASKS: Final = "asks"


class Claim(Phrase, frozen=True, kw_only=True):
    """One way to claim an action."""

    family: str
    passive: bool = False
    text_work: bool = False


class ClaimFile(PhraseFile[Claim], frozen=True, kw_only=True):
    """The claims of one language."""

    PATTERNS: ClassVar[tuple[str, ...]] = ("unless", "admits", "asks")

    unless: str
    admits: str
    asks: str = ""


class ActionFamily(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of action: words of the tools that do it, and words of results that say it happened."""

    tools: frozenset[str]
    says: frozenset[str]


class Families(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All kinds of actions; `reads` are words of tools that change nothing, `changes` of tools that may do anything."""

    reads: frozenset[str]
    changes: frozenset[str]
    family: dict[str, ActionFamily]


class ClaimPhrases:
    """All phrases of all languages; `claims` by the identifier of a hit, which begins with the language."""

    def __init__(self, sources: Iterable[PhraseSource[ClaimFile]]) -> None:
        self.claims: dict[str, Claim] = {}
        # Asked of one clause at a time, and only where there is a claim: no business of the scan.
        self.unless: dict[str, re.Pattern[str]] = {}
        patterns: list[Pattern] = []
        for source in sources:
            language, file = source.folder, source.file
            patterns.append(Pattern(f"{ADMITS}/{language}", file.admits, spans=False))
            if file.asks:
                patterns.append(Pattern(f"{ASKS}/{language}", file.asks, spans=False))
            self.unless[language] = re.compile(file.unless, re.IGNORECASE)
            for number, claim in enumerate(file.phrase):
                identifier = f"{language}:{number}"
                self.claims[identifier] = claim
                patterns.append(Pattern(identifier, claim.match))
        self.scan = PatternSet(patterns).scan


@cache
def phrases() -> ClaimPhrases:
    """Every claim that toolvet ships; read at the first call."""
    return ClaimPhrases(read_sources())


def read_sources(language: str | None = None) -> list[PhraseSource[ClaimFile]]:
    """The claims files of all languages, or of one; raises `PhraseError` for one that cannot be used."""
    return read_languages(("claims.toml",), ClaimFile, language)


@cache
def families() -> Families:
    """The kinds of actions."""
    return read_toml("toolvet.turn.grounding", "families.toml", Families)
