"""Outages: answers that are about the surroundings of a server, which no argument and no author can change in a call.

    answer    "Tool execution failed: No project specified. Set KANBAN_PROJECT_DIR env var in MCP config"
    state     misconfigured (`checks.result`), so it is an outage
    missing   "KANBAN_PROJECT_DIR", a variable

Twelve tools that say this have one cause, and it is reported once, for the server (`catalog/environment_outage.py`).
"""

import re
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.checks.result import State
from toolvet.rules.ending import ERRORS_IN_WORDS, OUTAGES, Ending, ending, is_bad, verdict_of, words_of
from toolvet.rules.subject import ObservedCall

MissingKind: TypeAlias = Literal["variable", "program", "host", "credential", "service"]
_LONGEST: Final = 4_000  # Characters of an error that are searched for what is missing.
_VARIABLE: Final = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
# "Set SHOP_DIR env var", "SHOP_TOKEN is not set": a variable of the environment by its spelling and by what is said.
_UNSET: Final = re.compile(
    r"\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)['\"`]? "
    r"(?:env(?:ironment)?\b|(?:is|was) (?:not (?:set|defined|configured)|unset|missing))"
    r"|\b(?:[Ss]et|export|[Ee]nvironment variables?|[Ee]nv var) (?:the )?['\"`$]?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b"
)
_ERROR_CODE: Final = re.compile(r"E[A-Z]+_|ERR_|UND_|WSA|DEPTH_|SELF_|UNABLE_|CERTIFICATE_")
_PROGRAM: Final = re.compile(
    r"\bspawn(?:Sync)? (\S{1,80}) ENOENT\b"
    r"|(?i:\bcommand not found: ?([\w.+-]{1,60}))"
    r"|(?i:['\"`]?([\w.+/-]{1,60})['\"`]?: (?:command )?not found\b)"
    r"|(?i:\bno (?:such )?(?:command|program|executable)(?: named)? ['\"`]?([\w.+-]{1,60}))"
    r"|(?i:['\"`]([\w.+-]{1,60})['\"`]? (?:is not installed|not found in (?:the |your )?\$?path)\b)"
)
_HOST: Final = re.compile(
    r"\bhttps?://([\w.-]+(?::\d+)?)"
    r"|\b(?:getaddrinfo(?: [A-Z_]{3,20})?|host=|host:?|to|resolve|reach|lookup|address) ['\"]?"
    r"((?:[\w-]+\.)+[a-z]{2,24}(?::\d+)?|localhost(?::\d+)?)\b"
    r"|\b((?:\d{1,3}\.){3}\d{1,3}:\d{1,5}|localhost:\d{1,5}|(?:[\w-]+\.)+[a-z]{2,24}:\d{1,5})\b"
)


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
    ended = ending(call)
    verdict = verdict_of(call)
    if verdict is None or (ended not in ERRORS_IN_WORDS and ended is not Ending.WORDLESS):
        return None
    unauthorized = verdict.state is State.UNAUTHORIZED and not is_bad(call)
    words = words_of(call)[:_LONGEST]
    if verdict.state not in OUTAGES and not unauthorized:
        unset = _UNSET.search(words)
        name = (unset[1] or unset[2]) if unset else ""
        return Missing("variable", name) if name and name not in str(call.arguments) else None
    return missing_in(words, unauthorized=unauthorized)


def missing_in(words: str, *, unauthorized: bool = False) -> Missing:
    """Read from the words of an outage what is missing.

    >>> missing_in("spawn rg ENOENT")
    Missing(kind='program', name='rg')
    >>> str(missing_in("Set KANBAN_PROJECT_DIR env var"))
    'the variable KANBAN_PROJECT_DIR'
    """
    text = words[:_LONGEST]
    variable = next((found for found in _VARIABLE.findall(text) if not _ERROR_CODE.match(found)), None)
    if variable:
        return Missing("variable", variable)
    for kind, pattern in (("program", _PROGRAM), ("host", _HOST)):
        match = pattern.search(text)
        if match:
            name = next(group for group in match.groups() if group)
            return Missing("program" if kind == "program" else "host", name)
    return Missing("credential" if unauthorized else "service")
