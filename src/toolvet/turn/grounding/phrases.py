"""The phrases of `claims/<language>.toml` and the table `families.toml`, ready to be looked for.

A language file says how an assistant claims to have acted (`[[claim]]`: `family`, `match`, `hits`, `misses`), which
words before it in its sentence take the claim back (`unless`), and which words tell the reader of a failure (`admits`)
or ask for what was missing (`asks`). In a `match`, `<name>` stands for the entry of `[frames]`. A claim marked
`passive` reports a state that a result may report too; one marked `text_work` may be about a text that the answer
itself holds, so it is only held against calls that failed. Adding a language is adding a file.
"""

import re
import tomllib
from functools import cache

import msgspec

from toolvet.discover import data_file, data_files
from toolvet.matching import Pattern, PatternSet

_PACKAGE = "toolvet.turn.grounding"
ADMITS = "admits"
ASKS = "asks"


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way to claim an action."""

    family: str
    match: str
    hits: list[str]
    misses: list[str]
    passive: bool = False
    text_work: bool = False


class ActionFamily(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of action: words of the tools that do it, and words of results that say it happened."""

    tools: frozenset[str]
    says: frozenset[str]


class _Language(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    unless: str
    admits: str
    claim: list[Claim]
    frames: dict[str, str] = {}
    asks: str = ""


class Families(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All kinds of actions; `reads` are words of tools that change nothing, `changes` of tools that may do anything."""

    reads: frozenset[str]
    changes: frozenset[str]
    family: dict[str, ActionFamily]


class ClaimPhrases:
    """All phrases of all languages; `claims` by the identifier of a hit, which begins with the language."""

    def __init__(self, languages: dict[str, "_Language"]) -> None:
        self.claims: dict[str, Claim] = {}
        # Asked of one clause at a time, and only where there is a claim: no business of the scan.
        self.unless: dict[str, re.Pattern[str]] = {}
        patterns: list[Pattern] = []
        for name, language in languages.items():
            patterns.append(Pattern(f"{ADMITS}/{name}", language.admits, spans=False))
            if language.asks:
                patterns.append(Pattern(f"{ASKS}/{name}", language.asks, spans=False))
            self.unless[name] = re.compile(language.unless, re.IGNORECASE)
            for number, claim in enumerate(language.claim):
                identifier = f"{name}:{number}"
                self.claims[identifier] = claim
                patterns.append(Pattern(identifier, _filled(claim.match, language.frames)))
        self.scan = PatternSet(patterns).scan


def _filled(match: str, frames: dict[str, str]) -> str:
    for name, frame in frames.items():
        match = match.replace(f"<{name}>", frame)
    return match


@cache
def phrases() -> ClaimPhrases:
    """Every phrase that toolvet ships; read at the first call."""
    found: dict[str, _Language] = {}
    for path, content in data_files(_PACKAGE, ".toml"):
        folder, _, name = path.rpartition("/")
        if folder == "claims":
            found[name.removesuffix(".toml")] = msgspec.convert(tomllib.loads(content.decode("utf-8")), _Language)
    return ClaimPhrases(found)


@cache
def families() -> Families:
    """The kinds of actions."""
    return msgspec.convert(table("families.toml"), Families)


def table(name: str) -> dict[str, object]:
    """One of the TOML files beside this module."""
    return tomllib.loads(data_file(_PACKAGE, name).decode("utf-8"))
