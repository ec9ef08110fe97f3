"""A verdict as a page shows it: what was judged, and each finding at its place."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from markupsafe import Markup, escape
from orjson import JSONDecodeError, loads

from toolvet.assess.report import pretty
from toolvet.core.causes import GOOD_OUTCOMES
from toolvet.core.json_value import elements, is_object, members, real
from toolvet.core.visible import visible
from toolvet.store import RecordedTurn, VerdictRecord
from toolvet.store.signals import signal_level

_GOOD: frozenset[str] = frozenset({*GOOD_OUTCOMES, "valid", "use"})


@dataclass(frozen=True)
class FindingView:
    """One finding: its number on the page, its name, and the text about it.

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


_NOTHING: Final = Markup()


@dataclass(frozen=True)
class Folded:
    """A long text: its head, and the rest behind a click. `rest` is empty for a short one.

    `is_open` says whether the rest is shown from the start, because something in it is marked.
    """

    head: Markup
    rest: Markup = _NOTHING
    more: str = ""
    is_open: bool = False


@dataclass(frozen=True)
class PayloadPart:
    """A piece of a result: `label` says what it is (text, structured content)."""

    label: str
    body: Folded


@dataclass(frozen=True)
class CallEntry:
    """A call: arguments and result, as far as they were kept."""

    tool: str
    arguments: Folded | None = None
    result: Sequence[PayloadPart] = ()
    is_failed: bool = False


@dataclass(frozen=True)
class EntryView:
    """One verdict of a turn.

    Attributes:
        record: The verdict.
        is_good: Whether nothing went wrong.
        arguments: The arguments of a call, None if they were not kept.
        argument_findings: The faults of the arguments.
        result: The parts of its result.
        result_findings: The faults of the result.
        question: The user's question, for an answer.
        text: The answer with its evidence marked.
        findings: The signals of an answer.
        calls: The calls that were handed in with the answer.
        facts: Further facts, each with its name.
    """

    record: VerdictRecord
    is_good: bool
    arguments: Folded | None = None
    argument_findings: Sequence[FindingView] = ()
    result: Sequence[PayloadPart] = ()
    result_findings: Sequence[FindingView] = ()
    question: str = ""
    text: Folded | None = None
    findings: Sequence[FindingView] = ()
    calls: Sequence[CallEntry] = ()
    facts: Sequence[tuple[str, str]] = field(default_factory=tuple)


def turn_entries(turn: RecordedTurn) -> Sequence[EntryView]:
    """Return the entries of a turn, its answers before its calls; findings are numbered through."""
    found: list[EntryView] = []
    number = 1
    recorded = any(verdict.kind == "call" and "result" in verdict.detail for verdict in turn.verdicts)
    for record in sorted(turn.verdicts, key=lambda each: (each.kind != "answer", each.at, each.seq)):
        entry = entry_view(record, number, with_calls=not recorded)
        number += len(entry.argument_findings) + len(entry.result_findings) + len(entry.findings)
        found.append(entry)
    return found


def entry_view(record: VerdictRecord, number: int = 1, *, with_calls: bool = True) -> EntryView:
    """Return a verdict as a page shows it; its findings are numbered from `number`."""
    detail = record.detail
    is_good = not record.failed and not record.escalate and (record.outcome in _GOOD or record.kind == "answer")
    if record.kind == "answer":
        return _answer(record, detail, number, is_good=is_good, with_calls=with_calls)
    about_arguments: list[FindingView] = []
    for place, issue in enumerate(map(members, elements(detail.get("issues")))):
        if not issue:
            continue
        lines = (("sent", issue.get("received")), ("expected", issue.get("expected")), ("fix", issue.get("fix")))
        about_arguments.append(
            FindingView(
                number=number + place,
                type=str(issue.get("kind") or issue.get("keyword") or ""),
                level="error",
                words=str(issue.get("problem") or ""),
                place=str(issue.get("field") or issue.get("pointer") or ""),
                lines=[(name, f"{value}") for name, value in lines if value not in (None, "")],
            )
        )
    after = number + len(about_arguments)
    verdict = members(detail.get("verdict")) or detail
    about_result = () if about_arguments and record.kind == "arguments" else _of_result(record, verdict, after)
    return EntryView(
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
) -> EntryView:
    text, findings, spans = record.text or "", list[FindingView](), list[TextSpan]()
    for place, signal in enumerate(members(each) for each in elements(detail.get("signals"))):
        evidence, level = str(signal.get("evidence") or ""), signal_level(real(signal.get("weight")) or 0.0)
        findings.append(
            FindingView(
                number=number + place,
                type=str(signal.get("type") or ""),
                level=level,
                words=str(signal.get("label") or ""),
                evidence=evidence,
                certainty=real(signal.get("certainty")),
                lines=[("instead of", str(signal["against"]))] if signal.get("against") else [],
            )
        )
        span = find_span(text, evidence, signal.get("position"), number + place, level)
        spans.extend([span] if span is not None else [])
    calls = [
        CallEntry(
            tool=str(call.get("tool") or ""),
            arguments=shown_json(call["arguments"]) if call.get("arguments") is not None else None,
            result=result_parts(call["result"]) if "result" in call else (),
            is_failed=call.get("failed") is True or members(call.get("result")).get("isError") is True,
        )
        for call in (map(members, elements(detail.get("calls"))) if with_calls else ())
    ]
    return EntryView(
        record=record,
        is_good=is_good,
        question=str(detail.get("question") or ""),
        text=None if record.text is None else marked(text, spans),
        findings=findings,
        calls=calls,
        facts=_facts({}, detail),
    )


