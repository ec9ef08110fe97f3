"""How often the bytes of an answer are looked at, and how often what was decoded is walked: counted, not timed."""

import json
from typing import Any

import msgspec
import pytest

from toolvet.core.checks.result import response
from toolvet.mcp.wire import message
from toolvet.proxy.session import Policies, ProxySettings, Session, judge

SCHEMA = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
ROWS = {"rows": [{"id": number, "name": "a"} for number in range(50)]}
RESULT = {"content": [{"type": "text", "text": "fifty rows"}], "structuredContent": ROWS}


class Counted:
    """A decoder that counts the bytes that it is given."""

    def __init__(self, decoder: Any, passes: list[int]) -> None:
        self._decoder, self._passes = decoder, passes

    def decode(self, data: Any) -> Any:
        self._passes.append(len(data))
        return self._decoder.decode(data)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each pass of a decoder."""
    found: list[int] = []
    for module, name in ((message, "_ENVELOPE"), (message, "_ANSWER"), (message, "_ANY"), (judge, "_ANY")):
        monkeypatch.setattr(module, name, Counted(getattr(module, name), found))
    return found


def line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def session(settings: ProxySettings | None = None, *, output: bool = False) -> Session:
    """One that knows its tool and has sent a call of it, with the id 1."""
    tool = {"name": "find", "inputSchema": {"type": "object"}, **({"outputSchema": SCHEMA} if output else {})}
    found = Session(Policies(settings))
    found.from_client(line(id=0, method="tools/list"))
    found.from_server(line(id=0, result={"tools": [tool]}))
    found.from_client(line(id=1, method="tools/call", params={"name": "find", "arguments": {}}))
    return found


@pytest.mark.parametrize("settings", [None, ProxySettings(results="enforce", output_schema="enforce")])
def test_an_answer_that_is_judged_is_decoded_in_one_pass(settings: ProxySettings | None, passes: list[int]) -> None:
    asked = session(settings, output=True)
    passes.clear()
    answer = line(id=1, result=RESULT)
    asked.from_server(answer)
    assert passes == [len(answer)]


def test_an_answer_that_nobody_judges_is_not_decoded(passes: list[int]) -> None:
    asked = session(ProxySettings(results="off", output_schema="off"))
    passes.clear()
    answer = line(id=1, result=RESULT)
    asked.from_server(answer)
    assert passes == [len(answer)]
    # A large one neither.
    small = session(ProxySettings(max_judged_bytes=100))
    passes.clear()
    _, ended = small.from_server(answer)
    assert passes == [len(answer)]
    assert ended.to_dict()["unjudged"] == f"{len(answer)} bytes are more than are judged"  # type: ignore[union-attr]


def test_what_was_decoded_a_moment_ago_is_not_searched_for_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[object] = []

    def noted(value: object) -> bool:
        walked.append(value)
        return False

    asked = session(ProxySettings(output_schema="enforce"), output=True)
    monkeypatch.setattr(response, "is_endless", noted)
    asked.from_server(line(id=1, result=RESULT))
    assert not walked
    response.read_response(RESULT, "mcp")
    assert walked == [RESULT]


def test_an_answer_is_searched_for_our_questions_once_there_was_one(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[bytes] = []
    asked = session()

    def noted(data: bytes) -> bool:
        searched.append(data)
        return False

    monkeypatch.setattr(asked.unread, "_may_be_ours", noted)
    answer = line(id=1, result=RESULT)
    assert asked.unread.hands_on(answer)
    assert not searched
    # A tool that is on no list is asked for.
    asked.from_client(line(id=2, method="tools/call", params={"name": "other", "arguments": {}}))
    assert asked.unread.hands_on(answer)
    assert searched == [answer]


def test_the_value_of_an_answer_is_changed_as_its_bytes_are() -> None:
    asked = session(ProxySettings(verdict="always"))
    steps = asked.from_server(line(id=1, result={"content": [{"type": "text", "text": "ok"}]}))
    changed = msgspec.json.decode(steps[0].data)  # type: ignore[union-attr]
    assert changed["result"]["_meta"]["dev.toolvet/verdict"]["is_valid"] is True
    # A value that is not an object has no place for a verdict.
    asked = session(ProxySettings(verdict="always"))
    answer = line(id=1, result=["no object"])
    assert asked.from_server(answer)[0].data is answer  # type: ignore[union-attr]
