"""A store with one of everything, whose texts are hostile: markup, control characters, orders to a model."""

import time
from pathlib import Path
from typing import Any, Final

import msgspec

from toolvet import check_answer, check_arguments, check_result
from toolvet.store import AssessmentRecord, EventRecord, SignalRecord, Store, VerdictRecord
from toolvet.store.records import encode_document, new_id

HOSTILE: Final = "<script>alert('x')</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}"
UNSEEN: Final = "\u202eevil\x1b[31m"
TRACE: Final = "0af7651916cd43dd8448eb211c80319c"
TOOL: Final[dict[str, Any]] = {
    "name": "find",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def today() -> float:
    """The time as the system says it: pages show the last 24 hours."""
    return time.time()


def fill(path: Path | str, now: float) -> None:
    """Fill a store: a turn of two calls and an answer, a conversation, two assessments, an event, verdicts alone."""
    with Store(path) as store:
        store.add_records(
            [_call(now - 100, failed=False), _call(now - 90, failed=True), *_assessments(now), _event(now)]
        )
        for variant, said in (("a", "I cannot help with that request."), ("b", "It is 21 degrees in Oslo.")):
            for question in ("How warm is it?", f"Is it {HOSTILE}?"):
                quality = check_answer(f"{said} {HOSTILE} {UNSEEN}", calls=[], question=question)
                store.add(
                    quality,
                    text=f"{said} {HOSTILE} {UNSEEN}",
                    question=question,
                    calls=[{"name": f"find{HOSTILE}", "arguments": {"a": HOSTILE}, "result": HOSTILE}],
                    model=f"model {HOSTILE}",
                    variant=variant,
                    conversation=f"talk/{HOSTILE}",
                    trace=TRACE if variant == "a" else None,
                    at=now - 80,
                )
        store.add(check_arguments(TOOL, {"city": HOSTILE, "also": 1}), server="shop", tool="find", at=now - 70)
        result = {"content": [{"type": "text", "text": f"Error: {HOSTILE}"}], "isError": True}
        store.add(check_result(TOOL, {}, result), server="shop", tool="find", at=now - 60, duration=1.5)
        store.flush()


def more(path: Path | str, now: float, count: int = 30) -> None:
    """Add failed calls."""
    with Store(path) as store:
        store.add_records([_call(now, failed=True) for _ in range(count)])
        store.flush()


def _call(at: float, *, failed: bool) -> VerdictRecord:
    detail = {
        "arguments": {"city": HOSTILE, "long": [HOSTILE] * 40},
        "result": {
            "content": [{"type": "text", "text": f"{HOSTILE}{UNSEEN}" * 60}],
            "structuredContent": {"x": HOSTILE},
        },
        "issues": [{"field": HOSTILE, "kind": "type", "keyword": "type", "problem": HOSTILE, "received": HOSTILE}],
        "verdict": {"issues": [HOSTILE], "evidence": [HOSTILE], "state": "unreachable", "retry": "backoff"},
    }
    return VerdictRecord(
        id=new_id(at),
        at=at,
        kind="call",
        trace=TRACE,
        server=f"shop/{HOSTILE}",
        tool=f"find/{HOSTILE}" if failed else "..",
        outcome="tool_error" if failed else "success",
        failed=failed,
        reason=f"{HOSTILE}{UNSEEN} warehouse",
        duration=0.25,
        document=encode_document(detail),
        signals=(SignalRecord("unreachable", "error", 0.9), SignalRecord(f"type{HOSTILE}", "error")) if failed else (),
    )


def _assessments(now: float) -> list[AssessmentRecord]:
    finding = {"id": f"check{HOSTILE}", "severity": "error", "message": HOSTILE, "tool": HOSTILE, "remedy": HOSTILE}
    report = {
        "findings": [finding],
        "tools": [{"name": HOSTILE, "status": "broken"}, {"name": "b", "skipped": HOSTILE}],
    }
    one = AssessmentRecord(
        id=new_id(now - 500),
        at=now - 500,
        server=f"shop/{HOSTILE}",
        target=HOSTILE,
        score=50.0,
        status="broken",
        counts={"error": 1, "warning": 0, "info": 0},
        version="1",
        document=encode_document(report),
    )
    # As an import may have it: a tool without its status, and an entry that is not a tool.
    other = encode_document(
        {"findings": [{**finding, "severity": "warning"}, {"id": "new", "severity": "info"}], "tools": [{"name": 5}, 7]}
    )
    return [one, msgspec.structs.replace(one, id=new_id(now - 400), at=now - 400, score=75.0, document=other)]


def _event(now: float) -> EventRecord:
    return EventRecord(id=new_id(now), at=now, kind="schema", message=HOSTILE, server=f"shop/{HOSTILE}", tool=HOSTILE)
