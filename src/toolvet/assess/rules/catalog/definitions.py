"""How a tool is defined beside its schemas: entry, name, description and annotations."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, cast

import msgspec

from toolvet.assess.rules.ending import Ending, ending, words_of
from toolvet.assess.rules.quote import judge_types, list_names, quote, repeated_entries, show
from toolvet.assess.rules.rule import of_calls, of_server, of_tool
from toolvet.core.discover import read_toml
from toolvet.core.json_value import members
from toolvet.core.tool_rules import (
    ObservedCall,
    ObservedServer,
    ToolDefinition,
    find_actions,
    habits_of,
    why_not_called,
)
from toolvet.findings import Card, Finding, Severity

TOOL_ILLEGAL = Card(
    id="tool-illegal",
    title="Invalid tool in tools/list",
    severity=Severity.ERROR,
    looks_for=(
        "An entry of tools/list that is not an object, has no name, or holds a field of a type that the protocol does "
        "not allow."
    ),
    why=(
        "The official clients read the list as a whole: one entry that they cannot read makes them refuse every "
        "tool of the server."
    ),
    remedy=(
        "Build tools with the SDK (`@mcp.tool` in FastMCP, `registerTool` in TypeScript) or with its Tool type, "
        "which refuse such an entry before it is sent."
    ),
)
# Required by the official Python client (mcp 2.3) and the schema of the protocol; null counts as absent there.
_TYPES_OF_FIELDS: Final[Mapping[str, type]] = {
    "title": str,
    "description": str,
    "outputSchema": dict,
    "annotations": dict,
    "icons": list,
    "execution": dict,
    "_meta": dict,
}
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@of_tool(TOOL_ILLEGAL)
def check_tool_illegal(tool: ToolDefinition) -> Iterator[Finding]:
    """Report what makes official clients refuse an entry, and the list with it."""
    place = f"Entry {tool.position + 1} of the tool list"
    if not isinstance(tool.raw, Mapping):
        yield TOOL_ILLEGAL.finding(message=f"{place} is not an object.", evidence=show(tool.raw))
        return
    raw = cast("Mapping[str, object]", tool.raw)
    if not tool.name:
        problem = f"has the name {show(raw['name'])}" if "name" in raw else "has no name"
        yield TOOL_ILLEGAL.finding(
            message=f"{place} {problem}.", pointer=f"/{tool.position}/name", evidence=show(raw, 160)
        )
    yield from judge_types(TOOL_ILLEGAL, raw, _TYPES_OF_FIELDS)
    for hint in _HINTS:
        value = tool.annotations.get(hint)
        if value is not None and not isinstance(value, bool):
            yield TOOL_ILLEGAL.finding(
                message=f"'annotations.{hint}' must be true or false.",
                pointer=f"/annotations/{hint}",
                evidence=show(value),
            )


TOOL_NAME_DUPLICATE = Card(
    id="tool-name-duplicate",
    title="Two tools have the same name",
    severity=Severity.ERROR,
    looks_for="A name that appears more than once in the tool list, over all of its pages.",
    why=(
        "A call names its tool. Of two tools with one name only one can be called, which one is up to the client "
        "and the server, and some clients refuse the whole list."
    ),
    remedy=(
        "Give each tool a name of its own. When several modules or mounted servers register tools, give each a "
        "prefix (FastMCP: `mcp.mount(server, prefix=...)`)."
    ),
)
_SHOWN: Final = 20


@of_server(TOOL_NAME_DUPLICATE)
def check_tool_name_duplicate(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each name that occurs more than once."""
    for name, entries in repeated_entries((tool.name, tool.position) for tool in server.tools):
        more = f" and {len(entries) - _SHOWN:,} more" if len(entries) > _SHOWN else ""
        yield TOOL_NAME_DUPLICATE.finding(
            message=f"{len(entries)} tools are named '{quote(name, 80)}'.",
            evidence=f"entries {', '.join(entries[:_SHOWN])}{more} of the tool list",
            pointer="/name",
            tool=name,
        )


TOOL_NAME_REJECTED = Card(
    id="tool-name-rejected",
    title="A tool's name is refused by clients",
    severity=Severity.WARNING,
    looks_for=(
        "A tool name outside of the specification's guidance (1 to 128 letters, digits, `_`, `-` and `.`, SEP-986), "
        "or outside of what common model APIs accept as the name of a function (1 to 64 letters, digits, `_` and "
        "`-`)."
    ),
    why=(
        "Clients pass the name on to a model API, which refuses the whole request when one name is not allowed "
        "there; or they rewrite it, so that prompts and allow lists that name the tool no longer fit."
    ),
    remedy=(
        "Rename the tool to at most 64 ASCII letters, digits, `_` and `-`, with room for a prefix that clients put "
        'in front, for example `@mcp.tool(name="search_books")`.'
    ),
)
_GUIDANCE: Final = re.compile(r"[A-Za-z0-9_.\-]{1,128}\Z")
_MODEL_APIS: Final = re.compile(r"[A-Za-z0-9_\-]{1,64}\Z")
_LONGEST_NAME: Final = 128
_LONGEST_FOR_MODELS: Final = 64


