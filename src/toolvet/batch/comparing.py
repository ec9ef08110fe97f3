"""`compare_outputs`: the outputs of two runs, row by row → the report on which verdicts changed.

Rows are joined by their id. They are first divided by the hash of their ids into files on disk, so that memory holds
one part of both sides, whatever the size of the outputs and the order of their rows.
"""

import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np

from toolvet.assess.report import BinCount, ComparisonReport, MoveExample, SignalMove, VerdictMove
from toolvet.batch.arrow import Array, RecordBatch, compute, pa
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.batch.location import Location
from toolvet.batch.plan import FILE, ID, ROW
from toolvet.batch.summary.columns import LAYOUTS, SummaryLayout, marks_of
from toolvet.batch.summary.describe import same_kind
from toolvet.batch.summary.fold import NOT_JUDGED, flagged_rows, quoted, verdict_words
from toolvet.batch.summary.statistics import paired_change, share
from toolvet.batch.summary.tallies import Numbers, coded
from toolvet.batch.verdict_file import VerdictFile
from toolvet.errors import OutputError, UsageError
from toolvet.version import __version__

_MOST_VERDICTS: Final = 64


def compare_outputs(
    old: Sequence[Location],
    new: Sequence[Location],
    *,
    old_name: str,
    new_name: str,
    kind: str | None = None,
    by: str | None = None,
) -> ComparisonReport:
    """Return what changed from one output to another.

    Args:
        old: The files of the earlier output.
        new: Those of the later one.
        old_name: The name of the earlier output.
        new_name: That of the later one.
        kind: The kind of the rows. None: what their columns say.
        by: "id" or "row": what joins the rows. None: the id, or without one the number.

    Raises:
        UsageError: A file is no output of `toolvet batch`, the two hold different verdicts, or one has no such column.
        OutputError: There is no room for the rows in the folder for temporary files.
    """
    sides = [VerdictFile(each) for each in old], [VerdictFile(each) for each in new]
    layout = LAYOUTS[same_kind([*sides[0], *sides[1]], kind)]
    by = _joined_by([*sides[0], *sides[1]], by)
    verdicts, signals = NameTable(_MOST_VERDICTS), NameTable(SIGNALS)
    rows = VerdictRows(layout, by, verdicts, signals)
    counts = [file.rows for side in sides for file in side]
    known = sum(count or 0 for count in counts) if None not in counts else None
    with tempfile.TemporaryDirectory(prefix="toolvet-compare-") as folder:
        parts = [RowParts(Path(folder), side, part_count(known)) for side in ("old", "new")]
        sums: list[SideCounts] = []
        for side, files in zip(parts, sides, strict=True):
            with side:
                sums.append(side.add(batch for file in files for batch in rows.batches(file)))
        changes = Changes(signals.names)
        for first, second in zip(*parts, strict=True):
            changes.add(first, second)
    before, after = sums
    return ComparisonReport(
        kind=layout.kind,
        old=old_name,
        new=new_name,
        by=by,
        old_rows=before.rows,
        new_rows=after.rows,
        compared=changes.compared,
        same=changes.same,
        only_old=changes.only_old,
        only_new=changes.only_new,
        old_double=changes.old_double,
        new_double=changes.new_double,
        without_id=before.without_id + after.without_id,
        missing_ids=changes.missing_ids,
        added_ids=changes.added_ids,
        double_ids=changes.double_ids,
        flag=layout.flag,
        old_flagged=share(before.flagged, before.judged),
        new_flagged=share(after.flagged, after.judged),
        newly_flagged=changes.newly,
        no_longer_flagged=changes.no_longer,
        p=_rounded(paired_change(changes.newly, changes.no_longer)),
        moves=_moves(changes, verdicts.names),
        signals=_signals(changes, signals.names),
        score_changes=changes.bins() if changes.score_up or changes.score_down else [],
        score_up=changes.score_up,
        score_down=changes.score_down,
        toolvet_version=__version__,
    )


def _joined_by(sides: Sequence[VerdictFile], given: str | None) -> str:
    for name in (ID, ROW) if given is None else (given,):
        if all(name in side.names or not side.names for side in sides):
            return name
    lacking = next(side for side in sides if (given or ROW) not in side.names)
    name = given or f"{ID} or {ROW}"
    raise UsageError(
        f"{lacking.given} has no column '{name}', which joins the rows; it has {', '.join(lacking.names[:40])}"
    )


class _Side(NamedTuple):
    """The rows of one side that the other has, too, in the same order."""

    ids: Any
    rows: Any
    verdicts: Numbers
    flagged: Numbers
    scores: Numbers
    signals: Numbers


