"""Bodies of the HTTP API: each is judged or kept, or refused with an envelope that says what is wrong."""

import json
from typing import Any, cast

import msgspec
from fuzz import words
from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet import UsageError
from toolvet.server.dashboard.api.bodies import BODIES, CheckBody, judge
from toolvet.server.dashboard.api.endpoints.queue import LabelBody
from toolvet.server.dashboard.api.given import AnyStored, stored_record
from toolvet.server.dashboard.api.routing import decode_body
from toolvet.server.dashboard.api.stored import show_verdict
from toolvet.server.dashboard.view.entries import entry_view
from toolvet.server.failures import ApiError, failure, json_response
from toolvet.server.review import check_label, mark_evidence, review_signals
from toolvet.store.alerts import AlertRule
from toolvet.store.records import decode_lines, encode_lines

SIGNALS = ("refusal", "low_confidence", "empty_response", "incomplete", "own")
KINDS = ("answer", "arguments", "result", "call", "envelope", "own")
NEEDED = ("text", "tool", "arguments", "result", "response", "calls")
STATUSES = (400, 413, 415, 422)


class _NoCalls:
    """A store that knows no calls."""

    def tool_calls(self, trace: str | None) -> None:
        """None: not known."""


_NO_CALLS = cast("Any", _NoCalls())


def check(draw: Draw) -> None:
    """A check, a verdict to keep, a label, or a rule for alerts."""
    match draw.byte() % 8:
        case 0 | 1 | 2:
            _checked(draw)
        case 3 | 4 | 5:
            _kept(draw)
        case 6:
            _labelled(draw)
        case _:
            _alert(draw)


def _sent(draw: Draw, body: object) -> bytes:
    data = json.dumps(body, default=str, skipkeys=True).encode()
    if draw.byte() > 225:
        at = draw.byte() % (len(data) + 1)
        data = data[:at] + draw.piece(6) + data[at + draw.byte() % 4 :]
    return data


def _refused(error: ApiError) -> None:
    holds(error.status in STATUSES, f"a body is refused with {error.status}")
    response = failure(error.status, error.envelope, error.headers)
    said = json.loads(bytes(response.body))
    holds(said["success"] is False and said["error"], "a refusal says nothing")


def _check_body(draw: Draw, kind: str) -> dict[str, object]:
    if kind == "answer":
        needed: dict[str, object] = {"text": draw.answer()}
        return needed | draw.keyed(
            {
                "calls": lambda: draw.several(_call_of(draw), 2),
                "question": draw.answer,
                "finish_reason": lambda: draw.one(words.REASONS),
                "trace": draw.text,
                "min_length": draw.number,
                "languages": draw.words,
                "packs": lambda: [draw.one(("medical", "legal", "own"))],
                "threshold": draw.share,
                "custom_patterns": lambda: {draw.one(SIGNALS): draw.words()},
                "exceptions": lambda: {draw.one(SIGNALS): draw.words()},
                "weights": lambda: {draw.one(SIGNALS): draw.share()},
            }
        )
    if kind == "arguments":
        needed = {"tool": draw.tool(), "arguments": draw.json()}
        return needed | draw.keyed({"unchecked": lambda: draw.one(("refuse", "pass", "own")), "trace": draw.text})
    if kind == "conversation":
        return {"messages": draw.several(draw.message, 4)} | draw.keyed({"tools": lambda: [draw.tool()]})
    if kind == "envelope":
        return {"response": draw.json()}
    needed = {"result": draw.result(), "tool": draw.tool(), "arguments": draw.json()}
    return needed | draw.keyed({"category": draw.text, "any_response": draw.flag, "trace": draw.text})


def _call_of(draw: Draw) -> object:
    return lambda: {"name": draw.one(words.TOOLS), "arguments": draw.json(2), "result": draw.json(2)}


def _checked(draw: Draw) -> None:
    kind = draw.one(tuple(BODIES))
    try:
        body: CheckBody = decode_body(_sent(draw, _check_body(draw, kind)), BODIES[kind])
        verdict = judge(body)
    except ApiError as error:
        _refused(error)
        return
    shown = json_response(verdict).body
    holds(json_response(judge(body)).body == shown, "the same body, another verdict")


