"""`marks_of`: an output's rows → the signals, states, violations or findings in them, as columns."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolvet.batch.arrow import Array, RecordBatch, compute, pa

Numbers = NDArray[Any]

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


def _answers(batch: RecordBatch) -> FoundMarks:
    rows, signals = _listed(batch, "signals")
    return _signals(rows, signals)


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


_MARKS: Final[Mapping[str, Callable[[RecordBatch], FoundMarks]]] = {
    "answers": _answers,
    "results": _results,
    "arguments": _arguments,
    "envelopes": _envelopes,
    "conversations": _conversations,
}


def _signals(rows: Numbers, signals: Array) -> FoundMarks:
    return FoundMarks(
        rows,
        _names(signals, "type"),
        _texts(signals, "evidence"),
        _texts(signals, "context"),
        _floats(_member(signals, "weight"), len(rows)),
    )


def _nothing() -> FoundMarks:
    none = pa.array([], pa.string())
    return FoundMarks(np.zeros(0, np.int64), none, none, none, np.zeros(0))


def _listed(batch: RecordBatch, name: str) -> tuple[Numbers, Array]:
    """The entries of a column of lists, and the row of each."""
    if name not in batch.schema.names or pa.types.is_null(batch.schema.field(name).type):
        return np.zeros(0, np.int64), pa.array([], pa.struct([]))
    column = batch.column(name)
    return _parents(column), column.flatten()


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
