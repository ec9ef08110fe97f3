"""The phrases of `patterns/*.toml`, and what each of them proves about a result.

One file per state, read by `toolvet.core.matching.phrasebook`. A phrase belongs to the file's `state` unless it names
its own, and `strength` says what it proves. Its marks:

- `reports`: in a short text it says that the call failed, even without `isError`.
- `leak`: words that only a crash writes.
- `decides`: it outweighs an explicit code.
- `long`: a report that opens with it may be long.
- `framework`: the library that wrote these words of a refusal.
- `caller_text`: an error of a text such as a SQL statement. In a tool that runs such texts of its caller it proves what
  `strength` and `state` say; in any other tool it is a failure of the state `otherwise`, or proves nothing without one.
- `unless_sent`: for such a phrase, where the arguments are not known, or the error quotes one of them, any tool may say
  it of what the caller named.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final

import msgspec

from toolvet.core.causes import State
from toolvet.core.decodable import decodable
from toolvet.core.discover import data_files
from toolvet.core.discover.cache import compiled_from
from toolvet.core.discover.toml import read_toml
from toolvet.core.matching import Hit, Pattern, PatternSet
from toolvet.core.matching.pattern import Phrase, PhraseFile

if TYPE_CHECKING:
    from toolvet.core.matching.phrasebook import PhraseSource


class Strength(StrEnum):
    """How much a phrase proves."""

    ALONE = "alone"
    """Business logic, by itself."""
    VAGUE = "vague"
    """Business logic, together with a second factor."""
    VETO = "veto"
    """A crash or broken infrastructure: no business logic, even if other words say so."""
    DOUBT = "doubt"
    """A failure, unless the text also shows business logic."""
    FRAME = "frame"
    """The first words of an error report."""
    HTTP = "http"
    """An HTTP status in a context that makes it one; the last three digits of the hit."""
    REFUSAL = "refusal"
    """A validation library refused the arguments: business logic, even beside words that otherwise mean a crash."""
    CODE = "code"
    """A JSON-RPC error code."""
    TEST_DATA = "test_data"
    """An argument that only a test sends."""
    TRACE = "trace"
    """The first words of a stack trace."""
    PATH = "path"
    """The first part of an absolute path."""
    SUCCESS = "success"
    """It worked."""
    INSTEAD = "instead"
    """Something was missing, and the tool went on in another way: a success that says so."""

    # As of `State`.
    __hash__ = str.__hash__


class CallerText(StrEnum):
    """A text that a caller writes and a tool runs."""

    PROGRAM = "program"
    """A command of a shell, a program, a script for a browser."""
    QUERY = "query"
    """A query of a database or a graph."""
    PATTERN = "pattern"
    """A regular expression, a template, a selector."""
    PART = "part"
    """The name of a table, a column, a collection."""
    PATH = "path"
    """A path of a file or a folder."""
    URL = "url"
    """An address."""

    @property
    def explains_crashes(self) -> bool:
        """Whether an error of this text may look like a crash of the tool that runs it."""
        return self not in (CallerText.PART, CallerText.PATH)


_PACKAGE = "toolvet.core.checks.result"
# The text of these modules is part of the key: they decide how the files are read.
_SOURCES: Final = (
    __name__,
    "toolvet.core.causes.table",
    "toolvet.core.matching.pattern",
    "toolvet.core.matching.phrasebook",
)
# For these the place of every hit is needed; for the others only whether they are there.
_PLACED = (Strength.PATH, Strength.TRACE)
# These only say whether there is an error at all.
_ONLY_WHETHER = (Strength.FRAME, Strength.SUCCESS, Strength.INSTEAD)


class ResultPhrase(Phrase, frozen=True, kw_only=True):
    """One entry of a pattern file."""

    strength: Strength
    state: State | None = None
    reports: bool = False
    leak: bool = False
    decides: bool = False
    long: bool = False
    framework: str = ""
    caller_text: CallerText | None = None
    otherwise: State | None = None
    unless_sent: bool = False

    @property
    def is_leak(self) -> bool:
        """Whether it is the beginning of a leak."""
        return self.leak or self.strength in _PLACED

    @property
    def speaks_of_refusals(self) -> bool:
        """Whether it says which library refused the arguments, or that none did."""
        return self.decides or bool(self.framework) or self.strength in (Strength.TRACE, Strength.REFUSAL)

    @property
    def is_evidence(self) -> bool:
        """Whether it says anything of an error that is known to be one, and not only whether there is an error."""
        says_more = self.is_leak or self.decides or self.framework or self.caller_text is not None
        return bool(says_more) or self.strength not in _ONLY_WHETHER


class PatternFile(PhraseFile[ResultPhrase], frozen=True, kw_only=True):
    """The phrases of one state."""

    state: State | None = None


class CallerTextNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a tool says that it runs one kind of text: `tool_names.toml` explains the fields."""

    names: frozenset[str]
    parameters: frozenset[str]
    doubtful_parameters: frozenset[str]
    description: str


class ToolNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words of tool definitions: tools whose errors are mostly about the arguments, tools that run callers' texts."""

    validates: frozenset[str]
    running_verbs: frozenset[str]
    ready_made: frozenset[str]
    command_parameters: tuple[str, ...]
    judging: frozenset[str]
    reporting: frozenset[str]
    probing: frozenset[str]
    runs: dict[CallerText, CallerTextNames]


class ResultPhrases:
    """All phrases, ready to be looked for in one pass.

    `scan` finds all of them, `evidence` those that say something of a known error: placing the others, the openings of
    reports, took two fifths of the time of a short error.
    """

    def __init__(self, phrases: Mapping[str, ResultPhrase]) -> None:
        self.by_id = phrases
        self.refusing = tuple(each for each in phrases.items() if each[1].speaks_of_refusals)
        self.leaky = frozenset(identifier for identifier, phrase in phrases.items() if phrase.is_leak)
        self.pattern_set = PatternSet(
            Pattern(identifier, phrase.match, spans=phrase.strength in _PLACED)
            for identifier, phrase in phrases.items()
        )
        self.scan = self.pattern_set.scan
        self.evidence = self.pattern_set.only(
            identifier for identifier, phrase in phrases.items() if phrase.is_evidence
        ).scan

    def of(self, hit: Hit) -> ResultPhrase:
        """The phrase that was hit."""
        return self.by_id[hit.id]


@cache
def phrases() -> ResultPhrases:
    """Every phrase that toolvet ships; read at the first call."""
    built = compiled_from(_PACKAGE, ".toml", _built, "results/1", _SOURCES)
    return ResultPhrases(msgspec.msgpack.decode(built, type=decodable(dict[str, ResultPhrase])))


def _built(files: Iterable[tuple[str, bytes]]) -> bytes:
    """The phrases as they are kept: without their proofs."""
    found = {
        f"{source.name}:{number}": msgspec.structs.replace(
            phrase, hits=[], misses=[], state=phrase.state if phrase.state is not None else source.file.state
        )
        for source in _read(files)
        for number, phrase in enumerate(source.file.phrase)
    }
    return msgspec.msgpack.encode(found)


def read_sources() -> list["PhraseSource[PatternFile]"]:
    """The pattern files, in the order in which their phrases count; raises `PhraseError` for one that is wrong."""
    return _read(data_files(_PACKAGE, ".toml"))


def _read(files: Iterable[tuple[str, bytes]]) -> list["PhraseSource[PatternFile]"]:
    # A process that finds its phrases in the cache needs no reader of files.
    from toolvet.core.matching.phrasebook import read_phrases  # noqa: PLC0415

    # Where two phrases end at the same place, the first file counts: "invalid" is the least that an error can say.
    wanted = sorted(
        (file for file in files if file[0].startswith("patterns/")),
        key=lambda file: file[0] == "patterns/invalid_input.toml",
    )
    return read_phrases(_PACKAGE, wanted, PatternFile)


@cache
def tool_names() -> ToolNames:
    """The words of tool names that mean something."""
    return read_toml(_PACKAGE, "tool_names.toml", ToolNames)
