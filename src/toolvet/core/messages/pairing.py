"""Calls and results as they come → calls with their results: by id where there is one, else by name and order."""

from collections import deque

from toolvet.core.messages.call import ToolCall, Unknown


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
        """Give a result to the call that waits for it. Returns the place of the call, None where there is none."""
        place = self._find(id_, name)
        if place is None:
            return None
        del self._waiting[place]
        call = self.calls[place]
        self.calls[place] = ToolCall(call.name, call.arguments, result, failed, call.id)
        return place

    def _find(self, id_: str, name: str) -> int | None:
        if id_:
            # Ids may come twice in a long conversation: the first call that still waits gets the result.
            place = self._oldest(self._by_id.get(id_))
            if place is not None:
                return place
            # A result may have an id where its call has none, and then its name says whose it is.
            place = self._oldest(self._by_name.get(name)) if name else None
            return place if place is not None and not self.calls[place].id else None
        if name:
            return self._oldest(self._by_name.get(name))
        return next(iter(self._waiting), None)

    def _oldest(self, places: deque[int] | None) -> int | None:
        while places:
            if places[0] in self._waiting:
                return places[0]
            places.popleft()
        return None


def settled(calls: list[ToolCall]) -> list[ToolCall]:
    """Return calls of which some have results: those that wait for theirs never returned, which None says."""
    if all(isinstance(call.result, Unknown) for call in calls):
        return calls
    return [_silent(call) if isinstance(call.result, Unknown) and call.failed is None else call for call in calls]


def _silent(call: ToolCall) -> ToolCall:
    return ToolCall(call.name, call.arguments, None, None, call.id)
