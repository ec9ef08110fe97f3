"""The same conversation in every format gives the same turns."""

import json
from pathlib import Path

import pytest

from toolvet import Turn, turns

FOLDER = Path(__file__).parent / "conversations"
FORMATS = sorted(FOLDER.glob("*.json"))

# Formats without ids, without a flag for failed calls, or without a reason for the end.
NO_IDS = {"gemini", "sharegpt"}
NO_FLAG = {"gemini", "sharegpt", "openai_chat", "openai_responses", "openai_agents"}
NO_REASON = {"sharegpt", "vercel", "openai_responses", "openai_agents"}


def text_of(result: object) -> str:
    """A result as its format has it, as text."""
    if isinstance(result, list):
        return "".join(text_of(block) for block in result)
    if isinstance(result, dict):
        return text_of(next(result[key] for key in ("text", "content", "result", "error") if key in result))
    assert isinstance(result, str)
    return result


def calls_of(turn: Turn) -> list[tuple[str, object, str]]:
    found = []
    for call in turn.calls:
        arguments = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
        found.append((call.name, arguments, text_of(call.result)))
    return found


@pytest.mark.parametrize("file", FORMATS, ids=lambda file: file.stem)
def test_a_conversation_in_this_format_is_read(file: Path) -> None:
    first, second = turns(json.loads(file.read_text(encoding="utf-8")))
    assert first.question == "How warm is it in Paris and in Rome?"
    assert first.midturn == ("Let me look.",)
    assert calls_of(first) == [
        ("weather", {"city": "Paris"}, "21 degrees"),
        ("weather", {"city": "Rome"}, "Timeout after 30 s"),
    ]
    assert first.answer == "Paris has 21 degrees; Rome did not answer."
    assert second.question == "And in Oslo?"
    assert calls_of(second) == [("weather", {"city": "Oslo"}, "4 degrees")]
    assert second.answer == "Oslo has 4 degrees."
    assert second.midturn == ()
    assert [turn.notes for turn in (first, second)] == [(), ()]
    assert not set(first.indices) & set(second.indices)

    name = file.stem
    assert [call.id for call in first.calls] == ([None, None] if name in NO_IDS else ["a", "b"])
    assert [call.failed for call in first.calls] == [None, None if name in NO_FLAG else True]
    assert (second.finish_reason is None) == (name in NO_REASON)
    system = ["Answer in one sentence."]
    assert first.context == [*system, first.question]
    assert second.context == [*system, first.question, *first.calls, second.question]
