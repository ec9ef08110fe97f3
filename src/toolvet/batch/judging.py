"""`ChunkJudge`: a chunk of rows in, the encoded output for them out. It runs in every process that judges.

`encode` makes bytes of a record batch; the bytes of several batches, one after the other, are one output.

`BatchEngine` says where the rows of a run are judged. Output, manifest and limits are the run's, whatever the engine.
A run cuts its input into `Work`, in order: rows that were read (`Chunk`), or a range of a file that the judging process
reads itself (`FileRange`). The engine gives back `Verdicts`, in the same order: one for each chunk, cut as the readers
cut it, so that the output has the same bytes from every engine. It holds a bounded amount of work at a time, and tries
again when a process or a worker died before it finished. Closing the engine gives up the work that it has begun.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec
import numpy as np
import orjson

from toolvet.batch.arrow import ArrowSchema, RecordBatch, compute, pa
from toolvet.batch.chunk import READ_PROBLEM, Chunk, FileRange, ReadPosition
from toolvet.batch.executors.executor import EngineFigures
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.batch.kernel.texts import lengths
from toolvet.batch.plan import FILE, ID, LENGTH, ROW, Plan, build
from toolvet.batch.reading.lines import lines_batch
from toolvet.batch.reading.parquet import decoded
from toolvet.core.json_value import elements, is_array, is_object, members

_MOST_SHOWN: Final = 5
_COUNTS: Final = "signal_counts"
_MIX: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Tally(msgspec.Struct):
    """What became of rows: how many were read, how many of them flagged, and how many could not be judged.

    `counts` says how often each signal, class or the like was found; `shown` has the first problems with their rows.
    """

    rows: int = 0
    flagged: int = 0
    problems: int = 0
    counts: dict[str, int] = {}
    shown: list[tuple[str, str]] = []

    def add(self, other: "Tally") -> None:
        """Add another tally to this one."""
        self.rows += other.rows
        self.flagged += other.flagged
        self.problems += other.problems
        counts = dict(self.counts)
        for name, count in other.counts.items():
            counts[name] = counts.get(name, 0) + count
        self.counts = counts
        self.shown = [*self.shown, *other.shown][:_MOST_SHOWN]


class Judged(msgspec.Struct):
    """The output of a chunk, and what became of its rows."""

    tally: Tally
    body: bytes


class ChunkJudge:
    """Judges chunks by one plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._schema = plan.output()
        main = plan.job.subject.main
        self._kernel = build(plan.job, {main: main, **plan.columns})

    def __call__(self, chunk: Chunk, most: int | None = None) -> Judged:
        """Return the output for a chunk, or for its first `most` rows."""
        rows: Any = np.arange(chunk.row, chunk.row + chunk.rows, dtype=np.int64)
        if chunk.form == "arrow":
            batch = decoded(chunk.body)
        elif chunk.form == "lines":
            batch, rows = lines_batch(chunk.body, chunk.row, self._plan)
        else:
            names = [*self._plan.wanted, READ_PROBLEM]
            nothing = pa.nulls(chunk.rows, pa.string())
            problem = pa.array([chunk.problem] * chunk.rows, pa.string())
            batch = pa.RecordBatch.from_arrays([*[nothing] * (len(names) - 1), problem], names=names)
        if self._plan.job.sample is not None:
            chosen = np.flatnonzero(sampled(rows, self._plan.job.sample))
            batch, rows = batch.take(pa.array(chosen)), rows[chosen]
        if most is not None:
            batch, rows = batch.slice(0, most), rows[:most]
        verdicts = self._kernel(batch)
        output = self._output(batch, rows, verdicts, chunk)
        return Judged(self._tally(output), encode(output, self._plan.form))

    def _output(self, batch: RecordBatch, rows: Any, verdicts: RecordBatch, chunk: Chunk) -> RecordBatch:
        arrays: list[Any] = []
        for field in self._schema:
            name: str = field.name
            if name == FILE and self._plan.files:
                file = self._plan.files[chunk.file] if chunk.name is None else chunk.name
                arrays.append(pa.array([file] * len(rows), pa.string()))
            elif name == ROW:
                arrays.append(pa.array(rows))
            elif name == LENGTH:
                main = self._plan.job.subject.main
                arrays.append(lengths(batch.column(self._plan.columns.get(main, main))))
            elif name in verdicts.schema.names:
                arrays.append(verdicts.column(name))
            else:
                source = self._plan.columns[ID] if name == ID and ID in self._plan.columns else name
                column: Any = batch.column(source)
                if column.type != field.type:
                    try:
                        column = column.cast(field.type)
                    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                        # What does not fit the type becomes null.
                        column = pa.nulls(len(column), field.type)
                arrays.append(column)
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _tally(self, output: RecordBatch) -> Tally:
        problems = output.column(PROBLEM)
        failed = np.flatnonzero(np.asarray(problems.is_valid()))
        subject = self._plan.job.subject
        flagged = compute.is_in(output.column(subject.flag), value_set=pa.array(list(subject.flagged)))
        shown: list[tuple[str, str]] = []
        for row in failed[:_MOST_SHOWN].tolist():
            place = f"row {output.column(ROW)[row].as_py()}"
            if self._plan.files:
                place = f"{output.column(FILE)[row].as_py()}, {place}"
            shown.append((place, problems[row].as_py()))
        # How often each type of signal was found, or each value of a column of words.
        counts: dict[str, int] = {}
        if _COUNTS in output.schema.names:
            found = output.column(_COUNTS)
            sums = {field.name: compute.sum(found.field(field.name)).as_py() for field in found.type}
            counts = {name: count for name, count in sums.items() if count}
        elif pa.types.is_string(output.column(subject.flag).type):
            values = compute.value_counts(output.column(subject.flag)).to_pylist()
            counts = {each["values"]: each["counts"] for each in values if each["values"] is not None}
        return Tally(
            rows=output.num_rows,
            flagged=int(compute.sum(flagged).as_py() or 0),
            problems=len(failed),
            counts=counts,
            shown=shown,
        )


