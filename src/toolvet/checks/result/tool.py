"""What the name of a tool says about its results."""

import re
from functools import lru_cache

import msgspec

from toolvet.checks.result.phrases import tool_names
from toolvet.checks.result.plain import object_of

_SQL = re.compile(
    r"\s*(?:select\s[^\0]{1,2000}?\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\S+\s+as\s*\("
    r"|(?:create|drop|alter)\s+(?:table|view|index)\s|pragma\s|explain\s+(?:query|select|analyze)\b)",
    re.IGNORECASE,
)
_SEGMENT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class NameTraits(msgspec.Struct, frozen=True):
    """The word of the name because of which a rejection is to be expected, and whether the tool runs programs.

    `runs_texts`: programs or queries, so that their errors are the caller's.
    """

    validating_word: str
    runs_programs: bool
    runs_texts: bool


@lru_cache(maxsize=4096)
def name_traits(name: str) -> NameTraits:
    """What the words of a tool's name say; whole segments count, so `settings_reset` sets nothing."""
    words = tool_names()
    segments = [segment.lower() for segment in _SEGMENT.findall(name[:200])]
    validating = next((segment for segment in segments if segment in words.validates), "")
    programs = any(segment in words.runs_programs for segment in segments)
    texts = programs or any(segment in words.runs_queries for segment in segments)
    return NameTraits(validating, runs_programs=programs, runs_texts=texts)


def runs_caller_text(name: str, arguments: object) -> bool:
    """Whether a call runs what the caller wrote: by the tool's name, an argument's name, or a value that is SQL."""
    if name_traits(name).runs_texts:
        return True
    members = object_of(arguments) or {}
    named = tool_names().caller_texts
    return any(
        isinstance(key, str) and (key.lower() in named or (isinstance(value, str) and _SQL.match(value) is not None))
        for key, value in members.items()
    )