class Changes:
    """What is known of all parts that were added."""

    def __init__(self, signals: Sequence[str]) -> None:
        self._names = signals
        self.compared = self.same = self.newly = self.no_longer = 0
        self.only_old = self.only_new = self.old_double = self.new_double = 0
        self.missing_ids: list[str] = []
        self.added_ids: list[str] = []
        self.double_ids: list[str] = []
        self.moves: dict[tuple[int, int], int] = {}
        self.examples: dict[tuple[int, int], list[tuple[tuple[float, int, str], MoveExample]]] = {}
        # For each signal: rows that had it, have it, gained it, lost it.
        self.signals: Numbers = np.zeros((4, SIGNALS), np.int64)
        self.score_changes: Numbers = np.zeros(_BARS, np.int64)
        self.score_up = self.score_down = 0

    def add(self, old: Any, new: Any) -> None:
        """Add all rows of a part, of both sides."""
        if not old.num_rows and not new.num_rows:
            return
        chunks = [*old.column("id").chunks, *new.column("id").chunks]
        encoded = compute.dictionary_encode(pa.chunked_array(chunks, pa.string())).combine_chunks()
        ids = encoded.dictionary
        codes = np.asarray(encoded.indices).astype(np.int64)
        olds, news = codes[: old.num_rows], codes[old.num_rows :]
        old_count, new_count = np.bincount(olds, minlength=len(ids)), np.bincount(news, minlength=len(ids))
        self.old_double += int(old_count[old_count > 1].sum())
        self.new_double += int(new_count[new_count > 1].sum())
        self._name(self.double_ids, ids, (old_count > 1) | (new_count > 1))
        # What is there twice on one side is reported as such, and not as missing on the other.
        self.only_old += int(((old_count == 1) & (new_count == 0)).sum())
        self.only_new += int(((new_count == 1) & (old_count == 0)).sum())
        self._name(self.missing_ids, ids, (old_count == 1) & (new_count == 0))
        self._name(self.added_ids, ids, (new_count == 1) & (old_count == 0))
        both = np.flatnonzero((old_count == 1) & (new_count == 1))
        if len(both):
            self._compare(_side(old, olds, both, len(ids)), _side(new, news, both, len(ids)))

    def bins(self) -> list[BinCount]:
        """The rows whose score changed, by how much."""
        width = 2 / _BARS
        return [
            BinCount(low=round(place * width - 1, 6), high=round((place + 1) * width - 1, 6), count=int(count))
            for place, count in enumerate(self.score_changes)
        ]

    def _name(self, names: list[str], ids: Any, chosen: Numbers) -> None:
        places = np.flatnonzero(chosen)[:_NAMED]
        # The smallest ones, so that they do not depend on how rows were divided.
        names[:] = sorted([*names, *map(quoted, ids.take(pa.array(places)).to_pylist())])[:_NAMED]

    def _compare(self, old: _Side, new: _Side) -> None:
        self.compared += len(old.verdicts)
        self.newly += int((new.flagged & ~old.flagged).sum())
        self.no_longer += int((old.flagged & ~new.flagged).sum())
        gained, lost = new.signals & ~old.signals, old.signals & ~new.signals
        for line, bits in enumerate((old.signals, new.signals, gained, lost)):
            self.signals[line] += _bit_counts(bits)
        change = np.nan_to_num(new.scores - old.scores)
        moved = np.abs(change) > _TINY
        self.score_up += int((change[moved] > 0).sum())
        self.score_down += int((change[moved] < 0).sum())
        places = np.clip(np.floor((change[moved] + 1) / 2 * _BARS + _TINY), 0, _BARS - 1).astype(np.int64)
        self.score_changes += np.bincount(places, minlength=_BARS)
        is_known = np.isnan(old.scores) == np.isnan(new.scores)
        same = (old.verdicts == new.verdicts) & ~moved & (gained == 0) & (lost == 0) & is_known
        self.same += int(same.sum())
        self._add_moves(old, new, np.flatnonzero(~same), change)

    def _add_moves(self, old: _Side, new: _Side, changed: Numbers, change: Numbers) -> None:
        pairs, places = np.unique(
            np.stack([old.verdicts[changed], new.verdicts[changed]], axis=1), axis=0, return_inverse=True
        )
        counts = np.bincount(places, minlength=len(pairs))
        for number, (before, after) in enumerate(pairs.tolist()):
            key = (before, after)
            self.moves[key] = self.moves.get(key, 0) + int(counts[number])
            own = changed[places == number]
            # Those whose score changed most; of equal ones the first of the old output.
            size = np.abs(change[own])
            least = np.partition(size, -_EXAMPLES)[-_EXAMPLES] if len(own) > _EXAMPLES else -1.0
            kept = self.examples.setdefault(key, [])
            kept += [
                self._example(old, new, row, float(abs(change[row])))
                for row in ([*own[size > least].tolist(), *own[size == least][:_EXAMPLES].tolist()])
            ]
            kept.sort(key=lambda each: each[0])
            del kept[_EXAMPLES:]

    def _example(self, old: _Side, new: _Side, row: int, size: float) -> tuple[tuple[float, int, str], MoveExample]:
        gained = self._named(int(new.signals[row]) & ~int(old.signals[row]))
        lost = self._named(int(old.signals[row]) & ~int(new.signals[row]))
        key = str(old.ids[row].as_py())
        example = MoveExample(
            id=quoted(key),
            old_row=old.rows[row].as_py(),
            new_row=new.rows[row].as_py(),
            old_score=_number(old.scores[row]),
            new_score=_number(new.scores[row]),
            gained=gained,
            lost=lost,
        )
        return (-size, -len(gained) - len(lost), key), example

    def _named(self, bits: int) -> list[str]:
        return [self._names[place] for place in range(SIGNALS) if bits >> place & 1]