def _given(draw: Draw, kind: str) -> dict[str, object]:
    """A verdict that a caller made, mostly as the API shows it."""
    if kind == "answer":
        signal = {"type": draw.one(SIGNALS), "evidence": draw.one(("I cannot", "", "a")), "position": draw.number()}
        given: dict[str, object] = {"score": draw.share(), "signals": [signal | draw.keyed({"weight": draw.share})]}
        return given | {"should_escalate": draw.flag(), "reason": draw.text(), "assessment_confidence": draw.share()}
    if kind == "arguments":
        issue = {"keyword": draw.text(), "field": draw.text(), "problem": draw.text()}
        return {"valid": draw.flag(), "error": {"summary": draw.text(), "issues": [issue]}}
    if kind == "envelope":
        return {"findings": draw.several(draw.members, 2)}
    given = {"is_valid": draw.flag(), "is_error": draw.flag(), "confidence": draw.number() if draw.flag() else 80}
    given["classification"] = draw.one(("success", "business_logic_error", "validation_error", "own"))
    return given | draw.keyed({"issues": draw.words, "evidence": draw.words, "certainty": draw.share})


def _kept(draw: Draw) -> None:
    kind = draw.one(KINDS)
    body = _check_body(draw, "result" if kind == "call" else kind)
    if draw.flag():
        body = {
            name: body[name] for name in body if name in ("text", "tool", "arguments", "result", "response", "calls")
        }
    body["kind"] = kind
    body |= draw.keyed(
        {
            "id": lambda: draw.one(("0" * 32, "", 5)),
            "trace_id": lambda: draw.one(("t-1", "", "\u00e9", "a b")),
            "conversation": draw.text,
            "server": draw.text,
            "model": draw.text,
            "at": draw.number,
            "duration": draw.number,
            "verdict": lambda: _given(draw, kind),
        }
    )
    try:
        record = stored_record(decode_body(_sent(draw, body), AnyStored), _NO_CALLS)  # type: ignore[arg-type]
    except ApiError as error:
        _refused(error)
        return
    (kept,) = decode_lines(encode_lines([record]))
    holds(kept is not None, "a verdict is lost on its way through the spool")
    assert kept is not None  # noqa: S101 - for the type checkers
    holds(kept.id == record.id, "a verdict has another id")
    json_response(show_verdict(kept))  # type: ignore[arg-type]
    entry_view(kept)  # type: ignore[arg-type]
    text = record.text or ""
    holds(
        "".join(part.text for part in mark_evidence(text, review_signals(record))) == text, "marking changes the text"
    )


def _labelled(draw: Draw) -> None:
    body = {"value": draw.one(("right", "wrong", "unsure", "own", ""))} | draw.keyed(
        {
            "note": draw.text,
            "signals": lambda: {draw.one(("0:refusal", "1:a", "")): draw.one(("right", "wrong", "own"))},
            "second_opinion": draw.flag,
        }
    )
    try:
        label: LabelBody = decode_body(_sent(draw, body), LabelBody)
    except ApiError as error:
        _refused(error)
        return
    for kind in KINDS:
        try:
            check_label(kind, label.value, label.signals, {"0:refusal": 1}, label.note)
        except UsageError as error:
            holds(str(error), "a refusal says nothing")


def _alert(draw: Draw) -> None:
    measures = ("escalation_rate", "failure_rate", "average_score", "verdicts", "own")
    rule = {"name": draw.text(), "measure": draw.one(measures)} | draw.keyed(
        {
            **dict.fromkeys(("above", "below", "clear"), draw.number),
            **dict.fromkeys(("window", "lasting", "least"), draw.number),
            **dict.fromkeys(("webhook", "webhook_env", "secret_env", "kind", "server"), draw.text),
        }
    )
    try:
        found = msgspec.convert(json.loads(_sent(draw, rule)), AlertRule)
    except (ValueError, RecursionError):
        # What settings turn into a sentence.
        return
    holds(isinstance(found.end, float | int), "an alert has no end")
