"""The kept record: calls and faults that pass → rows or lines on disk, without secrets."""

import re
from collections.abc import Callable, Sequence

from toolvet.proxy.record.background import give_way
from toolvet.proxy.record.calls import Calls, FinishedCall
from toolvet.proxy.record.recorder import StampedNote
from toolvet.schema.json_value import elements, is_object, members
from toolvet.session import PolicyFault
from toolvet.store.verdicts import CallRecord, EventRecord, VerdictBook


class Keeping:
    """A sink. The book is opened in the sink's own thread with the first records, and again after a failure.

    `name` is what the server is called in the record; empty for what it was started as.
    """

    def __init__(self, open_book: Callable[[], VerdictBook], name: str = "") -> None:
        self._open_book = open_book
        self._book: VerdictBook | None = None
        self._name = name
        self._calls = Calls()

    def write(self, seen: Sequence[StampedNote]) -> None:
        """Keep what ended."""
        records: list[CallRecord | EventRecord] = []
        for item in self._calls.over(seen):
            if isinstance(item, FinishedCall):
                records.append(self._call(item))
            elif isinstance(item.note, PolicyFault):
                records.append(self._event(item, item.note))
            give_way()
        if not records:
            return
        if self._book is None:
            self._book = self._open_book()
        self._book.add(records)

    def close(self) -> None:
        """Close the book."""
        if self._book is not None:
            self._book.close()

    def _call(self, call: FinishedCall) -> CallRecord:
        told = call.ended.to_dict()
        verdict = call.ended.verdict
        return CallRecord(
            at=call.began / 1e9,
            server=self._name or call.origin.server,
            connection=call.origin.connection,
            id=str(told.pop("id")),
            tool=str(told.pop("tool")),
            era=call.ended.era,
            outcome=call.ended.outcome,
            duration=call.duration,
            classification=None if verdict is None else verdict.classification.value,
            state=None if verdict is None or verdict.state is None else verdict.state.value,
            blocked=call.ended.blocked,
            size=call.ended.size,
            trace=_trace_id(call.ended.meta.get("traceparent")),
            detail={key: _shortened(value) for key, value in told.items() if key not in _COLUMNS},
        )

    def _event(self, seen: StampedNote, fault: PolicyFault) -> EventRecord:
        told = fault.to_dict()
        return EventRecord(
            at=seen.at / 1e9,
            server=self._name or seen.origin.server,
            connection=seen.origin.connection,
            kind=fault.kind,
            message=str(told["message"]),
            tool=fault.tool,
        )


_TRACE_PARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


def _trace_id(parent: object) -> str | None:
    """The trace id in a `traceparent` (W3C Trace Context); None for what is none."""
    found = _TRACE_PARENT.match(parent) if isinstance(parent, str) else None
    return None if found is None else found[1]


def _shortened(value: object) -> object:
    """A verdict without what was looked for and not found, and without what can be counted from the result."""
    if not is_object(value) or "factors" not in value:
        return value
    factors = [factor for factor in elements(value["factors"]) if members(factor).get("present")]
    kept = {key: item for key, item in value.items() if key != "responseMetadata" and item not in (None, [])}
    return {**kept, "factors": factors} if factors else {key: item for key, item in kept.items() if key != "factors"}


# What has a column is not said a second time.
_COLUMNS = frozenset({"event", "era", "outcome", "blocked", "size"})
