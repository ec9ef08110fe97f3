"""Rule: the annotations of a tool contradict each other, its name, its description or its answers."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import msgspec

from toolvet.discover.toml import read_toml
from toolvet.findings import Card, Finding, Severity
from toolvet.rules.destructive import find_deeds
from toolvet.rules.ending import Ending, ending, words_of
from toolvet.rules.quote import quote
from toolvet.rules.subject import ObservedCall, ToolDefinition

CARD = Card(
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
_LONGEST: Final = 400  # Characters of an answer: a report of a change comes first.


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """Compare the annotations with each other, with the name and with the description."""
    read_only, destructive = tool.annotations.get("readOnlyHint"), tool.annotations.get("destructiveHint")
    if read_only is True and destructive is True:
        yield CARD.finding(
            message="The annotations say both readOnlyHint: true and destructiveHint: true.",
            pointer="/annotations",
            evidence=_quote_tool(tool),
        )
        return
    deeds = [deed for deed in find_deeds(tool) if deed.force == "strong"]
    if read_only is True:
        for deed in [deed for deed in deeds if deed.changes][:1]:
            message = f"The annotations say readOnlyHint: true, and {deed.reason}."
            yield CARD.finding(
                message=message, pointer="/annotations/readOnlyHint", evidence=_quote_tool(tool), confidence=80
            )
    elif destructive is False:
        for deed in [deed for deed in deeds if deed.destroys][:1]:
            message = f"The annotations say destructiveHint: false, and {deed.reason}."
            yield CARD.finding(
                message=message, pointer="/annotations/destructiveHint", evidence=_quote_tool(tool), confidence=75
            )


def check_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Compare the annotations with what the tool's own answers report."""
    if tool.annotations.get("readOnlyHint") is not True:
        return
    for call in calls:
        words = words_of(call)[:_LONGEST] if ending(call) is Ending.SUCCESS else ""
        report = reported_change(words)
        if report:
            message = f'The annotations say readOnlyHint: true, and an answer reports a change: "{quote(report, 100)}"'
            yield CARD.finding(
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
    return read_toml("toolvet.rules.catalog", "reported_change.toml", ChangeSource)


@cache
def _load_patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, read_change_source().patterns))
