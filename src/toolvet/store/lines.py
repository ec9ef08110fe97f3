"""Reads files of lines: exports, logs (`--store FILE.jsonl`), and those of earlier releases.

Records of the first releases (tables `calls`, `events`, `answers`) become records of today. Their ids are made from
what they hold, so that the same line or row always becomes the same record.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from toolvet.core.causes import GOOD_OUTCOMES
from toolvet.core.json_value import elements, is_object, members, real
from toolvet.store.records import (
    EventRecord,
    SignalRecord,
    StoreRecord,
    VerdictRecord,
    decode_lines,
    encode_parsed,
    in_present_names,
    new_id,
)

_BATCH: Final = 1000


def read_line_records(path: Path) -> Iterator[list[StoreRecord]]:
    """Yield the records of a file in batches; lines that are none are left out. Raises OSError."""
    batch: list[StoreRecord] = []
    with path.open("rb") as lines:
        for line in lines:
            record = next(decode_lines(line), None) or _read_old(line)
            if record is not None:
                batch.append(record)
                if len(batch) >= _BATCH:
                    yield batch
                    batch = []
    if batch:
        yield batch


def _read_old(line: bytes) -> StoreRecord | None:
    """Return the record of a line of the first releases: `{"call": {…}}`, `{"event": {…}}`, `{"answer": {…}}`."""
    try:
        value: object = msgspec.json.decode(line)
    except (msgspec.MsgspecError, ValueError):
        return None
    for name, read in (("call", verdict_of_call), ("event", event_of_row), ("answer", verdict_of_answer)):
        fields = members(value).get(name)
        if is_object(fields):
            found: Mapping[str, object] = fields
            return read(found)
    return None


# The year 2286, and the largest whole number of a database.
_LATEST: Final = 10_000_000_000
_MOST_BYTES: Final = 1 << 63


def verdict_of_call(row: Mapping[str, object]) -> VerdictRecord:
    """Return the record of a call."""
    detail = _detail(row)
    verdict = members(detail.get("verdict"))
    state, outcome = _text(row.get("state")), str(row.get("outcome") or "")
    confidence = real(verdict.get("confidence"))
    size = real(row.get("size")) or 0.0
    return VerdictRecord(
        id=_id(row),
        at=_at(row),
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
        score=None if confidence is None else confidence / 100,
        reason=_text(detail.get("why")),
        duration=real(row.get("duration")),
        size=int(size) if 0 <= size < _MOST_BYTES else 0,
        document=encode_parsed(detail),
        signals=(SignalRecord(state, "error"),) if state else (),
    )


def verdict_of_answer(row: Mapping[str, object]) -> VerdictRecord:
    """Return the record of an answer."""
    detail = _detail(row)
    found = [members(signal).get("type") for signal in elements(detail.get("signals"))]
    return VerdictRecord(
        id=_id(row),
        at=_at(row),
        kind="answer",
        trace=_text(row.get("trace")),
        outcome=str(detail.get("action") or ""),
        score=real(row.get("score")),
        escalate=bool(row.get("escalate")),
        confidence=real(detail.get("assessment_confidence")),
        reason=_text(detail.get("reason")),
        text=_text(row.get("text")),
        document=encode_parsed(detail),
        signals=tuple(SignalRecord(type_) for type_ in found if isinstance(type_, str)),
    )


def event_of_row(row: Mapping[str, object]) -> EventRecord:
    """Return the record of an event."""
    return EventRecord(
        id=_id(row),
        at=_at(row),
        server=str(row.get("server") or ""),
        connection=str(row.get("connection") or ""),
        kind=str(row.get("kind") or ""),
        tool=_text(row.get("tool")),
        message=str(row.get("message") or ""),
    )


def _detail(row: Mapping[str, object]) -> Mapping[str, object]:
    detail = row.get("detail")
    if not isinstance(detail, str):
        return in_present_names(members(detail))
    try:
        decoded: object = msgspec.json.decode(detail)
    except (msgspec.MsgspecError, ValueError):
        return {}
    return in_present_names(members(decoded))


def _id(row: Mapping[str, object]) -> str:
    digest = hashlib.sha256(json.dumps(dict(row), sort_keys=True, default=str).encode()).hexdigest()
    return new_id(_at(row))[:13] + digest[:19]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _at(row: Mapping[str, object]) -> float:
    """When it was; 0 for what no clock shows."""
    at = real(row.get("at")) or 0.0
    return at if 0 <= at <= _LATEST else 0.0
