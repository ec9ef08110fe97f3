"""Two ends of one call → what changed, by verdict: same, better, worse or changed.

Both sides are judged here and now, by the same rules: the recorded result, and the new one. Of a successful result its
shape is compared: which members it has, and of which types; never their values, their order or their number.

    {"structuredContent": {"total": 2, "items": [{"id": 7}, {"id": 8, "note": null}]}}

    /total          number
    /items          array
    /items[]        object, 2 of them
    /items[]/id     number, in 2 of 2
    /items[]/note   null, in 1 of 2

Shapes of several results of one tool add up, so that a member that some results lack is known to be optional. Times,
random ids and the order of lists change values, and so no shape; an object whose keys are ids is a map (`/*`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from toolvet.assess.replay.recorded import RecordedCall, is_about_output
from toolvet.assess.report.replay import CallEnd, Comparison, ReplayChange
from toolvet.assess.rules import ObservedCall, Outcome, ToolDefinition
from toolvet.assess.rules.ending import Ending, ending, error_as_result, verdict_of, words_of
from toolvet.core.checks import ResultCheck, contract_drift
from toolvet.core.json_value import elements, is_array, is_object, members, without
from toolvet.core.redact import redact_text
from toolvet.core.visible import shorten

_LONGEST: Final = 240
# From good to bad, for what reads the answer: a success, an error that says what to do, one that says nothing, a
# failure that no caller sees, and no answer at all.
_RANK: Final = {
    Ending.SUCCESS: 0,
    Ending.UNFINISHED: 0,
    Ending.REFUSAL: 1,
    Ending.PROTOCOL_REFUSAL: 2,
    Ending.FAILURE: 3,
    Ending.WORDLESS: 4,
    Ending.PROTOCOL_FAILURE: 5,
    Ending.UNFLAGGED_ERROR: 6,
    Ending.MALFORMED: 7,
    Ending.TIMEOUT: 8,
    Ending.DIED: 9,
}
ORDER: Final[tuple[Comparison, ...]] = ("same", "better", "changed", "worse")
_MOST_VALUES: Final = 20_000  # Of one result; what comes behind them has no shape.
_IDENTIFIER: Final = re.compile(r"\d.*|.*\d{3,}.*|(?=.*\d)[0-9A-Fa-f-]{8,}|(?=.*\d).{20,}")


class CallSide(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison: the call as it went, what was wrong with its arguments, and with its output."""

    call: ObservedCall
    issues: tuple[str, ...]
    output_issues: tuple[str, ...] = ()

    @property
    def end(self) -> CallEnd:
        """How the call ended, for the report."""
        verdict = verdict_of(self.call)
        words = "" if ending(self.call) is Ending.SUCCESS else words_of(self.call) or self.call.detail
        return CallEnd(
            ending=ending(self.call).value,
            state=None if verdict is None or verdict.state is None else verdict.state.value,
            error_kind=None if verdict is None or verdict.error_kind is None else verdict.error_kind.value,
            duration_ms=self.call.duration_ms or None,
            words=shorten(redact_text(words[: 20 * _LONGEST]), _LONGEST),
        )


@dataclass
class PathShape:
    """The values at one path: `kinds` are types of JSON or of content blocks, `seen` counts the values there."""

    kinds: set[str] = field(default_factory=set[str])
    seen: int = 0
    objects: int = 0


class ResultOutline:
    """The shape of one result, or of several of one tool: a `PathShape` for each path."""

    def __init__(self, results: Iterable[object] = ()) -> None:
        self.paths: dict[str, PathShape] = {}
        for result in results:
            whole = members(result)
            content = whole.get("structuredContent")
            pending: list[tuple[str, object]] = [("", content)]
            if content is None:
                pending = [("content[]", _payload(block)) for block in elements(whole.get("content"))]
            left = _MOST_VALUES
            while pending and left:
                path, value = pending.pop()
                left -= 1
                seen = self.paths.setdefault(path, PathShape())
                seen.seen += 1
                if isinstance(value, _Block):
                    seen.kinds.add(value.kind)
                elif is_object(value):
                    seen.kinds.add("object")
                    seen.objects += 1
                    is_map = bool(value) and all(map(_IDENTIFIER.fullmatch, value))
                    pending += [(f"{path}/*" if is_map else f"{path}/{key}", each) for key, each in value.items()]
                elif is_array(value):
                    seen.kinds.add("array")
                    pending += [(f"{path}[]", each) for each in value]
                elif value is None:
                    seen.kinds.add("null")
                elif isinstance(value, bool):
                    seen.kinds.add("boolean")
                else:
                    seen.kinds.add("string" if isinstance(value, str) else "number")

    def differences(self, old: "ResultOutline", usual: "ResultOutline") -> tuple[str, ...]:
        """Say how this shape differs from `old`, the shape of the same call before; empty if it does not.

        Args:
            old: The shape of the recorded result of this call.
            usual: The shape of all recorded results of the tool: what it allows is not a difference.
        """
        found = dict[str, str]()
        for path, now in self.paths.items():
            before = usual.paths.get(path)
            parent = _parent(path)
            if before is None:
                known = usual.paths.get(parent)
                if parent not in found and known is not None and known.objects and not path.endswith("[]"):
                    found[path] = f"{path} is new"
                continue
            changed = now.kinds - before.kinds - {"null"}
            if changed and before.kinds - {"null"}:
                found[path] = f"{path} was {_listed(before.kinds - {'null'})}, and is {_listed(changed)}"
        for path in old.paths:
            if path in self.paths or path.endswith("[]") or _parent(path) in found:
                continue
            above, always = self.paths.get(_parent(path)), usual.paths[path]
            if above is not None and above.objects and always.seen == usual.paths[_parent(path)].objects:
                found[path] = f"{path} is gone"
        return tuple(found[path] for path in sorted(found))