def sampled(rows: Any, share: float) -> Any:
    """Which rows are in a sample of this share: always the same ones, by a hash of their numbers (splitmix64)."""
    mixed = rows.astype(np.uint64) * _MIX[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[1]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[2]
    return (mixed ^ (mixed >> np.uint64(31))) < np.uint64(min(share, 1.0) * (2**64 - 1))


def encode(batch: RecordBatch, form: str) -> bytes:
    """Return the rows as "parquet" (a stream of Arrow, which becomes Parquet when all are there), "jsonl" or "csv"."""
    if form == "jsonl":
        return b"".join(_json(_row(row)) + b"\n" for row in batch.to_pylist())
    if form == "csv":
        rows: list[dict[str, object]] = batch.to_pylist()
        return _lines([[_cell(found.get(name)) for name in row] for row in rows for found in (_row(row),)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def heading(schema: ArrowSchema, form: str) -> bytes:
    """Return what an output of this format begins with."""
    return _lines([[_cell(name) for name in schema.names]]) if form == "csv" else b""


def _plain(value: object) -> object:
    """A value as JSON has it: members that are not known, or not there, are left out, as `to_dict` leaves them out."""
    if is_object(value):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    return [_plain(each) for each in elements(value)] if is_array(value) else value


def _row(row: Mapping[str, object]) -> dict[str, object]:
    found = {name: _plain(value) for name, value in row.items() if value is not None}
    if _COUNTS in found:
        found[_COUNTS] = {name: count for name, count in members(found[_COUNTS]).items() if count}
    return found


# A spreadsheet runs a cell that begins like this. A minus before anything but a number counts, too.
_FORMULA: Final = re.compile(r"[=+@\t\r]|-(?![0-9.,]+(?:[eE][+-]?[0-9]+)?\Z)")


def _cell(value: object) -> object:
    if isinstance(value, str):
        return f"'{value}" if _FORMULA.match(value) else value
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    return _json(value).decode()


def _json(value: object) -> bytes:
    # Columns that are kept may hold decimals, bytes and the like.
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)


def _lines(rows: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


Work = Chunk | FileRange


class Verdicts(msgspec.Struct, frozen=True):
    """The output of a chunk, in one piece or several, and where the next one begins.

    `chunk` is the chunk itself, or, where another process read it, the place to read it at again.
    """

    chunk: Chunk | ReadPosition
    after: ReadPosition
    judged: list[Judged]


class ChunkJudges(Protocol):
    """Judges the work of one output, in order."""

    def judged(self, work: Iterator[Work]) -> Iterator[Verdicts]:
        """Yield the verdicts on all chunks of the work."""
        ...

    def close(self) -> None:
        """Give up unfinished work, and end everything that was started."""
        ...


class BatchEngine(Protocol):
    """Makes judges for the outputs of a run."""

    figures: EngineFigures

    @property
    def reads(self) -> bool:
        """Whether it takes ranges, which the judging process reads itself; else only chunks."""
        ...

    def judges(self, plan: Plan, *, is_small: bool) -> ChunkJudges:
        """Return what judges by a plan; `is_small` says that the input is not worth a second process."""
        ...

    def close(self) -> None:
        """End everything that was started."""
        ...
