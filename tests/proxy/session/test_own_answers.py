"""The session's own answers: each has a verdict that says so, and the shape of the tool's other results."""

import json
from typing import Any, get_args

import pytest

from toolvet import check_envelope, check_result, success_response
from toolvet.agents.integrations.enveloped.result import placed
from toolvet.core.causes import State, state_of_stop
from toolvet.core.envelope import output_schema
from toolvet.mcp.wire import encode_error
from toolvet.proxy.session import CallEnded, Policies, ProxySettings, Session, Step, ToClient, ToServer
from toolvet.proxy.session.judge import Stop, wanted_contract
from toolvet.proxy.session.step import Reason

TOOL = {
    "name": "find",
    "inputSchema": {
        "type": "object",
        "properties": {"q": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["q"],
    },
}
VERDICT, ENVELOPE, TRACE = "dev.toolvet/verdict", "dev.toolvet/envelope", "dev.toolvet/trace"
ASKING = {VERDICT: True}
OK = success_response({"ships": 2})


def message(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


class World:
    """A session with a server of one tool; `call` returns what the client gets, and keeps the note."""

    def __init__(self, settings: ProxySettings | None = None, capabilities: object = None, **tool: object) -> None:
        self.session = Session(Policies(settings))
        self.note: CallEnded | None = None
        self._id = 1
        if capabilities is not None:
            self.session.from_client(message(id=0, method="initialize", params={"capabilities": capabilities}))
            self.session.from_server(message(id=0, result={"capabilities": {"tools": {}}}))
        self.session.from_client(message(id=1, method="tools/list"))
        self.session.from_server(message(id=1, result={"tools": [{**TOOL, **tool}]}))

    def call(self, arguments: object, answer: dict[str, Any] | None = None, **meta: object) -> Any:
        self._id += 1
        params = {"name": "find", "arguments": arguments, "_meta": meta}
        steps = self.session.from_client(message(id=self._id, method="tools/call", params=params))
        if any(isinstance(step, ToServer) for step in steps):
            assert answer is not None
            steps = self.session.from_server(message(id=self._id, result=answer))
        return self.take(steps)

    def take(self, steps: list[Step]) -> Any:
        self.note = next(step for step in steps if isinstance(step, CallEnded))
        (data,) = [step.data for step in steps if isinstance(step, ToClient)]
        found = json.loads(data)
        return found.get("result", found.get("error"))


def text(words: str, **more: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


def test_every_reason_has_a_cause() -> None:
    reasons = {each for part in get_args(Reason) for each in (get_args(part) or (part,))}
    assert reasons <= set(get_args(Stop))
    for stop in get_args(Stop):
        assert state_of_stop(stop) in State


REFUSED = [
    ({}, None, {"n": "2"}, "arguments", ("invalid_input", "fix_arguments")),
    ({"max_arguments_bytes": 300}, None, {"q": "x" * 300}, "limits", ("invalid_input", "fix_arguments")),
    (
        {"break_after": 1},
        text("Ship 7 not found", isError=True),
        {"q": "7"},
        "repeated",
        ("not_found", "fix_arguments"),
    ),
    ({"break_after": 1}, text("frob", isError=True), {"q": "7"}, "repeated", ("unknown", None)),
]


@pytest.mark.parametrize(("settings", "before", "arguments", "reason", "cause"), REFUSED)
def test_a_refused_call_has_a_verdict_in_the_record_and_in_meta_when_asked(
    settings: dict[str, Any],
    before: dict[str, Any] | None,
    arguments: object,
    reason: str,
    cause: tuple[str, str | None],
) -> None:
    state, retry = cause
    world = World(ProxySettings(**settings))
    if before is not None:
        world.call(arguments, before)
    result = world.call(arguments, None, **ASKING)
    assert result["isError"] is True
    verdict = result["_meta"][VERDICT]
    assert (verdict["state"], verdict["retry"], verdict["is_error"]) == (state, retry, True)
    assert "Refused by toolvet, not sent" in verdict["issues"][0]
    assert world.note is not None
    assert world.note.blocked == reason
    assert world.note.to_dict()["verdict"] == verdict
    assert verdict["trace_id"] == result["_meta"][TRACE] == world.note.trace_id
    # A reader of only the answer comes to the same.
    read = check_result(TOOL, arguments, result)
    assert (str(read.state), read.retry, read.error_kind) == (state, retry, verdict["error_kind"])
    quiet = World(ProxySettings(**settings, results="off"))
    if before is None:
        assert VERDICT not in quiet.call(arguments)["_meta"]
        assert quiet.note is not None
        assert quiet.note.verdict is not None


HELD = [
    ({"results": "enforce"}, {"isError": False}, "result", "invalid_output"),
    ({"results": "enforce", "max_result_bytes": 200}, text("x" * 200), "limits", "invalid_input"),
    ({"output_schema": "enforce"}, text("3", structuredContent={"n": "3"}), "output_schema", "invalid_output"),
    ({"results": "enforce"}, text("Error: Ship 7 not found"), "result", "not_found"),
]


@pytest.mark.parametrize(("settings", "answer", "reason", "state"), HELD)
def test_a_result_that_is_held_back_has_a_verdict_on_what_the_client_gets(
    settings: dict[str, Any], answer: dict[str, Any], reason: str, state: str
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    world = World(ProxySettings(**settings), **({"outputSchema": schema} if reason == "output_schema" else {}))
    result = world.call({"q": "x"}, answer, **ASKING)
    verdict = result["_meta"][VERDICT]
    assert (result["isError"], verdict["state"]) == (True, state)
    assert world.note is not None
    assert (world.note.blocked, world.note.outcome) == (reason, "tool_error")
    assert world.note.to_dict()["verdict"] == verdict
    assert str(check_result(TOOL, {}, result).state) == state


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("The MCP server is unavailable: it ended (exit code 3) before it answered.", "unavailable"),
        ("The MCP server did not answer: HTTP 401 Unauthorized", "unauthorized"),
        ("The MCP server did not answer: frob", "unavailable"),
    ],
)
def test_a_call_that_the_server_cannot_answer_ends_in_a_verdict(words: str, state: str) -> None:
    world = World()
    world.session.from_client(
        message(id=7, method="tools/call", params={"name": "find", "arguments": {"q": "x"}, "_meta": ASKING})
    )
    error = world.take(world.session.fail(encode_error(7, -32603, words)))
    assert (error["code"], error["message"]) == (-32603, words)
    assert world.note is not None
    assert (world.note.outcome, world.note.code, world.note.blocked) == ("protocol_error", -32603, None)
    assert error["data"][VERDICT] == world.note.to_dict()["verdict"]
    assert error["data"][VERDICT]["state"] == state
    assert error["data"][TRACE] == world.note.trace_id
    assert world.session.close() == []


def test_another_request_that_fails_gets_the_error_as_it_is() -> None:
    error = encode_error(9, -32603, "The MCP server is unavailable.")
    (step,) = World().session.fail(error)
    assert isinstance(step, ToClient)
    assert step.data is error


# ── envelopes ──

FLAG: dict[str, Any] = {"capabilities": {"experimental": {"response_contract_v2": {}}}}
V1, V2 = {"dev.toolvet/contract": "v1"}, {"dev.toolvet/contract": "v2"}
DECLARED = {"outputSchema": output_schema()}
SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any], str, str | None]] = {
    "as always": ({}, text("two ships"), {}, "report", None),
    "asked for by the call": ({}, None, V2, "json", "_meta"),
    "asked for by the client": (FLAG, None, {}, "json", "_meta"),
    "refused by the call": (
        FLAG,
        None,
        V1,
        "report",
        None,
    ),
    "seen as text": ({}, placed(OK, era="legacy"), {}, "json", "_meta"),
    "seen beside prose": ({}, placed(OK, text="prose", era="legacy"), {}, "report", "_meta"),
    "declared": (DECLARED, None, {}, "json", "structuredContent"),
    "declared, as v1": (DECLARED, None, V1, "v1", "structuredContent"),
}