@of_tool(TOOL_NAME_REJECTED)
def check_tool_name_rejected(tool: ToolDefinition) -> Iterator[Finding]:
    """An error for a name that the specification advises against, a warning for one that only model APIs refuse."""
    name = tool.name
    if not name or _MODEL_APIS.match(name):
        return
    problems: list[str] = []
    foreign = list(dict.fromkeys(re.findall(r"[^A-Za-z0-9_.\-]", name)))[:10]
    if foreign:
        shown = (char if char.isprintable() and not char.isspace() else f"U+{ord(char):04X}" for char in foreign)
        problems.append(f"holds characters that are not allowed ({', '.join(shown)})")
    if len(name) > _LONGEST_NAME:
        problems.append(f"has {len(name)} characters (the specification advises at most {_LONGEST_NAME})")
    elif len(name) > _LONGEST_FOR_MODELS:
        problems.append(f"has {len(name)} characters (common model APIs accept {_LONGEST_FOR_MODELS})")
    if "." in name:
        problems.append("holds a dot (allowed, but refused by common model APIs)")
    yield TOOL_NAME_REJECTED.finding(
        message=f"The name '{quote(name, 80)}' {' and '.join(problems)}.",
        severity=None if _GUIDANCE.match(name) else Severity.ERROR,
        pointer="/name",
        evidence=quote(name),
    )


TOOL_UNDESCRIBED = Card(
    id="tool-undescribed",
    title="A tool has no description",
    severity=Severity.WARNING,
    looks_for="A tool whose description is missing or blank.",
    why=(
        "A model chooses tools by their descriptions. Without one it has only the name, and calls the tool "
        "at the wrong time or never."
    ),
    remedy=(
        "Say in one or two sentences what the tool does, when to use it and what it returns. In FastMCP the "
        "docstring of the function becomes the description; in the TypeScript SDK pass `description` to "
        "`registerTool`."
    ),
)


@of_tool(TOOL_UNDESCRIBED)
def check_tool_undescribed(tool: ToolDefinition) -> Iterator[Finding]:
    """Report a missing or blank description; `tool-illegal` reports one of a wrong type."""
    if not isinstance(tool.raw, dict):
        return
    description = members(cast("object", tool.raw)).get("description")
    if description is None or (isinstance(description, str) and not description.strip()):
        subject = f"'{quote(tool.name, 80)}'" if tool.name else "The tool"
        yield TOOL_UNDESCRIBED.finding(message=f"{subject} has no description.", pointer="/description")


ANNOTATIONS_CONTRADICT = Card(
    id="annotations-contradict",
    title="The annotations contradict each other or the tool",
    severity=Severity.WARNING,
    looks_for=(
        "`readOnlyHint: true` beside `destructiveHint: true`, on a tool that says it deletes or sends, or on one "
        "whose answer reports that it changed something; `destructiveHint: false` on a tool that says it deletes. "
        "Equal calls that are answered differently prove nothing against `idempotentHint`, which is about effects."
    ),
    why=(
        "Clients run read-only tools without asking. A wrong hint lets an agent delete or send without consent, or "
        "asks people for consent until they click without reading."
    ),
    remedy=(
        "Say what is true: `annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=True)` for what deletes "
        "or overwrites, `readOnlyHint=True` alone for what only looks. `destructiveHint` and `idempotentHint` mean "
        "something only where `readOnlyHint` is false."
    ),
)
_LONGEST_REPORT: Final = 400  # Characters of an answer: a report of a change comes first.


@of_tool(ANNOTATIONS_CONTRADICT)
def check_annotations_contradict(tool: ToolDefinition) -> Iterator[Finding]:
    """Compare the annotations with each other, with the name and with the description."""
    read_only, destructive = tool.annotations.get("readOnlyHint"), tool.annotations.get("destructiveHint")
    if read_only is True and destructive is True:
        yield ANNOTATIONS_CONTRADICT.finding(
            message="The annotations say both readOnlyHint: true and destructiveHint: true.",
            pointer="/annotations",
            evidence=_quote_tool(tool),
        )
        return
    deeds = [deed for deed in find_actions(tool) if deed.force == "strong"]
    if read_only is True:
        for deed in [deed for deed in deeds if deed.changes][:1]:
            message = f"The annotations say readOnlyHint: true, and {deed.reason}."
            yield ANNOTATIONS_CONTRADICT.finding(
                message=message, pointer="/annotations/readOnlyHint", evidence=_quote_tool(tool), confidence=80
            )
    elif destructive is False:
        for deed in [deed for deed in deeds if deed.destroys][:1]:
            message = f"The annotations say destructiveHint: false, and {deed.reason}."
            yield ANNOTATIONS_CONTRADICT.finding(
                message=message, pointer="/annotations/destructiveHint", evidence=_quote_tool(tool), confidence=75
            )


