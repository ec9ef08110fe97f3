"""A verdict as a page shows it: what was judged, and each finding at its place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolvet.core.causes import GOOD_OUTCOMES
from toolvet.core.json_value import elements, members, real
from toolvet.server.dashboard.view.texts import (
    Folded,
    PayloadPart,
    TextSpan,
    find_span,
    marked,
    result_parts,
    shown_json,
)
from toolvet.store import RecordedTurn, VerdictRecord

_GOOD: frozenset[str] = frozenset({*GOOD_OUTCOMES, "valid", "use"})


@dataclass(frozen=True)
class ShownFinding:
    """One finding: its number on the page, what it is, and what is said of it.

    `place` is a path in the arguments; `lines` are further facts, each with its name.
    """

    number: int
    type: str
    level: str
    words: str = ""
    place: str = ""
    evidence: str = ""
    certainty: float | None = None
    lines: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class ShownCall:
    """A call: arguments and result, as far as they were kept."""

    tool: str
    arguments: Folded | None = None
    result: Sequence[PayloadPart] = ()
    is_failed: bool = False


@dataclass(frozen=True)
class ShownEntry:
    """One verdict of a turn.

    Attributes:
        record: The verdict.
        is_good: Whether nothing went wrong.
        arguments: The arguments of a call, None where they were not kept.
        argument_findings: What is wrong with the arguments.
        result: The parts of its result.
        result_findings: What is wrong with the result.
        question: What the user asked, for an answer.
        text: The answer with its evidence marked.
        findings: The signals of an answer.
        calls: The calls that were handed in with the answer.
        facts: Further facts, each with its name.
    """

    record: VerdictRecord
    is_good: bool
    arguments: Folded | None = None
    argument_findings: Sequence[ShownFinding] = ()
    result: Sequence[PayloadPart] = ()
    result_findings: Sequence[ShownFinding] = ()
    question: str = ""
    text: Folded | None = None
    findings: Sequence[ShownFinding] = ()
    calls: Sequence[ShownCall] = ()
    facts: Sequence[tuple[str, str]] = field(default_factory=tuple)


def turn_entries(turn: RecordedTurn) -> Sequence[ShownEntry]:
    """Return the entries of a turn, its calls before its answers; findings are numbered through."""
    found: list[ShownEntry] = []
    number = 1
    recorded = any(verdict.kind == "call" and "result" in verdict.detail for verdict in turn.verdicts)
    for record in sorted(turn.verdicts, key=lambda each: (each.kind == "answer", each.at, each.seq)):
        entry = shown_entry(record, number, with_calls=not recorded)
        number += len(entry.argument_findings) + len(entry.result_findings) + len(entry.findings)
        found.append(entry)
    return found


def shown_entry(record: VerdictRecord, number: int = 1, *, with_calls: bool = True) -> ShownEntry:
    """Return a verdict as a page shows it; its findings are numbered from `number`."""
    detail = record.detail
    is_good = not record.failed and not record.escalate and (record.outcome in _GOOD or record.kind == "answer")
    if record.kind == "answer":
        return _answer(record, detail, number, is_good=is_good, with_calls=with_calls)
    about_arguments = [
        _issue(members(issue), number + place)
        for place, issue in enumerate(elements(detail.get("issues")))
        if members(issue)
    ]
    after = number + len(about_arguments)
    verdict = members(detail.get("verdict")) or detail
    about_result = () if about_arguments and record.kind == "arguments" else _of_result(record, verdict, after)
    return ShownEntry(
        record=record,
        is_good=is_good,
        arguments=shown_json(detail["arguments"]) if "arguments" in detail else None,
        argument_findings=about_arguments,
        result=result_parts(detail["result"]) if "result" in detail else (),
        result_findings=about_result,
        text=None if record.text is None else marked(record.text),
        facts=_facts(verdict, detail),
    )


def _answer(
    record: VerdictRecord, detail: Mapping[str, object], number: int, *, is_good: bool, with_calls: bool
) -> ShownEntry:
    text, findings, spans = record.text or "", list[ShownFinding](), list[TextSpan]()
    for place, signal in enumerate(members(each) for each in elements(detail.get("signals"))):
        evidence, level = str(signal.get("evidence") or ""), _level(signal.get("weight"))
        findings.append(_signal(signal, number + place, level, evidence))
        span = find_span(text, evidence, signal.get("position"), number + place, level)
        spans.extend([span] if span is not None else [])
    calls = [_call(members(call)) for call in elements(detail.get("calls"))] if with_calls else []
    return ShownEntry(
        record=record,
        is_good=is_good,
        question=str(detail.get("question") or ""),
        text=None if record.text is None else marked(text, spans),
        findings=findings,
        calls=calls,
        facts=_facts({}, detail),
    )


def _signal(signal: Mapping[str, object], number: int, level: str, evidence: str) -> ShownFinding:
    lines = [("instead of", str(signal["against"]))] if signal.get("against") else []
    return ShownFinding(
        number=number,
        type=str(signal.get("type") or ""),
        level=level,
        words=str(signal.get("label") or ""),
        evidence=evidence,
        certainty=real(signal.get("certainty")),
        lines=lines,
    )


def _issue(issue: Mapping[str, object], number: int) -> ShownFinding:
    facts = [(name, issue.get(key)) for name, key in (("sent", "received"), ("expected", "expected"), ("fix", "fix"))]
    return ShownFinding(
        number=number,
        type=str(issue.get("kind") or issue.get("keyword") or ""),
        level="error",
        words=str(issue.get("problem") or ""),
        place=str(issue.get("field") or issue.get("pointer") or ""),
        lines=[(name, f"{value}") for name, value in facts if value not in (None, "")],
    )


def _of_result(record: VerdictRecord, verdict: Mapping[str, object], number: int) -> Sequence[ShownFinding]:
    said = [
        f"{each}"
        for each in (*elements(verdict.get("issues")), *elements(verdict.get("evidence")))
        if isinstance(each, str)
    ]
    if not record.failed and not said:
        return ()
    # The keywords of the schema stand beside the arguments.
    known = [signal for signal in record.signals if signal.type not in _keywords(record)]
    main = known[0] if known else None
    if main is None and not record.failed:
        return ()
    return [
        ShownFinding(
            number=number,
            type=main.type if main is not None else record.outcome,
            level=main.level if main is not None else "error",
            words=", ".join(signal.type.replace("_", " ") for signal in known[1:]),
            certainty=None if main is None else main.certainty,
            lines=[("", each) for each in said],
        )
    ]


def _keywords(record: VerdictRecord) -> frozenset[str]:
    return frozenset(str(members(issue).get("keyword")) for issue in elements(record.detail.get("issues")))


def _call(call: Mapping[str, object]) -> ShownCall:
    return ShownCall(
        tool=str(call.get("tool") or ""),
        arguments=shown_json(call["arguments"]) if call.get("arguments") is not None else None,
        result=result_parts(call["result"]) if "result" in call else (),
        is_failed=call.get("failed") is True or members(call.get("result")).get("isError") is True,
    )


def _facts(verdict: Mapping[str, object], detail: Mapping[str, object]) -> Sequence[tuple[str, str]]:
    wanted = (
        ("state", verdict.get("state")),
        ("retry", verdict.get("retry")),
        ("error code", verdict.get("error_code")),
        # A refused call's reason is among the findings of its result.
        ("why", None if verdict.get("evidence") else detail.get("why")),
        ("not judged", detail.get("unjudged")),
        ("what to change", detail.get("feedback")),
    )
    failed = [
        f"{members(call).get('tool')} ({members(call).get('state') or 'failed'})"
        for call in elements(detail.get("failed_calls"))
    ]
    facts = [(name, f"{value}") for name, value in wanted if isinstance(value, str) and value]
    return [*facts, ("failed calls of the turn", ", ".join(failed))] if failed else facts


def _level(weight: object) -> str:
    value = real(weight) or 0.0
    return "error" if value >= 0.7 else "warning" if value >= 0.3 else "info"
