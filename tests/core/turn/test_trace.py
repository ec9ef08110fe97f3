"""The trace id goes through the checks as it is given, and verdicts without one do not mention it."""

from typing import Any

from toolvet import AnswerStream, check_answer, check_arguments, check_result
from toolvet.core.turn.consistency import add_signals

TOOL = {"name": "sail", "inputSchema": {"type": "object", "required": ["port"]}}
ERROR = {"isError": True, "content": [{"type": "text", "text": "Port not found"}]}


def test_every_verdict_of_a_turn_has_its_id() -> None:
    answers = [check_answer(text, trace="turn-7") for text in ("It opens at nine in the morning.", "I cannot help.")]
    stream = AnswerStream()
    stream.feed("I cannot help with that.")
    streamed = stream.finish(trace="turn-7")
    verdicts: list[Any] = [
        *answers,
        streamed,
        add_signals(answers[0], streamed.signals),
        check_result(TOOL, {}, ERROR, trace="turn-7"),
        check_arguments(TOOL, {}, trace="turn-7"),
        check_arguments(TOOL, {"port": "Lisbon"}, trace="turn-7"),
    ]
    assert [verdict.trace_id for verdict in verdicts] == ["turn-7"] * len(verdicts)
    assert [verdict.to_dict()["trace_id"] for verdict in verdicts] == ["turn-7"] * len(verdicts)


def test_without_an_id_there_is_no_member() -> None:
    bare: list[Any] = [check_answer("I cannot help."), check_result(TOOL, {}, ERROR), check_arguments(TOOL, {})]
    for verdict in bare:
        assert verdict.trace_id is None
        assert "trace_id" not in verdict.to_dict()