def recorded_side(recorded: RecordedCall, tool: ToolDefinition, check: ResultCheck) -> CallSide:
    """The side of the record. It is not held against the outputSchema of today, which its server did not promise."""
    raw = without(tool.raw, "outputSchema")
    call = ObservedCall(
        tool=tool,
        arguments=recorded.arguments,
        outcome=recorded.outcome,
        result=recorded.result,
        error=recorded.error,
        duration_ms=recorded.duration_ms or 0.0,
    )
    if recorded.outcome is Outcome.RESULT:
        verdict = check(raw, recorded.arguments, recorded.result, None, shape="mcp")
        call = msgspec.structs.replace(call, verdict=verdict)
    elif recorded.error is not None:
        verdict = check(raw, recorded.arguments, error_as_result(recorded.error), None)
        call = msgspec.structs.replace(call, error_verdict=verdict)
    return CallSide(call=call, issues=recorded.issues, output_issues=recorded.output_issues)


def live_side(call: ObservedCall) -> CallSide:
    """The side of the new version."""
    issues = tuple(f"{violation.pointer or '/'}: {violation.message}" for violation in call.violations)
    output = () if call.verdict is None else call.verdict.issues
    return CallSide(call=call, issues=issues, output_issues=tuple(each for each in output if is_about_output(each)))


def compare_sides(old: CallSide, new: CallSide, usual: ResultOutline) -> tuple[Comparison, tuple[ReplayChange, ...]]:
    """Say whether the new side is the same, better, worse, or a success of another shape, and what changed.

    Args:
        old: The call as it was recorded.
        new: The same call of the new version.
        usual: The shape of all recorded results of the tool.
    """
    changes = tuple(_changes(old, new, usual))
    found = {change.comparison for change in changes}
    for comparison in ("worse", "changed", "better"):
        if comparison in found:
            return comparison, changes
    return "same", changes


def best_of(
    compared: Iterable[tuple[Comparison, tuple[ReplayChange, ...], CallSide]],
) -> tuple[Comparison, tuple[ReplayChange, ...], CallSide]:
    """Of several recorded ends of one call, the one that is nearest: a call that had both ends may have either."""
    return min(compared, key=lambda each: ORDER.index(each[0]))


def _changes(old: CallSide, new: CallSide, usual: ResultOutline) -> Iterator[ReplayChange]:
    if new.issues and not old.issues:
        yield _change("arguments", "worse", "valid", "invalid", "; ".join(new.issues))
    elif old.issues and not new.issues:
        yield _change("arguments", "better", "invalid", "valid", "; ".join(old.issues))
    before, now = ending(old.call), ending(new.call)
    if _RANK[before] != _RANK[now]:
        comparison: Comparison = "worse" if _RANK[now] > _RANK[before] else "better"
        yield _change("outcome", comparison, before.value, now.value, new.end.words or old.end.words)
    elif _RANK[now]:
        # Two errors of one rank: what they say went wrong.
        was, is_ = old.end, new.end
        if was.error_kind != is_.error_kind:
            yield _change("error_kind", "changed", was.error_kind or "", is_.error_kind or "", is_.words)
        elif was.state != is_.state:
            yield _change("state", "changed", was.state or "", is_.state or "", is_.words)
    if now is not Ending.SUCCESS or before is not Ending.SUCCESS:
        return
    if new.output_issues and not old.output_issues:
        yield _change("output_schema", "worse", "valid", "invalid", "; ".join(new.output_issues))
    elif old.output_issues and not new.output_issues:
        yield _change("output_schema", "better", "invalid", "valid", "; ".join(old.output_issues))
    contract = new.call.tool.contract
    if (drift := contract_drift(contract, new.call.result)) and not contract_drift(contract, old.call.result):
        yield _change("contract", "worse", "kept", "left", drift)
    old_verdict, new_verdict = old.call.verdict, new.call.verdict
    # Two successes, of which one shows no working tool: without any content, for example.
    if old_verdict is not None and new_verdict is not None and not old.output_issues and not new.output_issues:
        if old_verdict.is_valid and not new_verdict.is_valid:
            yield _change("result", "worse", "valid", "invalid", "; ".join(new_verdict.issues or new_verdict.evidence))
        elif new_verdict.is_valid and not old_verdict.is_valid:
            yield _change("result", "better", "invalid", "valid", "; ".join(old_verdict.issues or old_verdict.evidence))
    for words in ResultOutline([new.call.result]).differences(ResultOutline([old.call.result]), usual):
        yield _change("shape", "changed", "", "", words)


def _change(kind: str, comparison: Comparison, old: str, new: str, words: str) -> ReplayChange:
    safe = shorten(redact_text(words[: 20 * _LONGEST]), _LONGEST)
    return ReplayChange(kind=kind, comparison=comparison, old=old, new=new, words=safe)


class _Block(msgspec.Struct, frozen=True):
    """A content block that is not JSON."""

    kind: str


def _payload(block: object) -> object:
    about: Mapping[str, object] = members(block)
    text = about.get("text")
    if isinstance(text, str) and text.lstrip().startswith(("{", "[")):
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, ValueError, RecursionError):
            pass
    return _Block(f"{about.get('type', 'unknown')} block")


def _parent(path: str) -> str:
    if path.endswith("[]"):
        return path[:-2]
    return path.rpartition("/")[0]


def _listed(kinds: Iterable[str]) -> str:
    return " or ".join(sorted(kinds))
