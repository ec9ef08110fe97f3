"""Where a session's decisions turn: limits, ends, ids used twice, questions given up."""

import json
from typing import Any

import pytest
from tests.proxy.session.test_own_answers import TOOL, VERDICT, World, message, text

from toolvet.proxy.session import (
    Asked,
    CallEnded,
    CallStarted,
    Policies,
    PolicyFault,
    ProxySettings,
    Session,
    Step,
    ToClient,
    ToServer,
)

CHECKED = {"tools": {}, "experimental": {"toolValidation": {"supported": True, "method": "check"}}}


def asking(settings: ProxySettings | None = None) -> tuple[Session, list[Step], str]:
    """A session that asks the server's validator about call 5: its steps, and the id of its question."""
    session = Session(Policies(settings or ProxySettings(server_validation="before_call")))
    session.from_client(message(id=0, method="initialize", params={}))
    session.from_server(message(id=0, result={"capabilities": CHECKED}))
    session.from_client(message(id=1, method="tools/list"))
    session.from_server(message(id=1, result={"tools": [TOOL]}))
    steps = session.from_client(call(5))
    (question,) = [step.id for step in steps if isinstance(step, Asked)]
    return session, steps, question


def call(id_: int) -> bytes:
    return message(id=id_, method="tools/call", params={"name": "find", "arguments": {"q": "x"}})


def kinds(steps: list[Step]) -> list[type[object]]:
    return [type(step) for step in steps]


def reply(question: str, **answer: object) -> bytes:
    return message(id=question, result={"content": [], "structuredContent": answer})


def test_a_call_that_waits_for_the_servers_validator_starts_once() -> None:
    session, steps, question = asking()
    assert kinds(steps) == [ToServer, Asked, CallStarted]
    sent = session.from_server(reply(question, valid=True, errors=[]))
    assert kinds(sent) == [ToServer]


def test_a_call_that_waits_for_the_list_starts_once() -> None:
    session = Session(Policies())
    steps = session.from_client(call(5))
    assert kinds(steps) == [CallStarted, ToServer, Asked]
    question = next(step.id for step in steps if isinstance(step, Asked))
    released = session.from_server(message(id=question, result={"tools": [TOOL]}))
    assert sorted(kind.__name__ for kind in kinds(released)) == ["SchemaLearned", "ToServer"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"valid": False, "errors": ["q is taken", "n is odd"]}, "q is taken; n is odd"),
        ({"valid": False, "errors": []}, "the server's validator refuses it"),
    ],
)
@pytest.mark.parametrize("arguments", ["enforce", "audit"])
def test_the_record_says_why_the_servers_validator_refuses(arguments: Any, answer: dict[str, Any], why: str) -> None:
    session, _, question = asking(ProxySettings(server_validation="before_call", arguments=arguments))
    steps = session.from_server(reply(question, **answer))
    if arguments == "audit":
        steps += session.from_server(message(id=5, result=text("ok")))
    note = next(step for step in steps if isinstance(step, CallEnded))
    assert note.why == why
    assert (note.blocked, note.would_block) == (
        ("server_validation", None) if arguments == "enforce" else (None, "server_validation")
    )
    if arguments == "enforce":
        (said,) = [
            json.loads(step.data)["result"]["content"][0]["text"] for step in steps if isinstance(step, ToClient)
        ]
        assert "## Suggestions:" not in said
        assert "1. " in said


def test_advice_of_the_servers_validator_is_passed_on() -> None:
    session, _, question = asking()
    (end,) = [
        json.loads(step.data)["result"]["content"][0]["text"]
        for step in session.from_server(reply(question, valid=False, errors=["no"], suggestions=["try y"]))
        if isinstance(step, ToClient)
    ]
    assert end.endswith("1. no\n\n## Suggestions:\n\n- try y")


def test_after_the_end_nothing_waits_any_more() -> None:
    session, _, question = asking()
    assert kinds(session.close()) == [CallEnded]
    assert session.close() == []
    assert session.give_up(question) == []
    reading = Session(Policies())
    (question,) = [step.id for step in reading.from_client(call(5)) if isinstance(step, Asked)]
    assert kinds(reading.close()) == [CallEnded]
    assert reading.give_up(question) == []


def test_a_changed_list_lets_a_failing_call_pass_again() -> None:
    world = World(ProxySettings(break_after=2))
    failing = text("Ship 7 not found", isError=True)
    for _ in range(2):
        world.call({"q": "x"}, failing)
    assert "failed 2 times in a row" in world.call({"q": "x"})["content"][0]["text"]
    world.session.from_server(message(method="notifications/tools/list_changed"))
    world.session.from_client(message(id=99, method="tools/list"))
    world.session.from_server(message(id=99, result={"tools": [TOOL]}))
    assert world.call({"q": "x"}, failing) == failing


