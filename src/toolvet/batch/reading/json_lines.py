"""`lines_batch`: JSON lines → a record batch with the columns that are wanted."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from toolvet.batch.arrow import Array, ArrowType, RecordBatch, pa
from toolvet.batch.chunk import READ_PROBLEM
from toolvet.batch.plan import ID, Plan
from toolvet.core.json_value import elements, is_array, is_object, members

_TEXTS = ("text", "finish_reason")
# The first line of JSON that is written for people.
_OPENINGS = (b"{", b"[")


def lines_batch(content: bytes, first: int, plan: Plan) -> tuple[RecordBatch, Any]:
    """Return the records of lines, and the number of each line; `first` is that of the first one.

    Lines that are blank are left out. A line that is not JSON, or has no place for what is judged, has a problem.
    """
    rows: list[int] = []
    problems: list[str | None] = []
    values: dict[str, list[object]] = {name: [] for name in plan.wanted}
    purposes = {name: purpose for purpose, name in plan.columns.items()}
    subject = plan.job.subject
    main = plan.columns.get(subject.main)
    whole: list[object] = []
    for number, line in enumerate(content.split(b"\n"), start=first):
        if not line.strip():
            continue
        record, problem = _decode(line)
        if problem is None and not is_object(record) and not subject.is_whole:
            problem = f"must be a JSON object, not {type(record).__name__}"
        found = members(record)
        rows.append(number)
        problems.append(problem)
        for name, column in values.items():
            column.append(found.get(name))
        if subject.is_whole:
            whole.append(found[main] if main is not None and main in found else record)
    output = plan.output()
    arrays: dict[str, Array] = {}
    for name, column in values.items():
        kept = name in plan.job.keep or purposes.get(name) == ID
        arrays[name] = (
            _kept(column, output.field(ID if purposes.get(name) == ID else name).type)
            if kept
            else _texts(column, problems)
            if purposes.get(name) in _TEXTS
            else _json(column)
        )
    if subject.is_whole:
        arrays[main or subject.main] = _json(whole)
    arrays[READ_PROBLEM] = pa.array(problems, pa.string())
    return pa.RecordBatch.from_pydict(arrays), np.array(rows, np.int64)


def _decode(line: bytes) -> tuple[object, str | None]:
    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if line.strip() in _OPENINGS:
            return None, "not JSON: it goes on over more lines, and a line is a row; `jq -c . FILE` makes it one line"
        return None, f"not JSON: {error}"
    return value, None


def _texts(column: Sequence[object], problems: list[str | None]) -> Array:
    """Texts: strings, or the text blocks of a list, as the APIs of model vendors and MCP return them."""
    found: list[str | None] = []
    for row, value in enumerate(column):
        if value is None or isinstance(value, str):
            found.append(value)
        elif is_array(value):
            blocks = [members(each).get("text") if is_object(each) else each for each in elements(value)]
            found.append("".join(block for block in blocks if isinstance(block, str)))
        else:
            found.append(None)
            problems[row] = problems[row] or f"must be a text, not {type(value).__name__}"
    return pa.array(found, pa.string())


def _json(column: Sequence[object]) -> Array:
    encoded = [None if value is None else orjson.dumps(value).decode() for value in column]
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array(encoded, pa.string()))


def _kept(column: Sequence[object], kind: ArrowType) -> Array:
    """A column as it goes into the output. What is of another type than the first rows becomes null, or its JSON."""
    try:
        return pa.array(column, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([_fitting(value, kind) for value in column], kind)


def _fitting(value: object, kind: ArrowType) -> object:
    if pa.types.is_string(kind):
        return value if value is None or isinstance(value, str) else orjson.dumps(value).decode()
    try:
        pa.scalar(value, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None
    return value
