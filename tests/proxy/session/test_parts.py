"""Small parts of a session: why a question has no answer, which repairs are applied, what is changed on its way."""

import json

import pytest
from tests.proxy.session.test_own_answers import TOOL, VERDICT, World, message, text

from toolvet.core.checks.result import check_result
from toolvet.mcp.wire import encode_raw
from toolvet.proxy.session import Asked, Catalogue, Policies, PolicyFault, ProxySettings, Session, ToClient, ToServer
from toolvet.proxy.session.judge import stopped_verdict
from toolvet.proxy.session.policy import _MOST_KNOWN

CALL = message(id=5, method="tools/call", params={"name": "find", "arguments": {"q": "x"}})


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"error": {"code": -32_000, "message": "gone " + "x" * 300}}, f"error -32000: gone {'x' * 195}"),
        ({"result": {}}, "the answer is not a tool list"),
        ({"result": 1, "error": 2}, "both `result` and `error`"),
        (None, "no answer in time"),
    ],
)
def test_why_the_list_of_tools_could_not_be_read(answer: dict[str, object] | None, why: str) -> None:
    session = Session(Policies())
    (question,) = [step.id for step in session.from_client(CALL) if isinstance(step, Asked)]
    steps = session.give_up(question) if answer is None else session.from_server(message(id=question, **answer))
    (fault,) = [step for step in steps if isinstance(step, PolicyFault)]
    assert fault.message.endswith(f"so calls go unchecked: {why}")
    assert [step.data for step in steps if isinstance(step, ToServer)] == [CALL]


def test_a_list_that_was_forgotten_while_it_was_read_is_not_completed() -> None:
    known = Catalogue()
    known.learn(None, {"tools": [{"name": "a"}], "nextCursor": "2"})
    known.forget()
    known.learn("2", {"tools": [{"name": "b"}]})
    assert (sorted(known.tools), known.is_complete) == (["b"], False)


@pytest.mark.parametrize(("why", "evidence"), [("", ()), ("too large", ("too large",))])
def test_a_stop_has_its_reason_as_its_evidence(why: str, evidence: tuple[str, ...]) -> None:
    verdict = check_result("find", {}, text("Ship 7 not found", isError=True))
    stopped = stopped_verdict("large_result", why, verdict)
    assert (stopped.evidence, stopped.certainty, stopped.factors, stopped.leaks) == (evidence, 1, (), ())
    assert stopped.is_error
    assert not stopped.error_without_flag


@pytest.mark.parametrize(
    ("value", "said"), [(2**70, b"1180591620717411303424"), ({"a": [1]}, b'{"a":[1]}'), (None, b"null")]
)
def test_any_value_is_written(value: object, said: bytes) -> None:
    assert bytes(encode_raw(value)) == said


def test_policies_are_kept_for_so_many_tools_and_no_more() -> None:
    policies = Policies(ProxySettings())
    for number in range(_MOST_KNOWN):
        policies.of(f"tool {number}")
    assert len(policies._known) == _MOST_KNOWN
    policies.of("one more")
    assert list(policies._known) == ["one more"]


@pytest.mark.parametrize(
    ("number", "sure"), [("7", {"high", "medium", "low"}), ("07", {"medium", "low"}), (True, {"low"})]
)
@pytest.mark.parametrize("least", ["high", "medium", "low"])
def test_a_repair_is_applied_from_the_confidence_that_was_asked_for(number: object, sure: set[str], least: str) -> None:
    world = World(ProxySettings(repair="apply", repair_from=least))  # type: ignore[arg-type]
    world.call({"q": "x", "n": number}, text("ok"))
    assert world.note is not None
    assert (world.note.repaired is not None) is (least in sure)
    assert (world.note.blocked == "arguments") is (least not in sure)


def test_an_answer_is_passed_on_as_it_came_unless_something_was_added() -> None:
    for meta, changed in (({}, False), ({VERDICT: True}, True)):
        session = World().session
        session.from_client(
            message(id=7, method="tools/call", params={"name": "find", "arguments": {"q": "x"}, "_meta": meta})
        )
        came = message(id=7, result=text("ok"))
        (sent,) = [step for step in session.from_server(came) if isinstance(step, ToClient)]
        assert (sent.data is came) is not changed
        assert sent == (ToClient(sent.data, 7) if changed else ToClient(came))


def test_a_tool_whose_schema_cannot_be_checked_is_called_valid_with_a_warning() -> None:
    session = Session(Policies(ProxySettings(announce="tool")))
    session.from_client(message(id=0, method="initialize", params={}))
    session.from_server(message(id=0, result={"capabilities": {"tools": {}}}))
    session.from_client(message(id=1, method="tools/list"))
    broken = {**TOOL, "inputSchema": {"type": "object", "properties": {"q": {"$ref": "https://a.test/x.json"}}}}
    session.from_server(message(id=1, result={"tools": [broken]}))
    arguments = {"tool": "find", "arguments": {"q": "x"}}
    steps = session.from_client(message(id=2, method="tools/call", params={"name": "validate", "arguments": arguments}))
    (said,) = [json.loads(step.data)["result"]["structuredContent"] for step in steps if isinstance(step, ToClient)]
    assert said["valid"] is True
    assert "'find' were not checked" in json.dumps(said)
