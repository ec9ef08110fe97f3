"""The loops of docs/agent-loops.md are run as they are written there, with recorded replies instead of a model."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from toolvet import AnswerQuality

PAGE = Path(__file__).parents[3] / "docs" / "agent-loops.md"
QUESTION = "How warm is it in Rome?"
WRONG, RIGHT, UNKNOWN = {"town": "Rome"}, {"city": "Rome"}, {"city": "Atlantis"}
TRUE, FALSE = "It is 21 degrees and sunny in Rome.", "I have sent you the forecast by email."

Loop = Callable[[object, str, str], tuple[str, AnswerQuality]]
Arguments = dict[str, str]


def blocks() -> list[str]:
    """The code of the page, without the examples that the tests of the docs run."""
    found = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [block for block in found if ">>>" not in block]


def loops() -> dict[str, Loop]:
    names: dict[str, Loop] = {}
    for block in blocks():
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - the page's own code
    return names


def objects(value: object) -> object:
    """JSON as the vendors' libraries return it: objects, but for the arguments of a call."""
    if isinstance(value, list):
        return [objects(each) for each in value]
    if isinstance(value, dict):
        return SimpleNamespace(
            **{key: each if key in ("input", "args") else objects(each) for key, each in value.items()}
        )
    return value


class Recorded:
    """A client of any vendor that gives recorded replies, and keeps what it was sent."""

    def __init__(self, *replies: object) -> None:
        self._replies: Iterator[object] = iter(replies)
        self.sent: list[dict[str, object]] = []
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._reply))
        self.responses = self.messages = SimpleNamespace(create=self._reply)
        self.models = SimpleNamespace(generate_content=self._reply)

    def _reply(self, **sent: object) -> object:
        self.sent.append(sent)
        return objects(next(self._replies))


def chat(content: str | None, arguments: Arguments | None = None) -> object:
    function = {"name": "weather", "arguments": json.dumps(arguments)}
    calls = [{"id": "a", "type": "function", "function": function}] if arguments else None
    return {"choices": [{"message": {"role": "assistant", "content": content, "tool_calls": calls}}]}


def response(content: str | None, arguments: Arguments | None = None) -> object:
    if arguments:
        sent = json.dumps(arguments)
        return {"output": [{"type": "function_call", "call_id": "a", "name": "weather", "arguments": sent}]}
    text = {"type": "output_text", "text": content}
    return {"output": [{"type": "message", "role": "assistant", "content": [text]}]}


def message(content: str | None, arguments: Arguments | None = None) -> object:
    text = {"type": "text", "text": content}
    call = {"type": "tool_use", "id": "a", "name": "weather", "input": arguments}
    return {"content": [call if arguments else text]}


def content(content: str | None, arguments: Arguments | None = None) -> object:
    call = {"id": None, "name": "weather", "args": arguments} if arguments else None
    parts = [{"text": content, "function_call": call}]
    return {"candidates": [{"content": {"role": "model", "parts": parts}}]}


FORMATS = {"openai_chat": chat, "openai_responses": response, "anthropic_messages": message, "gemini": content}


@pytest.mark.parametrize("name", FORMATS)
def test_a_loop_corrects_a_call_and_its_answer_is_borne_out(name: str) -> None:
    reply = FORMATS[name]
    client = Recorded(reply(None, WRONG), reply(None, RIGHT), reply(TRUE))
    answer, quality = loops()[name](client, "any", QUESTION)
    assert (answer, quality.score) == (TRUE, 1.0)
    assert "received invalid arguments" in str(client.sent[-1])
    assert "21 degrees, sunny" in str(client.sent[-1])


@pytest.mark.parametrize("name", FORMATS)
def test_a_loop_finds_an_answer_that_its_calls_do_not_bear_out(name: str) -> None:
    reply = FORMATS[name]
    client = Recorded(reply(None, UNKNOWN), reply(FALSE))
    answer, quality = loops()[name](client, "any", QUESTION)
    assert answer == FALSE
    assert quality.should_escalate
    assert [signal.label for signal in quality.signals] == ["claimed_success_after_failure"]
    assert "KeyError" in str(client.sent[-1])


def test_a_loop_has_ten_lines() -> None:
    for block in blocks()[1:]:
        # Below the `def` and the first message.
        loop = block[block.index("while True") :].strip().splitlines()
        assert len(loop) <= 11, loop
