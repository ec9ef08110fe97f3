"""`Plan`: what every process needs to judge chunks: the job, the columns in and the columns out."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from toolvet.batch.arrow import ArrowSchema, pa
from toolvet.batch.chunk import RowReader
from toolvet.batch.job import Job
from toolvet.batch.kernels import build
from toolvet.errors import UsageError

FILE: Final = "file"
ROW: Final = "row"
ID: Final = "id"
LENGTH: Final = "length"
"""How many characters the text has that is judged; null where it is no text."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How chunks become output.

    `columns` maps purposes to columns of the input, `files` are the names of the files for the column `file` (none for
    one file), `schema` is that of the output as Arrow writes it, and `form` how the output is encoded:
    "parquet", "jsonl" or "csv".
    """

    job: Job
    columns: Mapping[str, str]
    files: tuple[str, ...]
    schema: bytes
    form: str

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns to read."""
        return wanted_columns(self.columns, self.job.keep)

    def output(self) -> ArrowSchema:
        """The columns of the output."""
        return pa.ipc.read_schema(pa.py_buffer(self.schema))


def wanted_columns(columns: Mapping[str, str], keep: Sequence[str]) -> tuple[str, ...]:
    """The columns to read, each once."""
    return tuple(dict.fromkeys([*columns.values(), *keep]))


def make_plan(job: Job, reader: RowReader, files: Sequence[str], form: str, *, source: str) -> Plan:
    """Return the plan for an input whose first file `reader` reads. Raises UsageError for columns that cannot be."""
    columns = job.subject.columns(reader.names, job.columns, source=source)
    for name in job.keep:
        check_kept(name, reader.names, source)
    types = reader.schema(wanted_columns(columns, job.keep))
    fields = [pa.field(FILE, pa.string())] if len(files) > 1 else []
    fields.append(pa.field(ROW, pa.int64()))
    fields += kept_fields(columns, job.keep, types)
    fields.append(pa.field(LENGTH, pa.int64()))
    fields += list(build(job, {job.subject.main: job.subject.main, **columns}).schema)
    checked_fields(fields)
    return Plan(
        job=job,
        columns=columns,
        files=tuple(files) if len(files) > 1 else (),
        schema=bytes(pa.schema(fields).serialize()),
        form=form,
    )


def check_kept(name: str, there: Sequence[str], source: str) -> None:
    """Raise UsageError where a column to keep is missing."""
    if name not in there:
        raise UsageError(f"{source} has no column '{name}' (--keep, --time or --label); it has {', '.join(there[:40])}")


def kept_fields(columns: Mapping[str, str], keep: Sequence[str], types: ArrowSchema) -> list[Any]:
    """What of the input goes into the output: its `id`, and the columns to keep."""
    found = [pa.field(ID, types.field(columns[ID]).type)] if ID in columns else []
    return [*found, *(pa.field(name, types.field(name).type) for name in keep if columns.get(ID) != name)]


def checked_fields(fields: Sequence[Any]) -> Sequence[Any]:
    """Return the columns of an output. Raises UsageError where two have one name."""
    names = [field.name for field in fields]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"--keep: the output has a column '{twice[0]}' of its own; leave it out, or rename it before")
    return fields
