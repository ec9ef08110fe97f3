"""Messages that are too long to be kept: which of them may pass unread, by their beginning and by what is open."""

import json
from typing import Any

import pytest

from toolvet.mcp.wire import MessageStart
from toolvet.proxy.session import CallWatch, Policies, PolicyFault, ProxySettings, Session, ToolSettings

ANSWER = MessageStart(id=1, cut="result")


def session_of(*messages: dict[str, Any], **settings: Any) -> Session:
    """A session whose client has sent these messages."""
    session = Session(Policies(ProxySettings(**settings)))
    for number, message in enumerate(messages, 1):
        session.from_client(json.dumps({"jsonrpc": "2.0", "id": number, **message}).encode())
    return session


def call(tool: str = "find") -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": tool, "arguments": {}}}


OPENING = {"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}
LIST = {"method": "tools/list"}


@pytest.mark.parametrize(
    ("start", "passes"),
    [
        (MessageStart(method="notifications/message"), True),
        (MessageStart(cut="params"), True),
        (MessageStart(cut=""), False),
        (MessageStart(id="nobody", cut="result"), True),
        (MessageStart(id="nobody", cut="error"), True),
        # Which request it answers is not seen, and none is open.
        (MessageStart(cut="result"), True),
    ],
)
def test_what_the_server_sends_passes_unless_something_has_to_see_it(start: MessageStart, passes: object) -> None:
    assert session_of().unread.passes_to_client(start) is passes


@pytest.mark.parametrize(
    ("session", "passes"),
    [
        (session_of(call(), arguments="off", results="enforce"), False),
        (session_of(call(), arguments="off", results="off", output_schema="off"), True),
        (session_of(OPENING, announce="capability"), False),
    ],
    ids=["enforced", "off", "opening"],
)
def test_an_answer_passes_where_no_policy_needs_it(session: Session, passes: object) -> None:
    assert session.unread.passes_to_client(ANSWER) is passes
    # Its id comes at its end: it may be that of any open request.
    assert session.unread.passes_to_client(MessageStart(cut="result")) is passes


def test_the_answer_to_a_question_of_ours_is_held_back() -> None:
    session = session_of()
    assert not session.unread.passes_to_client(MessageStart(id=f"{session.unread._prefix}1", cut="result"))


@pytest.mark.parametrize(
    ("settings", "start", "passes"),
    [
        ({}, MessageStart(id=1, method="resources/read"), True),
        ({}, MessageStart(id=1, cut="result"), True),
        ({}, MessageStart(), False),
        ({"arguments": "enforce"}, MessageStart(id=1, method="tools/call", tool="find"), False),
        ({"arguments": "enforce"}, MessageStart(id=1, method="tools/call"), False),
        ({"arguments": "off"}, MessageStart(id=1, method="tools/call", tool="find"), True),
        ({"arguments": "off"}, MessageStart(id=1, method="tools/call"), True),
        # One tool is enforced: a call whose tool is not seen may be its call.
        (
            {"arguments": "off", "tools": {"pay": ToolSettings(arguments="enforce")}},
            MessageStart(method="tools/call"),
            False,
        ),
        (
            {"arguments": "off", "tools": {"pay": ToolSettings(arguments="enforce")}},
            MessageStart(method="tools/call", tool="find"),
            True,
        ),
    ],
)
def test_what_the_client_sends_passes_unless_its_arguments_are_enforced(
    settings: dict[str, Any], start: MessageStart, passes: object
) -> None:
    assert session_of(**settings).unread.passes_to_server(start) is passes


@pytest.mark.parametrize("text", [
    b'"method": "tools/call"', rb'"method": "tools\/call"',
    rb'"\u0074\u006f\u006f\u006c\u0073\u002f\u0063\u0061\u006c\u006c"',
    '"tools/call"'.encode("utf-16-le").rstrip(b"\0"), rb'"\u0074ools\u002Fcall"'.decode().encode("utf-32-be"),
])  # fmt: skip
def test_a_call_is_seen_however_it_is_spelled_and_cut(text: bytes) -> None:
    for cut in range(1, len(text)):
        watch = CallWatch()
        assert [watch.sees(b"x" * 5000 + text[:cut]), watch.sees(text[cut:] + b"x" * 5000)] == [False, True]
    watch = CallWatch()
    assert any([watch.sees(bytes([byte])) for byte in text])  # noqa: C419 - all of them


@pytest.mark.parametrize(
    "text", [rb'"see \"tools/call\""', b'"tools/calls"', b'"tools/list"', rb'"\u0022tools/call\u0022"']
)
def test_what_only_speaks_of_calls_is_none(text: bytes) -> None:
    watch = CallWatch()
    assert not any([watch.sees(text[at : at + 3]) for at in range(0, len(text), 3)])  # noqa: C419 - all of them


def test_the_record_says_what_passed_unread() -> None:
    session = session_of(call(), arguments="off", results="off")
    (note,) = session.unread.end_answer(1, 5_000)
    assert "longer than the limit" in str(note.to_dict()["unjudged"])
    assert session.unread.end_answer(1, 5_000) == []


def test_a_list_that_passed_unread_is_a_fault() -> None:
    session = session_of(LIST)
    (note,) = session.unread.end_answer(1, 5_000)
    assert isinstance(note, PolicyFault)
    assert note.kind == "list_failed"
