"""Evidence for and against the hints of each tool, from the calls of a run.

A change counts if the call named it: a file of the working folder whose name is among the arguments, or a thing that
another tool returned by its id before and does not know after the call. A file that appears beside a call may be the
server's own.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from toolvet.assess.rules.catalog.effects import DELETING, changed_entries
from toolvet.assess.rules.ending import ERRORS_IN_WORDS, Ending, ending, is_plain, speaks_of_absence, words_of
from toolvet.assess.rules.quote import quote
from toolvet.core.directories import HintEvidence, Weight
from toolvet.core.json_value import elements, members
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import ObservedCall, ObservedServer, ToolDefinition

_DONE: Final = {"removed": "removed", "changed": "changed", "added": "made"}


def hint_evidence(server: ObservedServer, hints: Iterable[str]) -> Iterator[HintEvidence]:
    """Yield the evidence for each of these hints of each tool, in the order of the list."""
    calls_of: dict[str, list[ObservedCall]] = {}
    for call in server.calls:
        calls_of.setdefault(call.tool.name, []).append(call)
    for tool in server.tools:
        calls = calls_of.get(tool.name, [])
        loss, reader = _loss(calls) or _deletion(server, tool), _reading(server, tool)
        proofs = {"readOnlyHint": _change(calls) or loss or reader, "destructiveHint": loss}
        for hint in hints:
            given, proof = tool.annotations.get(hint), proofs.get(hint)
            value = given if isinstance(given, bool) else None
            verdict, words = _weigh(hint, proof, calls, value=value)
            by = "" if verdict != "contradicted" else "reader-changes" if proof == reader else "hint-contradicted"
            yield HintEvidence(tool=tool.name, hint=hint, value=value, verdict=verdict, evidence=words, check=by)


def _weigh(hint: str, proof: str | None, calls: Sequence[ObservedCall], *, value: bool | None) -> tuple[Weight, str]:
    """`proof` says in words what speaks for `destructiveHint: true` or `readOnlyHint: false`; None: nothing can."""
    said = f"`{hint}` is not set" if value is None else f"`{hint}: {str(value).lower()}`"
    done = sum(is_plain(call) and ending(call) is Ending.SUCCESS for call in calls)
    is_proved = value is (hint == "destructiveHint")
    if proof is None:
        return "no_evidence", "a run does not show what a tool reaches: justify it yourself"
    if proof and value is None:
        return "no_evidence", f"{proof}; {said}"
    if proof:
        return ("right", f"{proof}; {said} is right") if is_proved else ("contradicted", f"{proof}; {said} is wrong")
    if not done:
        return "no_evidence", "no call succeeded: no evidence" if calls else "not called: no evidence"
    counted = f"{done} call{'s' * (done != 1)} succeeded"
    if all(call.files is None for call in calls):
        return "no_evidence", f"{counted}, and the run could not see what they changed: no evidence"
    seen = f"{counted}, no {'change' if hint == 'readOnlyHint' else 'loss'} seen in the working folder"
    if value is None or is_proved:
        return "no_evidence", f"{seen}; {said}" + (" is not confirmed" if is_proved else "")
    return "not_contradicted", f"{seen}; {said} is not contradicted"


def _named(call: ObservedCall, kind: str) -> str:
    """The first path of the working folder that a successful call named and that it changed in this way, or ""."""
    if not call.files or ending(call) is not Ending.SUCCESS:
        return ""
    sent = [each for value in members(call.arguments).values() for each in (value, *elements(value))]
    named = {each.replace("\\", "/").rstrip("/").rpartition("/")[2] for each in sent if isinstance(each, str)}
    return next((each.path for each in call.files if each.kind == kind and each.path.rpartition("/")[2] in named), "")


def _change(calls: Sequence[ObservedCall]) -> str:
    found = (
        f"call {number} {done} {quote(path, 80)} in the working folder"
        for number, call in enumerate(calls, start=1)
        for kind, done in _DONE.items()
        if (path := _named(call, kind))
    )
    return next(found, "")


def _loss(calls: Sequence[ObservedCall]) -> str:
    """The first file that a call removed, in words. A moved file is not lost."""
    found = (
        f"call {number} removed {quote(path, 80)} from the working folder"
        for number, call in enumerate(calls, start=1)
        if (path := _named(call, "removed")) and all(each.kind != "added" for each in call.files or ())
    )
    return next(found, "")


def _deletion(server: ObservedServer, tool: ToolDefinition) -> str:
    """The reader that returned a thing by its id, and not after a call of this tool, in words."""
    had = list[tuple[str, object]]()
    for seen in server.consequences if not DELETING.isdisjoint(word_segments(tool.name)) else ():
        reader, end = seen.after.tool.name, ending(seen.after)
        if seen.value is not None and end is Ending.SUCCESS:
            had.append((reader, seen.value))
        is_gone = end in ERRORS_IN_WORDS and speaks_of_absence(words_of(seen.after))
        if seen.action.tool.name == tool.name and is_gone and (reader, seen.value) in had:
            return f"'{quote(reader, 60)}' returned the thing before the call, and not after it"
    return ""


def _reading(server: ObservedServer, tool: ToolDefinition) -> str:
    """The loss that `reader-changes` reports, in words."""
    for seen in server.consequences:
        is_of_tool = seen.action.tool.name == tool.name and seen.value is None
        if is_of_tool and seen.before is not None and changed_entries(seen.before, seen.after, seen.action)[0]:
            return f"'{quote(seen.after.tool.name, 60)}' returned something else after a call"
    return ""
