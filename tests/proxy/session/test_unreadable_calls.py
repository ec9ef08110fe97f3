"""A call that is not a legal message: refused where arguments are enforced, or passed and recorded, never unsaid."""

import json
from typing import Any

import pytest

from toolvet.proxy.session import Policies, PolicyFault, ProxySettings, Session, Step, ToClient, ToolSettings, ToServer

CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":"x"}}}'


def changed(old: str, new: str) -> str:
    assert old in CALL
    return CALL.replace(old, new)


# The message, and the id of the refusal.
UNREADABLE: dict[str, tuple[str | bytes, Any]] = {
    "half a character in an argument": (changed('"x"', r'"\ud800"'), 1),
    "half a character in _meta": (changed("}}}", r'},"_meta":{"q":"\ud800"}}}'), 1),
    "half a character beside params": (changed('"id":1', r'"id":1,"z":"\ud800"'), 1),
    "NaN": (changed('"x"', "NaN"), 1),
    "NaN in _meta": (changed("}}}", '},"_meta":{"q":NaN}}}'), 1),
    "beyond a double": (changed('"x"', "1e400"), 1),
    "digits without end": (changed('"x"', "9" * 5000), 1),
    "bytes that are not UTF-8": (changed('"x"', '"\udcff"').encode("utf-8", "surrogateescape"), 1),
    "no version": (changed('"jsonrpc":"2.0",', ""), 1),
    "no id": (changed('"id":1,', ""), None),
    "id null": (changed('"id":1', '"id":null'), None),
    "id object": (changed('"id":1', '"id":{}'), None),
    "id fraction": (changed('"id":1', '"id":1.5'), None),
    "id boolean": (changed('"id":1', '"id":true'), None),
    "result beside method": (changed('"id":1', '"id":1,"result":{}'), 1),
    "error beside method": (changed('"id":1', '"id":1,"error":{"code":1,"message":""}'), 1),
    "arguments as text": (changed('{"a":"x"}', r'"{\"a\":\"x\"}"'), 1),
    "arguments as list": (changed('{"a":"x"}', "[1]"), 1),
    "params as list": (changed('{"name":"add","arguments":{"a":"x"}}', '["add"]'), 1),
    "trailing text": (CALL + "x", 1),
    "trailing comma": (CALL[:-1] + ",}", 1),
    "two messages": (CALL + CALL, 1),
    "comment": ("/*x*/" + CALL, None),
    "byte order mark": ("\ufeff" + CALL, 1),
    "UTF-16 with a mark": (CALL.encode("utf-16"), None),
    "UTF-32": (CALL.encode("utf-32-be"), None),
    "UTF-16": (CALL.encode("utf-16-le"), None),
    "nested batch": (f"[[{CALL}]]", None),
    "unfinished batch": (f"[{CALL}", None),
    "deep batch": (f"[{CALL},{'[' * 3000}{']' * 3000}]", None),
    "deep _meta": (changed("}}}", '},"_meta":{"q":' + "[" * 3000 + "]" * 3000 + "}}}"), 1),
    "escaped method": (changed("tools/call", r"tools\/c\u0061ll") + "x", 1),
}
EVERY = pytest.mark.parametrize(("sent", "id_"), UNREADABLE.values(), ids=UNREADABLE)


def steps_for(sent: str | bytes, settings: ProxySettings) -> tuple[bytes, list[Step]]:
    data = sent if isinstance(sent, bytes) else sent.encode()
    return data, Session(Policies(settings)).from_client(data)


@EVERY
@pytest.mark.parametrize("how", ["default", "one tool"])
def test_it_is_refused_where_arguments_are_enforced(sent: str | bytes, id_: object, how: str) -> None:
    one = ProxySettings(arguments="off", tools={"add": ToolSettings(arguments="enforce")})
    _, (answer, fault) = steps_for(sent, one if how == "one tool" else ProxySettings())
    assert isinstance(answer, ToClient)
    said = json.loads(answer.data)
    assert (said["id"], said["error"]["code"]) == (id_, -32600)
    assert "was not sent to the server" in said["error"]["message"]
    assert isinstance(fault, PolicyFault)
    assert fault.kind == "request_refused"


@EVERY
@pytest.mark.parametrize("how", ["audit", "off"])
def test_it_passes_as_it_is_and_is_recorded_where_they_are_not(sent: str | bytes, id_: object, how: Any) -> None:  # noqa: ARG001 - of the table
    settings = ProxySettings(arguments=how, max_depth=10_000)
    data, (passed, *notes) = steps_for(sent, settings)
    assert isinstance(passed, ToServer)
    assert passed.data == data
    assert [note.kind for note in notes if isinstance(note, PolicyFault)] == ["call_unreadable"]


@pytest.mark.parametrize(
    "sent",
    [
        r'{"jsonrpc":"2.0","id":1,"result":{"text":"\ud800 \"tools/call\""}}',
        r'{"jsonrpc":"2.0","id":1,"result":{"text":"\ud800 \u0022tools/call\u0022"}}',
        r'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"x":"\ud800"}}',
        "[[1]]",
        '{"id":1,"method":"ping"}',
        "what is tools/call?",
    ],
)
def test_what_is_no_call_passes_unsaid(sent: str) -> None:
    data, steps = steps_for(sent, ProxySettings())
    assert [step.data for step in steps if isinstance(step, ToServer)] == [data]
    assert not [step for step in steps if isinstance(step, PolicyFault)]


def test_the_rest_of_a_batch_passes() -> None:
    ping = '{"jsonrpc":"2.0","id":2,"method":"ping"}'
    unreadable = changed('"x"', "NaN")
    _, steps = steps_for(f"[{ping},[{CALL}],{unreadable}]", ProxySettings())
    assert [step.data for step in steps if isinstance(step, ToServer)] == [f"[{ping}]".encode()]
    assert [json.loads(step.data)["id"] for step in steps if isinstance(step, ToClient)] == [None, 1]
