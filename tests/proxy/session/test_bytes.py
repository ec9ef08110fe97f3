"""What needs no decision passes as the very same bytes, and nothing that anybody sends makes a session fail."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from toolvet.proxy.session import Note, Policies, PolicyFault, ProxySettings, Session, Step, ToClient, ToServer

ENFORCING = ProxySettings(
    repair="apply", results="enforce", output_schema="enforce", verdict="always", server_validation="before_call",
    announce="tool", break_after=1, record="calls", redact=("a",),
)  # fmt: skip
OFF = ProxySettings(arguments="off", results="off", output_schema="off", break_after=0, announce="off")
DECIDED = {"tools/call", "tools/list", "initialize", "server/discover"}

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
ids = st.integers(0, 4) | st.sampled_from(["a", "toolvet:1", "toolvet:2"])
methods = st.sampled_from(
    [
        "ping", "resources/read", "sampling/createMessage", "elicitation/create", "roots/list", "tasks/result",
        "notifications/progress", "notifications/message", "notifications/cancelled", "subscriptions/listen",
        "completion/complete", "notifications/future", "tools/future",
    ]
)  # fmt: skip
decided = st.sampled_from(sorted(DECIDED))
modern = st.just({"io.modelcontextprotocol/protocolVersion": "2026-07-28"})
metas = (
    st.none() | modern | st.dictionaries(st.sampled_from(["dev.toolvet/verdict", "progressToken"]), scalars) | values
)
names = st.sampled_from(["add", "find", "odd", "check", "validate", ""]) | st.text()
arguments = st.fixed_dictionaries({}, optional={"a": values, "b": values}) | values
params = st.fixed_dictionaries(
    {},
    optional={
        "name": names | values,
        "arguments": arguments,
        "_meta": metas,
        "cursor": values,
        "requestId": ids | values,
        "task": values,
        "requestState": st.text(),
    },
)
tools = st.fixed_dictionaries(
    {"name": names},
    optional={
        "inputSchema": st.sampled_from(
            [{"type": "object"}, {"required": ["a"], "properties": {"a": {"type": "integer"}}}, {"type": "objekt"}]
        )
        | values,
        "outputSchema": st.sampled_from([{"type": "object", "required": ["n"]}, {"type": 7}]) | values,
        "annotations": values,
    },
)
results = st.fixed_dictionaries(
    {},
    optional={
        "tools": st.lists(tools | values, max_size=3) | values,
        "nextCursor": values,
        "ttlMs": values,
        "content": st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": st.text()}) | values, max_size=2)
        | values,
        "structuredContent": values,
        "isError": st.booleans() | values,
        "resultType": st.sampled_from(["complete", "input_required", "task", "hologram"]) | values,
        "capabilities": st.sampled_from(
            [{"tools": {}}, {"tools": {}, "experimental": {"toolValidation": {"supported": True, "method": "check"}}}]
        )
        | values,
        "_meta": metas,
        "valid": values,
    },
)


def message(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"jsonrpc": st.just("2.0"), **members})


requests = message(id=ids, method=methods | decided, params=params | values)
notifications = message(method=methods | st.just("notifications/tools/list_changed"), params=params | values)
answers = message(id=ids, result=results | values) | message(
    id=ids | st.none(), error=st.fixed_dictionaries({"code": st.integers(-40000, 0), "message": st.text()})
)
legal = requests | notifications | answers


def written(said: object) -> bytes:
    return json.dumps(said).encode()


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    """A legal message with a piece cut out, doubled or overwritten."""
    data = written(draw(legal))
    start = draw(st.integers(0, len(data)))
    end = draw(st.integers(start, len(data)))
    return data[:start] + draw(st.binary(max_size=8) | st.just(data[start:end] * 2)) + data[end:]


anything = st.binary() | legal.map(written) | broken() | st.lists(legal, max_size=3).map(written)


@pytest.mark.parametrize("policy", [OFF, ProxySettings(), ENFORCING], ids=["off", "default", "enforcing"])
@given(data=st.binary())
def test_bytes_that_are_no_message_pass_as_they_are(policy: ProxySettings, data: bytes) -> None:
    session = Session(Policies(policy))
    (out,) = session.from_client(data)
    assert isinstance(out, ToServer)
    assert out.data is data
    (back,) = session.from_server(data)
    assert isinstance(back, ToClient)
    assert back.data is data


def test_a_batch_that_cannot_be_read_passes_where_nothing_is_enforced_and_the_record_says_so() -> None:
    deep = "[" * 3000 + "]" * 3000
    call = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add"}}'
    for data in (f"[{call}, {deep}]".encode(), f"[{call}".encode(), b"[" + call.encode() + b', "\xff"'):
        out, note = Session(Policies(ProxySettings(arguments="audit"))).from_client(data)
        assert isinstance(out, ToServer)
        assert out.data is data
        assert isinstance(note, PolicyFault)
        assert note.kind == "call_unreadable"


@given(said=message(id=ids, method=methods, params=params) | message(method=methods, params=params) | answers)
def test_what_the_client_says_beside_calls_passes_as_it_is(said: dict[str, Any]) -> None:
    session, data = Session(Policies(ENFORCING)), written(said)
    (step,) = session.from_client(data)
    assert isinstance(step, ToServer)
    assert step.data is data


@given(said=message(id=ids, method=methods | decided, params=params) | message(method=methods, params=params))
def test_what_the_server_asks_or_tells_passes_as_it_is(said: dict[str, Any]) -> None:
    session, data = Session(Policies(ENFORCING)), written(said)
    (step,) = session.from_server(data)
    assert isinstance(step, ToClient)
    assert step.data is data


@given(said=message(id=st.integers(), result=results | values))
def test_an_answer_that_nobody_waits_for_passes_as_it_is(said: dict[str, Any]) -> None:
    session, data = Session(Policies(ENFORCING)), written(said)
    (step,) = session.from_server(data)
    assert isinstance(step, ToClient)
    assert step.data is data


@given(data=broken())
def test_with_all_policies_off_even_broken_messages_pass_as_they_are(data: bytes) -> None:
    session = Session(Policies(OFF))
    assert [step.data for step in sent(session.from_client(data))] == [data]
    assert [step.data for step in sent(Session(Policies(OFF)).from_server(data))] == [data]


@pytest.mark.parametrize("policy", [ProxySettings(), ENFORCING], ids=["default", "enforcing"])
@given(said=st.lists(st.tuples(st.booleans(), anything), max_size=12))
def test_no_conversation_makes_a_session_fail(policy: ProxySettings, said: list[tuple[bool, bytes]]) -> None:
    session = Session(Policies(policy))
    for from_client, data in said:
        steps = session.from_client(data) if from_client else session.from_server(data)
        for step in steps:
            if isinstance(step, Note):
                json.dumps(step.to_dict())
            else:
                assert step.data == data or json.loads(step.data)
    for number in range(20):
        session.give_up(f"toolvet:{number}")
    session.close()


@pytest.mark.parametrize("policy", [ProxySettings(), ENFORCING], ids=["default", "enforcing"])
@given(calls=st.lists(st.fixed_dictionaries({"name": names, "arguments": arguments}), max_size=8), listed=st.booleans())
def test_every_call_is_sent_once_or_answered_once(
    policy: ProxySettings,
    calls: list[dict[str, Any]],
    listed: bool,  # noqa: FBT001 - hypothesis passes by name.
) -> None:
    """Against a server that answers everything, at once, with the same."""
    session = Session(Policies(policy))
    listing = {"tools": [{"name": "add", "inputSchema": {"required": ["a"]}}, {"name": "find"}]}
    if listed:
        session.from_client(written({"jsonrpc": "2.0", "id": "list", "method": "tools/list"}))
        session.from_server(written({"jsonrpc": "2.0", "id": "list", "result": listing}))
    answered: list[object] = []
    waiting: list[Step] = []
    for id_, each in enumerate(calls):
        waiting += session.from_client(written({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": each}))
    while waiting:
        step = waiting.pop(0)
        if isinstance(step, ToClient):
            answered.append(json.loads(step.data)["id"])
        elif isinstance(step, ToServer):
            asked = json.loads(step.data)
            result = listing if asked["method"] == "tools/list" else {"content": [{"type": "text", "text": "done"}]}
            waiting += session.from_server(written({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
    assert sorted(map(str, answered)) == [str(id_) for id_ in range(len(calls))]
    assert session.close() == []


def sent(steps: list[Step]) -> list[ToServer | ToClient]:
    return [step for step in steps if not isinstance(step, Note)]
