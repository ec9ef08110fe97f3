"""What two calls of a tool show that differ in one argument."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from toolvet.assess.rules.contrast import NO_SUCH_CURSOR, list_sizes, payload_of, role_of
from toolvet.assess.rules.ending import Ending, ending, is_bad, is_empty_list, is_plain, words_of
from toolvet.assess.rules.quote import quote, show
from toolvet.assess.rules.rule import of_call, of_calls
from toolvet.core.json_value import elements, is_array, is_object, members, pointer
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import ObservedCall, ToolDefinition
from toolvet.findings import Card, Finding, Severity

ARGUMENT_WITHOUT_EFFECT = Card(
    id="argument-without-effect",
    title="An argument has no effect",
    severity=Severity.WARNING,
    looks_for=(
        "An optional argument that searches, filters or limits, with two values that must change the answer: words "
        "that occur nowhere in it, or a limit below the number of entries. The answer is the same as without it. Tools "
        "that rank or find what is similar are left alone."
    ),
    why="The model believes that it has narrowed the answer. It takes everything for what it asked for.",
    remedy=(
        "Look for a parameter that the schema declares and the handler never reads, or reads under another name. Use "
        "it, or take it out of the schema."
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
        for base in good:
            with_it = _variants(base, name, good)
            telling = {str(value): value for value, _ in with_it if _must_differ(tool, name, value, base)}
            if len(telling) >= _FEWEST_VALUES and all(_answer(call) == _answer(base) for _, call in with_it):
                sent = " and with ".join(show(value, 40) for value in list(telling.values())[:_FEWEST_VALUES])
                yield ARGUMENT_WITHOUT_EFFECT.finding(
                    message=f"'{quote(name, 60)}' has no effect: the answer with {sent} is the one without it.",
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
    # A list of all categories may stand beside that of what was found: none of them may be empty.
    is_list = all(sizes) if sizes else payload_of(base) is None and _LISTING.search(words) is not None
    is_new = isinstance(value, str) and len(value) >= _SHORTEST_WORD and value.lower() not in words.lower()
    return role == "narrows" and is_list and is_new


CURSOR_IGNORED = Card(
    id="cursor-ignored",
    title="A cursor that was never given is accepted",
    severity=Severity.WARNING,
    looks_for="An optional `cursor` or page token with a value of toolvet's own, answered with the first page.",
    why="An agent whose cursor is damaged or out of date reads the first page again, for ever or for the second one.",
    remedy="Answer a cursor that you did not make with isError, and say to begin again without it.",
)


@of_calls(CURSOR_IGNORED)
def check_cursor_ignored(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Compare the first page to the one behind a cursor that does not exist."""
    good = [call for call in calls if is_plain(call) and ending(call) is Ending.SUCCESS]
    for name in (name for name in tool.properties if role_of(tool, name) == "cursor"):
        for base in (base for base in good if any(list_sizes(base))):
            same = [value for value, call in _variants(base, name, good) if _answer(call) == _answer(base)]
            if NO_SUCH_CURSOR in same:
                yield CURSOR_IGNORED.finding(
                    message=f"'{quote(name, 60)}' = {show(NO_SUCH_CURSOR)} is answered with the first page.",
                    pointer=pointer((name,)),
                    evidence=quote(words_of(base), 300),
                    confidence=85,
                )
                break


EXCLUSIVE_ACCEPTED = Card(
    id="exclusive-accepted",
    title="Arguments that exclude each other are accepted together",
    severity=Severity.WARNING,
    looks_for=(
        'Parameters of which the description allows one ("exactly one of a, b", "either a or b, not both", "mutually '
        'exclusive"): a call with all of them, or with none where one is needed, that succeeds.'
    ),
    why="The tool picks one in silence. The model gets the answer to another question than it asked.",
    remedy=(
        "Count the arguments that were given and refuse the call with their names. In JSON Schema, `oneOf` with a "
        "`required` for each says the same."
    ),
)


