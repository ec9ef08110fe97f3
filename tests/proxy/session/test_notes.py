"""Notes for the record: everything that happened to a call, and no secrets."""

import json
from typing import Any

import pytest

from toolvet.proxy.session import (
    CallEnded,
    Catalogue,
    Note,
    Policies,
    PolicyFault,
    ProxySettings,
    Session,
    Step,
    ToClient,
    ToServer,
)

TOOL = {"name": "login", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}


def message(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def session(settings: ProxySettings | None = None, **tool: object) -> Session:
    found = Session(Policies(settings))
    found.from_client(message(id=0, method="tools/list"))
    found.from_server(message(id=0, result={"tools": [{**TOOL, **tool}]}))
    return found


def call(of: Session, id_: int, arguments: dict[str, Any], **result: object) -> CallEnded:
    steps = of.from_client(message(id=id_, method="tools/call", params={"name": "login", "arguments": arguments}))
    if any(isinstance(step, ToServer) for step in steps):
        steps += of.from_server(message(id=id_, result=result))
    return next(step for step in steps if isinstance(step, CallEnded))


def test_values_are_only_recorded_where_that_is_wanted() -> None:
    said = {"content": [{"type": "text", "text": "welcome"}]}
    assert call(session(), 1, {"user": "ann"}, **said).arguments is None
    found = call(session(ProxySettings(record="calls")), 1, {"user": "ann"}, **said).to_dict()
    assert found["arguments"] == {"user": "ann"}
    assert found["result"] == said


def test_secrets_never_stand_in_what_is_stored() -> None:
    settings = ProxySettings(record="calls", redact=("pet",))
    note = call(
        session(settings),
        1,
        {"password": "hunter2", "deep": {"api_key": "k-123"}, "pet": "Rex"},
        content=[{"type": "text", "text": "Error: token=s3cr3t-value was refused"}],
    )
    stored = json.dumps(note.to_dict())
    for secret in ("hunter2", "k-123", "Rex", "s3cr3t-value"):
        assert secret not in stored


def test_bad_arguments_are_told_by_their_issues() -> None:
    note = call(session(), 1, {"n": "many"})
    assert [issue.pointer for issue in note.issues] == ["/n"]
    assert note.to_dict()["blocked"] == "arguments"


def test_calls_are_numbered_and_a_started_call_ends_under_its_number() -> None:
    of = session()
    numbers = [call(of, id_, {}, content=[{"type": "text", "text": "ok"}]).call for id_ in range(1, 4)]
    assert numbers == [1, 2, 3]


def test_at_the_end_every_open_call_is_told() -> None:
    of = session()
    of.from_client(message(id=1, method="tools/call", params={"name": "login"}))
    of.from_client(message(id=2, method="tools/call", params={"name": "unknown"}))
    assert [(note.id, note.outcome) for note in of.close() if isinstance(note, CallEnded)] == [
        (1, "lost"),
        (2, "lost"),
    ]
    assert of.close() == []


def test_nothing_is_kept_of_calls_that_ended() -> None:
    of = session()
    for id_ in range(1, 2000):
        call(of, id_, {}, content=[{"type": "text", "text": "ok"}])
        of.from_client(message(id=f"c{id_}", method="tools/call", params={"name": "login"}))
        of.from_client(message(method="notifications/cancelled", params={"requestId": f"c{id_}"}))
    assert of._pending == {}


def test_calls_that_are_never_answered_do_not_fill_the_memory() -> None:
    of = session()
    notes: list[Step] = []
    for id_ in range(70_000):
        notes += of.from_client(message(id=id_ + 1, method="tools/call", params={"name": "login"}))
    assert len(of._pending) <= 65_536
    lost = [note for note in notes if isinstance(note, CallEnded)]
    assert len(lost) == 70_000 - 65_536
    assert {note.outcome for note in lost} == {"lost"}


def test_sessions_of_one_caller_share_what_was_learned() -> None:
    shared = Catalogue()
    first, second = Session(Policies(), shared), Session(Policies(), shared)
    first.from_client(message(id=0, method="tools/list"))
    first.from_server(message(id=0, result={"tools": [TOOL]}))
    (answer, _) = second.from_client(
        message(id=1, method="tools/call", params={"name": "login", "arguments": {"n": "x"}})
    )
    assert isinstance(answer, ToClient)
    shared.forget()
    steps = second.from_client(message(id=2, method="tools/call", params={"name": "login", "arguments": {"n": "x"}}))
    assert [step.about for step in steps if not isinstance(step, Note)] == ["toolvet:1"]


def test_values_that_other_libraries_refuse_survive_a_repair() -> None:
    of = session(ProxySettings(repair="apply"))
    arguments = {"n": "7", "huge": 10**40, "odd": "\u2028", "float": 1.5}
    sent = of.from_client(message(id=1, method="tools/call", params={"name": "login", "arguments": arguments}))[0]
    assert isinstance(sent, ToServer)
    assert json.loads(sent.data)["params"]["arguments"] == {**arguments, "n": 7}


def test_a_call_that_cannot_be_read_passes_and_is_told() -> None:
    of = session(ProxySettings(arguments="audit"))
    arguments = {"n": "x", "half": "\ud800"}
    data = message(id=1, method="tools/call", params={"name": "login", "arguments": arguments})
    passed, fault = of.from_client(data)
    assert passed == ToServer(data)
    assert isinstance(fault, PolicyFault)
    assert fault.kind == "call_unreadable"


@pytest.mark.parametrize("more", [b'"x":1e400', b'"x":1' + b"0" * 5000, b'"x":"\xff"'])
def test_a_call_with_arguments_that_we_cannot_decode_passes_and_is_told(more: bytes) -> None:
    params = b'{"name":"login","arguments":{"n":"x",' + more + b"}}"
    data = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + params + b"}"
    passed, fault = session(ProxySettings(arguments="audit")).from_client(data)
    assert passed == ToServer(data)
    assert isinstance(fault, PolicyFault)
    assert fault.kind == "call_unreadable"


@pytest.mark.parametrize("levels", [200, 1100, 20_000])
def test_arguments_nested_too_deeply_are_refused_however_deep_they_are(levels: int) -> None:
    nested = b"[" * levels + b"]" * levels
    data = (
        b'{"method":"tools\\/call","params":{"_meta":{},"arguments":{"n":%s},"name":"login"},"id":1,"jsonrpc":"2.0"}'
        % nested
    )
    answer, note = session().from_client(data)
    assert isinstance(answer, ToClient)
    assert json.loads(answer.data)["id"] == 1
    assert isinstance(note, CallEnded)
    assert note.blocked == "limits"
    passed, fault = session(ProxySettings(arguments="off")).from_client(data)[:2]
    assert passed == ToServer(data)
    assert levels == 200 or isinstance(fault, PolicyFault)


def large(id_: int) -> bytes:
    arguments = {"n": "x", "text": "." * 2**20}
    return message(id=id_, method="tools/call", params={"name": "login", "arguments": arguments})


def test_arguments_beyond_the_limit_are_refused_without_being_read() -> None:
    (answer, note) = session(ProxySettings(max_arguments_bytes=2**20)).from_client(large(1))
    assert isinstance(answer, ToClient)
    assert isinstance(note, CallEnded)
    assert (note.blocked, note.issues) == ("limits", ())


def test_large_arguments_within_the_limit_are_checked_like_any_others() -> None:
    (_, note) = session().from_client(large(1))
    assert isinstance(note, CallEnded)
    assert (note.blocked, len(note.issues)) == ("arguments", 1)


def test_on_audit_arguments_beyond_the_limit_pass() -> None:
    of, data = session(ProxySettings(arguments="audit", max_arguments_bytes=2**20)), large(1)
    assert of.from_client(data)[0] == ToServer(data)
    (_, note) = of.from_server(message(id=1, result={"content": [{"type": "text", "text": "ok"}]}))
    assert isinstance(note, CallEnded)
    assert note.would_block == "limits"


def test_a_new_handshake_forgets_the_tools_of_the_last_one() -> None:
    of = session()
    of.from_client(message(id="h", method="initialize", params={}))
    of.from_server(message(id="h", result={"capabilities": {"tools": {}}}))
    steps = of.from_client(message(id=1, method="tools/call", params={"name": "login", "arguments": {"n": "x"}}))
    assert [step.about for step in steps if not isinstance(step, Note)] == ["toolvet:1"]


def test_names_are_hidden_however_deep_what_was_decoded_is_nested() -> None:
    """Each level took two frames of Python's stack: a result of 600 levels raised, and its record was lost."""
    deep: object = {"key": "hidden", "other": [{"key": ["hidden"]}, 1]}
    for _ in range(600):
        deep = [deep]
    note = CallEnded(call=1, id=1, tool="t", era="legacy", outcome="success", arguments={"a": deep}, hidden=("key",))
    found: Any = note.to_dict()["arguments"]
    found = found["a"]
    for _ in range(600):
        (found,) = found
    assert found == {"key": "[redacted]", "other": [{"key": "[redacted]"}, 1]}
