"""Changes that a call makes, seen by calling the server's read-only tools afterwards."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from toolvet.assess.rules.contrast import payload_of
from toolvet.assess.rules.ending import ERRORS_IN_WORDS, Ending, ending, outage_of_call, speaks_of_absence, words_of
from toolvet.assess.rules.quote import quote, show
from toolvet.assess.rules.rule import of_server
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import ObservedCall, ObservedServer
from toolvet.findings import Card, Finding, Severity

LIFECYCLE_BROKEN = Card(
    id="lifecycle-broken",
    title="A created thing cannot be read, or a deleted one still can",
    severity=Severity.WARNING,
    looks_for=(
        "With `--include`, toolvet reads each thing that a tool created or deleted, by its id, and compares the list "
        "of such things with the one before. A deleted thing may be returned if the answer calls it deleted or "
        "archived, and readers that answer for any id are left alone."
    ),
    why="The agent reports success although nothing happened, and acts on things that do not exist.",
    remedy="Write and read the same store, commit before you answer, and let a deletion fail when nothing was deleted.",
)
_GONE: Final = re.compile(r"(?i)\b(?:archiv|cancel|clos|delet|disabl|inactiv|remov|revok|trash)|\bgone\b")
# A deletion must report itself, without any reservation ("Deletion cancelled for safety. Use force: true").
_CLAIMS: Final = re.compile(r"(?i)\b(?:delet|destroy|done|eras|gone|ok\b|purg|remov|success)")
_HEDGES: Final = re.compile(
    r"(?i)\b(?:abort|cancel|confirm|declin|dry.?run|fail|force|no\b|not\b|nothing|pending|preview|queued|schedul|skip|would)"
    r"|n't\b|\bfalse\b"
)
DELETING: Final = frozenset({"delete", "destroy", "erase", "purge", "remove", "rm"})
_MOST_LISTED: Final = 10  # Entries; a longer listing may show what is new on another page.
_MOST_MOVED: Final = 50  # Texts by which a list may move on.


@of_server(LIFECYCLE_BROKEN)
def check_lifecycle_broken(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each change that a reader does not show."""
    # A thing that can be read by its id may be left out of a listing on purpose: a draft, a filter.
    read = {
        seen.action.tool.name for seen in server.consequences if seen.value and ending(seen.after) is Ending.SUCCESS
    }
    refuses = {call.tool.name for call in server.calls if call.absent and ending(call) in ERRORS_IN_WORDS}
    for seen in server.consequences:
        action, after, words = seen.action, seen.after, words_of(seen.after)
        reads, done = f"'{quote(after.tool.name, 60)}'", f"'{quote(action.tool.name, 60)}'"
        deletes = not DELETING.isdisjoint(word_segments(action.tool.name))
        is_there = ending(after) is Ending.SUCCESS
        problem, said = "", words_of(action)
        if _HEDGES.search(said) or (deletes and not _CLAIMS.search(said)):
            continue
        if seen.value is None and not action.tool.annotations.get("readOnlyHint"):
            is_short = seen.before is not None and len(_entries(seen.before) or ()) <= _MOST_LISTED
            if (
                is_there
                and is_short
                and seen.before is not None
                and action.tool.name not in read
                and words == words_of(seen.before)
            ):
                problem = f"{done} succeeded, and {reads} returns the same as before."
        elif seen.value is not None and deletes:
            if is_there and after.tool.name in refuses and not _GONE.search(words):
                problem = f"{done} deleted {show(seen.value, 60)}, and {reads} still returns it."
        elif seen.value is not None and ending(after) in ERRORS_IN_WORDS and speaks_of_absence(words):
            problem = f'{done} made {show(seen.value, 60)}, and {reads} cannot read it: "{quote(words, 100)}"'
        if problem and outage_of_call(after) is None:
            yield LIFECYCLE_BROKEN.finding(
                message=problem, tool=action.tool.name, evidence=quote(words, 300), confidence=75
            )


