"""The small decisions of a session: each at the limit where it changes, and with its whole result compared."""

import json
from typing import Any

import pytest

from toolvet.proxy.session import CallEnded, CallStarted, Policies, ProxySettings, Session, ToClient, ToolSettings
from toolvet.proxy.session.own_tools import add_tool
from toolvet.proxy.session.policy import is_fit


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        ("0", True),
        ("1", True),
        ("999999999999", True),
        ("1000000000000", False),
        ("40000 characters", True),
        ("40000 tokens", True),
        ("40000 words", False),
        ("40000  tokens", False),
        ("tokens", False),
        ("", False),
        ("-1", False),
        (" 1", False),
    ],
)
def test_a_length_is_a_number_or_a_number_with_its_unit(words: str, *, fits: bool) -> None:
    assert is_fit(words) is fits


@pytest.mark.parametrize(
    ("settings", "fits"),
    [
        (ProxySettings(), False),
        (ProxySettings(fit=0), False),
        (ProxySettings(fit="0 tokens"), False),
        (ProxySettings(fit="000 characters"), False),
        (ProxySettings(fit=1), True),
        (ProxySettings(fit="10 tokens"), True),
        (ProxySettings(tools={"a": ToolSettings(), "b": ToolSettings(fit=0)}), False),
        (ProxySettings(tools={"a": ToolSettings(fit=0), "b": ToolSettings(fit="5 characters")}), True),
    ],
)
def test_results_are_shortened_where_any_tool_has_a_length(settings: ProxySettings, *, fits: bool) -> None:
    assert Policies(settings).fits is fits


def test_policies_of_names_that_clients_make_up_do_not_grow_without_end() -> None:
    policies, sizes = Policies(), list[int]()
    for number in range(4_098):
        policies.of(f"tool {number}")
        sizes.append(len(policies._known))
    assert max(sizes) == 4_096


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        (b"[]", b'[{"name":"own"}]'),
        (b"[ ]", b'[ {"name":"own"}]'),
        (b'[{"name":"a"}]', b'[{"name":"a"},{"name":"own"}]'),
        (b'[{"name":"a"} , 2 ]', b'[{"name":"a"} , 2 ,{"name":"own"}]'),
        (b"[1]", b'[1,{"name":"own"}]'),
    ],
)
def test_a_tool_of_ours_is_added_at_the_end_and_the_rest_stays_to_the_byte(tools: bytes, expected: bytes) -> None:
    data = b'{"jsonrpc":"2.0","id":1,"result":{"tools":%b,"x":1.0}}'
    assert add_tool(data % tools, {"name": "own"}) == data % expected


def message(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def listed(session: Session, *names: str) -> None:
    session.from_client(message(id="list", method="tools/list"))
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    session.from_server(message(id="list", result={"tools": tools}))


def test_a_tool_that_a_later_list_leaves_out_is_forgotten() -> None:
    session = Session(Policies())
    listed(session, "a", "b")
    assert sorted(session._catalogue.tools) == ["a", "b"]
    listed(session, "b", "c")
    assert sorted(session._catalogue.tools) == ["b", "c"]


@pytest.mark.parametrize(
    ("more", "members"),
    [
        ({}, {}),
        ({"why": "so"}, {"why": "so"}),
        ({"code": -32602}, {"code": -32602}),
        ({"changed": ("trace", "content")}, {"changed": ["trace", "content"]}),
        ({"repaired": {"a": 1}}, {"repaired": {"a": 1}}),
        ({"blocked": "limits"}, {"blocked": "limits"}),
        ({"would_block": "limits"}, {"would_block": "limits"}),
        ({"unjudged": "too long"}, {"unjudged": "too long"}),
        ({"arguments": {"password": "x"}}, {"arguments": {"password": "[redacted]"}}),
        ({"arguments": {"a": 1}, "hidden": ("a",)}, {"arguments": {"a": "[redacted]"}}),
    ],
)
def test_a_call_that_ended_is_told_with_just_what_it_has(more: dict[str, Any], members: dict[str, object]) -> None:
    note = CallEnded(call=1, id=7, tool="t", era="legacy", outcome="success", size=10, **more)
    plain = {"event": "call_ended", "call": 1, "id": 7, "tool": "t", "era": "legacy", "outcome": "success", "size": 10}
    assert note.to_dict() == {**plain, "trace_id": note.trace_id, **members}


def call(id_: int, arguments: dict[str, object]) -> bytes:
    return message(id=id_, method="tools/call", params={"name": "t", "arguments": arguments})


def test_calls_are_numbered_one_by_one_whatever_becomes_of_them() -> None:
    session = Session(Policies())
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    session.from_client(message(id="list", method="tools/list"))
    session.from_server(message(id="list", result={"tools": [tool]}))
    steps = [step for id_, n in enumerate((1, "no", 2, "no", 3)) for step in session.from_client(call(id_, {"n": n}))]
    assert [step.call for step in steps if isinstance(step, CallStarted | CallEnded)] == [1, 2, 3, 4, 5]
    (refused,) = {tuple(issue["keyword"] for issue in found) for found in issues_of(steps)}
    assert refused == ("type",)


def issues_of(steps: list[Any]) -> list[list[dict[str, Any]]]:
    return [step.to_dict()["issues"] for step in steps if isinstance(step, CallEnded)]  # type: ignore[misc]


@pytest.mark.parametrize("twice", [False, True])
def test_of_two_requests_with_one_id_a_cancellation_takes_one(*, twice: bool) -> None:
    session = Session(Policies())
    for _ in range(3 if twice else 2):
        session.from_client(message(id=1, method="ping"))
    session.from_client(message(method="notifications/cancelled", params={"requestId": 1}))
    left = session._pending.get(1)
    assert getattr(left, "answers", None) == (2 if twice else 1)
    steps = session.from_server(message(id=1, result={}))
    assert any(isinstance(step, ToClient) for step in steps)
