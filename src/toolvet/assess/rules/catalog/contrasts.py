"""What two calls of a tool show that differ in one argument."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from toolvet.assess.rules.contrast import NO_SUCH_CURSOR, list_sizes, payload_of, role_of
from toolvet.assess.rules.ending import Ending, ending, is_plain, words_of
from toolvet.assess.rules.quote import quote, show
from toolvet.assess.rules.rule import of_calls
from toolvet.core.json_value import members, pointer
from toolvet.core.tool_rules import ObservedCall, ToolDefinition
from toolvet.findings import Card, Finding, Severity

ARGUMENT_WITHOUT_EFFECT = Card(
    id="argument-without-effect",
    title="An argument has no effect",
    severity=Severity.WARNING,
    looks_for=(
        "An optional argument that searches, filters or limits, sent with two values that must change the answer "
        "(words that the answer does not contain, a limit below the number of entries), or a cursor that does not "
        "exist: the answer is the same as without it. Tools that rank or find similar things are left alone."
    ),
    why=(
        "The model believes that the answer is what it searched for. With a damaged cursor it reads the first page "
        "again and again."
    ),
    remedy=(
        "Look for a parameter that the schema declares and the handler never reads, or reads under another name. Use "
        "it, or take it out of the schema. Refuse a cursor that you did not make."
    ),
)
_FEWEST_VALUES: Final = 2
_SHORTEST_WORD: Final = 6  # Characters; a shorter word may be in what is searched and not shown.
# At least three lines with something to leave out, and no word about having nothing above them.
_LISTING: Final = re.compile(
    r"(?i)\A(?![^\n]{0,200}\b(?:0|empty|no|none|not|nothing)\b)(?:[^\n]*\S[^\n]*\n+){2}[^\n]*\S"
)


@of_calls(ARGUMENT_WITHOUT_EFFECT)
def check_argument_without_effect(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Compare each call without the argument to those that have it and are else the same."""
    good = [call for call in calls if is_plain(call) and ending(call) is Ending.SUCCESS]
    for name in tool.properties:
        fewest = 1 if role_of(tool, name) == "cursor" else _FEWEST_VALUES
        for base in good:
            with_it = _variants(base, name, good)
            telling = {str(value): value for value, _ in with_it if _must_differ(tool, name, value, base)}
            if len(telling) >= fewest and all(_answer(call) == _answer(base) for _, call in with_it):
                sent = " and with ".join(show(value, 40) for value in list(telling.values())[:_FEWEST_VALUES])
                yield ARGUMENT_WITHOUT_EFFECT.finding(
                    message=f"'{quote(name, 60)}' has no effect: with {sent} the answer is the same as without it.",
                    pointer=pointer((name,)),
                    evidence=quote(words_of(base), 300),
                    confidence=85,
                )
                break


def _variants(base: ObservedCall, name: str, calls: Sequence[ObservedCall]) -> list[tuple[object, ObservedCall]]:
    sent = members(base.arguments)
    return [
        (given[name], call)
        for call in calls
        if name in (given := members(call.arguments)) and {key: given[key] for key in given if key != name} == sent
    ]


def _answer(call: ObservedCall) -> tuple[str, object]:
    return words_of(call), members(call.result).get("structuredContent")


def _must_differ(tool: ToolDefinition, name: str, value: object, base: ObservedCall) -> bool:
    role, sizes, words = role_of(tool, name), list_sizes(base), words_of(base)
    if role == "counts":
        return len(sizes) == 1 and isinstance(value, int) and 0 < value < sizes[0]
    if role == "cursor":
        return value == NO_SUCH_CURSOR and any(sizes)
    # A list of all categories may stand beside that of what was found: none of them may be empty.
    is_list = all(sizes) if sizes else payload_of(base) is None and _LISTING.search(words) is not None
    is_new = isinstance(value, str) and len(value) >= _SHORTEST_WORD and value.lower() not in words.lower()
    return role == "narrows" and is_list and is_new
