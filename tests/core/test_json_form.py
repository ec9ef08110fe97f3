"""A member of a verdict is defined once, in its Struct: JSON, JSON Schema, Arrow, API and store derive it."""

from typing import Any, cast

import msgspec
import pyarrow as pa
import pytest

from toolvet import check_answer, check_arguments, check_conversation, check_result
from toolvet.batch.arrow import arrow_fields, arrow_type
from toolvet.core.causes import State
from toolvet.core.checks.answer import AnswerQuality, FailureSignal, SignalType
from toolvet.core.checks.result import Classification, ResultVerdict
from toolvet.core.envelope import check_envelope
from toolvet.core.envelope.check import EnvelopeVerdict
from toolvet.core.json_form import JsonForm, document_members, document_writer, given_type, json_schema, reply_type
from toolvet.findings import Finding
from toolvet.store.judged import VerdictContext, verdict_record
from toolvet.store.records import VerdictRecord, encode_document

TOOL = {"name": "sail", "inputSchema": {"type": "object", "properties": {"port": {"enum": ["Lisbon", "Porto"]}}}}
DOWN = {"isError": True, "content": [{"type": "text", "text": "connect ECONNREFUSED 127.0.0.1:5432"}]}


class MoodyAnswer(AnswerQuality, frozen=True, kw_only=True):
    mood: str = "calm"
    doubts: tuple[State, ...] = ()


class MoodyResult(ResultVerdict, frozen=True, kw_only=True):
    mood: str = "calm"
    doubts: tuple[State, ...] = ()


ANSWER = MoodyAnswer(
    score=0.25,
    signals=(FailureSignal(type=SignalType.REFUSAL, evidence="cannot", weight=0.75),),
    should_escalate=True,
    reason="It refuses.",
    assessment_confidence=0.9,
    doubts=(State.TIMEOUT,),
)
RESULT = MoodyResult(
    is_valid=True, is_error=False, classification=Classification.FULLY_WORKING, confidence=90, doubts=(State.TIMEOUT,)
)


@pytest.mark.parametrize("verdict", [ANSWER, RESULT], ids=["answer", "result"])
def test_a_member_that_is_added_to_a_struct_appears_everywhere(verdict: MoodyAnswer | MoodyResult) -> None:
    kind = type(verdict)
    document = verdict.to_dict()
    assert (document["mood"], document["doubts"]) == ("calm", ["timeout"])

    schema = json_schema(kind)["$defs"][f"{kind.__name__}Reply"]
    assert schema["properties"]["mood"] == {"type": "string"}
    assert schema["properties"]["doubts"]["type"] == "array"
    assert {"mood", "doubts"} <= {*schema["required"]}

    columns = dict(arrow_fields(kind))
    assert (columns["mood"], columns["doubts"]) == (pa.string(), pa.list_(pa.string()))
    table = pa.array([document], pa.struct(list(columns.items())))
    assert table[0]["doubts"].as_py() == ["timeout"]

    reply: Any = msgspec.convert(document, reply_type(kind))
    assert reply.mood == "calm"
    body = msgspec.json.decode(msgspec.json.encode(document), type=kind)
    assert body.to_dict() == document

    stored = verdict_record(verdict, VerdictContext()).detail
    assert (stored["mood"], stored["doubts"]) == ("calm", ["timeout"])


