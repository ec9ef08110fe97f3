"""Turns of a record: `record_answer` adds the answer to the calls of its turn, `read_turn` reads them all together.

The proxy records the calls of a turn; it never sees the answer, which is handed in later under the same trace id. A
later release may keep records in another place: code that uses these two functions will go on working.
"""

import json
import sqlite3
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias, cast

import msgspec

from toolvet.checks.answer import AnswerQuality
from toolvet.errors import UsageError
from toolvet.redact import redact, redact_text
from toolvet.schema.json_value import is_object, members
from toolvet.store.verdicts import AnswerEntry, CallRecord, open_book

_LATEST: Final = 20
_MOST_READ: Final = 5000
# These have columns of their own in the record.
_Kind: TypeAlias = type[CallRecord] | type[AnswerEntry]
_LINES: Final[tuple[tuple[str, _Kind], ...]] = (("call", CallRecord), ("answer", AnswerEntry))
_TABLES: Final[tuple[tuple[str, _Kind], ...]] = (("calls", CallRecord), ("answers", AnswerEntry))
_COLUMNS: Final = frozenset({"score", "shouldEscalate", "trace_id"})


class RecordedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What a record knows of one turn: `calls` and `answers`, each from the oldest to the newest."""

    trace: str
    calls: tuple[CallRecord, ...] = ()
    answers: tuple[AnswerEntry, ...] = ()

    @property
    def began(self) -> float:
        """When the first call began or the first answer was recorded, in seconds since the epoch."""
        return min(entry.at for entry in self.entries)

    @property
    def entries(self) -> tuple[CallRecord | AnswerEntry, ...]:
        """Calls and answers in the order in which they happened."""
        return tuple(sorted((*self.calls, *self.answers), key=lambda entry: entry.at))


def record_answer(path: Path | str, quality: AnswerQuality, text: str | None = None) -> None:
    """Add an answer to a record that the proxy keeps (`toolvet proxy --record`), under the trace id of its turn.

    Args:
        path: The record; a new one is created.
        quality: The verdict of `check_answer(…, trace="…")`.
        text: The answer itself, which is stored without secrets. None: only the verdict is stored.

    Raises:
        UsageError: The verdict has no `trace_id`, or the file is not a record or cannot be written.

    Example:
        >>> from toolvet import check_answer
        >>> record_answer("calls.jsonl", check_answer("It is done."))
        Traceback (most recent call last):
        toolvet.errors.UsageError: the verdict has no trace id: give it to check_answer as trace="…"
    """
    if not quality.trace_id:
        raise UsageError('the verdict has no trace id: give it to check_answer as trace="…"')
    document = members(redact(quality.to_dict()))
    entry = AnswerEntry(
        at=time.time(),
        trace=quality.trace_id,
        score=quality.score,
        escalate=quality.should_escalate,
        text=None if text is None else redact_text(text),
        detail={key: value for key, value in document.items() if key not in _COLUMNS},
    )
    try:
        with closing(open_book(Path(path))) as book:
            book.add([entry])
    except (OSError, sqlite3.Error) as error:
        raise UsageError(f"{path}: {error}") from error


def read_turn(path: Path, trace: str) -> RecordedTurn:
    """Return the turn whose trace id is, or alone begins with, `trace`.

    Raises UsageError where no turn or several have such an id, or where the file is not a record.
    """
    found = list(_read(path, trace)) if trace else []
    ids = {entry.trace: None for entry in found if entry.trace is not None}
    if trace not in ids:
        if not ids:
            raise UsageError(f"{path} has no turn whose id is or begins with {trace!r}")
        if len(ids) > 1:
            shown = ", ".join(list(ids)[:5]) + (" …" if len(ids) > 5 else "")
            raise UsageError(f"{len(ids)} turns begin with {trace!r}: {shown}")
        trace = next(iter(ids))
    return _turn(trace, [entry for entry in found if entry.trace == trace])


def latest_turns(path: Path, most: int = _LATEST) -> list[RecordedTurn]:
    """Return the turns that began last, the newest first. Raises UsageError where the file is not a record.

    Only the last thousands of calls and answers are looked at.
    """
    by_trace: dict[str, list[CallRecord | AnswerEntry]] = {}
    for entry in deque(_read(path, ""), maxlen=2 * _MOST_READ):
        if entry.trace is not None:
            by_trace.setdefault(entry.trace, []).append(entry)
    turns = [_turn(trace, entries) for trace, entries in by_trace.items()]
    return sorted(turns, key=lambda turn: turn.began, reverse=True)[:most]


def _turn(trace: str, entries: list[CallRecord | AnswerEntry]) -> RecordedTurn:
    ordered = sorted(entries, key=lambda entry: entry.at)
    return RecordedTurn(
        trace=trace,
        calls=tuple(entry for entry in ordered if isinstance(entry, CallRecord)),
        answers=tuple(entry for entry in ordered if isinstance(entry, AnswerEntry)),
    )


def _read(path: Path, prefix: str) -> Iterator[CallRecord | AnswerEntry]:
    """Yield the calls and answers whose trace id begins with `prefix`. The file is only read, never created."""
    try:
        if path.suffix == ".jsonl":
            yield from _read_lines(path, prefix)
        else:
            yield from _read_tables(path, prefix)
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such record; say where it is with --record FILE") from None
    except (OSError, sqlite3.Error, msgspec.ValidationError) as error:
        raise UsageError(f"{path} is not a record of toolvet, or cannot be read: {error}") from error


def _read_lines(path: Path, prefix: str) -> Iterator[CallRecord | AnswerEntry]:
    with path.open("rb") as lines:
        for line in lines:
            try:
                record: object = msgspec.json.decode(line)
            except msgspec.DecodeError:
                # Half a line, where a disk was full.
                continue
            for kind, type_ in _LINES:
                fields = members(record).get(kind)
                if is_object(fields) and str(fields.get("trace") or "").startswith(prefix):
                    yield msgspec.convert(fields, type_)


def _read_tables(path: Path, prefix: str) -> Iterator[CallRecord | AnswerEntry]:
    if not path.exists():
        raise FileNotFoundError(path)
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        known = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "calls" not in known:
            raise UsageError(f"{path} is not a record of toolvet: it has no table of calls")
        connection.row_factory = sqlite3.Row
        for table, type_ in _TABLES:
            # Records of earlier releases have no answers.
            if table in known:
                # An id is ASCII, and the last of its characters is below DEL.
                query = f"SELECT * FROM {table} WHERE trace >= ? AND trace < ? ORDER BY at DESC LIMIT ?"  # noqa: S608 - our own words
                for row in connection.execute(query, (prefix, f"{prefix}\x7f", -1 if prefix else _MOST_READ)):
                    fields: Mapping[str, object] = dict(cast("sqlite3.Row", row))
                    yield msgspec.convert({**fields, "detail": json.loads(str(fields["detail"]))}, type_, strict=False)
