"""The last answer of a run, judged by its calls in every framework, each with its own agent loop."""

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.frameworks.test_adapters import (
    CALLED,
    GOOD,
    by_google_adk,
    by_langchain,
    by_openai_agents,
    by_pydantic_ai,
    name_of,
)

from toolvet.agents.frameworks.guard import AgentGuard, AnswerJudged, Answers, ObjectMemory, trace_of

if TYPE_CHECKING:
    from toolvet.proxy.session import Note

FALSE = "I have ordered the book and emailed the invoice to Ann."
TRUE = "I ordered Emma."
ADAPTERS = [by_pydantic_ai, by_openai_agents, by_langchain, by_google_adk]
RETRYING = [by_pydantic_ai, by_langchain]


def ended(adapter: Any, answers: Answers, *ends: str, calls: Any = (GOOD,)) -> list[AnswerJudged]:
    """The notes on the answers of a run that makes these calls and then says these ends."""
    CALLED.clear()
    notes: list[Note] = []
    adapter(calls, AgentGuard(None, notes.append, answers=answers), ends)
    assert len(CALLED) == len(calls)
    return [note for note in notes if isinstance(note, AnswerJudged)]


def in_guard(answer: str) -> AnswerJudged:
    """The guard's own verdict on this answer after the good call."""
    notes: list[Note] = []
    call = {"id": "c0", "type": "function", "function": {"name": "order_book", "arguments": json.dumps(GOOD)}}
    AgentGuard(None, notes.append).finished(
        "run",
        [
            {"role": "user", "content": "Order it."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c0", "content": "ordered Emma"},
            {"role": "assistant", "content": answer},
        ],
    )
    (note,) = notes
    assert isinstance(note, AnswerJudged)
    return note


@pytest.mark.parametrize("adapter", ADAPTERS, ids=name_of)
@pytest.mark.parametrize("answer", [FALSE, TRUE], ids=["false", "true"])
def test_the_last_answer_has_the_same_verdict_and_id_everywhere(adapter: Any, answer: str) -> None:
    (note,) = ended(adapter, "note", answer)
    wanted = in_guard(answer)
    assert note.quality.to_dict() == wanted.quality.to_dict()
    assert note.quality.should_escalate is (answer == FALSE)
    assert (note.trace_id, note.advice) == ("run", None)
    assert note.to_dict()["event"] == "answer_judged"


@pytest.mark.parametrize("adapter", RETRYING, ids=name_of)
def test_a_model_that_claims_what_was_not_done_is_asked_again_once(adapter: Any) -> None:
    first, second = ended(adapter, "retry", FALSE, TRUE)
    assert first.advice
    assert second.advice is None
    assert not second.quality.should_escalate


@pytest.mark.parametrize("adapter", RETRYING, ids=name_of)
def test_a_model_that_insists_is_not_asked_twice(adapter: Any) -> None:
    first, second = ended(adapter, "retry", FALSE, FALSE)
    assert first.advice
    assert second.advice is None
    assert second.quality.should_escalate


@pytest.mark.parametrize("adapter", ADAPTERS, ids=name_of)
def test_a_true_answer_is_left_alone(adapter: Any) -> None:
    (note,) = ended(adapter, "retry", TRUE)
    assert note.advice is None


@pytest.mark.parametrize("adapter", ADAPTERS, ids=name_of)
def test_answers_can_be_left_alone(adapter: Any) -> None:
    assert ended(adapter, "off", FALSE) == []


def test_a_doubt_is_noted_and_never_sent_back() -> None:
    notes: list[Note] = []
    guard = AgentGuard(None, notes.append, answers="retry")
    said = [{"role": "user", "content": "How warm is it?"}, {"role": "assistant", "content": "I cannot say."}]
    assert guard.finished("run", said) is None
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("question", "escalates"), [("Is the shop open?", False), ("Write an essay about whales.", True)]
)
def test_a_short_answer_is_held_against_its_question(question: str, escalates: bool) -> None:  # noqa: FBT001
    notes: list[Note] = []
    said = [{"role": "user", "content": question}, {"role": "assistant", "content": "Yes."}]
    AgentGuard(None, notes.append).finished("run", said)
    (note,) = notes
    assert isinstance(note, AnswerJudged)
    assert note.quality.should_escalate is escalates


SAID = [{"role": "user", "content": "Mail it to Ann."}, {"role": "assistant", "content": "I have emailed it to Ann."}]


def test_after_a_better_answer_the_next_wrong_one_is_sent_back_again() -> None:
    guard = AgentGuard(answers="retry")
    better = [*SAID[:1], {"role": "assistant", "content": "I sent no mail."}]
    found = [guard.finished("run", messages) is not None for messages in (SAID, better, SAID, SAID, SAID)]
    assert found == [True, False, True, False, True]


def test_nothing_is_sent_back_where_nobody_could_count_how_often() -> None:
    notes: list[Note] = []
    guard = AgentGuard(None, notes.append, answers="retry")
    assert guard.finished("", SAID) is None
    assert len(notes) == 1


def test_what_is_known_of_objects_is_bounded() -> None:
    memory: ObjectMemory[int] = ObjectMemory()
    runs = [[number] for number in range(1_001)]
    for number, run in enumerate(runs):
        memory.put(run, number)
    assert memory.get(runs[0]) is None
    assert memory.get(runs[1]) == 1


def test_what_cannot_be_read_is_not_judged() -> None:
    notes: list[Note] = []
    guard = AgentGuard(None, notes.append, answers="retry")
    assert guard.finished("run", []) is None
    assert guard.finished("run", [{"role": "user", "content": "Hello?"}]) is None
    assert guard.finished("run", [object()]) is None
    assert notes == []


def test_secrets_of_an_answer_are_not_noted() -> None:
    notes: list[Note] = []
    said = [
        {"role": "user", "content": "Mail it."},
        {"role": "assistant", "content": "I have emailed password=hunter2hunter2 to Ann."},
    ]
    AgentGuard(None, notes.append).finished("run", said)
    (note,) = notes
    assert "hunter2" not in json.dumps(note.to_dict())


def test_an_id_that_is_no_trace_id_becomes_one() -> None:
    assert trace_of("run 7\n") == trace_of("run 7\n") != trace_of("run 8\n")
    assert trace_of("run-7") == "run-7"
    assert trace_of("") is None
