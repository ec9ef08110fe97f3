"""What the code of an error means: those of gRPC, SQL and errno by their tables, any other name by its words."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from toolvet.core.causes import (
    State,
    state_of_errno,
    state_of_google_rpc,
    state_of_name as state_of_words,
    state_of_sqlstate,
)

_LONGEST_READ: Final = 2_000
_SEGMENT: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Where programs put the name of an error: a member of JSON, AWS's and Azure's sentences, a gRPC status. Each is looked
# for only in a text that has the words before the colon: together they took 600 µs where nothing is found.
_KEYS: Final = r"code|error|error_?(?:code|id|type)|__type|reason|status|errcode|type"
_MEMBER: Final = rf"'(?:{_KEYS})' ?: ?'(?:[\w.]{{1,100}}[#:/])?([A-Za-z]\w{{2,60}})'"
_NAMES: Final = (
    ('"', re.compile(_MEMBER.replace("'", '"'))),
    ("'", re.compile(_MEMBER)),
    ("An error occurred (", re.compile(r"\bAn error occurred \((\w{3,60})\)")),
    ("StatusCode.", re.compile(r"\bStatusCode\.([A-Z_]{3,30})\b")),
    ("code = ", re.compile(r"\bcode = (\w{3,30}) desc\b")),
)
_NAME_ALONE: Final = re.compile(r"\((\w{3,60})\) |(?:\w{1,30}Error: )?([a-z]{2,30}(?:_[a-z]{2,30}){1,6})$")
_SQLSTATE: Final = re.compile(
    r"\bSQLSTATE\W{0,3}([0-9A-Z]{5})\b|\bERROR:? ?\d{0,5} ?\(([0-9A-Z]{5})\)|^\d{4} \(([0-9A-Z]{5})\):"
    r"|[\"'](?:code|sqlstate|sqlState)[\"'] ?: ?[\"']([0-9XF][0-9A-Z]{4})[\"']"
)
# A text without any of these has nothing that the expressions below find, as most sentences: 4 µs for each of them.
_MARKS: Final = ("E", '"', "'", "_", "(", "StatusCode.", "code = ")
_SQLSTATE_WORDS: Final = ("SQLSTATE", "sqlstate", "sqlState", "ERROR", "code", "):")
_ERRNO: Final = re.compile(r"\b(E[A-Z2]{3,14})\b")
# An error that has its own words is not named by such a word.
_FEWEST_WORDS: Final = 2
_NO_NAME: Final = frozenset(("error", "fail", "failed", "failure", "exception", "status", "string", "object"))


class NamedError(NamedTuple):
    """The code that an error shows, and what it means."""

    name: str
    state: State


def error_code(text: str) -> NamedError | None:
    """The code in an error's text that one of the tables knows; None without one.

    >>> error_code('{"ok": false, "error": "msg_too_long"}')
    NamedError(name='msg_too_long', state=<State.INVALID_INPUT: 'invalid_input'>)
    >>> error_code("SQLSTATE[42S02]: Base table or view").state
    <State.NOT_FOUND: 'not_found'>
    >>> error_code("boom") is None
    True
    """
    read = text[:_LONGEST_READ].strip()
    if not any(map(read.__contains__, _MARKS)):
        return None
    for match in _SQLSTATE.finditer(read) if any(word in read for word in _SQLSTATE_WORDS) else ():
        code = next(group for group in match.groups() if group)
        state = state_of_sqlstate(code)
        if state is not None and any(letter.isdigit() for letter in code):
            return NamedError(code, state)
    for match in _ERRNO.finditer(read):
        state = state_of_errno(match[1])
        if state is not None:
            return NamedError(match[1], state)
    for name in _names_in(read):
        state = state_of_google_rpc(name) or state_of_name(name)
        if state is not None:
            return NamedError(name, state)
    return None


def _names_in(text: str) -> Iterator[str]:
    """The names of errors in a text."""
    alone = _NAME_ALONE.match(text)
    if alone is not None:
        yield alone[1] or alone[2]
    for opening, pattern in _NAMES:
        if opening in text:
            yield from pattern.findall(text)


@lru_cache(maxsize=1024)
def state_of_name(name: str) -> State | None:
    """What the words in an error's name say, such as `msg_too_long` or `ConditionNotMet`; None if they say nothing."""
    segments = [segment.lower() for segment in _SEGMENT.findall(name[:100])]
    if len(segments) < _FEWEST_WORDS and name.lower() in _NO_NAME:
        return None
    return state_of_words(tuple(segments))
