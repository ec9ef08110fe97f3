"""Reads files of lines: exports, logs (`--store FILE.jsonl`), and those of earlier releases."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from toolvet.core.json_value import is_object, members
from toolvet.store.legacy import event_of_row, verdict_of_answer, verdict_of_call
from toolvet.store.records import StoreRecord, decode_lines

_BATCH: Final = 1000


def read_line_records(path: Path) -> Iterator[list[StoreRecord]]:
    """Yield the records of a file in batches; lines that are none are left out. Raises OSError."""
    batch: list[StoreRecord] = []
    with path.open("rb") as lines:
        for line in lines:
            record = next(decode_lines(line), None) or _read_old(line)
            if record is not None:
                batch.append(record)
                if len(batch) >= _BATCH:
                    yield batch
                    batch = []
    if batch:
        yield batch


def _read_old(line: bytes) -> StoreRecord | None:
    """Return the record of a line of the first releases: `{"call": {…}}`, `{"event": {…}}`, `{"answer": {…}}`."""
    try:
        value: object = msgspec.json.decode(line)
    except (msgspec.MsgspecError, ValueError):
        return None
    for name, read in (("call", verdict_of_call), ("event", event_of_row), ("answer", verdict_of_answer)):
        fields = members(value).get(name)
        if is_object(fields):
            found: Mapping[str, object] = fields
            return read(found)
    return None