def _moves(changes: Changes, names: list[str]) -> list[VerdictMove]:
    ordered = sorted(changes.moves.items(), key=lambda each: (each[0][0] == each[0][1], -each[1], each[0]))
    return [
        VerdictMove(
            old=names[before],
            new=names[after],
            rows=count,
            examples=[example for _, example in changes.examples[before, after]],
        )
        for (before, after), count in ordered
    ]


def _signals(changes: Changes, names: list[str]) -> list[SignalMove]:
    found = [
        SignalMove(name=names[place], old=int(had), new=int(has), gained=int(gained), lost=int(lost))
        for place, (had, has, gained, lost) in enumerate(np.transpose(changes.signals).tolist())
        if had or has
    ]
    return sorted(found, key=lambda each: (-each.gained - each.lost, -each.new, each.name))


def _rounded(chance: float | None) -> float | None:
    return None if chance is None else float(f"{chance:.3g}")


SIGNALS: Final = 64
_EXAMPLES: Final = 5
_NAMED: Final = 10
_BARS: Final = 20
_TINY: Final = 1e-9


def _side(table: Any, codes: Numbers, both: Numbers, count: int) -> _Side:
    place = np.zeros(count, np.int64)
    place[codes] = np.arange(len(codes))
    rows = table.take(pa.array(place[both])).combine_chunks()

    def column(name: str) -> Any:
        return rows.column(name).combine_chunks()

    return _Side(
        column("id"),
        column("row"),
        np.asarray(column("verdict")),
        np.asarray(column("flagged")),
        np.asarray(compute.fill_null(column("score"), float("nan"))),
        np.asarray(column("signals")),
    )


def _bit_counts(bits: Numbers) -> Numbers:
    """How many of these numbers have each bit."""
    octets = np.ascontiguousarray(bits).astype("<u8").view(np.uint8)
    counts: Numbers = np.unpackbits(octets, bitorder="little").reshape(-1, SIGNALS).sum(axis=0, dtype=np.int64)
    return counts


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)


ROWS_OF_A_PART: Final = 2**18
"""How many rows of both sides a part has, about."""
_MOST_PARTS: Final = 256


def part_count(rows: int | None) -> int:
    """Return how many parts are good for so many rows; None for an unknown number."""
    return _MOST_PARTS // 4 if rows is None else max(1, min(_MOST_PARTS, rows // ROWS_OF_A_PART))


class SideCounts(NamedTuple):
    """The rows of a side: all, those that were judged, those that are flagged, and those without an id."""

    rows: int
    judged: int
    flagged: int
    without_id: int


