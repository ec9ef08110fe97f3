"""Reads messages, items and blocks of any format: texts, tool calls and results. Never raises."""

from collections.abc import Mapping
from itertools import islice
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.core.json_value import is_endless, is_small
from toolvet.core.messages.call import UNKNOWN, Pairing, ToolCall
from toolvet.core.messages.format import FormatTable, Read, format_table
from toolvet.core.messages.parts import (
    Parts,
    blocks_of,
    call_in,
    first_in,
    flag,
    has_arguments,
    parts_of,
    plain,
    text_in,
)

Speaker: TypeAlias = Literal["user", "assistant", "system", "tool"]

SPEAKERS: Final[Mapping[str, Speaker]] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
    "ipython": "tool",
}
_DEEPEST: Final = 8
# Blocks and items of one conversation and of one message, which may hold itself; every message gets some.
_MOST_READ: Final = 1_000_000
_MOST_IN_MESSAGE: Final = 10_000
_LEAST_IN_MESSAGE: Final = 100
_MOST_MEMBERS: Final = 64
_STOPS: Final = ("finish_reason", "stop_reason", "finishReason", "stopReason")
_MESSAGE_MEMBERS: Final = ("content", "parts", "tool_calls", "function_call")


class Utterance(msgspec.Struct, frozen=True, gc=False):
    """A text of the conversation, and the index of its message."""

    index: int
    speaker: str
    text: str


class Called(msgspec.Struct, frozen=True, gc=False):
    """A call at its `place` among all calls; `lone` says that it is a result without a call."""

    index: int
    place: int
    lone: bool = False


class Returned(msgspec.Struct, frozen=True, gc=False):
    """A result, and the place of its call."""

    index: int
    place: int


class Stopped(msgspec.Struct, frozen=True, gc=False):
    """The reason why the model stopped after a message."""

    index: int
    reason: str


Event: TypeAlias = Utterance | Called | Returned | Stopped


