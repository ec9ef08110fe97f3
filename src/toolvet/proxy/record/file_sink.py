"""The record on disk: finished calls and faults → rows or lines of a file, without secrets."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from toolvet.proxy.record.background import give_way
from toolvet.proxy.record.calls import FinishedCall, OpenCalls
from toolvet.proxy.record.recorder import StampedNote
from toolvet.redact import SecretMask
from toolvet.schema.json_value import elements, is_object, members
from toolvet.session import PolicyFault
from toolvet.store.verdicts import CallRecord, EventRecord, VerdictBook

# These have columns of their own in the record.
_COLUMNS: Final = frozenset({"event", "id", "tool", "era", "outcome", "blocked", "size", "trace_id"})

# What the server says of a result that is not all there is; the rest only counts its parts.
_KEPT_METADATA: Final = ("contentFidelity", "pagination", "warnings")


class FileSink:
    """A sink that writes to a file.

    `open_book` is called in the sink's own thread with the first records, and again with the next ones when it failed.
    `name` is the server's name in the record; empty for the command or URL it was started with. `known` are secrets
    that the user gave.
    """

    def __init__(self, open_book: Callable[[], VerdictBook], name: str = "", known: SecretMask | None = None) -> None:
        self._open_book = open_book
        self._book: VerdictBook | None = None
        self._name = name
        self._known = known or SecretMask()
        self._calls = OpenCalls()

    def write(self, notes: Sequence[StampedNote]) -> None:
        """Write a record of each call that ended, and of each fault. Raises what the file raises."""
        records: list[CallRecord | EventRecord] = []
        for item in self._calls.pair(notes):
            if isinstance(item, FinishedCall):
                records.append(self._call_record(item))
            elif isinstance(item.note, PolicyFault):
                records.append(self._event_record(item, item.note))
            give_way()
        if not records:
            return
        if self._book is None:
            self._book = self._open_book()
        self._book.add(records)

    def close(self) -> None:
        """Close the file."""
        if self._book is not None:
            self._book.close()

    def _call_record(self, call: FinishedCall) -> CallRecord:
        ended = call.ended
        detail = msgspec.structs.replace(ended, mask=ended.mask | self._known).to_dict()
        verdict = call.ended.verdict
        return CallRecord(
            at=call.began / 1e9,
            server=self._name or call.origin.server,
            connection=call.origin.connection,
            id=self._known.text(str(detail["id"])),
            tool=self._known.text(str(detail["tool"])),
            era=call.ended.era,
            outcome=call.ended.outcome,
            duration=call.duration,
            classification=None if verdict is None else verdict.classification.value,
            state=None if verdict is None or verdict.state is None else verdict.state.value,
            blocked=call.ended.blocked,
            size=call.ended.size,
            trace=(ended.mask | self._known).text(ended.trace_id),
            detail={key: _shorten(value) for key, value in detail.items() if key not in _COLUMNS},
        )

    def _event_record(self, stamped: StampedNote, fault: PolicyFault) -> EventRecord:
        return EventRecord(
            at=stamped.at / 1e9,
            server=self._name or stamped.origin.server,
            connection=stamped.origin.connection,
            kind=fault.kind,
            message=self._known.text(str(fault.to_dict()["message"])),
            tool=fault.tool,
        )


def _shorten(value: object) -> object:
    """Return a verdict without absent factors and without counts of the result; any other value as it is."""
    if not is_object(value) or "factors" not in value:
        return value
    factors = [factor for factor in elements(value["factors"]) if members(factor).get("present")]
    about = members(value.get("responseMetadata"))
    kept: dict[str, object] = {
        **value,
        "factors": factors,
        "responseMetadata": {key: about[key] for key in _KEPT_METADATA if key in about},
    }
    return {key: item for key, item in kept.items() if item not in (None, [], {})}
