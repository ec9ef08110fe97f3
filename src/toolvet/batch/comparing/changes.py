"""`Changes`: parts of both sides, joined by their ids → which verdicts changed, and how."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolvet.assess.report import BinCount, MoveExample
from toolvet.batch.arrow import compute, pa
from toolvet.batch.summary.worst import quoted

SIGNALS: Final = 64
_EXAMPLES: Final = 5
_NAMED: Final = 10
_BARS: Final = 20
_TINY: Final = 1e-9

Numbers = NDArray[Any]


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
        # What is there twice on one side is told as such, and not as missing on the other.
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
            kept += [self._example(old, new, row, float(abs(change[row]))) for row in _candidates(own, size, least)]
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


def _candidates(own: Numbers, size: Numbers, least: float) -> list[int]:
    return [*own[size > least].tolist(), *own[size == least][:_EXAMPLES].tolist()]


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