class MessageReader:
    """Reads one message after the other; `events` has their events, in order.

    With `records`, what is not a message may be the record of a call (`{"name": …, "result": …}`), or a bare result.
    """

    def __init__(self, *, records: bool = False) -> None:
        self.events: list[Event] = []
        self._records = records
        self._pairing = Pairing()
        self._table: FormatTable = format_table()
        self._index = 0
        self._depth = 0
        self._left = 0
        self._total = _MOST_READ
        self._speaker = "user"
        self._is_small = False
        self._ids: set[str] = set()

    @property
    def calls(self) -> list[ToolCall]:
        """The calls so far, with the results that came."""
        return self._pairing.calls

    @property
    def nested(self) -> bool:
        """Whether the item at hand is inside of a message: alone, a block may as well be the result of a tool."""
        return self._depth > 1

    def read(self, item: object, index: int = 0) -> bool:
        """Read one message, which has this index. Returns whether it is of a known format."""
        self._index, self._depth, self._speaker = index, 0, "user"
        self._ids.clear()
        # Of a small item all parts are small: they need not be measured again.
        kind = type(item)
        self._is_small = kind is dict and is_small(item)
        if not self._is_small and is_endless(item):
            return False
        granted = self._left = min(_MOST_IN_MESSAGE, max(_LEAST_IN_MESSAGE, self._total))
        try:
            is_known = self.within(item)
            if not is_known and self._records:
                # The record of a call, or a bare result.
                parts = parts_of(item)
                call = call_in(parts) if parts is not None else None
                self._add(call if call is not None else ToolCall("", None, item))
                is_known = True
        except Exception:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
            return False
        finally:
            self._total -= granted - max(0, self._left)
        return is_known

    def within(self, item: object, speaker: str | None = None) -> bool:
        """Read the content of the item at hand. Return whether a format knows it."""
        if isinstance(item, ToolCall):
            self._add(item)
            return True
        self._left -= 1
        if self._left < 0 or self._depth > _DEEPEST:
            return False
        parts = parts_of(item)
        if parts is None:
            # The block of a content list may be a bare text; a whole message may not.
            if isinstance(item, str) and self._depth:
                self.said(item, speaker)
                return True
            return False
        before, self._speaker = self._speaker, speaker or self._speaker
        self._depth += 1
        try:
            return self._known(parts)
        finally:
            self._depth -= 1
            self._speaker = before

    def _known(self, parts: Parts) -> bool:
        role = parts.get("role")
        if role is not None:
            # Enums of a framework are strings as well.
            speaker = SPEAKERS.get(role) if isinstance(role, str) else None
            if speaker is not None and any(key in parts for key in _MESSAGE_MEMBERS):
                self.message(parts, speaker)
                return True
        kind = parts.get("type")
        if isinstance(kind, str):
            if self._one_of(self._table.types.get(kind, ()), parts):
                return True
            for ending, reads in self._table.endings.items():
                if kind.endswith(ending) and self._one_of(reads, parts):
                    return True
        members = self._table.members
        for key in islice(parts, _MOST_MEMBERS):
            if key in members and parts[key] is not None and self._one_of(members[key], parts):
                return True
        return False

    def _one_of(self, reads: tuple[Read, ...], parts: Parts) -> bool:
        return any(read(parts, self) for read in reads)

    def message(self, parts: Parts, speaker: str) -> None:
        """Read a message of `speaker`: its content, and the members beside it."""
        content = parts.get("content")
        if content is None:
            content = parts.get("parts")
        self._speaker = speaker
        found = len(self.events)
        if speaker == "tool":
            # A result, or blocks that are results and name their calls.
            for block in () if isinstance(content, str) else blocks_of(content):
                self.within(block)
            if not any(isinstance(event, Called | Returned) for event in self.events[found:]):
                result = content if content is not None else first_in(parts, ("output", "result"))
                id_ = text_in(parts, "tool_call_id", "tool_use_id", "call_id", "id")
                self.returned(plain(result), id_=id_, name=text_in(parts, "name", "tool_name"), failed=flag(parts))
            return
        if not isinstance(content, str):
            for block in blocks_of(content):
                self.within(block)
        elif content:
            self.said(content)
        for key, reads in self._table.beside.items():
            if parts.get(key):
                self._one_of(reads, parts)
        if speaker == "assistant":
            if len(self.events) == found and (not content or (isinstance(content, str) and not content.strip())):
                # The user saw nothing.
                self.said("")
            self.stopped(first_in(parts, _STOPS))

    def record(self, item: object, index: int) -> bool:
        """Read the record of a call that has arguments. Returns whether it is one."""
        self._index, self._is_small = index, False
        try:
            parts = parts_of(item)
            call = call_in(parts) if parts is not None and has_arguments(parts) else None
        except Exception:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
            return False
        if call is not None:
            self._add(call)
        return call is not None

    def said(self, text: object, speaker: str | None = None) -> None:
        """Take a text; what tools say is their result."""
        if isinstance(text, str) and (speaker or self._speaker) != "tool":
            self.events.append(Utterance(self._index, speaker or self._speaker, text))

    def called(
        self, name: str, arguments: object, id_: str = "", *, result: object = UNKNOWN, failed: bool | None = None
    ) -> None:
        """Take a call. A message may describe one twice: in its content and next to it."""
        if id_:
            if id_ in self._ids:
                return
            self._ids.add(id_)
        self._add(ToolCall(name, arguments, result, failed, id_ or None))

    def returned(self, result: object, *, id_: str = "", name: str = "", failed: bool | None = None) -> None:
        """Take a result. One that answers no call is kept as a call of which only the result is known."""
        result = _bounded(result)
        place = self._pairing.answer(result, id_=id_, name=name, failed=failed)
        if place is None:
            place = self._pairing.add(ToolCall(name, None, result, failed, id_ or None))
            self.events.append(Called(self._index, place, lone=True))
        else:
            self.events.append(Returned(self._index, place))

    def stopped(self, reason: object) -> None:
        """Take the reason why the model stopped: a text, or an enum of a vendor's library."""
        if reason is not None and (text := str(getattr(reason, "value", reason))):
            self.events.append(Stopped(self._index, text[:100]))

    def _add(self, call: ToolCall) -> None:
        if not self._is_small and (is_endless(call.arguments) or is_endless(call.result)):
            call = ToolCall(call.name, _bounded(call.arguments), _bounded(call.result), call.failed, call.id)
        self.events.append(Called(self._index, self._pairing.add(call)))


def _bounded(value: object) -> object:
    """The arguments or the result of a call; a value without an end in JSON counts as missing."""
    return UNKNOWN if is_endless(value) else value