@of_call(EXCLUSIVE_ACCEPTED)
def check_exclusive_accepted(call: ObservedCall) -> Iterator[Finding]:
    """Judge the calls that were made for this."""
    intended = call.intended
    if intended and intended.keyword == "oneOf" and not intended.declared and ending(call) is Ending.SUCCESS:
        yield EXCLUSIVE_ACCEPTED.finding(
            message=f"The description allows exactly one, and the tool accepted {quote(intended.detail, 120)}.",
            evidence=f"{quote(words_of(call), 200)}; arguments: {show(call.arguments, 160)}",
            confidence=80,
        )


ABSENT_EMPTY = Card(
    id="absent-empty",
    title="A folder or record that does not exist is answered with an empty list",
    severity=Severity.WARNING,
    looks_for=(
        "A required path, or a required id whose real value a listing has and which has entries: with one that does "
        "not exist, the tool succeeds with an empty list. Searches by an id are left alone."
    ),
    why='"Nothing in it" and "there is no such thing" ask for different steps. A typo looks like an empty folder.',
    remedy="Look the folder or record up first, and answer with isError and the value when it does not exist.",
)
_PATHS: Final = frozenset({"path", "folder", "directory", "dir"})
_ON_DISK: Final = re.compile(r"(?i)\b(?:files?|folders?|director(?:y|ies)|paths?)\b")
_COUNTS: Final = frozenset({"count", "found", "matches", "total"})
_SEARCHING: Final = frozenset({"check", "count", "exists", "filter", "find", "query", "search"})
_EMPTY: Final = re.compile(
    r"(?i)\W{0,9}(?:no (?:\w+ ){1,3}(?:were |was )?found|found (?:0|no) \w+"
    r"|(?:0|no) (?:entries|files|items|matches|results))\b[^\n]{0,80}\s*"
)
_SAYS_ABSENT: Final = re.compile(r"(?i)\bexist|\bno such\b|\bunknown\b|\binvalid\b|\bnot a\b|\bmissing\b|\bENOENT\b")


@of_calls(ABSENT_EMPTY)
def check_absent_empty(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Report the first thing that does not exist and is answered as if it were empty."""
    for call in calls:
        name, sent = call.absent, members(call.arguments).get(call.absent)
        if name not in tool.required or ending(call) is not Ending.SUCCESS or is_bad(call) or not _is_empty(call):
            continue
        is_path = word_segments(name)[-1:] and word_segments(name)[-1] in _PATHS
        if is_path:
            is_there = isinstance(sent, str) and sent.startswith("/") and _ON_DISK.search(_texts(tool, name))
        else:
            same = (other for other in calls if members(other.arguments).get(name) == call.present is not None)
            full = (is_plain(other) and ending(other) is Ending.SUCCESS and not _is_empty(other) for other in same)
            is_there = _SEARCHING.isdisjoint(word_segments(tool.name)) and any(full)
        if is_there:
            yield ABSENT_EMPTY.finding(
                message=(
                    f"'{quote(name, 60)}' = {show(sent, 80)} does not exist, and is answered like an empty one: "
                    f'"{quote(words_of(call), 100)}"'
                ),
                pointer=pointer((name,)),
                evidence=quote(words_of(call), 300),
                confidence=80,
            )
            return


def _texts(tool: ToolDefinition, name: str) -> str:
    declared: Mapping[str, object] = members(tool.properties.get(name))
    return f"{' '.join(word_segments(tool.name))} {tool.description} {declared.get('description', '')}"


def _is_empty(call: ObservedCall) -> bool:
    """Whether the answer is an empty list: `[]`, an object whose lists are all empty, or a sentence that says so."""
    words, payload = words_of(call), payload_of(call)
    if _SAYS_ABSENT.search(words):
        return False
    if is_object(payload):
        lists = [value for value in payload.values() if is_array(value)]
        counts = [value for key, value in payload.items() if not _COUNTS.isdisjoint(word_segments(key))]
        return bool(lists) and not any(map(elements, lists)) and not any(counts)
    if is_array(payload):
        return not payload
    return is_empty_list(call) or _EMPTY.fullmatch(words) is not None