READER_CHANGES = Card(
    id="reader-changes",
    title="A read-only tool changes something",
    severity=Severity.ERROR,
    looks_for=(
        "After a call of a tool with `readOnlyHint: true`, another reader returns fewer entries than before. It must "
        "give each answer twice in a row, and the loss must repeat. Other entries in place of some are a warning: the "
        "change must repeat as well, and must not come without the call. A list that grows or moves on, such as a "
        "history, and what names the call, a number or a time are fine. Any tool that reads is called again if only "
        "its first call succeeded and all others said that something exists already: the same call must succeed again."
    ),
    why="Clients call read-only tools without asking the user. This one loses or changes data.",
    remedy="Set `readOnlyHint: false`, and `destructiveHint: true` where it deletes, or let it leave the data alone.",
)
_TIMES: Final = re.compile(r"(?i)\b(?:ago|now|today|yesterday|tomorrow|seconds?|minutes?|hours?|days?|weeks?)\b")


@of_server(READER_CHANGES)
def check_reader_changes(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each tool after whose call something was missing or something else, or that works only once."""
    for seen in server.consequences:
        if seen.action.tool.name == seen.after.tool.name and ending(seen.after) in ERRORS_IN_WORDS:
            words = quote(words_of(seen.after), 140)
            yield READER_CHANGES.finding(
                message=f'The first call succeeded, and the same call failed afterwards: "{words}"',
                tool=seen.action.tool.name,
                evidence=quote(words_of(seen.after), 300),
                confidence=80,
            )
        if seen.before is not None and seen.action.tool.annotations.get("readOnlyHint") is True:
            lost, new = changed_entries(seen.before, seen.after, seen.action)
            if lost:
                more = f" and {lost.total() - 1} more" if lost.total() > 1 else ""
                reads, instead = quote(seen.after.tool.name, 60), f", but {show(next(iter(new)), 80)}" if new else ""
                yield READER_CHANGES.finding(
                    message=f"After a call, '{reads}' no longer returns {show(next(iter(lost)), 80)}{more}{instead}.",
                    severity=Severity.WARNING if new else None,
                    tool=seen.action.tool.name,
                    evidence=quote(words_of(seen.after), 300),
                    confidence=60 if new else 80,
                )


def changed_entries(
    before: ObservedCall, after: ObservedCall, action: ObservedCall | None = None
) -> tuple[Counter[str], Counter[str]]:
    """Return the listed texts that a later answer lacks and those that it has instead, digits masked.

    Both are empty if nothing is lacking, if the list only moved on, and if what is new is a time or names `action`.
    """
    first, second = _entries(before), _entries(after)
    nothing = Counter[str]()
    if first is None or second is None or not (lost := Counter(first) - Counter(second)):
        return nothing, nothing
    new = Counter(second) - Counter(first)
    named = [] if action is None else [action.tool.name, *map(str, members(action.arguments).values())]
    is_told = any(_TIMES.search(text) or any(name and name in text for name in named) for text in new)
    # Most of it must have stayed: a page of something else is another page.
    is_other = 2 * new.total() > len(second) or any(
        long[count:] == short[: len(long) - count]
        for long, short in ((first, second), (second, first))
        for count in range(1, min(len(long), _MOST_MOVED))
    )
    return (nothing, nothing) if new and (is_told or is_other) else (lost, new)


def _entries(call: ObservedCall) -> list[str] | None:
    """The texts in the lists of a successful answer, with digits masked; None for an answer without lists."""
    if ending(call) is not Ending.SUCCESS:
        return None
    found, pending = list[str](), [(payload_of(call), False)]
    has_list = False
    while pending:
        value, is_listed = pending.pop()
        if isinstance(value, str) and is_listed:
            found.append(re.sub(r"\d+", "#", value))
        has_list = has_list or is_array(value)
        if is_object(value):
            pending += [(entry, is_listed) for entry in value.values()]
        elif is_array(value):
            pending += [(entry, True) for entry in elements(value)]
    return found if has_list else None
