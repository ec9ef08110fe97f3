"""`BatchCheck`: the checks as one function from Arrow to Arrow, for engines that are not ours."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Unpack

import msgspec

from toolvet.batch.arrow import ArrowSchema, RecordBatch, pa
from toolvet.batch.chunk import split, without_views
from toolvet.batch.job import KINDS, Job, Kernel
from toolvet.batch.kernel.texts import lengths
from toolvet.batch.plan import ID, LENGTH, build, by_name, check_kept, checked_fields, kept_fields
from toolvet.core.settings import AnswerSettings, CheckSettings, Settings, load_settings
from toolvet.core.turn import AnswerCheck, AnswerOptions
from toolvet.errors import UsageError

_MOST_BYTES: Final = 2**20
_SOURCE: Final = "the batch"


class _Planned(NamedTuple):
    """What judges batches of some columns, the columns that are kept, the one that is judged, and the output's."""

    kernel: Kernel
    kept: tuple[str, ...]
    judged: str
    schema: ArrowSchema


class BatchCheck:
    """Judges rows that another engine reads and writes: a record batch or table in, the verdicts on its rows out.

    The columns of the verdicts are those of `toolvet batch`, without the numbers of rows and files: `id` where the
    input has one, what is in `keep`, the `length` of what is judged, and the fields of the verdict. It pickles, and
    holds everything that it needs: a worker of a cluster reads no file of yours. It may be called from several threads.

    Args:
        kind: The kind of the rows: "answers", "results", "arguments", "envelopes" or "conversations".
        columns: The names of columns by what they are for, such as `{"text": "response", "id": "uuid"}`; columns of the
            usual names are found, as on the command line (`toolvet batch answers --help` lists them).
        keep: Further columns that go into the output as they are.
        tools: Definitions of tools, for "arguments" and "conversations".
        settings: A file of settings, which is read now. None, the default: none is read.
        options: For "answers" and "conversations" the options of `AnswerCheck`, such as `strict=True`.

    Raises:
        UsageError: The kind is not known, or the file of settings cannot be read.
        BadOption: An option cannot be used as given.

    Example:
        >>> check = BatchCheck("answers", columns={"text": "response"}, keep=["model"])
        >>> verdicts = check(pa.record_batch({"id": [7], "model": ["m"], "response": ["I cannot help with that."]}))
        >>> verdicts.select(["id", "model", "score", "should_escalate"]).to_pylist()
        [{'id': 7, 'model': 'm', 'score': 0.25, 'should_escalate': True}]
    """

    def __init__(
        self,
        kind: Literal["answers", "results", "arguments", "envelopes", "conversations"],
        *,
        columns: Mapping[str, str] | None = None,
        keep: Sequence[str] = (),
        tools: Iterable[object] | None = None,
        settings: str | Path | None = None,
        **options: Unpack[AnswerOptions],
    ) -> None:
        if kind not in KINDS:
            raise UsageError(f"there is no kind {kind!r}; there are {', '.join(KINDS)}")
        found = Settings() if settings is None else load_settings(settings)
        model = options.get("model")
        if model is not None:
            # The file may be on this machine only.
            options["model"] = AnswerCheck(model=model).model
        self._job = Job(
            kind=kind,
            columns=dict(columns or {}),
            keep=tuple(keep),
            # The options of the answer check are read now: a learned model is a file.
            checks=msgspec.structs.replace(found[CheckSettings], answer=AnswerSettings()),
            options={**found.answer_options(), **options},
            tools=None if tools is None else by_name(tools, "tools"),
        )
        self._last: tuple[ArrowSchema, _Planned] | None = None
        # Raise for options that cannot be used here, not in a worker.
        build(self._job, {})

    def __getstate__(self) -> dict[str, object]:
        # A kernel loads its databases in each process.
        return {**vars(self), "_last": None}

    def __call__(self, rows: Any) -> Any:
        """Return the verdicts on a record batch as a record batch, or on a table as a table.

        A row that cannot be judged has a `problem`. Raises UsageError if a column is missing, and TypeError if the
        judged column has a type that cannot be judged.
        """
        if isinstance(rows, pa.Table):
            return pa.Table.from_batches(self.each(rows.to_batches()), self.schema(rows.schema))
        return pa.concat_batches([*self._parts(rows)])

    def each(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        """Yield the verdicts on batches, in batches that hold about a megabyte of input each."""
        for batch in batches:
            yield from self._parts(batch)

    def schema(self, rows: ArrowSchema) -> ArrowSchema:
        """Return the columns of the verdicts on rows with these columns, for engines that want to know before."""
        return self._planned(rows).schema

    def _parts(self, batch: RecordBatch) -> Iterator[RecordBatch]:
        planned = self._planned(batch.schema)
        for part in split(batch, _MOST_BYTES):
            verdicts = planned.kernel(part)
            kept = [part.column(name) for name in planned.kept]
            kept.append(lengths(part.column(planned.judged)))
            yield pa.RecordBatch.from_arrays([*kept, *verdicts.columns], schema=planned.schema)

    def _planned(self, rows: ArrowSchema) -> _Planned:
        last = self._last
        if last is not None and last[0].equals(rows):
            return last[1]
        job = self._job
        columns = job.subject.columns(rows.names, job.columns, source=_SOURCE)
        for name in job.keep:
            check_kept(name, rows.names, _SOURCE)
        kernel = build(job, {job.subject.main: job.subject.main, **columns})
        kept = tuple(dict.fromkeys((*(columns[each] for each in (ID,) if each in columns), *job.keep)))
        fields = [*kept_fields(columns, job.keep, without_views(rows)), pa.field(LENGTH, pa.int64()), *kernel.schema]
        judged = columns.get(job.subject.main, job.subject.main)
        planned = _Planned(kernel, kept, judged, pa.schema(checked_fields(fields)))
        self._last = rows, planned
        return planned
