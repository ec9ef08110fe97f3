"""The calls of a turn: one call and what came back, and how results find their calls."""

from collections import deque
from typing import Final

import msgspec


class ToolCall(msgspec.Struct, frozen=True):
    """One tool call of a turn, and its result.

    `result` is a text, any JSON value, or an MCP result as a mapping or an object of the official SDK. None means that
    the call never returned (use `""` for a tool that returns nothing), and `UNKNOWN` that the result is not known.
    `failed` is whether the call failed; with None, `check_result` decides from the result. `id` is the call's id in
    the messages.
    """

    name: str
    arguments: object = None
    result: object = None
    failed: bool | None = None
    id: str | None = None

    @property
    def answered(self) -> bool:
        """Whether there is a result.

        >>> ToolCall("ping").answered, ToolCall("ping", {}, "pong").answered
        (False, True)
        """
        return self.result is not None and not isinstance(self.result, Unknown)


class Unknown:
    """The type of `UNKNOWN`: a result that was not handed over, so how the call ended is not known."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


class Pairing:
    """The calls so far, and those of them that wait for their result."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self._waiting: dict[int, None] = {}
        self._by_id: dict[str, deque[int]] = {}
        self._by_name: dict[str, deque[int]] = {}

    def add(self, call: ToolCall) -> int:
        """Keep a call. Returns its place."""
        place = len(self.calls)
        self.calls.append(call)
        if isinstance(call.result, Unknown) and call.failed is None:
            self._waiting[place] = None
            if call.id:
                self._by_id.setdefault(call.id, deque()).append(place)
            self._by_name.setdefault(call.name, deque()).append(place)
        return place

    def answer(self, result: object, *, id_: str, name: str, failed: bool | None) -> int | None:
        """Give a result to the call that waits for it. Return the place of the call, None if no call waits."""
        if id_:
            # Ids may come twice in a long conversation: the first call that still waits gets the result.
            place = self._oldest(self._by_id.get(id_))
            if place is None and name:
                # If a result has an id but its call does not, the name of the result decides which call it belongs to.
                named = self._oldest(self._by_name.get(name))
                place = None if named is None or self.calls[named].id else named
        elif name:
            place = self._oldest(self._by_name.get(name))
        else:
            place = next(iter(self._waiting), None)
        if place is None:
            return None
        del self._waiting[place]
        call = self.calls[place]
        self.calls[place] = ToolCall(call.name, call.arguments, result, failed, call.id)
        return place

    def _oldest(self, places: deque[int] | None) -> int | None:
        while places:
            if places[0] in self._waiting:
                return places[0]
            places.popleft()
        return None


def with_missing_results(calls: list[ToolCall]) -> list[ToolCall]:
    """Return calls of which some have results: those that wait for theirs never returned, which None says."""
    if all(isinstance(call.result, Unknown) for call in calls):
        return calls
    return [
        ToolCall(call.name, call.arguments, None, None, call.id)
        if isinstance(call.result, Unknown) and call.failed is None
        else call
        for call in calls
    ]
