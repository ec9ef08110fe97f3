"""What a tool's definition and its arguments say about its errors: whether it runs a text that its caller wrote."""

import re
from functools import cache, lru_cache
from itertools import islice
from typing import Final

import msgspec

from toolvet.core.checks.result.phrases import CallerText, tool_names
from toolvet.core.checks.result.plain import object_of
from toolvet.core.tools import ToolView

_SQL: Final = re.compile(
    r"\s*(?:select\s[^\0]{1,2000}?\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\S+\s+as\s*\("
    r"|(?:create|drop|alter)\s+(?:table|view|index)\s|pragma\s|explain\s+(?:query|select|analyze)\b)",
    re.IGNORECASE,
)
# "US" is the code of a country, `print(1)` is code.
_CODE: Final = re.compile(r"[\n(=;{|<>]|\w\s+-\w|^\s*(?:import|return|select|match)\s", re.IGNORECASE)
_SEGMENT: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST_DESCRIPTION: Final = 600
_MOST_PARAMETERS: Final = 60
_NO_TEXTS: Final[frozenset[CallerText]] = frozenset()


class ToolTraits(msgspec.Struct, frozen=True):
    """What the name and the description of a tool say.

    `validating_word` is the word of the name because of which a rejection is to be expected, or empty; `runs` are the
    texts of its caller that it runs.
    """

    validating_word: str
    runs: frozenset[CallerText]

    @property
    def runs_programs(self) -> bool:
        """Whether what it gives back is the output of a program of its caller."""
        return CallerText.PROGRAM in self.runs


@lru_cache(maxsize=4096)
def tool_traits(name: str, description: str = "") -> ToolTraits:
    """What the words of a tool's name and description say; whole segments count, so `settings_reset` sets nothing."""
    words = tool_names()
    segments = [segment.lower() for segment in _SEGMENT.findall(name[:200])]
    validating = next((segment for segment in segments if segment in words.validates), "")
    runs = {kind for kind, texts in words.runs.items() if not texts.names.isdisjoint(segments)}
    if not runs and words.ready_made.isdisjoint(segments) and not words.running_verbs.isdisjoint(segments):
        runs.add(CallerText.PROGRAM)
    if description:
        read = description[:_LONGEST_DESCRIPTION]
        runs.update(kind for kind, pattern in _descriptions().items() if pattern.search(read) is not None)
    return ToolTraits(validating, frozenset(runs))


def caller_texts(view: ToolView, arguments: object) -> frozenset[CallerText]:
    """Which texts of its caller a call runs.

    The name and the description of the tool say it, the names of its parameters, or an argument that is SQL or code.
    """
    runs = tool_traits(view.name, view.description).runs
    members = object_of(arguments) or {}
    properties = object_of((object_of(view.input_schema) or {}).get("properties")) or {}
    for name in islice(members | properties if properties else members, _MOST_PARAMETERS):
        if isinstance(name, str):
            found = _texts_of(name, members.get(name), object_of(properties.get(name)) or {})
            runs = runs | found if found else runs
    return runs


def _texts_of(name: str, value: object, schema: dict[object, object]) -> frozenset[CallerText]:
    """What one parameter holds, by its name and its value. A choice between fixed words is not a text."""
    if "enum" in schema:
        return _NO_TEXTS
    if isinstance(value, str) and _SQL.match(value) is not None:
        return _QUERY
    sure, doubtful = _parameters()
    lower = name.lower()
    found = sure.get(lower)
    if found is None and lower in doubtful and isinstance(value, str) and _CODE.search(value) is not None:
        found = doubtful[lower]
    return found or _NO_TEXTS


@cache
def _parameters() -> tuple[dict[str, frozenset[CallerText]], dict[str, frozenset[CallerText]]]:
    """What a parameter of each name holds: surely, and if its value looks like it."""
    sure: dict[str, frozenset[CallerText]] = {}
    doubtful: dict[str, frozenset[CallerText]] = {}
    for kind, texts in tool_names().runs.items():
        for name in texts.parameters:
            sure.setdefault(name, _ONLY[kind])
        for name in texts.doubtful_parameters:
            doubtful.setdefault(name, _ONLY[kind])
    return sure, doubtful


_ONLY: Final = {kind: frozenset((kind,)) for kind in CallerText}
_QUERY: Final = _ONLY[CallerText.QUERY]


@cache
def _descriptions() -> dict[CallerText, re.Pattern[str]]:
    return {
        kind: re.compile(texts.description, re.IGNORECASE)
        for kind, texts in tool_names().runs.items()
        if texts.description
    }