@pytest.mark.parametrize(("world", "seen", "meta", "form", "place"), SHAPES.values(), ids=SHAPES)
def test_refused_arguments_have_the_shape_of_the_tools_results(
    world: dict[str, Any], seen: dict[str, Any] | None, meta: dict[str, Any], form: str, place: str | None
) -> None:
    played = World(**world)
    if seen is not None:
        played.call({"q": "x"}, seen)
    result = played.call({"n": "2"}, **meta)
    (block,) = result["content"]
    envelope = result.get("structuredContent") or result["_meta"].get(ENVELOPE)
    assert "dev.toolvet/arguments" in result["_meta"]
    if form == "report":
        assert "received invalid arguments" in block["text"].splitlines()[0]
    elif form == "json":
        assert json.loads(block["text"]) == envelope
    else:
        assert json.loads(block["text"])["error_code"] == "VALIDATION_ERROR"
        assert "success" not in json.loads(block["text"])
    if place is None:
        assert envelope is None
        return
    assert (place == "structuredContent") is ("structuredContent" in result)
    assert check_envelope(envelope) == ()
    assert envelope["meta"]["request_id"] == result["_meta"][TRACE]
    assert [each["field"] for each in envelope["data"]["details"]["errors"]] == ["q", "n"]
    read = check_result(TOOL, {}, result)
    assert (str(read.state), str(read.retry)) == ("invalid_input", "fix_arguments")


@pytest.mark.parametrize(
    ("capabilities", "wanted"),
    [
        (None, None),
        ({"experimental": {"response_contract_v2": {"enabled": False}}}, None),
        ({"experimental": {"response_contract_v2": False}}, None),
        ({"experimental": {"response_contract_v2": True}}, "v2"),
        ({"experimental": 7}, None),
    ],
)
def test_the_flag_of_a_client_is_read_in_both_eras(capabilities: object, wanted: str | None) -> None:
    assert wanted_contract({}, capabilities) == wanted
    assert wanted_contract({"io.modelcontextprotocol/clientCapabilities": capabilities}) == wanted
    assert wanted_contract({"dev.toolvet/contract": "v3"}, capabilities) == wanted


def test_secrets_of_a_refused_call_are_not_in_its_envelope() -> None:
    result = World().call({"q": 1, "password": "hunter2"}, None, **V2)
    assert "hunter2" not in json.dumps(result)