def test_an_id_that_is_used_again_before_it_was_answered_is_counted() -> None:
    session = World().session
    for _ in range(3):
        steps = session.from_client(call(7))
    assert PolicyFault in kinds(steps)
    # Three answers are expected: one is cancelled, two pass unjudged, and then the id is free again.
    session.from_client(message(method="notifications/cancelled", params={"requestId": 7}))
    for _ in range(2):
        assert PolicyFault in kinds(session.from_client(call(7)))
        session.from_server(message(id=7, result=text("a")))
        assert kinds(session.from_server(message(id=7, result=text("a")))) == [ToClient]
    assert PolicyFault not in kinds(session.from_client(call(7)))
    assert kinds(session.from_server(message(id=7, result=text("a")))) == [ToClient, CallEnded]
    twice = World().session
    for _ in range(2):
        twice.from_client(call(7))
    twice.from_client(message(method="notifications/cancelled", params={"requestId": 7}))
    twice.from_client(message(method="notifications/cancelled", params={"requestId": 7}))
    assert PolicyFault not in kinds(twice.from_client(call(7)))


@pytest.mark.parametrize("more", [0, 1])
def test_a_result_of_just_the_limit_passes(more: int) -> None:
    answer = text("x")
    size = len(message(id=2, result=answer))
    world = World(ProxySettings(results="enforce", max_result_bytes=size - more))
    result = world.call({"q": "x"}, answer)
    assert world.note is not None
    assert (world.note.blocked, result == answer) == ((None, True) if not more else ("limits", False))


def test_where_results_are_not_judged_errors_have_no_verdict_but_an_outcome() -> None:
    world = World(ProxySettings(results="off", announce="off"))
    sent = call(7)
    world.session.from_client(sent)
    error = message(id=7, error={"code": -32602, "message": "no"})
    (note,) = [step for step in world.session.from_server(error) if isinstance(step, CallEnded)]
    assert (note.outcome, note.verdict, note.code) == ("protocol_error", None, -32602)
    outcomes = {
        "success": text("x"),
        "tool_error": text("x", isError=True),
        "input_required": {"resultType": "input_required"},
        "task": {"task": {"taskId": "1"}},
    }
    for outcome, answer in {**outcomes, "task ": {"resultType": "task"}}.items():
        world.call({"q": "x"}, answer)
        assert world.note is not None
        assert world.note.outcome == outcome.strip()


@pytest.mark.parametrize("structured", [False, True])
def test_what_was_changed_in_a_result_that_is_held_back(structured: bool) -> None:  # noqa: FBT001 - both.
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    world = World(ProxySettings(output_schema="enforce"), outputSchema=schema)
    world.call(
        {"q": "x"}, text("3", structuredContent={"n": "3"}) if structured else text('{"n": "3"}'), **{VERDICT: True}
    )
    assert world.note is not None
    expected = ["verdict", "is_error", "content", *(["structured_content"] if structured else [])]
    assert list(world.note.changed) == expected


def test_only_a_policy_that_may_change_a_result_makes_its_client_wait() -> None:
    for settings, watches in (
        (ProxySettings(), True),
        (ProxySettings(results="enforce"), False),
        (ProxySettings(output_schema="enforce"), False),
        (ProxySettings(verdict="always"), False),
    ):
        session = World(settings).session
        assert session.only_watches
        session.from_client(call(7))
        assert session.only_watches is watches
    session = World().session
    session.from_client(message(id=8, method="tools/list"))
    assert not session.only_watches


def test_arguments_are_recorded_without_a_result_and_a_result_without_arguments() -> None:
    world = World(ProxySettings(record="calls"))
    world.call({"n": "2"})
    assert world.note is not None
    assert world.note.to_dict()["arguments"] == {"n": "2"}
    world = World(ProxySettings(record="calls"), inputSchema={"type": "object"})
    world.call({}, text("x"))
    assert world.note is not None
    assert world.note.to_dict()["result"] == text("x")


def test_a_list_that_changes_while_it_is_read_is_read_again_three_times() -> None:
    session = Session(Policies())
    steps = session.from_client(call(5))
    asked = 0
    for _ in range(9):
        questions = [step.id for step in steps if isinstance(step, Asked)]
        if not questions:
            break
        asked += 1
        session.from_server(message(method="notifications/tools/list_changed"))
        steps = session.from_server(message(id=questions[0], result={"tools": [TOOL]}))
    assert asked == 4
    assert ToServer in kinds(steps)
