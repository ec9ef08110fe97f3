"""What the name of a tool says about its results."""

import re
from functools import lru_cache

import msgspec

from toolvet.checks.result.phrases import tool_names

_SEGMENT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class NameTraits(msgspec.Struct, frozen=True):
    """The word of the name because of which a rejection is to be expected, and whether the tool runs programs."""

    validating_word: str
    runs_programs: bool


@lru_cache(maxsize=4096)
def name_traits(name: str) -> NameTraits:
    """What the words of a tool's name say; whole segments count, so `settings_reset` sets nothing."""
    words = tool_names()
    segments = [segment.lower() for segment in _SEGMENT.findall(name[:200])]
    validating = next((segment for segment in segments if segment in words.validates), "")
    return NameTraits(validating, any(segment in words.runs_programs for segment in segments))
