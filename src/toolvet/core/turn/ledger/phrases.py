"""The phrases of `languages/<language>/claims.toml` and the table `families.toml`, ready to be looked for.

A claims file contains how an assistant claims to have acted (`[[phrase]]`), which words before it in its clause take
the claim back (`unless`), and which words report a failure to the reader (`admits`) or ask for what was missing
(`asks`). There are two sorts of phrases:

- A phrase with a `family` names the kind of action itself. One marked `passive` reports a state that a result may
  report too; one marked `text_work` may be about a text that the answer itself contains, so it is only checked against
  calls that failed.
- A phrase with a `frame` is a piece of grammar around a verb ("has been …"). Which action it claims follows from the
  verb (`verbs`, by family) or, where the verb says little ("submitted"), from its noun (`nominals`); see `claims`.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.matching import Hit, Pattern, PatternSet
from toolvet.core.matching.pattern import Phrase, PhraseFile
from toolvet.core.matching.phrase_cache import kept_files

if TYPE_CHECKING:
    from toolvet.core.matching.phrasebook import PhraseSource

ADMITS: Final = "admits"
ASKS: Final = "asks"
TECHNICAL: Final = "technical"
ANYTHING: Final = "anything"
"""The family of claims that any change may bear out."""
HANDOFF: Final = "handoff"
"""The family of claims to have called a person."""
STATE: Final = "state"
"""The family of statements about a thing that calls asked for."""
SEARCH: Final = "search"
"""The family of claims to have looked something up."""
_NEVER: Final = r"(?!)"


class Voice(StrEnum):
    """Which part of a sentence the match of a frame is."""

    ACTIVE = "active"
    """The speaker and the verb; the object follows."""
    PASSIVE = "passive"
    """The verb; its subject is before it."""
    STATE = "state"
    """The same with "is", which may also be a rule or a state that was read."""
    WHOLE = "whole"
    """A sentence from its subject to its verb."""
    SAID = "said"
    """A sentence from its speaker to its verb, if the verb ends it."""
    BARE = "bare"
    """A verb alone. At the start of a sentence or line its object follows; elsewhere only its noun is before it."""


class Claim(Phrase, frozen=True, kw_only=True):
    """One way to claim an action: of one `family`, or a `frame` whose verb says which."""

    family: str = ""
    frame: Voice | None = None
    passive: bool = False
    text_work: bool = False
    echo: bool = False
    """Whether it is a claim only about things that the request names. Its proofs have the request before an arrow."""


class ClaimFile(PhraseFile[Claim], frozen=True, kw_only=True):
    """The claims of one language.

    `verbs`, `text_verbs` and `nominals` have a named group for each family. `text_verbs` are actions that may be done
    to a text of the answer ("I've added a paragraph"): they need an object of `things`, or one that the tools name.
    """

    PATTERNS: ClassVar[tuple[str, ...]] = (
        "unless", "admits", "asks", "verbs", "text_verbs", "nominals", "things", "texts", "subjects",
        "no_subjects", "no_nouns", "definite", "openers", "closings", "objects", "noun_rests", "files",
        "states", "rest_unless", "cuts", "emphatic", "relatives",
        "coordinates", "faults", "fault_unless", "fault_openers", "wishes", "hedges", "pending",
        "pronouns", "adjectival", "needs", "courtesies",
    )  # fmt: skip

    unless: str
    admits: str
    asks: str = ""
    verbs: str = ""
    text_verbs: str = ""
    nominals: str = ""
    states: str = ""
    things: str = ""
    texts: str = ""
    files: str = ""
    subjects: str = ""
    no_subjects: str = ""
    no_nouns: str = ""
    definite: str = ""
    openers: str = ""
    closings: str = ""
    objects: str = ""
    noun_rests: str = ""
    rest_unless: str = ""
    cuts: str = ""
    relatives: str = ""
    """A negation in a relative clause, which only identifies a thing."""
    coordinates: str = ""
    """A clause before the speaker that is not a condition of the claim."""
    faults: str = ""
    """Words after a tool's name that report that it does not work."""
    fault_unless: str = ""
    """Words before the name that make the following words no report about it."""
    fault_openers: str = ""
    """Words that open a noun phrase."""
    emphatic: str = ""
    """A word that emphasizes that an action had its effect."""
    wishes: str = ""
    """The verbs by which a person asks for an action, with a named group for each family."""
    hedges: str = ""
    """Words of a claim that is not quite sure of itself: they take back nothing that was asked for."""
    pronouns: str = ""
    """Words for a thing that was named before."""
    pending: str = ""
    """Words of a clause about an action that is still to be done."""
    adjectival: str = ""
    """Words right before a participle that only distinguishes one thing from others."""
    needs: str = ""
    """Words of a request before the participles of its actions."""
    courtesies: str = ""
    """A closing question that asks nothing back: "Is there anything else?"."""
    honest: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it.
    """By the state of a result (`checks.result.State`), or `empty`: words that report it to the person."""
    technical: str = ""
    """Words that blame the tool."""


