"""`Plan`: what each process needs to judge chunks: the job, the columns in and out. `build` makes its kernel."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import orjson

from toolvet.batch.arrow import ArrowSchema, pa
from toolvet.batch.chunk import READ_PROBLEM, RowReader
from toolvet.batch.job import Job, Kernel
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.settings import Settings
from toolvet.core.tools import read_tool
from toolvet.core.turn import AnswerCheck, AnswerOptions, ConversationCheck
from toolvet.errors import ToolShapeError, UsageError

FILE: Final = "file"
ROW: Final = "row"
ID: Final = "id"
LENGTH: Final = "length"
"""How many characters the judged text has; null if it is not a text."""


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
    """Return the columns of an output. Raises UsageError if two have one name."""
    names = [field.name for field in fields]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"--keep: the output has a column '{twice[0]}' of its own; leave it out, or rename it before")
    return fields


_DECLARATIONS = ("functionDeclarations", "function_declarations")


def build(job: Job, columns: Mapping[str, str]) -> Kernel:
    """Return the kernel of a job. Raises UsageError for settings or options that cannot be used."""
    settings = Settings(job.checks)
    names = {**columns, PROBLEM: READ_PROBLEM}
    # Each kind loads its own checks, and no others.
    if job.kind == "answers":
        from toolvet.batch.kernel.answers import AnswersKernel  # noqa: PLC0415

        return AnswersKernel(AnswerCheck(**_options(settings, job)), names)
    if job.kind == "results":
        from toolvet.batch.kernel.results import ResultsKernel  # noqa: PLC0415

        return ResultsKernel(settings.result_check(), names, job.tools or {})
    if job.kind == "arguments":
        from toolvet.batch.kernel.arguments import ArgumentsKernel  # noqa: PLC0415

        return ArgumentsKernel(settings.argument_check(), job.tools or {}, names)
    if job.kind == "envelopes":
        from toolvet.batch.kernel.envelopes import EnvelopesKernel  # noqa: PLC0415

        return EnvelopesKernel(names)
    from toolvet.batch.kernel.conversations import ConversationsKernel  # noqa: PLC0415

    options = _options(settings, job)
    tools = None if job.tools is None else list(job.tools.values())
    check = ConversationCheck(tools=tools, answers=AnswerCheck(**options), results=settings.result_check())
    return ConversationsKernel(check, names)


def _options(settings: Settings, job: Job) -> AnswerOptions:
    return cast("AnswerOptions", {**settings.answer_options(), **cast("dict[str, Any]", dict(job.options))})


def read_tools(file: str) -> dict[str, object]:
    """Return the tool definitions of a file by name: one, a list, or an object with a list under `tools`.

    Raises UsageError if the file cannot be read, or has no definitions.
    """
    try:
        value: object = orjson.loads(Path(file).read_bytes())
    except OSError as error:
        raise UsageError(f"--tools {file}: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise UsageError(f"--tools {file}: not JSON: {error}") from error
    listed = members(members(value).get("result")).get("tools", members(value).get("tools", value))
    return by_name(elements(listed) if is_array(listed) else [listed], f"--tools {file}")


def by_name(tools: Iterable[object], source: str) -> dict[str, object]:
    """Return tool definitions by name. Raises UsageError for one that is none."""
    found = [each for entry in tools for each in _declared(entry)]
    try:
        return {read_tool(each).name: each for each in found}
    except ToolShapeError as error:
        raise UsageError(f"{source}: {error}") from error


def _declared(entry: object) -> list[object]:
    """The tools of an entry: Gemini has several in one."""
    for name in _DECLARATIONS:
        declared = members(entry).get(name)
        if is_array(declared):
            return [{name: [each]} for each in declared if is_object(each)]
    return [entry]
