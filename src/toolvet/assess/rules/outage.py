"""Outages: answers that are about the surroundings of a server, which no argument and no author can change in a call.

    answer    "Tool execution failed: No project specified. Set KANBAN_PROJECT_DIR env var in MCP config"
    missing   "KANBAN_PROJECT_DIR", a variable (`checks.result.outage_of`)

Twelve tools that say this have one cause, and it is reported once, for the server (`environment-outage`, in
`catalog/failures.py`).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias, cast

import msgspec

from toolvet.assess.rules.ending import ERRORS_IN_WORDS, OUTAGES, ending, is_bad, verdict_of, words_of
from toolvet.core.causes import State
from toolvet.core.checks import Outage, OutageKind, outage_of
from toolvet.core.json_value import elements
from toolvet.core.tool_rules import ObservedCall

MissingKind: TypeAlias = Literal["variable", "program", "folder", "host", "credential", "service"]

_SHORTEST: Final = 3  # Characters; a value this short is in a path by chance.
_MOST_VALUES: Final = 200  # Values of a call that a path is compared with.
_SYMBOLS: Final = re.compile(r"[^0-9a-z/]+")
_QUOTES: Final = re.compile("['\"]")


class Missing(msgspec.Struct, frozen=True):
    """What an outage says is missing: a `kind`, and its `name` if the text has one, else ""."""

    kind: MissingKind
    name: str = ""

    def __str__(self) -> str:
        """The words of a report: "the variable KANBAN_PROJECT_DIR", "a service"."""
        return f"the {self.kind} {self.name}" if self.name else f"a {self.kind}"


def outage_of_call(call: ObservedCall) -> Missing | None:
    """Return what the surroundings lack by the answer to `call`; None for a success and for any other error.

    A refusal for missing credentials counts only on arguments that the schema allows: it was the first thing that the
    tool looked at.
    """
    verdict = verdict_of(call)
    if verdict is None or ending(call) not in ERRORS_IN_WORDS:
        return None
    outage = outage_of(words_of(call))
    if outage is not None:
        if not _comes_of_the_call(outage, call):
            return Missing(outage.kind.value, outage.subject)
        if outage.kind is OutageKind.FOLDER:
            # The call's own file is not there: whatever else the words suggest, nothing else is missing.
            return None
    if verdict.state is State.UNAUTHORIZED and not is_bad(call):
        return Missing("credential")
    return Missing("service") if verdict.state in OUTAGES else None


def _comes_of_the_call(outage: Outage, call: ObservedCall) -> bool:
    """Whether the call itself brought what is said to be missing: the words are about that, and no outage.

    A path comes of the call when it has a value in it that was sent, perhaps in another spelling: "My note" is
    /data/my-note.md.
    """
    if outage.kind is OutageKind.VARIABLE:
        return outage.subject in str(call.arguments)
    if outage.kind is not OutageKind.FOLDER or not outage.subject:
        return False
    path = _SYMBOLS.sub("", outage.subject.lower().replace("\\", "/"))
    parts = {stem for part in outage.subject.lower().split("/") for stem in (part, part.rpartition(".")[0])}
    for value in _scalars(call.arguments):
        plain = _SYMBOLS.sub("", value.lower().replace("\\", "/")).strip("/")
        # A name with a quotation mark in it may have been cut there by who quoted it.
        if {value.lower(), _QUOTES.split(value.lower())[0]} & (parts - {""}) or (
            len(plain) >= _SHORTEST and plain in path
        ):
            return True
    return False


def _scalars(arguments: object) -> Iterator[str]:
    pending, seen = [arguments], 0
    while pending and seen < _MOST_VALUES:
        here = pending.pop()
        seen += 1
        if isinstance(here, Mapping):
            pending.extend(cast("Mapping[object, object]", here).values())
        elif isinstance(here, str | int):
            yield str(here)
        else:
            pending.extend(elements(here))
