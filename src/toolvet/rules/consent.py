"""Which tools an assessment calls without being asked, and for each other tool why not.

A tool is called when it says `readOnlyHint: true` and nothing contradicts that, or when the server annotates none of
its tools and this one plainly reads. Everything else is skipped: a missed call is cheap, a deleted file is not.

    habits = habits_of(tools)                       # what the server's tool list has in common
    why_not_called(get_orders, habits)              # None: it may be called
    why_not_called(cleanup_resources, habits)       # "its name opens with 'cleanup', which is no verb that only reads"

The words are data (`consent.toml`), with their proof beside them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache

import msgspec

from toolvet.discover.toml import read_toml
from toolvet.redact import word_segments
from toolvet.rules.destructive import find_deeds
from toolvet.rules.subject import ToolDefinition
from toolvet.schema.json_value import elements, is_object, members

_HINTS = ("readOnlyHint", "destructiveHint")
_FEWEST_OF_A_PREFIX = 3
_LONGEST_DESCRIPTION = 2_000
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n\s*\n")
_WORD = re.compile(r"[A-Za-z]+")


class Habits(msgspec.Struct, frozen=True):
    """What the tools of one server have in common.

    `annotates` is true when any of them has a readOnlyHint or destructiveHint; `prefix` is the word that all their
    names open with (`git_status`, `git_log`), which says nothing about a single tool, or "".
    """

    annotates: bool = False
    prefix: str = ""


def habits_of(tools: Sequence[ToolDefinition]) -> Habits:
    """Read the habits of a server from all its tools."""
    annotates = any(isinstance(tool.annotations.get(hint), bool) for tool in tools for hint in _HINTS)
    first = {words[0] for tool in tools if (words := word_segments(tool.name))}
    shared = first.pop() if len(tools) >= _FEWEST_OF_A_PREFIX and len(first) == 1 else ""
    return Habits(annotates, "" if shared in _words().reading else shared)


def why_not_called(tool: ToolDefinition, habits: Habits) -> str | None:
    """Return why this tool is not called without the user's consent, quoting what says so; None when it may be called.

    Args:
        tool: The definition as the server sent it.
        habits: What `habits_of` read from the whole list.
    """
    read_only, destructive = tool.annotations.get("readOnlyHint"), tool.annotations.get("destructiveHint")
    if destructive is True and read_only is not True:
        return "its annotations say destructiveHint: true"
    if read_only is False:
        return "its annotations say readOnlyHint: false"
    if read_only is True:
        reason = next(_contradictions(tool), None)
        return f"it says readOnlyHint: true, but {reason}" if reason else None
    if habits.annotates:
        return "it has no readOnlyHint, and other tools of this server have annotations"
    return next(_doubts(tool, habits), None)


def writing_parameters(tool: ToolDefinition) -> tuple[str, ...]:
    """Return the names of the optional parameters that name a place to write: they are never filled in unasked."""
    required = frozenset(tool.required)
    table = _words().parameter
    return tuple(
        name
        for name in tool.properties
        if name not in required and _matches(name, table.writes + table.writes_optional)
    )


def _contradictions(tool: ToolDefinition) -> Iterator[str]:
    """What speaks against `readOnlyHint: true`: a deed that cannot be read-only, or a parameter that has it write."""
    for deed in find_deeds(tool):
        if deed.changes:
            yield deed.reason
    yield from _removals(tool, trusted=True)
    yield from _betrayals(tool, trusted=True)


def _doubts(tool: ToolDefinition, habits: Habits) -> Iterator[str]:
    """What speaks against calling a tool without annotations."""
    words = word_segments(tool.name)
    if habits.prefix and len(words) > 1 and words[0] == habits.prefix:
        words = words[1:]
    if not words:
        yield "its name has no words"
        return
    table = _words()
    verb, second = words[0], "".join(words[1:2])
    if verb not in table.reading:
        yield f"its name opens with '{verb}', which is not known as a verb that only reads"
        return
    if second in table.turns:
        yield f"its name says '{verb} {second}'"
    for deed in find_deeds(tool):
        # "Execute a SELECT query": the sentence that calls itself a query has said what it does.
        if deed.force == "strong" or deed.reason.startswith("its name"):
            yield deed.reason
    yield from _removals(tool, trusted=False)
    yield from _betrayals(tool, trusted=False)
    if verb in table.making:
        for name in writing_parameters(tool):
            yield f"its parameter '{name}' names a place to write"


def _removals(tool: ToolDefinition, *, trusted: bool) -> Iterator[str]:
    """Words of removing and sending in the title and anywhere in the first sentence of the description.

    Against a tool that is `trusted` to read only, just the forms in -s count: "the price to send a book" does nothing.
    """
    sentence = _SENTENCE_END.split(tool.description[:_LONGEST_DESCRIPTION].strip(), maxsplit=1)[0]
    for place, text in (("description", sentence), ("title", _title(tool))):
        for word in _WORD.findall(text):
            if word.lower() in _words().removing and (word.endswith("s") or not trusted):
                yield f"its {place} says '{word}'"


def _betrayals(tool: ToolDefinition, *, trusted: bool) -> Iterator[str]:
    """Parameters that have a tool write, run a program or take something away.

    A tool that is `trusted` to read only may take a query in SQL, and a switch may be off.
    """
    table = _words().parameter
    required = frozenset(tool.required)
    for name, declared in tool.properties.items():
        words = word_segments(name)
        schema = members(declared)
        if name in required and _matches(name, table.writes):
            yield f"its parameter '{name}' names a place to write"
        if not trusted and _matches(name, table.runs):
            yield f"its parameter '{name}' carries a program to run"
        if words and words[-1] in table.modes:
            for value in _values(schema):
                taken = next((word for word in word_segments(value) if word in _words().removing), None)
                if taken:
                    yield f"its parameter '{name}' may be '{value}'"
                    break
        if not trusted and words and words[0] in table.switches and schema.get("type") == "boolean":
            yield f"its parameter '{name}' has it change something"


def _values(schema: Mapping[str, object]) -> Iterator[str]:
    for value in (*elements(schema.get("enum")), schema.get("const"), schema.get("default")):
        if isinstance(value, str):
            yield value


def _title(tool: ToolDefinition) -> str:
    own = members(tool.raw).get("title") if is_object(tool.raw) else None
    title = own if isinstance(own, str) else tool.annotations.get("title")
    return title[:_LONGEST_DESCRIPTION] if isinstance(title, str) else ""


def _matches(name: str, patterns: Sequence[str]) -> bool:
    words = " ".join(word_segments(name))
    return any(words == pattern or ("*" in pattern and fnmatchcase(words, pattern)) for pattern in patterns)


class ParameterWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `[parameter]` table of `consent.toml`."""

    writes: tuple[str, ...]
    writes_optional: tuple[str, ...]
    runs: tuple[str, ...]
    modes: frozenset[str]
    switches: frozenset[str]


class ConsentProof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `[proof]` table: tools that are skipped, and near misses that are called."""

    hits: tuple[str, ...]
    misses: tuple[str, ...]


class ConsentWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`consent.toml` as written."""

    reading: frozenset[str]
    making: frozenset[str]
    removing: frozenset[str]
    turns: frozenset[str]
    parameter: ParameterWords
    proof: ConsentProof


def consent_words() -> ConsentWords:
    """Return the words as data, with their proof."""
    return _words()


@cache
def _words() -> ConsentWords:
    return read_toml("toolvet.rules", "consent.toml", ConsentWords)