def _of_result(record: VerdictRecord, verdict: Mapping[str, object], number: int) -> Sequence[FindingView]:
    said = [
        f"{each}"
        for each in (*elements(verdict.get("issues")), *elements(verdict.get("evidence")))
        if isinstance(each, str)
    ]
    if not record.failed and not said:
        return ()
    # The keywords of the schema stand beside the arguments.
    keywords = {str(members(issue).get("keyword")) for issue in elements(record.detail.get("issues"))}
    known = [signal for signal in record.signals if signal.type not in keywords]
    main = known[0] if known else None
    if main is None and not record.failed:
        return ()
    return [
        FindingView(
            number=number,
            type=main.type if main is not None else record.outcome,
            level=main.level if main is not None else "error",
            words=", ".join(signal.type.replace("_", " ") for signal in known[1:]),
            certainty=None if main is None else main.certainty,
            lines=[("", each) for each in said],
        )
    ]


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


_LONG_TEXT: Final = 1_200
_LONG_LINES: Final = 18
_MOST_JSON: Final = 40_000
_KEY: Final = re.compile(r"^( *)(&#34;(?:[^&\\]|\\.|&(?!#34;))*&#34;)(: ?)", re.MULTILINE)


@dataclass(frozen=True)
class TextSpan:
    """A part of a text, from `start` to `end` (characters), with the number of the finding that it is evidence of."""

    start: int
    end: int
    number: int
    level: str = ""


def find_span(text: str, evidence: str, position: object, number: int, level: str = "") -> TextSpan | None:
    """Return the place of evidence in a text; None if it is not there (secrets were replaced, or it was cut)."""
    words = evidence.removesuffix("…").rstrip()
    if not words:
        return None
    start = position if isinstance(position, int) and text.startswith(words, position) else text.find(words)
    return None if start < 0 else TextSpan(start, start + len(words), number, level)


def marked(text: str, spans: Sequence[TextSpan] = ()) -> Folded:
    """Return a text with its spans marked, folded if it is long."""
    if len(text) <= _LONG_TEXT * 3 // 2:
        return Folded(_mark(text, 0, len(text), spans))
    line_end = text.rfind("\n", _LONG_TEXT // 2, _LONG_TEXT)
    cut = line_end + 1 if line_end >= 0 else _LONG_TEXT
    rest = _mark(text, cut, len(text), spans)
    return Folded(
        _mark(text, 0, cut, spans), rest, f"{len(text) - cut:,} more characters", any(each.end > cut for each in spans)
    )


def _mark(text: str, first: int, last: int, spans: Sequence[TextSpan]) -> Markup:
    cuts = {first, last} | {place for span in spans for place in (span.start, span.end) if first < place < last}
    places = sorted(cuts)
    parts: list[Markup] = []
    for start, end in pairwise(places):
        piece = escape(visible(text[start:end]))
        over = [span for span in spans if span.start <= start and span.end >= end]
        if over:
            numbers = " ".join(str(span.number) for span in over)
            level = next((span.level for span in over if span.level == "error"), over[0].level)
            ends = " ".join(str(span.number) for span in over if span.end == end)
            ended = Markup(' data-ends="{}"').format(ends) if ends else ""
            piece = Markup('<mark class="{}" data-findings="{}"{}>{}</mark>').format(level, numbers, ended, piece)
        parts.append(piece)
    return Markup().join(parts)


def shown_json(value: object) -> Folded:
    """Return a value as indented JSON, folded if it is long, and cut if it is very long."""
    escaped = str(escape(pretty(value, _MOST_JSON)))
    lines = _KEY.sub(r"\1<b>\2</b>\3", escaped).split("\n")
    if len(lines) <= _LONG_LINES * 3 // 2 and len(escaped) <= 3 * _LONG_TEXT:
        return Folded(_joined(lines))
    if len(lines) <= _LONG_LINES:
        # Few lines with a long one among them.
        return marked(pretty(value, _MOST_JSON))
    return Folded(
        _joined(lines[:_LONG_LINES]), _joined(lines[_LONG_LINES:]), f"{len(lines) - _LONG_LINES:,} more lines"
    )


def _joined(lines: Iterable[str]) -> Markup:
    return Markup("\n".join(lines))  # noqa: S704 - escaped before


def shown_value(value: object) -> Folded:
    """Return a text as it is, or as indented JSON if it holds an object or a list; any other value as JSON."""
    if isinstance(value, str):
        read = _as_json(value)
        return marked(value) if read is None else shown_json(read)
    return shown_json(value)


def result_parts(result: object) -> Sequence[PayloadPart]:
    """Return the parts of a tool's result: its text blocks as a model reads them, and the rest as JSON."""
    if not is_object(result):
        return [PayloadPart("result", shown_value(result))]
    rest = {name: value for name, value in result.items() if name not in ("content", "isError", "resultType", "_meta")}
    found: list[PayloadPart] = []
    texts: list[object] = []
    for block in elements(result.get("content")):
        text = members(block).get("text")
        if isinstance(text, str):
            read = _as_json(text)
            texts.append(read)
            found.append(PayloadPart("text" if read is None else "text, JSON", shown_value(text)))
        else:
            found.append(PayloadPart("content", shown_json(block)))
    structured = rest.pop("structuredContent", None)
    # A server repeats its structured content as text, for clients that read nothing else.
    if structured is not None and structured not in texts:
        found.append(PayloadPart("structured content", shown_json(structured)))
    if rest:
        found.append(PayloadPart("also", shown_json(rest)))
    return found


def _as_json(text: str) -> object | None:
    if text[:1] not in ("{", "["):
        return None
    try:
        read: object = loads(text)
    except JSONDecodeError:
        return None
    return read