def test_every_verdict_is_what_its_schema_says() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "sail", "arguments": '{"port": "lisbon"}'}}
    messages = [
        {"role": "user", "content": "Sail."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Error: connection refused"},
        {"role": "assistant", "content": "I have sailed to Lisbon."},
    ]
    verdicts: list[Any] = [
        check_answer("I cannot help with that."),
        check_arguments(TOOL, {"port": "lisbon"}),
        check_arguments(TOOL, {"port": "Lisbon"}, trace="t1"),
        check_result(TOOL, {}, DOWN),
        EnvelopeVerdict(check_envelope({"success": "yes"})),
        check_conversation(messages, tools=[TOOL]),
    ]
    for verdict in verdicts:
        document = msgspec.json.decode(msgspec.json.encode(verdict.to_dict()))
        kind = reply_type(type(verdict))
        assert document.keys() <= {*kind.__struct_fields__}
        msgspec.convert(document, kind)
        assert not [name for name in _names(document) if name != name.lower()]


def _names(value: object) -> list[str]:
    """All names of members, but of values of the caller's."""
    if isinstance(value, list):
        return [name for item in cast("list[object]", value) for name in _names(item)]
    if not isinstance(value, dict):
        return []
    own = cast("dict[str, object]", value)
    return [
        *own,
        *(name for key, item in own.items() if key not in ("arguments", "properties") for name in _names(item)),
    ]


class Part(JsonForm, msgspec.Struct, frozen=True):
    state: State | None
    kept: object = None


class Whole(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    _adds = ("twice",)
    _hides = ("hidden",)
    _nulls = ("null",)
    _sparse = ("some",)

    number: int
    parts: tuple[Part, ...] = ()
    by_state: dict[State, Part] = {}
    some: tuple[str, ...] = ()
    null: State | None = None
    gone: State | None = None
    hidden: int = 1
    _own: int = 2

    @property
    def twice(self) -> int:
        """Two times the number."""
        return 2 * self.number


def test_what_differs_from_the_fields_is_said_on_the_struct() -> None:
    bare = Whole(number=3)
    assert bare.to_dict() == {"twice": 6, "number": 3, "parts": [], "by_state": {}, "null": None}
    part = Part(State.TIMEOUT, {"keptAs": "it is"})
    full = Whole(number=3, parts=(part,), by_state={State.TIMEOUT: part}, some=("a",), null=State.TIMEOUT)
    shown = {"state": "timeout", "kept": {"keptAs": "it is"}}
    assert full.to_dict() == {
        "twice": 6,
        "number": 3,
        "parts": [shown],
        "by_state": {"timeout": shown},
        "null": "timeout",
        "some": ["a"],
    }
    assert Part(None).to_dict() == {}
    assert [each.absent for each in document_members(Whole)] == [*["never"] * 4, "empty", "never", "none"]


def test_each_class_writes_its_own_members() -> None:
    assert Part(None, 1).to_dict() == {"kept": 1}

    class Wider(Part, frozen=True):
        more: int = 2

    class Own(JsonForm, msgspec.Struct, frozen=True):
        number: int = 3

        def to_dict(self) -> dict[str, object]:
            return {**super().to_dict(), "own": True}

    for _ in range(2):
        assert Wider(None, 1).to_dict() == {"kept": 1, "more": 2}
        assert Own().to_dict() == {"number": 3, "own": True}


def test_a_struct_that_is_no_document_is_written_inside_of_one() -> None:
    (finding,) = check_envelope({"success": True, "data": {}, "error": None})
    written = document_writer(Finding)(finding)
    assert list(written) == ["id", "severity", "message", "confidence", "pointer", "evidence", "remedy"]
    assert EnvelopeVerdict((finding,)).to_dict() == {"valid": False, "findings": [written]}


def test_whole_numbers_have_the_bits_that_their_bounds_need() -> None:
    assert dict(arrow_fields(Finding))["confidence"] == pa.int32()
    assert arrow_type(int | None) == pa.int64()


def test_a_report_that_others_made_needs_only_what_is_counted() -> None:
    kind = given_type(type(check_arguments(TOOL, {})))
    given: Any = msgspec.convert({"valid": False, "error": {"issues": [{"keyword": "enum", "fix": "x"}]}}, kind)
    assert msgspec.to_builtins(given) == {"valid": False, "error": {"issues": [{"keyword": "enum", "fix": "x"}]}}
    with pytest.raises(msgspec.ValidationError, match="keyword"):
        msgspec.convert({"valid": False, "error": {"issues": [{}]}}, kind)


def test_a_document_of_an_earlier_version_is_read_with_the_names_of_today() -> None:
    result = {
        "isValid": False,
        "error_kind": "failure",
        "responseMetadata": {"contentFidelity": "partial", "outputSchemaValidation": {"hasOutputSchema": True}},
    }
    sent = {"isValid": 1, "responseMetadata": {"contentTypes": 2}}
    old = {"call": 3, "verdict": result, "arguments": sent, "result": {"verdict": sent}}
    record = VerdictRecord(id="a", at=1.0, kind="call", document=encode_document(old))
    metadata = {"content_fidelity": "partial", "output_schema_validation": {"has_output_schema": True}}
    assert record.detail == {
        "call": 3,
        "verdict": {"is_valid": False, "error_kind": "failure", "metadata": metadata},
        "arguments": sent,
        "result": {"verdict": sent},
    }
    answer = {"likelyGood": 0.5, "failedCalls": [{"tool": "t"}], "assessmentConfidence": 0.9, "question": "isValid?"}
    record = VerdictRecord(id="b", at=1.0, kind="answer", document=encode_document(answer))
    assert list(record.detail) == ["likely_good", "failed_calls", "assessment_confidence", "question"]
    report = {"valid": False, "error": {"validExample": {"validExample": 1}}}
    record = VerdictRecord(id="c", at=1.0, kind="arguments", document=encode_document(report))
    assert record.detail == {"valid": False, "error": {"valid_example": {"validExample": 1}}}
