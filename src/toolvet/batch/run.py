"""`run_batch`: an input → its verdicts in an output, with all cores, and from where an earlier run stopped."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from toolvet.batch.arrow import pa
from toolvet.batch.chunk import Chunk, FileRange, ReadPosition, RowReader
from toolvet.batch.engines import LocalEngine
from toolvet.batch.job import Job, Kernel
from toolvet.batch.judging import BatchEngine, ChunkJudge, ChunkJudges, Tally, Verdicts, Work, heading
from toolvet.batch.location import Location, input_files, locate
from toolvet.batch.output import Parts, fingerprint, take_folder, write_output
from toolvet.batch.plan import Plan, build, make_plan
from toolvet.batch.reading.lines import LinesReader
from toolvet.batch.reading.opening import open_reader
from toolvet.batch.reading.parquet import ParquetReader
from toolvet.errors import UnreachableError, UsageError
from toolvet.version import __version__

# Starting processes, each of which loads the phrases, takes about as long as judging this many bytes.
_SMALL: Final = 4 * 2**20

Progress = Callable[[Tally, float | None], None]


@dataclass(frozen=True)
class BatchOutcome:
    """The outcome of a run.

    `grown` are the files that became longer meanwhile, with the number of bytes that were not read. `resumed` says that
    an earlier run was continued.
    """

    tally: Tally
    grown: Sequence[tuple[str, int]] = field(default_factory=tuple)
    resumed: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether every row that is in the input by now was judged."""
        return not self.tally.problems and not self.grown


class Interrupted(KeyboardInterrupt):
    """A run was stopped. `kept` says whether the same run again goes on from there, and `tally` how far it is."""

    def __init__(self, tally: Tally, *, kept: bool) -> None:
        super().__init__()
        self.tally = tally
        self.kept = kept


def run_batch(
    job: Job,
    source: str,
    output: str,
    *,
    limit: int | None = None,
    jobs: int | None = None,
    form: str | None = None,
    restart: bool = False,
    progress: Progress | None = None,
    engine: BatchEngine | None = None,
) -> BatchOutcome:
    """Judge every row of an input.

    Args:
        job: How rows are judged.
        source: A file, a folder, a URL, or `-` for JSON lines on stdin.
        output: A file, a URL, a folder (with `/` at the end; it gets a file for each of the input), or `-` for JSON
            lines on stdout.
        limit: Judge at most this many rows.
        jobs: How many processes judge. None: as many as there are cores, one for a small input.
        form: The format of the output, where its name does not say it: "parquet", "jsonl" or "csv".
        restart: Whether to begin again where an earlier run was stopped.
        progress: Called now and then with what was done, and the share of the input (0 to 1) where that is known.
        engine: Where rows are judged; the caller closes it. None: on this machine, with `jobs` processes.

    Raises:
        UsageError: The input cannot be read, a column is missing, or an option cannot be used.
        OutputError: The output cannot be written, such as on a full disk. The verdicts so far are kept.
        UnreachableError: No worker of the engine answers any more. The verdicts so far are kept.
        Interrupted: Ctrl-C. The verdicts so far are kept.
    """
    files = input_files(locate(source)) if source != "-" else [locate("-")]
    run = _BatchRun(job, limit, engine or LocalEngine(jobs), restart=restart, progress=progress)
    if not (output.endswith("/") or ("://" not in output and Path(output).is_dir())):
        return run.to_file(files, locate(output), form)
    root = locate(source).path.rstrip("/")
    total = BatchOutcome(Tally())
    refused: list[tuple[str, UsageError]] = []
    for file in files:
        inner = file.path[len(root) :].lstrip("/") or Path(file.path).name
        plain = Path(inner)
        if Location("", None, inner).compression is not None:
            plain = plain.with_suffix("")
        target = locate(output.rstrip("/")).child(str(plain.with_suffix(f".{form or 'parquet'}")))
        try:
            found = run.to_file([file], target, form or "parquet")
        except UsageError as error:
            # Its own problem, unless no file of the folder can be judged.
            refused.append((file.given, error))
            if len(refused) == len(files):
                raise
            continue
        total.tally.add(found.tally)
        total = BatchOutcome(total.tally, [*total.grown, *found.grown], total.resumed or found.resumed)
    total.tally.add(Tally(len(refused), problems=len(refused), shown=[(name, f"{error}") for name, error in refused]))
    return total


