"""Records of the first releases (tables `calls`, `events`, `answers`) → records of a store.

Their ids are made from what they hold, so that the same line or row always becomes the same record.
"""

import hashlib
import json
from collections.abc import Mapping

import msgspec

from toolvet.schema.json_value import is_object, members
from toolvet.session.step import GOOD_OUTCOMES
from toolvet.store.records import EventRecord, SignalRecord, VerdictRecord, encode_document, new_id


def verdict_of_call(row: Mapping[str, object]) -> VerdictRecord:
    """Return the record of a call."""
    detail = _detail(row)
    verdict = members(detail.get("verdict"))
    state, outcome = _text(row.get("state")), str(row.get("outcome") or "")
    confidence = verdict.get("confidence")
    return VerdictRecord(
        id=_id(row),
        at=_number(row.get("at")) or 0.0,
        kind="call",
        trace=_text(row.get("trace")),
        server=str(row.get("server") or ""),
        connection=str(row.get("connection") or ""),
        request_id=_text(row.get("id")),
        tool=_text(row.get("tool")),
        era=_text(row.get("era")),
        outcome=outcome,
        failed=outcome not in GOOD_OUTCOMES or verdict.get("error_without_flag") is True,
        classification=_text(row.get("classification")),
        state=state,
        blocked=_text(row.get("blocked")),
        score=float(confidence) / 100 if isinstance(confidence, int | float) else None,
        reason=_text(detail.get("why")),
        duration=_number(row.get("duration")),
        size=int(_number(row.get("size")) or 0),
        document=encode_document(detail),
        signals=(SignalRecord(state, "error"),) if state else (),
    )


def verdict_of_answer(row: Mapping[str, object]) -> VerdictRecord:
    """Return the record of an answer."""
    detail = _detail(row)
    signals = detail.get("signals")
    found = [members(signal).get("type") for signal in signals] if isinstance(signals, list) else []  # pyright: ignore[reportUnknownVariableType]
    return VerdictRecord(
        id=_id(row),
        at=_number(row.get("at")) or 0.0,
        kind="answer",
        trace=_text(row.get("trace")),
        outcome=str(detail.get("action") or ""),
        score=_number(row.get("score")),
        escalate=bool(row.get("escalate")),
        confidence=_number(detail.get("assessmentConfidence")),
        reason=_text(detail.get("reason")),
        text=_text(row.get("text")),
        document=encode_document(detail),
        signals=tuple(SignalRecord(type_) for type_ in found if isinstance(type_, str)),
    )


def event_of_row(row: Mapping[str, object]) -> EventRecord:
    """Return the record of an event."""
    return EventRecord(
        id=_id(row),
        at=_number(row.get("at")) or 0.0,
        server=str(row.get("server") or ""),
        connection=str(row.get("connection") or ""),
        kind=str(row.get("kind") or ""),
        tool=_text(row.get("tool")),
        message=str(row.get("message") or ""),
    )


def _detail(row: Mapping[str, object]) -> Mapping[str, object]:
    detail = row.get("detail")
    if isinstance(detail, str):
        try:
            detail = msgspec.json.decode(detail)
        except (msgspec.MsgspecError, ValueError):
            detail = {}
    return detail if is_object(detail) else {}


def _id(row: Mapping[str, object]) -> str:
    digest = hashlib.sha256(json.dumps(dict(row), sort_keys=True, default=str).encode()).hexdigest()
    return new_id(_number(row.get("at")) or 0.0)[:13] + digest[:19]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
