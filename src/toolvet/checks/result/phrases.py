"""The phrases of `patterns/*.toml` and what each of them is evidence for.

One file per state. A phrase belongs to the file's `state` unless it names its own; `match` is a regular expression in
the dialect of `toolvet.matching`, `strength` says what it proves, and `hits` and `misses` are texts that it must and
must not match (the tests run them all). Four marks: `reports` (in a short text it says that the call failed, even
without `isError`), `leak` (words that only a crash writes), `decides` (it outweighs an explicit code), `long` (a report
that opens with it may be long).
"""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache

import msgspec

from toolvet.checks.result.verdict import State
from toolvet.discover import data_file, data_files
from toolvet.matching import Hit, Pattern, PatternSet


class Strength(StrEnum):
    """What a phrase proves."""

    ALONE = "alone"
    """Business logic, by itself."""
    VAGUE = "vague"
    """Business logic, together with a second factor."""
    VETO = "veto"
    """A crash or broken infrastructure: no business logic, whatever else is said."""
    DOUBT = "doubt"
    """A failure, unless business logic is said too."""
    FRAME = "frame"
    """The first words of an error report."""
    HTTP = "http"
    """An HTTP status in a context that makes it one; the last three digits of the hit."""
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


_PACKAGE = "toolvet.checks.result"
# Of the others only the first is told, and where it ends.
_PLACED = (Strength.PATH, Strength.TRACE)


class ResultPhrase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of a pattern file."""

    match: str
    strength: Strength
    hits: list[str]
    misses: list[str]
    state: State | None = None
    reports: bool = False
    leak: bool = False
    decides: bool = False
    long: bool = False

    @property
    def tells(self) -> bool:
        """Whether it is the beginning of a leak."""
        return self.leak or self.strength in _PLACED


class _PatternFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    phrase: list[ResultPhrase]
    state: State | None = None


class _StatusTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    states: dict[str, State]


class ToolNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Segments of tool names: tools whose errors are mostly about the arguments, and tools that run programs."""

    validates: frozenset[str]
    runs_programs: frozenset[str]


class ResultPhrases:
    """All phrases, ready to be looked for in one pass."""

    def __init__(self, phrases: Mapping[str, ResultPhrase]) -> None:
        self.by_id = phrases
        self.leaky = frozenset(identifier for identifier, phrase in phrases.items() if phrase.tells)
        self.scan = PatternSet(
            Pattern(identifier, phrase.match, spans=phrase.strength in _PLACED)
            for identifier, phrase in phrases.items()
        ).scan

    def of(self, hit: Hit) -> ResultPhrase:
        """The phrase that was hit."""
        return self.by_id[hit.id]


@cache
def phrases() -> ResultPhrases:
    """Every phrase that toolvet ships; read at the first call."""
    found: dict[str, ResultPhrase] = {}
    # Where two phrases end at the same place, the first file counts: "invalid" is the least that an error can say.
    files = sorted(data_files(_PACKAGE, ".toml"), key=lambda file: file[0].endswith("/invalid_input.toml"))
    for path, content in files:
        folder, _, name = path.rpartition("/")
        if folder != "patterns":
            continue
        file = msgspec.convert(tomllib.loads(content.decode("utf-8")), _PatternFile)
        for number, phrase in enumerate(file.phrase):
            if phrase.state is None and file.state is not None:
                phrase = msgspec.structs.replace(phrase, state=file.state)  # noqa: PLW2901 - the same phrase, completed.
            found[f"{name.removesuffix('.toml')}:{number}"] = phrase
    return ResultPhrases(found)


@cache
def http_state(status: int) -> State | None:
    """What an HTTP error status means; None below 400 and from 600 on."""
    if not 400 <= status < 600:
        return None
    return _http_states().get(str(status), State.INVALID_INPUT if status < 500 else State.INTERNAL)


@cache
def _http_states() -> dict[str, State]:
    return msgspec.convert(table("http_status.toml"), _StatusTable).states


@cache
def tool_names() -> ToolNames:
    """The words of tool names that mean something."""
    return msgspec.convert(table("tool_names.toml"), ToolNames)


def table(name: str) -> object:
    """One of the TOML files beside this module."""
    return tomllib.loads(data_file(_PACKAGE, name).decode("utf-8"))
