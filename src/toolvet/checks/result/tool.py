"""What the checks want to know of a tool definition: a mapping, or any object with those attributes. Total."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import cast

import msgspec

from toolvet.checks.result.phrases import tool_names

_SEGMENT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class ToolView(msgspec.Struct, frozen=True):
    """The name of a tool and its `outputSchema` (None without one)."""

    name: str
    output_schema: object


class NameTraits(msgspec.Struct, frozen=True):
    """The word of the name because of which a rejection is to be expected, and whether the tool runs programs."""

    validating_word: str
    runs_programs: bool


def view_of(tool: object) -> ToolView:
    """Read `tool`; a name that is missing or no string is empty."""
    try:
        if type(tool) is dict or isinstance(tool, Mapping):
            parts = cast("Mapping[object, object]", tool)
            name, schema = parts.get("name"), parts.get("outputSchema", parts.get("output_schema"))
        else:
            name = getattr(tool, "name", None)
            schema = getattr(tool, "outputSchema", None)
            if schema is None:
                schema = getattr(tool, "output_schema", None)
    except Exception:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
        return ToolView("", None)
    return ToolView(name if isinstance(name, str) else "", schema)


@lru_cache(maxsize=4096)
def name_traits(name: str) -> NameTraits:
    """What the words of a tool's name say; whole segments count, so `settings_reset` sets nothing."""
    words = tool_names()
    segments = [segment.lower() for segment in _SEGMENT.findall(name[:200])]
    validating = next((segment for segment in segments if segment in words.validates), "")
    return NameTraits(validating, any(segment in words.runs_programs for segment in segments))
