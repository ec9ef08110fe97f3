"""`SummaryLayout`: the columns that a summary reads, for each kind of rows; `marks_of`: the signals in these rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np

from toolvet.assess.report import RowsKind
from toolvet.batch.arrow import Array, RecordBatch, compute, pa
from toolvet.batch.job import KINDS, RowKind
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.batch.plan import FILE, ID, LENGTH, ROW
from toolvet.batch.summary.tallies import Numbers
from toolvet.errors import UsageError


class NumberColumn(msgspec.Struct, frozen=True):
    """A column of numbers, or of lists, of which the lengths are the numbers.

    A "share" is from 0 to 1, a "size" a count of something.
    """

    name: str
    title: str
    unit: str
    scale: Literal["share", "size"] = "size"


class SummaryLayout(msgspec.Struct, frozen=True):
    """What a summary reads of an output. `words` maps columns of words to their titles.

    `marks` has the columns in which signals are, with their members that are read: one of them alone is much quicker
    to read than all. `probabilities` say how probable it is that a row is good. `flag` says what flagged rows are.
    """

    kind: RowsKind
    flag: str
    numbers: Sequence[NumberColumn]
    words: Mapping[str, str]
    marks: Mapping[str, Sequence[str]]
    score: str | None = None
    probabilities: Sequence[str] = ()

    @property
    def subject(self) -> RowKind:
        """The kind of the rows, as the engine knows it."""
        return KINDS[self.kind]

    def columns(self, there: Sequence[str] | None) -> dict[str, Sequence[str]]:
        """Return the columns that are read, with their members (none: the whole column).

        They are those of an output that has the columns `there`; None: of any output.
        """
        plain = [ROW, FILE, ID, PROBLEM, self.subject.flag, *(each.name for each in self.numbers), *self.words]
        names = dict.fromkeys([*plain, *self.probabilities])
        found: dict[str, Sequence[str]] = {**dict.fromkeys(names, ()), **self.marks}
        return {name: members for name, members in found.items() if there is None or name in there}


_SIGNAL: Final = ("type", "evidence", "context", "weight")
_LENGTH: Final = NumberColumn(LENGTH, "Length", "characters")

LAYOUTS: Final[Mapping[str, SummaryLayout]] = {
    layout.kind: layout
    for layout in (
        SummaryLayout(
            "answers",
            "to escalate",
            (NumberColumn("score", "Score", "", "share"), _LENGTH),
            {"action": "Action"},
            {"signals": _SIGNAL},
            "score",
            ("likely_good", "score"),
        ),
        SummaryLayout(
            "results",
            "errors or broken",
            (NumberColumn("certainty", "Certainty of the kind of error", "", "share"), _LENGTH),
            {
                "classification": "Classification",
                "error_kind": "Whose error",
                "retry": "Worth calling again",
                "framework": "Framework that wrote it",
            },
            {"state": (), "error_kind": (), "evidence": (), "issues": (), "certainty": ()},
        ),
        SummaryLayout(
            "arguments",
            "not valid",
            (
                NumberColumn("violations", "Violations in a row", "violations"),
                NumberColumn("repair_certainty", "Certainty of the repair", "", "share"),
                _LENGTH,
            ),
            {"repair_confidence": "Repair", "unchecked": "Not checked"},
            {"violations": ("keyword", "field", "problem", "received")},
        ),
        SummaryLayout(
            "envelopes",
            "not valid",
            (
                NumberColumn("envelopes", "Envelopes in a row", "envelopes"),
                NumberColumn("findings", "Findings in a row", "findings"),
                _LENGTH,
            ),
            {},
            {"findings": ("id", "severity", "message", "evidence")},
        ),
        SummaryLayout(
            "conversations",
            "to escalate",
            (
                NumberColumn("score", "Score of the worst answer", "", "share"),
                NumberColumn("turns", "Turns", "turns"),
                NumberColumn("calls", "Calls", "calls"),
                NumberColumn("failed_calls", "Failed calls", "calls"),
                _LENGTH,
            ),
            {},
            {"answers": (), "failed_calls": ("tool", "classification", "error_kind", "state")},
            "score",
            ("score",),
        ),
    )
}
"""What is read of each kind of output."""

# A column that no other kind has.
_TELLING: Final = {
    "likely_good": "answers",
    "error_without_flag": "results",
    "violations": "arguments",
    "envelopes": "envelopes",
    "turns": "conversations",
}


def layout_of(there: Sequence[str], given: str | None, *, source: str) -> SummaryLayout:
    """Return the layout of an output with these columns; `given` is the kind where that is known.

    Raises UsageError where it is no output of `toolvet batch`.
    """
    known = next((kind for column, kind in _TELLING.items() if column in there), None)
    if given is not None and known not in (None, given):
        raise UsageError(f"{source} has verdicts on {known}, not on {given}")
    found = known or (given if PROBLEM in there or not there else None)
    if found is None:
        what = f"it has {', '.join(there[:40])}" if there else "it is empty: say with --kind what it would hold"
        raise UsageError(f"{source}: no output of `toolvet batch`; {what}")
    return LAYOUTS[found]


_SEVERITIES: Final = ("error", "warning", "info")


class FoundMarks(NamedTuple):
    """What was found in some rows: an entry for each, with its row, name, words, and how much it weighs."""

    rows: Numbers
    names: Array
    evidence: Array
    details: Array
    weights: Numbers


def marks_of(kind: str, batch: RecordBatch) -> FoundMarks:
    """Return what was found in the rows of a batch. A column that is not there holds nothing."""
    return _MARKS[kind](batch)


def _conversations(batch: RecordBatch) -> FoundMarks:
    rows, answers = _listed(batch, "answers")
    inner = _member(answers, "signals")
    own = _signals(rows[_parents(inner)], inner.flatten()) if inner is not None else _nothing()
    called, failed = _listed(batch, "failed_calls")
    state = _texts(failed, "state")
    calls = FoundMarks(
        called,
        pa.array(["failed_call"] * len(called), pa.string()),
        _texts(failed, "tool"),
        compute.coalesce(state, _texts(failed, "error_kind"), _texts(failed, "classification"), ""),
        np.ones(len(called)),
    )
    return FoundMarks(
        np.concatenate([own.rows, calls.rows]),
        pa.concat_arrays([own.names, calls.names]),
        pa.concat_arrays([own.evidence, calls.evidence]),
        pa.concat_arrays([own.details, calls.details]),
        np.concatenate([own.weights, calls.weights]),
    )


def _results(batch: RecordBatch) -> FoundMarks:
    kinds = _column(batch, "error_kind")
    states = compute.coalesce(_column(batch, "state"), kinds)
    valid = np.flatnonzero(np.asarray(states.is_valid()))
    chosen = pa.array(valid)
    return FoundMarks(
        valid,
        states.take(chosen),
        _first(batch, "evidence").take(chosen),
        _first(batch, "issues").take(chosen),
        _floats(batch.column("certainty").take(chosen) if "certainty" in batch.schema.names else None, len(valid)),
    )


def _arguments(batch: RecordBatch) -> FoundMarks:
    rows, found = _listed(batch, "violations")
    field = _texts(found, "field")
    details = compute.binary_join_element_wise(field, _texts(found, "problem"), ": ")
    return FoundMarks(rows, _names(found, "keyword"), _texts(found, "received"), details, np.ones(len(rows)))


def _envelopes(batch: RecordBatch) -> FoundMarks:
    rows, found = _listed(batch, "findings")
    severity = compute.index_in(_texts(found, "severity"), value_set=pa.array(_SEVERITIES))
    weights = -np.asarray(compute.fill_null(severity, len(_SEVERITIES))).astype(np.float64)
    return FoundMarks(rows, _names(found, "id"), _texts(found, "evidence"), _texts(found, "message"), weights)


def _listed(batch: RecordBatch, name: str) -> tuple[Numbers, Array]:
    """The entries of a column of lists, and the row of each."""
    if name not in batch.schema.names or pa.types.is_null(batch.schema.field(name).type):
        return np.zeros(0, np.int64), pa.array([], pa.struct([]))
    column = batch.column(name)
    return _parents(column), column.flatten()


def _signals(rows: Numbers, signals: Array) -> FoundMarks:
    return FoundMarks(
        rows,
        _names(signals, "type"),
        _texts(signals, "evidence"),
        _texts(signals, "context"),
        _floats(_member(signals, "weight"), len(rows)),
    )


_MARKS: Final[Mapping[str, Callable[[RecordBatch], FoundMarks]]] = {
    "answers": lambda batch: _signals(*_listed(batch, "signals")),
    "results": _results,
    "arguments": _arguments,
    "envelopes": _envelopes,
    "conversations": _conversations,
}


def _nothing() -> FoundMarks:
    none = pa.array([], pa.string())
    return FoundMarks(np.zeros(0, np.int64), none, none, none, np.zeros(0))


def _parents(column: Array) -> Numbers:
    return np.asarray(compute.list_parent_indices(column)).astype(np.int64)


def _member(entries: Array, name: str) -> Array | None:
    if not pa.types.is_struct(entries.type) or entries.type.get_field_index(name) < 0:
        return None
    return compute.struct_field(entries, name)


def _texts(entries: Array, name: str) -> Array:
    """A member of entries as texts, empty where there is none."""
    found = _member(entries, name)
    if found is None:
        return pa.array([""] * len(entries), pa.string())
    return compute.fill_null(found.cast(pa.string()), "")


def _names(entries: Array, name: str) -> Array:
    found = _texts(entries, name)
    return compute.if_else(compute.equal(found, ""), "unnamed", found)


def _floats(found: Array | None, count: int) -> Numbers:
    if found is None:
        return np.zeros(count)
    numbers: Numbers = np.nan_to_num(np.asarray(compute.fill_null(found.cast(pa.float64()), 0.0)))
    return numbers


def _column(batch: RecordBatch, name: str) -> Array:
    if name not in batch.schema.names:
        return pa.nulls(batch.num_rows, pa.string())
    return batch.column(name).cast(pa.string())


def _first(batch: RecordBatch, name: str) -> Array:
    """The first text of each list of a column, empty where there is none."""
    rows, texts = _listed(batch, name)
    known, places = np.unique(rows, return_index=True)
    if not len(known):
        return pa.array([""] * batch.num_rows, pa.string())
    at = np.full(batch.num_rows, -1, np.int64)
    at[known] = places
    return compute.fill_null(texts.take(pa.array(at, mask=at < 0)), "")
