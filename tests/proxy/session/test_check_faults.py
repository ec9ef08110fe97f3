"""An exception of any check on the way of a call: every request is answered, nothing leaks, one fault is reported."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from toolvet.core.redact import SecretMask
from toolvet.proxy.record.recorder import Recorder, RecordSource
from toolvet.proxy.session import (
    Policies,
    PolicyFault,
    ProxySettings,
    Session,
    Step,
    ToClient,
    ToServer,
    judge as judge_module,
    session as session_module,
    vet as vet_module,
)
from toolvet.proxy.session.catalogue import Catalogue, KnownTool
from toolvet.proxy.stdio.relay import Relay

TOOLS = [{"name": name, "inputSchema": {"required": ["a"]}, "outputSchema": {"type": "object"}} for name in ("a", "b")]
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
NAMES = ("initialize", "a", "b", "a", "validate", "b", "broken", "a")
SETTINGS = ProxySettings(
    results="enforce", output_schema="enforce", fit=50, verdict="always", repair="apply", record="calls"
)
ROOMS: list[tuple[Any, str]] = [
    *((session_module, name) for name in ("read_call", "vet_call", "judge_result", "judge_error", "answer_refusal")),
    *((session_module, name) for name in ("add_own_tools", "add_capability", "needed_tools", "answer_own_tool")),
    *((session_module, name) for name in ("is_ours", "client_meta", "judge_unanswered")),
    *((judge_module, name) for name in ("end_call", "judge_own_answer", "_inspect", "_count")),
    *(
        (vet_module, name)
        for name in ("check_limits", "_check_schema", "_check_circle", "bad_arguments", "in_shape_of_others")
    ),
    *((Catalogue, name) for name in ("learn", "miss", "lacks", "read_capabilities")),
    (KnownTool, "schema"),
    (SecretMask, "learned"),
]
EVERY = pytest.mark.parametrize(("room", "name"), ROOMS, ids=[f"{room.__name__}.{name}" for room, name in ROOMS])


def broken(*_: object, **__: object) -> Any:
    raise KeyError("a secret of the call")


def request(id_: object, method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()


def asked() -> list[bytes]:
    calls = [
        request(id_, "tools/call", name=name, arguments={} if id_ % 2 else {"a": 1})
        for id_, name in enumerate(NAMES)
        if name != "initialize"
    ]
    return [request(0, "initialize", **OPENING), *calls, request("list", "tools/list")]


def served(data: bytes) -> bytes:
    """The answer of the server."""
    said = json.loads(data)
    if said["method"] == "tools/call" and said["params"]["name"] == "broken":
        return json.dumps({"jsonrpc": "2.0", "id": said["id"], "error": {"code": -32602, "message": "no"}}).encode()
    results: dict[str, Any] = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}},
        "tools/list": {"tools": TOOLS},
        "tools/call": {"content": [{"type": "text", "text": "Error: gone " * 100}], "structuredContent": 7},
    }
    return json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": results[said["method"]]}).encode()


def ids_in(answers: Sequence[bytes]) -> list[str]:
    return sorted(str(json.loads(answer)["id"]) for answer in answers)


def talk(session: Session) -> list[Step]:
    """Everything that the client asks at once, then whatever the server answers."""
    steps = [step for data in asked() for step in session.from_client(data)]
    for step in steps:
        if isinstance(step, ToServer):
            # Grows while it is read: a call that was held is sent later.
            steps += session.from_server(served(step.data))
    return steps


@EVERY
def test_every_request_is_answered_and_the_fault_is_noted(
    monkeypatch: pytest.MonkeyPatch, room: Any, name: str
) -> None:
    monkeypatch.setattr(room, name, property(broken) if name == "schema" else broken)
    session = Session(Policies(SETTINGS), prefix="ours:")
    steps = talk(session)
    steps += session.from_client(request("again", "tools/list"))
    steps += session.from_server(served(request("again", "tools/list")))
    steps += session.from_client(request("late", "tools/call", name="a", arguments={"a": 1}))
    steps += session.fail(b'{"jsonrpc":"2.0","id":"late","error":{"code":-32603,"message":"gone"}}')
    answers = [step.data for step in steps if isinstance(step, ToClient)]
    assert ids_in(answers) == sorted([*map(str, range(len(NAMES))), "again", "late", "list"])
    faults = [step for step in steps if isinstance(step, PolicyFault) and step.kind == "check_failed"]
    assert faults
    for fault in faults:
        assert fault.message.startswith("could not be checked, because of a bug in toolvet: KeyError at test_check_fa")
        assert "secret" not in fault.message
    assert session.close() == []


class Pipe(list[bytes]):
    """The output, as lines."""

    def write(self, buffers: Sequence[bytes]) -> None:
        self.append(b"".join(buffers))

    def lines(self) -> list[bytes]:
        return b"".join(self).splitlines()


@EVERY
def test_over_pipes_it_is_said_once_and_no_request_stays_open(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], room: Any, name: str
) -> None:
    monkeypatch.setattr(room, name, property(broken) if name == "schema" else broken)
    server, client = Pipe(), Pipe()
    session = Session(Policies(SETTINGS), prefix="ours:")
    with Recorder() as recorder:
        relay = Relay(
            session,
            recorder,
            RecordSource("test"),
            to_server=server,
            to_client=client,
            on_time=lambda _: None,
            limit=1 << 20,
        )
        relay.from_client(b"".join(line + b"\n" for line in asked()))
        done = 0
        while done < len(server.lines()):
            relay.from_server(served(server.lines()[done]) + b"\n")
            done += 1
        relay.from_client(request("again", "tools/list") + b"\n")
        relay.from_server(served(request("again", "tools/list")) + b"\n")
        relay.from_client(request("late", "tools/call", name="a", arguments={"a": 1}) + b"\n")
        relay.server_gone("it ended")
        assert not relay.open
        relay.close()
    assert ids_in(client.lines()) == sorted([*map(str, range(len(NAMES))), "again", "late", "list"])
    said = [line for line in capsys.readouterr().err.splitlines() if "because of a bug in toolvet" in line]
    assert len(said) == 1


def test_calls_that_a_dead_server_leaves_open_are_judged_once_for_each_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []
    real = judge_module.judge_own_answer

    def counted(*given: Any, **more: Any) -> Any:
        judged.append(more["tool"])
        return real(*given, **more)

    monkeypatch.setattr(judge_module, "judge_own_answer", counted)
    learned: list[object] = []
    monkeypatch.setattr(SecretMask, "learned", learned.append)
    server, client = Pipe(), Pipe()
    with Recorder() as recorder:
        relay = Relay(
            Session(Policies(ProxySettings(arguments="off"))),
            recorder,
            RecordSource("test"),
            to_server=server,
            to_client=client,
            on_time=lambda _: None,
            limit=1 << 20,
        )
        for id_ in range(500):
            relay.from_client(request(id_, "tools/call", name="ab"[id_ % 2], arguments={"a": 1}) + b"\n")
        relay.server_gone("it ended")
    assert ids_in(client.lines()) == sorted(map(str, range(500)))
    assert sorted(judged) == ["a", "b"]
    assert learned == []