class InputRows:
    """The rows of all files from a place on. `first` reads the first file, `sizes` say up to where lines are read."""

    def __init__(
        self, plan: Plan, files: Sequence[Location], first: RowReader, start: ReadPosition, sizes: Sequence[int | None]
    ) -> None:
        self._plan = plan
        self._files = files
        self._first = first
        self._start = start
        self._sizes = sizes
        self._lines: list[tuple[str, LinesReader]] = []
        # How far the places in a file go, where that is known.
        self._lengths: dict[int, int] = {}

    def work(self, *, ranges: bool) -> Iterator[Work]:
        """Yield the work of each file. A later file that cannot be opened is a chunk that is lost.

        With `ranges`, of Parquet, and of small files among several, only the places are yielded; rows of other files
        are read here.
        """
        for number in range(self._start.file, len(self._files)):
            start = self._start if number == self._start.file else ReadPosition(number)
            after = ReadPosition(number + 1)
            try:
                reader = self._reader(number)
                self._check_columns(reader, number)
            except UsageError as error:
                if len(self._files) == 1:
                    raise
                yield Chunk("lost", b"", number, 1, 1, after, f"{error}")
                continue
            if isinstance(reader, LinesReader):
                self._lines.append((self._files[number].given, reader))
                self._lengths[number] = reader.size or 0
            elif isinstance(reader, ParquetReader):
                self._lengths[number] = reader.rows
            yield from (self._ranges(reader, number, start) if ranges else None) or reader.chunks(
                self._plan.wanted, start
            )

    def chunk_at(self, place: ReadPosition) -> Chunk:
        """Return the chunk that begins at a place, read again."""
        return next(iter(self._reader(place.file).chunks(self._plan.wanted, place)))

    def share(self, after: ReadPosition) -> float | None:
        """How much of the input lies before a place, 0 to 1; None if that is not known."""
        length = self._lengths.get(after.file, 0)
        if after.file < len(self._files) and after.at and not length:
            return None
        return (after.file + after.at / max(1, length)) / len(self._files)

    def grown(self) -> list[tuple[str, int]]:
        """The files that became longer since they were opened, and by how many bytes."""
        return [(name, more) for name, reader in self._lines if (more := reader.has_grown())]

    def _ranges(self, reader: RowReader, number: int, start: ReadPosition) -> Iterator[Work] | None:
        file = self._files[number]
        if file.is_stdio:
            return None
        place = os.path.abspath(file.path) if file.is_local else file.given  # noqa: PTH100 - a path of the file system
        if isinstance(reader, ParquetReader):
            return (
                FileRange(number, place, ReadPosition(number, first, first + 1), end)
                for first, end in reader.ranges(self._plan.wanted, start.at)
            )
        if len(self._files) == 1 or file.info().size > _WHOLE_FILE:
            return None
        return iter([FileRange(number, place, start, None, self._size_of(number))])

    def _check_columns(self, reader: RowReader, number: int) -> None:
        missing = [name for name in self._plan.wanted if name not in reader.names]
        # A record of JSON may lack a member.
        if missing and not isinstance(reader, LinesReader):
            raise UsageError(f"{self._files[number].given} has no column '{missing[0]}'")
        if isinstance(reader, ParquetReader) and len(self._files) > 1:
            try:
                self._kernel(pa.RecordBatch.from_pylist([], schema=reader.schema(self._plan.wanted)))
            except TypeError as error:
                raise UsageError(f"{self._files[number].given}: {error}") from error

    @cached_property
    def _kernel(self) -> Kernel:
        return build(self._plan.job, {self._plan.job.subject.main: self._plan.job.subject.main, **self._plan.columns})

    def _reader(self, number: int) -> RowReader:
        size = self._size_of(number)
        if number == 0 and (size is None or not isinstance(self._first, LinesReader) or self._first.size == size):
            return self._first
        return open_reader(self._files[number], number, size)

    def _size_of(self, number: int) -> int | None:
        return self._sizes[number] if number < len(self._sizes) else None


