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
from itertools import chain

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import elements, is_object, members
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules.destructive import find_actions
from toolvet.core.tool_rules.subject import ToolDefinition

_HINTS = ("readOnlyHint", "destructiveHint")
_FEWEST_OF_A_PREFIX = 3
# Not sets: what a server sends may be a list, which has no hash.
_SCALARS = ("string", "number", "integer", "boolean")
_LONGEST_DESCRIPTION = 2_000
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n\s*\n")
_WORD = re.compile(r"[A-Za-z]+")
_FRAME = re.compile(r"^(?:(?:brief |short )?description|summary|purpose)\s*:\s*", re.IGNORECASE)


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
        # An action that cannot be read-only, or a parameter that has it write.
        changes = (action.reason for action in find_actions(tool) if action.changes)
        reason = next(chain(changes, _removals(tool, trusted=True), _betrayals(tool, trusted=True)), None)
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


def _doubts(tool: ToolDefinition, habits: Habits) -> Iterator[str]:
    words = word_segments(tool.name)
    if habits.prefix and len(words) > 1 and words[0] == habits.prefix:
        words = words[1:]
    if not words:
        yield "its name has no words"
        return
    table = _words()
    verb, *rest = words
    if verb in table.adjectives and rest and rest[0] in table.reading:
        verb, *rest = rest
    words, second = (verb, *rest), "".join(rest[:1])
    if verb not in table.reading:
        # `add(a, b)`, `multiply_two_numbers(x, y)`: a name of arithmetic alone, where every parameter is a number.
        is_arithmetic = verb in table.arithmetic and set(rest) <= table.operands and bool(tool.properties)
        if is_arithmetic and all(
            _single(members(each)).get("type") in ("number", "integer") for each in tool.properties.values()
        ):
            return

        if not _reads_without_verb(tool, words):
            yield f"its name opens with '{verb}', which is not known as a verb that only reads"
            return
        yield from _risks(tool)
    if second in table.turns:
        yield f"its name says '{verb} {second}'"
    for action in find_actions(tool):
        # "Execute a SELECT query": the sentence that calls itself a query has said what it does.
        if action.force == "strong" or action.reason.startswith("its name"):
            yield action.reason
    yield from _removals(tool, trusted=False)
    yield from _betrayals(tool, trusted=False)
    if verb in table.making and not _takes_matter(tool):
        for name in writing_parameters(tool):
            yield f"its parameter '{name}' names a place to write"


def _reads_without_verb(tool: ToolDefinition, words: Sequence[str]) -> bool:
    """Whether a name without a verb that reads is plainly one of a reader, by its shape.

    all_table_names         from a thing to a thing, and the description begins "Return all table names"
    geometry_calculator     something that computes
    advanced_cleanup        no: nothing says that its last word is a thing
    """
    table = _words()
    first, last = words[0], words[-1]
    if last in table.computing:
        return True
    plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
    if first not in table.things or not (len(words) == 1 or plural or last in table.things or last in table.data):
        return False
    opener = next(iter(_WORD.findall(_FRAME.sub("", _first_sentence(tool)))), "").lower()
    return opener in table.openers


def _risks(tool: ToolDefinition) -> Iterator[str]:
    """What counts against a tool that has no verb: any action at all, and parameters that lead out of the call."""
    for action in find_actions(tool):
        if action.force != "read":
            yield action.reason
    for name, declared in tool.properties.items():
        if _matches(name, _words().parameter.leading_out):
            yield f"its parameter '{name}' leads to a file, a program or a machine"
            continue
        one = _single(members(declared))
        is_scalar = "enum" in one or "const" in one or one.get("type") in _SCALARS
        if not is_scalar:
            yield f"its parameter '{name}' may hold anything"


def _takes_matter(tool: ToolDefinition) -> bool:
    """Whether what a tool works on may be given in the call itself, and what it makes comes back in the answer."""
    table = _words().parameter
    required = frozenset(tool.required)
    spoken = {*word_segments(tool.name), *map(str.lower, _WORD.findall(_first_sentence(tool)))}
    takes = any(_matches(name, table.matter) for name in tool.properties) and spoken.isdisjoint(_words().files)
    return takes and not any(name in required and _matches(name, table.leading_out) for name in tool.properties)


