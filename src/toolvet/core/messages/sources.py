"""What `check_answer` is handed as `calls` and `question`, read: calls with their results, and the words of others."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, cast

import msgspec

from toolvet.core.messages.call import ToolCall
from toolvet.core.messages.pairing import settled
from toolvet.core.messages.parts import blocks_of, parts_of
from toolvet.core.messages.reader import Called, MessageReader, Returned, Utterance

_MOST: Final = 2_000
_MOST_EARLIER: Final = 200
_DEEPEST: Final = 4
_TEXTS: Final = ("text", "content", "parts", "output")


def read_calls(calls: Sequence[object]) -> list[ToolCall]:
    """Return the calls in `calls`, in order.

    Each item may be a `ToolCall`, a mapping or object with a name and a result, a result alone, or a message of any
    known format; there, results find their calls. Calls without a result have `UNKNOWN` for one if none of the others
    has one either, else None: then they never returned.
    """
    items = _items(calls)
    reader = MessageReader(records=True)
    for index, item in enumerate(items):
        reader.read(item, index)
    return settled(reader.calls)


def _items(given: object) -> list[object]:
    """The first items of a sequence; anything else, such as one call that is in no list, is the only item."""
    if isinstance(given, list | tuple):
        return list(cast("Sequence[object]", given)[:_MOST])
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | bytearray | Mapping | ToolCall):
        return list(islice(cast("Iterable[object]", given), _MOST))
    return [given]


def is_said_with_calls(text: str, messages: Sequence[object]) -> bool:
    """Whether the assistant said `text` in one message with calls, or right before a call."""
    wanted = text.strip()
    was_said = False
    for item in _items(messages):
        if isinstance(item, ToolCall):
            continue
        reader = MessageReader()
        if not reader.read(item):
            continue
        said = "".join(
            event.text for event in reader.events if isinstance(event, Utterance) and event.speaker == "assistant"
        )
        called = any(isinstance(event, Called) and not event.lone for event in reader.events)
        follows = was_said and any(isinstance(event, Called | Returned) for event in reader.events)
        was_said = said.strip() == wanted
        if follows or (called and was_said):
            return True
    return False


def words_of_others(question: str | Sequence[object] | None) -> str:
    """Return the words of everything but the assistant in `question`: a text, or messages of a conversation.

    Results of tools are among them. What the assistant said itself bears nothing out.
    """
    if isinstance(question, str) or question is None:
        return question or ""
    found: list[str] = []
    reader = MessageReader()
    for index, item in enumerate(question[:_MOST] if isinstance(question, list | tuple) else [question]):
        if isinstance(item, str):
            found.append(item)
            continue
        before = len(reader.events)
        if not reader.read(item, index):
            found += _texts(item, 0)
            continue
        for event in reader.events[before:]:
            if isinstance(event, Utterance) and event.speaker != "assistant":
                found.append(event.text)
            elif isinstance(event, Called | Returned) and not isinstance(item, ToolCall):
                found += _of_result(reader.calls[event.place])
    return "\n".join(found)


def earlier_calls(question: str | Sequence[object] | None) -> list[ToolCall]:
    """Return the calls of earlier turns in `question`, as `Turn.context` has them."""
    if not isinstance(question, list | tuple):
        return []
    calls = [each for each in question if isinstance(each, ToolCall)]
    return [call for call in calls[-_MOST_EARLIER:] if call.answered or call.failed is False]


def _of_result(call: ToolCall) -> list[str]:
    """The texts of a result, else what it is as JSON."""
    if not call.answered:
        return []
    found = _texts(call.result, 0)
    if found:
        return found
    try:
        return [msgspec.json.encode(call.result).decode("utf-8", "replace")]
    except Exception:  # noqa: BLE001 - cyclic, too deep, or no JSON at all: there is nothing to quote.
        return []


def _texts(value: object, depth: int) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > _DEEPEST:
        return []
    if isinstance(value, list | tuple):
        return [text for block in blocks_of(cast("object", value)) for text in _texts(block, depth + 1)]
    try:
        parts = parts_of(value) or {}
        return [text for name in _TEXTS if name in parts for text in _texts(parts[name], depth + 1)]
    except Exception:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
        return []
