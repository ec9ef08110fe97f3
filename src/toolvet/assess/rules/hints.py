"""What the calls of a run say for and against the hints of each tool.

A change counts if the call named it: a file of the working folder whose name is among the arguments, or a thing that
another tool returned by its id before and does not know after the call. A file that appears beside a call may be the
server's own.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.assess.rules.catalog.effects import DELETING, changed_entries
from toolvet.assess.rules.ending import ERRORS_IN_WORDS, Ending, ending, is_plain, speaks_of_absence, words_of
from toolvet.assess.rules.quote import quote
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import Consequence, ObservedCall, ObservedServer, ToolDefinition

Weight: TypeAlias = Literal["right", "not_contradicted", "contradicted", "no_evidence"]
_DONE: Final = {"added": "made", "changed": "changed", "removed": "removed"}


class HintEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One hint of one tool, its value (None: not set), and what the run says about it, in a sentence.

    `found_by` is the check that reports a contradiction, or "".
    """

    tool: str
    hint: str
    value: bool | None
    verdict: Weight
    words: str
    found_by: str = ""


def hint_evidence(server: ObservedServer, hints: Iterable[str]) -> list[HintEvidence]:
    """Return the evidence for each of these hints of each tool, in the order of the list."""
    calls_of: dict[str, list[ObservedCall]] = {}
    for call in server.calls:
        calls_of.setdefault(call.tool.name, []).append(call)
    found = list[HintEvidence]()
    for tool in server.tools:
        calls = calls_of.get(tool.name, [])
        loss, reader = _loss(server, tool, calls), _lost_by_reader(server, tool)
        proofs = {"readOnlyHint": _change(calls) or loss or reader, "destructiveHint": loss}
        for hint in hints:
            value = tool.annotations.get(hint)
            value = value if isinstance(value, bool) else None
            verdict, words = _weigh(hint, proofs.get(hint), calls, value=value)
            by = "reader-changes" if proofs.get(hint) == reader else "hint-contradicted"
            found.append(
                HintEvidence(
                    tool=tool.name,
                    hint=hint,
                    value=value,
                    verdict=verdict,
                    words=words,
                    found_by=by if verdict == "contradicted" else "",
                )
            )
    return found


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


def _named(call: ObservedCall) -> dict[str, list[str]]:
    """The paths that a successful call named and that it added, changed or removed."""
    found: dict[str, list[str]] = {"removed": [], "changed": [], "added": []}
    if ending(call) is Ending.SUCCESS:
        sent = str(call.arguments)
        for each in call.files or ():
            if each.path.rpartition("/")[2] in sent:
                found[each.kind].append(each.path)
    return found


def _change(calls: Sequence[ObservedCall]) -> str:
    """The first file that a call changed, in words; "" if there is none."""
    for number, call in enumerate(calls, start=1):
        for kind, paths in _named(call).items():
            if paths:
                return f"call {number} {_DONE[kind]} {quote(paths[0], 80)} in the working folder"
    return ""


def _loss(server: ObservedServer, tool: ToolDefinition, calls: Sequence[ObservedCall]) -> str:
    """The first thing that a call deleted, in words; "" if there is none. What was moved is not lost."""
    for number, call in enumerate(calls, start=1):
        named = _named(call)
        if named["removed"] and not any(each.kind == "added" for each in call.files or ()):
            return f"call {number} removed {quote(named['removed'][0], 80)} from the working folder"
    if DELETING.isdisjoint(word_segments(tool.name)):
        return ""
    for seen in server.consequences:
        after = seen.after
        if (
            seen.action.tool.name == tool.name
            and _is_gone(seen)
            and any(_had(each, seen) for each in server.consequences)
        ):
            return f"'{quote(after.tool.name, 60)}' returned the thing before the call, and not after it"
    return ""


def _is_gone(seen: Consequence) -> bool:
    return seen.value is not None and ending(seen.after) in ERRORS_IN_WORDS and speaks_of_absence(words_of(seen.after))


def _had(earlier: Consequence, seen: Consequence) -> bool:
    """Whether the same reader returned the same thing after another call."""
    is_same = earlier.value == seen.value and earlier.after.tool.name == seen.after.tool.name
    return is_same and ending(earlier.after) is Ending.SUCCESS


def _lost_by_reader(server: ObservedServer, tool: ToolDefinition) -> str:
    """What `reader-changes` judges: another reader returned less after a call of this one."""
    for seen in server.consequences:
        is_of_tool = seen.action.tool.name == tool.name and seen.value is None
        if is_of_tool and seen.before is not None and changed_entries(seen.before, seen.after, seen.action)[0]:
            return f"'{quote(seen.after.tool.name, 60)}' returned something else after a call"
    return ""