class _BatchRun:
    """The options of a run, and one output after the other."""

    def __init__(
        self,
        job: Job,
        limit: int | None,
        engine: BatchEngine,
        *,
        restart: bool,
        progress: Progress | None,
    ) -> None:
        self._job = job
        self._limit = limit
        self._engine = engine
        self._restart = restart
        self._progress = progress

    def to_file(self, files: Sequence[Location], output: Location, form: str | None) -> BatchOutcome:
        form = form or ("jsonl" if output.is_stdio else output.format)
        if form is None:
            raise UsageError(f"{output.given}: the name must end with .parquet, .jsonl or .csv, or give --format")
        if any(not file.is_stdio and not output.is_stdio and file.path == output.path for file in files):
            raise UsageError(f"{output.given} is the input, too: give the output another name")
        first = open_reader(files[0], 0)
        plan = make_plan(self._job, first, [file.given for file in files], form, source=files[0].given)
        if output.is_stdio:
            return self._to_stdout(plan, files, first)
        return self._to_place(plan, files, first, output)

    def _to_stdout(self, plan: Plan, files: Sequence[Location], first: RowReader) -> BatchOutcome:
        if plan.form == "parquet":
            raise UsageError("Parquet cannot be written to stdout; give a file")
        rows = InputRows(plan, files, first, ReadPosition(), [None] * len(files))
        tally = Tally()
        out = sys.stdout.buffer
        out.write(heading(plan.output(), plan.form))
        with closing(self._judges(plan, files)) as judges:
            try:
                for found in self._limited(plan, judges, rows, tally):
                    for each in found.judged:
                        out.write(each.body)
                        tally.add(each.tally)
                    self._report(tally, rows.share(found.after))
            except KeyboardInterrupt:
                raise Interrupted(tally, kept=False) from None
        out.flush()
        return BatchOutcome(tally, rows.grown())

    def _to_place(self, plan: Plan, files: Sequence[Location], first: RowReader, output: Location) -> BatchOutcome:
        parts = Parts(_folder_of(output), _fingerprint(plan, files, self._limit))
        if self._restart:
            parts.remove()
            parts = Parts(parts.folder, _fingerprint(plan, files, self._limit))
        resumed = parts.is_resumed
        sizes = parts.manifest.sizes or [_lines_size(file) for file in files]
        rows = InputRows(plan, files, first, parts.manifest.after, sizes)
        parts.start(sizes)
        tally = parts.manifest.tally
        if not parts.manifest.done:
            with closing(self._judges(plan, files)) as judges:
                try:
                    for found in self._limited(plan, judges, rows, tally):
                        made = Tally()
                        for each in found.judged:
                            made.add(each.tally)
                        parts.add([each.body for each in found.judged], made, found.after)
                        self._report(tally, rows.share(found.after))
                except KeyboardInterrupt:
                    parts.flush()
                    raise Interrupted(tally, kept=True) from None
                except UnreachableError:
                    parts.flush()
                    raise
            parts.finish()
        write_output(parts.bodies(), output, plan.output(), plan.form)
        parts.remove()
        return BatchOutcome(tally, rows.grown(), resumed)

    def _limited(self, plan: Plan, judges: ChunkJudges, rows: InputRows, tally: Tally) -> Iterator[Verdicts]:
        """Yield verdicts up to the limit; the chunk that goes beyond it is judged again, as far as it is wanted."""
        for found in judges.judged(rows.work(ranges=self._engine.reads)):
            left = None if self._limit is None else self._limit - tally.rows
            if left is not None and left <= sum(each.tally.rows for each in found.judged):
                chunk = found.chunk if isinstance(found.chunk, Chunk) else rows.chunk_at(found.chunk)
                yield msgspec.structs.replace(found, judged=[ChunkJudge(plan)(chunk, left)])
                return
            yield found

    def _judges(self, plan: Plan, files: Sequence[Location]) -> ChunkJudges:
        known = [0 if file.is_stdio else int(file.info().size or 0) for file in files]
        small = sum(known) < _SMALL and not any(file.is_stdio for file in files)
        return self._engine.judges(plan, is_small=small)

    def _report(self, tally: Tally, share: float | None) -> None:
        if self._progress is not None:
            self._progress(tally, share)


def _lines_size(file: Location) -> int | None:
    return None if file.is_stdio or file.format != "jsonl" or file.compression else int(file.info().size)


def _fingerprint(plan: Plan, files: Sequence[Location], limit: int | None) -> str:
    infos = [(file.path, None if file.is_stdio else file.info()) for file in files]
    known = [
        # A file of lines may grow: it is read up to the size that it had.
        (path, None if info is None or _lines_size(file) is not None else (info.size, str(info.mtime)))
        for file, (path, info) in zip(files, infos, strict=True)
    ]
    return fingerprint(__version__, msgspec.to_builtins(plan), known, limit, pa.__version__)


# If there are many files, the judging process reads one of at most this size as a whole: its output fits into memory.
_WHOLE_FILE: Final = 64 * 2**20


def _folder_of(output: Location) -> Path:
    """Where the parts of an output are: beside it, or in the folder for temporary files if it is on another machine."""
    if output.is_local:
        path = Path(output.path)
        return path.with_name(f".{path.name}.toolvet-batch")
    own = Path(tempfile.gettempdir()) / f"toolvet-batch-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    take_folder(own)
    return own / fingerprint(output.given)
