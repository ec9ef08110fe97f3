"""Verdicts of the library → records of a store, without secrets.

AnswerQuality, ArgumentReport, ResultVerdict, the findings of an envelope → VerdictRecord
a report (`toolvet-report/1`) → AssessmentRecord
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias, cast

import msgspec

from toolvet.core.checks import AnswerQuality, ArgumentReport, ResultVerdict
from toolvet.core.json_value import is_array, is_object, members
from toolvet.core.messages import read_calls
from toolvet.core.redact import SecretMask
from toolvet.findings import Finding
from toolvet.store.records import (
    CUT,
    AssessmentRecord,
    SignalRecord,
    VerdictRecord,
    clean_text,
    encode_document,
    new_id,
)
from toolvet.store.signals import result_signals, signal_level
from toolvet.version import __version__

AnyVerdict: TypeAlias = AnswerQuality | ArgumentReport | ResultVerdict | Sequence[Finding]
"""What `Store.add` takes, beside assessments."""

REPORT: Final = "toolvet-report/"
# These have columns of their own.
_COLUMNS: Final = frozenset({"score", "should_escalate", "trace_id"})
_MOST_CALLS: Final = 200
_MOST_CALL_BYTES: Final = 64 * 1024
_MOST_TEXT: Final = 1 << 20


class VerdictContext(msgspec.Struct, frozen=True, kw_only=True):
    """Where a verdict comes from: the arguments of `Store.add` beside the verdict."""

    trace: str | None = None
    conversation: str | None = None
    server: str = ""
    tool: str | None = None
    model: str | None = None
    variant: str | None = None
    text: str | None = None
    question: str | None = None
    calls: Sequence[object] | None = None
    at: float | None = None
    duration: float | None = None


def verdict_record(verdict: AnyVerdict, context: VerdictContext) -> VerdictRecord:
    """Return the record of a verdict. Raises TypeError for anything else."""
    mask = SecretMask.learned(context.text, context.question, context.calls)
    fields: dict[str, Any]
    if isinstance(verdict, AnswerQuality):
        fields, document = _of_answer(verdict), members(mask.own(verdict.to_dict()))
        document = {key: value for key, value in document.items() if key not in _COLUMNS}
        if context.question is not None:
            document = {**document, "question": _shorten(mask.text(context.question))}
        if context.calls is not None:
            document = {**document, "calls": _bounded_calls(context.calls, mask)}
    elif isinstance(verdict, ResultVerdict):
        fields, document = _of_result(verdict), short_verdict(members(mask.own(verdict.to_dict())))
    elif isinstance(verdict, ArgumentReport):
        fields = {
            "kind": "arguments",
            "outcome": "valid" if verdict.valid else "invalid",
            "failed": not verdict.valid,
            "score": float(verdict.valid),
            "reason": None if verdict.valid else verdict.summary,
            "signals": tuple(SignalRecord(issue.keyword, "error") for issue in verdict.issues),
        }
        document = members(mask.own(verdict.to_dict()))
    else:
        findings = verdict
        given = cast("Sequence[object]", verdict)
        if not isinstance(given, list | tuple) or not all(isinstance(each, Finding) for each in given):
            raise TypeError(
                "a store takes what check_arguments, check_result, check_envelope, check_answer or assess returned, not"
                f" {type(verdict).__name__}"
            )
        fields = {
            "kind": "envelope",
            "outcome": "invalid" if findings else "valid",
            "failed": bool(findings),
            "score": float(not findings),
            "reason": "; ".join(finding.message for finding in findings) or None,
            "signals": tuple(SignalRecord(each.id, each.severity.value, each.confidence / 100) for each in findings),
        }
        document = {"findings": mask.own([msgspec.to_builtins(finding) for finding in findings])}
    at = time.time() if context.at is None else context.at
    named = {
        "trace": context.trace or getattr(verdict, "trace_id", None),
        "conversation": context.conversation,
        "server": context.server,
        "tool": context.tool,
        "model": context.model,
        "variant": context.variant,
        "reason": fields.pop("reason", None),
    }
    # A client can make up each of these.
    fields |= {name: clean_text(mask.text(said)) if said else said for name, said in named.items()}
    return VerdictRecord(
        id=new_id(at),
        at=at,
        duration=context.duration,
        size=0 if context.text is None else len(context.text.encode("utf-8", "replace")),
        text=None if context.text is None else clean_text(_shorten(mask.text(context.text), _MOST_TEXT)),
        document=encode_document(document),
        version=__version__,
        **fields,
    )


def assessment_record(report: object, *, at: float | None = None) -> AssessmentRecord | None:
    """Return the record of a report (the struct, or its JSON form); None for anything else."""
    is_report = isinstance(report, msgspec.Struct) and str(getattr(report, "schema", "")).startswith(REPORT)
    document = msgspec.to_builtins(report) if is_report else report
    if not is_object(document) or not str(document.get("schema", "")).startswith(REPORT):
        return None
    server, score = members(document.get("server")), document.get("score")
    if at is None:
        try:
            at = datetime.fromisoformat(str(document.get("started_at"))).timestamp()
        except ValueError:
            at = time.time()
    counts = {
        str(name): number
        for name, number in members(members(document.get("summary")).get("findings")).items()
        if isinstance(number, int)
    }
    return AssessmentRecord(
        id=new_id(at),
        at=at,
        server=clean_text(str(server.get("name", ""))),
        target=clean_text(str(server.get("command", ""))),
        score=float(score) if isinstance(score, int | float) else None,
        status=str(document.get("status", "")),
        counts=counts,
        version=str(document.get("toolvet_version") or __version__),
        document=encode_document(document),
    )


def short_verdict(verdict: Mapping[str, object]) -> Mapping[str, object]:
    """Return a verdict on a result without absent factors, without counts of the result, and without what is empty."""
    factors = [
        factor for factor in cast("Iterable[object]", verdict.get("factors") or ()) if members(factor).get("present")
    ]
    about = members(verdict.get("metadata"))
    kept: dict[str, object] = {
        **verdict,
        "factors": factors,
        "metadata": {key: about[key] for key in _KEPT_METADATA if key in about},
    }
    return {key: item for key, item in kept.items() if item not in (None, [], {})}


# With these a server marks a result as incomplete; of the rest, only the parts are counted.
_KEPT_METADATA: Final = ("content_fidelity", "pagination", "warnings")


def _of_answer(quality: AnswerQuality) -> dict[str, Any]:
    return {
        "kind": "answer",
        "outcome": quality.action.value,
        "score": quality.score,
        "escalate": quality.should_escalate,
        "confidence": quality.assessment_confidence,
        "reason": quality.reason,
        "signals": tuple(
            SignalRecord(signal.type.value, signal_level(signal.weight), signal.certainty) for signal in quality.signals
        ),
    }


def _of_result(verdict: ResultVerdict) -> dict[str, Any]:
    failed = verdict.reports_error or not verdict.is_valid
    return {
        "kind": "result",
        "outcome": "tool_error" if verdict.is_error else "success",
        "failed": failed,
        "classification": verdict.classification.value,
        "state": None if verdict.state is None else verdict.state.value,
        "score": verdict.confidence / 100,
        "confidence": verdict.certainty,
        "reason": "; ".join(verdict.issues or (verdict.evidence if failed else ())) or None,
        "signals": result_signals(verdict),
    }


def _bounded_calls(calls: Sequence[object], mask: SecretMask) -> list[object]:
    found: list[object] = []
    for call in read_calls(calls)[:_MOST_CALLS]:
        entry: dict[str, object] = {"tool": mask.text(call.name), "arguments": _bounded(mask.value(call.arguments))}
        if call.answered:
            result = call.result
            is_json = result is None or is_object(result) or is_array(result) or isinstance(result, str | int | float)
            # A value that is not JSON is an object of a framework.
            entry["result"] = _bounded(mask.value(result if is_json else str(result)))
        if call.failed is not None:
            entry["failed"] = call.failed
        found.append(entry)
    return found


def _bounded(value: object) -> object:
    if isinstance(value, str):
        return _shorten(value)
    encoded = bytes(encode_document(value))
    return value if len(encoded) <= _MOST_CALL_BYTES else _shorten(encoded.decode())


def _shorten(text: str, most: int = _MOST_CALL_BYTES) -> str:
    return text if len(text) <= most else text[:most] + CUT