class RowParts:
    """The rows of one side. Raises `OutputError` where the folder has no room."""

    def __init__(self, folder: Path, side: str, parts: int) -> None:
        self._paths = [folder / f"{side}-{number}" for number in range(parts)]
        self._writers: list[Any] = []

    def __enter__(self) -> Self:
        self._writers = [pa.ipc.new_stream(str(path), COMPARED) for path in self._paths]
        return self

    def __exit__(self, *_: object) -> None:
        for writer in self._writers:
            writer.close()

    def add(self, batches: Iterable[RecordBatch]) -> "SideCounts":
        """Add all rows, and return how many there are."""
        rows = judged = flagged = without = 0
        for batch in batches:
            rows += batch.num_rows
            judged += int((np.asarray(batch.column("verdict")) != UNJUDGED).sum())
            flagged += int(batch.column("flagged").true_count)
            ids = batch.column("id")
            if ids.null_count:
                without += ids.null_count
                batch = batch.filter(ids.is_valid())  # noqa: PLW2901 - the same rows without those that cannot be joined
            self._write(batch)
        return SideCounts(rows, judged, flagged, without)

    def _write(self, batch: RecordBatch) -> None:
        try:
            if len(self._writers) == 1:
                self._writers[0].write_batch(batch)
                return
            hashes = np.fromiter(
                (zlib.crc32(id_.encode()) for id_ in batch.column("id").to_pylist()), np.int64, batch.num_rows
            )
            part = hashes % len(self._writers)
            order = np.argsort(part, kind="stable")
            ends = np.cumsum(np.bincount(part, minlength=len(self._writers)))
            divided = batch.take(pa.array(order))
            start = 0
            for writer, end in zip(self._writers, ends.tolist(), strict=True):
                if end > start:
                    writer.write_batch(divided.slice(start, end - start))
                start = end
        except OSError as error:
            raise OutputError(f"the folder for temporary files: {error}") from error

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows of each part as a table."""
        for path in self._paths:
            with pa.ipc.open_stream(str(path)) as reader:
                yield reader.read_all().combine_chunks()
            path.unlink()


UNJUDGED: Final = 0
"""The number of that verdict."""
_LONGEST_ID: Final = 200

COMPARED: Final = pa.schema(
    [
        ("id", pa.string()),
        ("row", pa.int64()),
        ("verdict", pa.int32()),
        ("flagged", pa.bool_()),
        ("score", pa.float64()),
        ("signals", pa.uint64()),
    ]
)
"""What is kept of each row until it is compared. `verdict` and the bits of `signals` are places in `NameTable`s."""


class NameTable:
    """Names as numbers, in the order in which they were first seen. Names beyond `most` share the last number."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places: dict[str, int] = {}

    def place(self, name: str) -> int:
        """Return the number of a name."""
        known = self._places.get(name)
        if known is not None:
            return known
        return (
            self._places.setdefault(name, len(self._places)) if len(self._places) < self._most - 1 else self._most - 1
        )

    def places(self, names: Sequence[str]) -> Numbers:
        """Return the numbers of names."""
        return np.array([self.place(name) for name in names], np.int64)

    @property
    def names(self) -> list[str]:
        """The names by number; the last one stands for all further ones."""
        return [*self._places, *([""] * (self._most - 1 - len(self._places))), "others"]


class VerdictRows:
    """Makes what is compared of the rows of an output. Both sides share the tables of names."""

    def __init__(self, layout: SummaryLayout, by: str, verdicts: NameTable, signals: NameTable) -> None:
        self._layout = layout
        self._by = by
        self._verdicts = verdicts
        # The first name has the first number.
        verdicts.place(NOT_JUDGED)
        self._signals = signals

    def batches(self, file: VerdictFile) -> Iterator[RecordBatch]:
        """Yield the rows of an output as record batches of `COMPARED`."""
        there = None if file.is_lines else file.names
        wanted = self._layout.columns(there)
        read: Mapping[str, Sequence[str]] = {
            name: members for name, members in wanted.items() if name in self._needed() or name in self._layout.marks
        }
        for batch in file.batches(read, self._layout.kind):
            yield self._compared(batch)

    def _needed(self) -> set[str]:
        score = {self._layout.score} if self._layout.score is not None else set[str]()
        return {ROW, FILE, ID, PROBLEM, self._layout.subject.flag, *score}

    def _compared(self, batch: RecordBatch) -> RecordBatch:
        names, count = batch.schema.names, batch.num_rows
        flag, score = self._layout.subject.flag, self._layout.score
        verdicts = batch.column(flag) if flag in names else pa.nulls(count, pa.string())
        judged = compute.is_null(batch.column(PROBLEM)) if PROBLEM in names else pa.array([True] * count)
        flagged = flagged_rows(self._layout, verdicts) & np.asarray(judged)
        words = compute.if_else(judged, verdict_words(self._layout, verdicts), NOT_JUDGED)
        codes, known = coded(words)
        scores = batch.column(score) if score in names else pa.nulls(count, pa.float64())
        rows = batch.column(ROW) if ROW in names else pa.nulls(count, pa.int64())
        return pa.RecordBatch.from_arrays(
            [
                self._keys(batch),
                rows.cast(pa.int64()),
                pa.array(self._verdicts.places(known)[codes].astype(np.int32)),
                pa.array(flagged),
                scores.cast(pa.float64()),
                pa.array(self._bits(batch)),
            ],
            schema=COMPARED,
        )

    def _keys(self, batch: RecordBatch) -> Array:
        if self._by == ID:
            return compute.utf8_slice_codeunits(batch.column(ID).cast(pa.string()), 0, _LONGEST_ID)
        rows = batch.column(ROW).cast(pa.string())
        if FILE not in batch.schema.names:
            return rows
        return compute.binary_join_element_wise(batch.column(FILE).cast(pa.string()), rows, ", row ")

    def _bits(self, batch: RecordBatch) -> Numbers:
        marks = marks_of(self._layout.kind, batch)
        codes, names = coded(marks.names)
        found = np.zeros(batch.num_rows, np.uint64)
        if len(codes):
            bits = np.left_shift(np.uint64(1), self._signals.places(names).astype(np.uint64))
            np.bitwise_or.at(found, marks.rows, bits[codes])
        return found