def _single(schema: Mapping[str, object]) -> Mapping[str, object]:
    """The schema of one value: the branch of an `anyOf` that is not null, and the items of a list."""
    branches = [members(branch) for branch in elements(schema.get("anyOf"))]
    chosen = [branch for branch in branches if branch.get("type") != "null"]
    schema = chosen[0] if len(chosen) == 1 else schema
    if schema.get("type") == "array":
        return _single(members(schema.get("items")))
    return schema


def _first_sentence(tool: ToolDefinition) -> str:
    return _SENTENCE_END.split(tool.description[:_LONGEST_DESCRIPTION].strip(), maxsplit=1)[0]


def _removals(tool: ToolDefinition, *, trusted: bool) -> Iterator[str]:
    """Words of removing and sending; of a `trusted` tool, forms in -s: "the price to send a book" does nothing."""
    own = members(tool.raw).get("title") if is_object(tool.raw) else None
    title = own if isinstance(own, str) else tool.annotations.get("title")
    title = title if isinstance(title, str) else ""
    for place, text in (("description", _first_sentence(tool)), ("title", title[:_LONGEST_DESCRIPTION])):
        for word in _WORD.findall(text):
            if word.lower() in _words().removing and (word.endswith("s") or not trusted):
                yield f"its {place} says '{word}'"


def _betrayals(tool: ToolDefinition, *, trusted: bool) -> Iterator[str]:
    """Parameters that write, run or remove; a `trusted` tool may take a query in SQL, and a switch may be off."""
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
            for value in (*elements(schema.get("enum")), schema.get("const"), schema.get("default")):
                if isinstance(value, str) and not _words().removing.isdisjoint(word_segments(value)):
                    yield f"its parameter '{name}' may be '{value}'"
                    break
        if not trusted and _records(tool, name, schema):
            yield f"its parameter '{name}' is something to be recorded"
        if not trusted and words and words[0] in table.switches and schema.get("type") == "boolean":
            yield f"its parameter '{name}' has it change something"


def _records(tool: ToolDefinition, name: str, schema: Mapping[str, object]) -> bool:
    """`verify_task(id, score)` keeps a judgement; a `status` is one only where it is required beside something else."""
    table = _words()
    if table.checking.isdisjoint(word_segments(tool.name)[:2]) or _single(schema).get("type") == "boolean":
        return False
    required = tool.required
    return _matches(name, table.parameter.judgements) or (
        name in required and len(required) > 1 and _matches(name, table.parameter.judgements_required)
    )


def _matches(name: str, patterns: Sequence[str]) -> bool:
    words = " ".join(word_segments(name))
    return any(words == pattern or ("*" in pattern and fnmatchcase(words, pattern)) for pattern in patterns)


class ParameterWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `[parameter]` table of `consent.toml`."""

    writes: tuple[str, ...]
    writes_optional: tuple[str, ...]
    runs: tuple[str, ...]
    leading_out: tuple[str, ...]
    matter: tuple[str, ...]
    modes: frozenset[str]
    switches: frozenset[str]
    judgements: tuple[str, ...]
    judgements_required: tuple[str, ...]


class ConsentProof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `[proof]` table: tools that are skipped, and near misses that are called."""

    hits: tuple[str, ...]
    misses: tuple[str, ...]


class ConsentWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`consent.toml` as written."""

    reading: frozenset[str]
    making: frozenset[str]
    checking: frozenset[str]
    removing: frozenset[str]
    turns: frozenset[str]
    adjectives: frozenset[str]
    things: frozenset[str]
    data: frozenset[str]
    openers: frozenset[str]
    computing: frozenset[str]
    arithmetic: frozenset[str]
    operands: frozenset[str]
    files: frozenset[str]
    parameter: ParameterWords
    proof: ConsentProof


@cache
def _words() -> ConsentWords:
    return read_toml("toolvet.core.tool_rules", "consent.toml", ConsentWords)
