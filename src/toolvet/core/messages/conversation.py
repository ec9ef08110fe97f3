"""`turns`: the messages of a conversation, in any of the common formats → its turns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, cast

import msgspec

from toolvet.core.messages.call import ToolCall, with_missing_results
from toolvet.core.messages.format import known_formats
from toolvet.core.messages.parts import blocks_of, dict_of, parts_of
from toolvet.core.messages.reader import Called, Event, MessageReader, Returned, Stopped, Utterance

_MOST_MESSAGES: Final = 20_000
_MESSAGES: Final = (
    "messages", "contents", "input", "items", "conversations", "conversation", "message_history", "history",
)  # fmt: skip
_AFTERWARDS: Final = ("new_items", "output")
_SYSTEM: Final = ("system", "instructions", "systemPrompt", "systemInstruction", "system_instruction")


@dataclass(frozen=True)
class Turn:
    """A question, the tool calls made for it, and the answer.

    Attributes:
        question: the user's message; "" if the assistant spoke first.
        answer: the assistant's text after its last call; None if it has not answered (yet).
        calls: the calls with their results. The result of a call without one is `UNKNOWN` (`ToolCall.answered`).
        midturn: the assistant's texts before its answer ("Let me look that up.").
        finish_reason: why the model stopped at the end, if the messages contain the reason.
        indices: the places of the messages of the turn.
        skipped: the places of its messages whose format is not known.
        notes: facts a reader should know: skipped messages, results that answer no call.
        agent: the id of the sub-agent whose turn it is; "" for the agent itself.
    """

    question: str
    answer: str | None
    calls: tuple[ToolCall, ...] = ()
    midturn: tuple[str, ...] = ()
    finish_reason: str | None = None
    indices: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    agent: str = ""
    # The messages before the turn. All turns of a conversation share them, so that many turns need little memory.
    _history: Sequence[str | ToolCall] = field(default=(), repr=False, compare=False)
    _before: int = field(default=0, repr=False, compare=False)

    @property
    def context(self) -> list[str | ToolCall]:
        """The context that the answer may rest on besides its calls: system prompt, earlier turns, the question.

        `check_answer(turn.answer, calls=turn.calls, question=turn.context)` compares the answer with all of it.
        """
        return [*self._history[: self._before], self.question]


def turns(messages: object) -> list[Turn]:
    """Split a conversation into its turns.

    A turn begins where the user speaks after the assistant did anything. Results belong to the turn of their call. The
    messages of a sub-agent (Claude's Agent SDK and transcripts mark them) are turns of its own, whose `agent` is its
    id: its answer is what it handed back. The last turn is the agent's own.

    Args:
        messages: the messages, oldest first, as mappings or objects: of OpenAI (chat or Responses), Anthropic, Gemini,
            Bedrock, LangChain, pydantic-ai, the OpenAI Agents SDK, MCP sampling, ShareGPT, Hugging Face or the AI SDK
            of Vercel, also mixed; or what has them under `messages`, `contents`, `input` or `conversations`, with a
            system prompt beside them. The first 20,000 are read.

    Raises:
        TypeError: It is not one of these. One unknown message among others is only noted in its turn.

    Example:
        >>> messages = [
        ...     {"role": "user", "content": "How warm is it?"},
        ...     {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "weather", "arguments": "{}"}}]},
        ...     {"role": "tool", "tool_call_id": "a", "content": "21 degrees"},
        ...     {"role": "assistant", "content": "It is 21 degrees."},
        ... ]
        >>> turn = turns(messages)[0]
        >>> turn.question, turn.answer, turn.calls[0].name, turn.calls[0].result
        ('How warm is it?', 'It is 21 degrees.', 'weather', '21 degrees')
    """
    listed, system = _listed(messages)
    reader = MessageReader()
    splitter = _Splitter(reader.calls)
    splitter.system(system)
    agents = {"": (reader, splitter)}
    unread = count = 0
    for count, given in enumerate(islice(listed, _MOST_MESSAGES), start=1):
        agent, item = _unwrapped(given)
        if agent not in agents:
            own = MessageReader()
            agents[agent] = own, _Splitter(own.calls, agent)
        reader, splitter = agents[agent]
        index, before = count - 1, len(reader.events)
        if reader.read(item, index) or reader.record(item, index):
            splitter.take(reader.events[before:])
        else:
            unread += 1
            splitter.skip(index, item)
    if count and unread == count:
        raise TypeError(f"none of the {count} messages can be read; known formats: {known_formats()}")
    found = agents.pop("")[1].finished()
    if agents:
        last = found[-1:]
        others = [*found[:-1], *(turn for _, own in agents.values() for turn in own.finished())]
        found = [*sorted(others, key=lambda turn: turn.indices[-1:]), *last]
    return found


def _unwrapped(given: object) -> tuple[str, object]:
    """The id of the sub-agent that a message is of ("" for the agent's own), and the message within its envelope."""
    if not isinstance(given, Mapping):
        return "", given
    item = cast("Mapping[str, object]", given)
    message = item.get("message")
    if item.get("type") not in ("user", "assistant") or not isinstance(message, Mapping):
        return "", item
    agent = item.get("parent_tool_use_id") or (item.get("isSidechain") is True and (item.get("agentId") or "agent"))
    return f"{agent or ''}", cast("object", message)


def is_conversation(value: object) -> bool:
    """Whether a JSON value is a conversation and not a single message: a list, or an object that holds messages."""
    return isinstance(value, list) or any(isinstance(dict_of(value).get(key), list) for key in _MESSAGES)


def _listed(given: object) -> tuple[Iterable[object], list[str]]:
    problem = f"messages must be a list of messages, not {type(given).__name__}; known formats: {known_formats()}"
    if isinstance(given, str | bytes | bytearray) or given is None:
        raise TypeError(problem)
    try:
        parts = None if isinstance(given, list | tuple) else parts_of(given)
        found = None if parts is None else next((parts[key] for key in _MESSAGES if parts.get(key) is not None), None)
        if parts is not None and found is not None:
            reader = MessageReader()
            for content in (parts[key] for key in _SYSTEM if parts.get(key)):
                if not reader.read({"role": "system", "content": content}) or not reader.events:
                    reader.read({"role": "system", "parts": (parts_of(content) or {}).get("parts")})
            system = [event.text for event in reader.events if isinstance(event, Utterance)]
            after = [item for key in _AFTERWARDS for item in _items(parts.get(key))]
            first: list[object] = (
                [{"role": "user", "content": found}] if isinstance(found, str) else list(_items(found))
            )
            return [*first, *after], system
        # One message alone is a conversation of one.
        if (parts is not None and not isinstance(given, Iterable)) or isinstance(given, Mapping):
            only: list[object] = [given]
            return only, []
        if isinstance(given, Iterable):
            return cast("Iterable[object]", given), []
    except Exception as error:
        raise TypeError(problem) from error
    raise TypeError(problem)


def _items(value: object) -> list[object]:
    return list(cast("Sequence[object]", value)[:_MOST_MESSAGES]) if isinstance(value, list | tuple) else []


class _Splitter:
    """Takes events in order, and closes a turn where the next begins."""

    def __init__(self, calls: Sequence[ToolCall], agent: str = "") -> None:
        self._calls = calls
        self._agent = agent
        self._drafts: list[_OpenTurn] = []
        self._draft_of: dict[int, _OpenTurn] = {}
        self._open = _OpenTurn()

    def system(self, texts: Iterable[str]) -> None:
        self._open.system.extend(text for text in texts if text)

    def take(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case Utterance(index, "user", text):
                    if self._open.is_under_way:
                        self._close()
                    self._open.asked.append(text)
                    self._open.indices[index] = None
                case Utterance(index, "system", text):
                    self._open.system.append(text)
                    self._open.indices[index] = None
                case Utterance(index, _, text):
                    self._open.say(text, index)
                case Called(index, place, lone):
                    self._draft_of[place] = self._open
                    self._open.call(place, index, lone=lone)
                case Returned(index, place):
                    draft = self._draft_of.get(place, self._open)
                    draft.indices[index] = None
                    draft.pause()
                case Stopped(index, reason):
                    self._open.reason = reason
                    self._open.indices[index] = None

    def skip(self, index: int, item: object) -> None:
        self._open.skipped.append(index)
        self._open.notes.append(f"message {index} was skipped: {type(item).__name__} of no known format")

    def finished(self) -> list[Turn]:
        if self._open.is_under_way or self._open.asked or self._open.skipped:
            self._close()
        history: list[str | ToolCall] = []  # Shared by all of them.
        return [draft.turn(self._calls, history, self._agent) for draft in self._drafts]

    def _close(self) -> None:
        self._drafts.append(self._open)
        self._open = _OpenTurn()


class _OpenTurn:
    """A turn while it is read."""

    def __init__(self) -> None:
        self.system: list[str] = []
        self.asked: list[str] = []
        self.skipped: list[int] = []
        self.notes: list[str] = []
        self.reason: str | None = None
        self.indices: dict[int, None] = {}
        self._places: list[int] = []
        self._lone: dict[int, int] = {}
        self._midturn: list[str] = []
        # The assistant's texts since its last call or result, by message.
        self._said: dict[int, list[str]] = {}

    @property
    def is_under_way(self) -> bool:
        return bool(self._places or self._said or self._midturn)

    def say(self, text: str, index: int) -> None:
        self._said.setdefault(index, []).append(text)
        self.indices[index] = None

    def call(self, place: int, index: int, *, lone: bool) -> None:
        self.pause()
        self._places.append(place)
        self.indices[index] = None
        if lone:
            self._lone[place] = index

    def pause(self) -> None:
        """Take a call or a result: the text so far was not the answer."""
        self._midturn += self._texts()
        self._said.clear()

    def _texts(self) -> list[str]:
        """The text of each message; an API may cut one into blocks."""
        return ["".join(texts) for texts in self._said.values() if any(texts)]

    def turn(self, calls: Sequence[ToolCall], history: list[str | ToolCall], agent: str) -> Turn:
        answered = bool(self._said)
        texts = self._texts()
        history.extend(self.system)
        before, question = len(history), "\n\n".join(self.asked)
        own = tuple(calls[place] for place in self._places)
        history.extend(self.asked)
        history.extend(own)
        lone = (
            f"the result of {calls[place].name or 'a tool'} in message {index} answers no call"
            for place, index in self._lone.items()
        )
        return Turn(
            question,
            (texts[-1] if texts else "") if answered else None,
            own,
            (*self._midturn, *texts[:-1]),
            self.reason,
            tuple(sorted(self.indices)),
            tuple(self.skipped),
            (*self.notes, *lone, *([f"of the sub-agent {agent}"] if agent else ())),
            agent,
            _history=history,
            _before=before,
        )


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
    items = _items_of(calls)
    reader = MessageReader(records=True)
    for index, item in enumerate(items):
        reader.read(item, index)
    return with_missing_results(reader.calls)


def _items_of(given: object) -> list[object]:
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
    for item in _items_of(messages):
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
    """Return the words of everyone but the assistant in `question`: a text, or messages of a conversation.

    Results of tools are included. The assistant's own messages support nothing, so they are left out.
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


def words_of_person(question: str | Sequence[object] | None) -> str:
    """Return the person's words in `question`: a text, or messages of a conversation."""
    if isinstance(question, str) or question is None:
        return question or ""
    found: list[str] = []
    for index, item in enumerate(question[:_MOST] if isinstance(question, list | tuple) else [question]):
        reader = MessageReader()
        if isinstance(item, str):
            found.append(item)
        elif not isinstance(item, ToolCall) and reader.read(item, index):
            found += [each.text for each in reader.events if isinstance(each, Utterance) and each.speaker == "user"]
    return "\n".join(found)


def earlier_calls(question: str | Sequence[object] | None) -> list[ToolCall]:
    """Return the calls of earlier turns in `question`, as `Turn.context` has them."""
    if not isinstance(question, list | tuple):
        return []
    calls = [each for each in question if isinstance(each, ToolCall)]
    return [call for call in calls[-_MOST_EARLIER:] if call.answered or call.failed is False]


def _of_result(call: ToolCall) -> list[str]:
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
