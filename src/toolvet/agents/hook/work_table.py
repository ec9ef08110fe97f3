"""`work.toml`: what coding agents do with their tools, what they say of it, and the patterns of both, compiled."""

import re
from collections.abc import Sequence
from functools import cache, cached_property

import msgspec

from toolvet.core.discover import read_toml


class WorkTools(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tools of coding agents: those that run commands, those that edit files, and those that hide what they do."""

    shell: tuple[str, ...]
    edit: tuple[str, ...]
    opaque: tuple[str, ...]


class ShellWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How commands are read: the words before a program, programs that run nothing else, and marks of some others."""

    wrappers: tuple[str, ...]
    others: tuple[str, ...]
    perhaps: str
    idle: str
    edits: str
    documents: str


class WorkKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of run (tests, a build …): its commands, and what its output says of its end."""

    name: str
    noun: str
    commands: tuple[str, ...]
    failed: tuple[str, ...]
    passed: tuple[str, ...]


class WorkPhrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns of one thing that is said, with their proof; what `allow` finds is taken out before."""

    patterns: tuple[str, ...]
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


class WorkClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How it is said that a run of this kind went well."""

    kind: str
    patterns: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class WorkTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """`work.toml` as written."""

    tools: WorkTools
    shell: ShellWords
    kinds: tuple[WorkKind, ...]
    claims: tuple[WorkClaim, ...]
    guards: WorkPhrases
    told: WorkPhrases
    done: WorkPhrases
    asked: WorkPhrases
    files: WorkPhrases

    @cached_property
    def nouns(self) -> dict[str, str]:
        """What each kind of run is called."""
        return {kind.name: kind.noun for kind in self.kinds}

    @cached_property
    def wrappers(self) -> frozenset[str]:
        """The words before a program."""
        return frozenset(self.shell.wrappers)

    @cached_property
    def others(self) -> frozenset[str]:
        """Programs that run nothing else."""
        return frozenset(self.shell.others)


@cache
def work_table() -> WorkTable:
    """Return the table."""
    return read_toml("toolvet.agents.hook", "work.toml", WorkTable)


@cache
def compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return these patterns compiled; each is looked for when it is needed first."""
    return tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)


def finds(patterns: Sequence[str], text: str) -> bool:
    """Whether one of the patterns is in the text."""
    return any(pattern.search(text) is not None for pattern in compiled(tuple(patterns)))