@of_calls(ANNOTATIONS_CONTRADICT)
def check_annotations_contradict_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Compare the annotations with what the tool's own answers report."""
    if tool.annotations.get("readOnlyHint") is not True:
        return
    for call in calls:
        words = words_of(call)[:_LONGEST_REPORT] if ending(call) is Ending.SUCCESS else ""
        report = reported_change(words)
        if report:
            message = f'The annotations say readOnlyHint: true, and an answer reports a change: "{quote(report, 100)}"'
            yield ANNOTATIONS_CONTRADICT.finding(
                message=message, pointer="/annotations/readOnlyHint", evidence=quote(words, 240), confidence=65
            )
            return


def reported_change(words: str) -> str | None:
    """The words at the start of an answer that report a change the tool made, or None."""
    for pattern in _load_patterns():
        match = pattern.match(words)
        if match:
            return match[0].strip()
    return None


def _quote_tool(tool: ToolDefinition) -> str:
    hints = ", ".join(
        f"{name}: {str(value).lower()}" for name, value in tool.annotations.items() if isinstance(value, bool)
    )
    return f"{quote(tool.name, 80)}: {quote(tool.description, 120)} ({quote(hints, 120)})"


class ChangeSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`reported_change.toml`: how an answer begins that reports a change, with hits and misses."""

    patterns: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


@cache
def read_change_source() -> ChangeSource:
    """The patterns as they are written in the file."""
    return read_toml("toolvet.assess.rules.catalog", "reported_change.toml", ChangeSource)


@cache
def _load_patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, read_change_source().patterns))


DESTRUCTIVE_UNMARKED = Card(
    id="destructive-unmarked",
    title="Tools that delete do not say destructiveHint",
    severity=Severity.INFO,
    looks_for=(
        "Tools whose name or description says that they delete or overwrite, without `destructiveHint: true`. One "
        "finding for the server names them all. A hint that says the contrary is `annotations-contradict`."
    ),
    why=(
        "Clients ask a person before a call that destroys something. Without the hint they use the protocol's "
        "default or none, and many do not ask."
    ),
    remedy=(
        "Say it: `annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=True)` for what deletes or "
        "overwrites, `readOnlyHint=True` for what only looks."
    ),
)


@of_server(DESTRUCTIVE_UNMARKED)
def check_destructive_unmarked(server: ObservedServer) -> Iterator[Finding]:
    """One finding with all such tools, and the reason of the first."""
    found: dict[str, str] = {}
    for tool in server.tools:
        if isinstance(tool.annotations.get("destructiveHint"), bool) or tool.annotations.get("readOnlyHint") is True:
            continue
        reason = next((deed.reason for deed in find_actions(tool) if deed.destroys and deed.force == "strong"), None)
        if reason is not None and tool.name:
            found.setdefault(tool.name, reason)
    if found:
        first = next(iter(found))
        yield DESTRUCTIVE_UNMARKED.finding(
            message=f"No annotation says that {list_names(list(found))} may destroy something.",
            evidence=f"{quote(first, 60)}: {quote(found[first], 120)}",
            confidence=80,
        )


ANNOTATIONS_MISSING = Card(
    id="annotations-missing",
    title="No tool says whether it only reads",
    severity=Severity.INFO,
    looks_for="A server without any `readOnlyHint` and `destructiveHint`, some of whose tools are not called for it.",
    why=(
        "Clients ask a person before every call of such a tool, or before none. toolvet calls only tools that plainly "
        "read, so the report says nothing about the others."
    ),
    remedy=(
        "Annotate them: `ToolAnnotations(readOnlyHint=True)`, or `readOnlyHint=False, destructiveHint=True` for what "
        "deletes or overwrites. `--include NAME` has toolvet call a tool as it is."
    ),
)


@of_server(ANNOTATIONS_MISSING)
def check_annotations_missing(server: ObservedServer) -> Iterator[Finding]:
    """One finding with the number of tools that are not called for it."""
    habits, called = habits_of(server.tools), {call.tool.name for call in server.calls}
    idle = [tool.name for tool in server.tools if tool.name not in called and why_not_called(tool, habits)]
    if idle and not habits.annotates:
        yield ANNOTATIONS_MISSING.finding(
            message=f"No tool has readOnlyHint or destructiveHint: {len(idle)} of {len(server.tools)} tools are called "
            "only with --include.",
            pointer="/annotations",
            evidence=list_names(idle),
        )