class ClaimGrammar:
    """The words around the frames of one language, searched in one clause at a time, if it contains a claim.

    Each pattern of its file is an attribute, compiled when it is first asked for: few of them are.
    """

    def __init__(self, file: ClaimFile) -> None:
        self.file = file
        # Every word of a clause is asked for, again and again.
        self.is_cut = lru_cache(maxsize=2048)(self._is_cut)

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name not in ClaimFile.PATTERNS:
            raise AttributeError(name)
        found = self.__dict__[name] = re.compile(getattr(self.file, name) or _NEVER, re.IGNORECASE)
        return found

    def _is_cut(self, word: str) -> bool:
        return self.cuts.fullmatch(word) is not None


class ActionFamily(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of action: words of the tools that do it, and words of results that say it happened."""

    tools: frozenset[str]
    says: frozenset[str]
    aside: frozenset[str] = frozenset()
    """Things that calls of other families do this with by themselves: cancelling sends a confirmation."""


class Families(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All kinds of actions, and the words that show what a tool can do.

    `reads` change nothing, nor do `opens` of one of `pages`; `prepares` make something that is not yet done (a draft);
    `changes` may do anything, except within the names of `things`. `prefixes` may come before the word that decides,
    and `idle` are names of tools by which an agent only reports its own work. A tool that hands off to one of the
    `people` does nothing else.
    """

    reads: frozenset[str]
    prefixes: frozenset[str]
    idle: frozenset[str]
    opens: frozenset[str]
    pages: frozenset[str]
    prepares: frozenset[str]
    people: frozenset[str]
    changes: frozenset[str]
    things: frozenset[str]
    family: dict[str, ActionFamily]


class ClaimPhrases:
    """All phrases of all languages; `claims` by the identifier of a hit, which begins with the language."""

    def __init__(self, files: Iterable[tuple[str, ClaimFile]]) -> None:
        self.claims: dict[str, Claim] = {}
        self.grammar: dict[str, ClaimGrammar] = {}
        self._reports: list[Pattern] = []
        patterns: list[Pattern] = []
        for language, file in files:
            patterns.append(Pattern(f"{ADMITS}/{language}", file.admits, spans=False))
            if file.asks:
                patterns.append(Pattern(f"{ASKS}/{language}", file.asks, spans=False))
            if file.technical:
                self._reports.append(Pattern(TECHNICAL, file.technical, spans=False))
            self._reports += [Pattern(state, words, spans=False) for state, words in file.honest.items()]
            self.grammar[language] = ClaimGrammar(file)
            for number, claim in enumerate(file.phrase):
                identifier = f"{language}:{number}"
                self.claims[identifier] = claim
                patterns.append(Pattern(identifier, claim.match))
        self.pattern_set = PatternSet(patterns)
        self.scan = self.pattern_set.scan

    @cached_property
    def report_set(self) -> PatternSet:
        """The words that report the result of a call; built for the first answer to a call that failed."""
        return PatternSet(self._reports)

    def report(self, text: str) -> list[Hit]:
        """Find the words that report the result of a call."""
        return self.report_set.scan(text)


@cache
def phrases() -> ClaimPhrases:
    """Every claim that toolvet ships; read at the first call."""
    return ClaimPhrases(kept_files("claims.toml", ClaimFile, __name__))


def read_sources(language: str | None = None) -> list["PhraseSource[ClaimFile]"]:
    """The claims files of all languages, or of one; raises `PhraseError` for one that cannot be used."""
    # A process that finds its phrases in the cache needs no reader of files.
    from toolvet.core.matching.phrasebook import read_languages  # noqa: PLC0415

    return read_languages(("claims.toml",), ClaimFile, language)


@cache
def families() -> Families:
    """The kinds of actions."""
    return read_toml("toolvet.core.turn.ledger", "families.toml", Families)
