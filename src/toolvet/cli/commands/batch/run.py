"""The work of `toolvet batch`: flags in, the engine's run, and a summary on stderr; reports on outputs, comparisons."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress as Bar, TaskProgressColumn, TextColumn, TimeRemainingColumn

from toolvet.assess.report import BatchReport, ComparisonReport, encode_document, print_batch, print_comparison
from toolvet.batch.comparing import compare_outputs
from toolvet.batch.engines import open_engine
from toolvet.batch.executors import EngineFigures
from toolvet.batch.job import Job
from toolvet.batch.judging import Tally
from toolvet.batch.location import Location, input_files, locate
from toolvet.batch.plan import read_tools
from toolvet.batch.run import BatchOutcome, Interrupted, Progress, run_batch
from toolvet.batch.summary import SummaryOptions, summarise
from toolvet.cli import INTERRUPTED
from toolvet.cli.commands.batch.flags import BatchFlags, SummaryFlags
from toolvet.cli.options import load_lock, parse_reports, write_documents
from toolvet.core.settings import CheckSettings, load_settings
from toolvet.core.visible import json_text, visible
from toolvet.errors import UsageError

_BAD_INPUT: Final = 2
_Document = BatchReport | ComparisonReport


def judge_rows(
    kind: str,
    source: str,
    output: str,
    flags: BatchFlags,
    *,
    columns: Mapping[str, str | None],
    options: Mapping[str, object] | None = None,
    tools: Path | None = None,
    lock: Path | None = None,
) -> int:
    """Judge all rows; return 2 when some could not be judged, 1 for flagged ones where that was asked for, else 0."""
    if flags.sample is not None and not 0 < flags.sample <= 1:
        raise UsageError("--sample: must be above 0 and at most 1, such as 0.01 for one row in a hundred")
    if flags.limit is not None and flags.limit < 1:
        raise UsageError("--limit: must be 1 or more")
    if flags.jobs is not None and flags.jobs < 1:
        raise UsageError("--jobs: must be 1 or more")
    options_of_report = _summary_options(flags.summary)
    writers = parse_reports(flags.summary.report, tuple(_FORMATS))
    wants_report = bool(writers or options_of_report.columns)
    if wants_report and output == "-":
        raise UsageError("--report, --time and --label read the output again: give a file instead of -")
    if wants_report:
        import_module("duckdb")  # A long run must not end with its absence.
    contracts = None if lock is None else {str(each["name"]): each for each in load_lock(lock).contracts}
    job = Job(
        kind=kind,
        columns={purpose: name for purpose, name in {**columns, "id": flags.id}.items() if name is not None},
        keep=tuple(dict.fromkeys([*(split(flags.keep) or ()), *options_of_report.columns])),
        checks=load_settings(flags.settings)[CheckSettings],
        options={name: value for name, value in (options or {}).items() if value is not None},
        tools=contracts if tools is None else read_tools(str(tools)),
        sample=flags.sample,
    )
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with (
            _ended_by_signals(),
            closing(open_engine(flags.engine, flags.address, flags.jobs)) as engine,
            _shown(console, flags, engine.figures) as progress,
        ):
            started = time.monotonic()
            outcome = run_batch(
                job,
                source,
                output,
                limit=flags.limit,
                form=flags.format,
                restart=flags.restart,
                progress=progress,
                engine=engine,
            )
            seconds = time.monotonic() - started
    except Interrupted as stop:
        kept = "; run the same line again to go on from there" if stop.kept else ""
        console.print(f"stopped after {stop.tally.rows:,} rows{kept}")
        return INTERRUPTED
    if not flags.quiet:
        _summarise(console, kind, outcome, seconds, engine.figures, as_json=flags.json)
    code = 0
    if wants_report:
        report = summarise(input_files(locate(output)), options_of_report, source=output, kind=kind)
        if not flags.quiet and not flags.json:
            _show_document(report, console)
        write_documents(report, writers, _FORMATS, quiet=flags.quiet)
        code = _label_problem(report)
    if not outcome.is_complete or code:
        return _BAD_INPUT
    return int(flags.fail_on == "flagged" and outcome.tally.flagged > 0)


def split(names: str | None) -> list[str] | None:
    """Return names that commas divide."""
    return None if names is None else [each.strip() for each in names.split(",") if each.strip()]


@contextmanager
def _ended_by_signals() -> Generator[None]:
    """Make a polite request to end (SIGTERM) the same as Ctrl-C: what was judged is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _shown(console: Console, flags: BatchFlags, figures: EngineFigures) -> Generator[Progress | None]:
    if flags.quiet or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=None)
        started = time.monotonic()
        first: list[int] = []

        def show(tally: Tally, share: float | None) -> None:
            first.append(tally.rows) if not first else None
            rate = (tally.rows - first[0]) / max(0.001, time.monotonic() - started)
            words = f"{tally.rows:,} rows, {tally.flagged:,} flagged, {rate:,.0f}/s{_retries_note(figures)}"
            bar.update(task, description=words, total=None if share is None else 1.0, completed=share or 0.0)

        yield show


def _retries_note(figures: EngineFigures) -> str:
    found = [(figures.retries, "tried again"), (figures.failed, "judged here, as the workers failed with it")]
    return "".join(f", {count:,} {words}" for count, words in found if count)


def _summarise(
    console: Console, kind: str, outcome: BatchOutcome, seconds: float, figures: EngineFigures, *, as_json: bool
) -> None:
    tally = outcome.tally
    if as_json:
        document = {
            "kind": kind,
            "rows": tally.rows,
            "flagged": tally.flagged,
            "problems": tally.problems,
            "counts": tally.counts,
            "grown": dict(outcome.grown),
            "seconds": round(seconds, 3),
            "rows_per_second": round(tally.rows / max(0.001, seconds)),
            "retries": figures.retries,
            "failed_partitions": figures.failed,
        }
        sys.stderr.write(json_text(document, is_line=True))
        return
    resumed = " (with an earlier run's)" if outcome.resumed else ""
    console.print(
        f"{tally.rows:,} {kind}{resumed} in {seconds:,.1f} s: {tally.flagged:,} {_FLAGGED[kind]}", style="bold"
    )
    if note := _retries_note(figures):
        console.print(f"  partitions:{note[1:]}")
    if tally.counts:
        counted = sorted(tally.counts.items(), key=lambda each: -each[1])
        console.print(f"  {', '.join(f'{name} {count:,}' for name, count in counted)}")
    if tally.problems:
        console.print(f"  {tally.problems:,} could not be judged; the column `problem` says why:", style="red")
        for place, problem in tally.shown:
            console.print(f"    {visible(place)}: {visible(problem)}")
        if tally.problems > len(tally.shown):
            console.print(f"    … and {tally.problems - len(tally.shown):,} more")
    for name, more in outcome.grown:
        console.print(f"  {visible(name)} grew by {more:,} bytes meanwhile, which were not read", style="red")


_FLAGGED: Final = {
    "answers": "to escalate",
    "results": "errors or broken",
    "arguments": "not valid",
    "envelopes": "not valid",
    "conversations": "to escalate",
}


def compare_verdicts(
    old: str,
    new: str,
    *,
    by: str | None,
    kind: str | None,
    reports: Sequence[str] | None,
    as_json: bool,
    quiet: bool,
    fail_on: str,
) -> int:
    """Compare two outputs; return 1 for changes where that was asked for."""
    writers = parse_reports([*(reports or ()), *(["json=-"] if as_json else [])], tuple(_FORMATS))
    report = compare_outputs(_verdict_files(old), _verdict_files(new), old_name=old, new_name=new, kind=kind, by=by)
    if not quiet and not any(file == "-" for _, file in writers):
        _show_document(report, Console(highlight=False))
    write_documents(report, writers, _FORMATS, quiet=quiet)
    changed = report.newly_flagged if fail_on == "flagged" else report.compared - report.same
    return int(fail_on != "never" and changed > 0)


def _verdict_files(given: str) -> Sequence[Location]:
    if given == "-":
        raise UsageError("verdicts are read from files, not from stdin")
    return input_files(locate(given))


def report_verdicts(verdicts: str, flags: SummaryFlags, *, kind: str | None, as_json: bool, quiet: bool) -> int:
    """Summarise an output; return 2 where agreement was asked for and no label says good or bad."""
    if verdicts == "-":
        raise UsageError("verdicts are read from files, not from stdin")
    writers = parse_reports([*(flags.report or ()), *(["json=-"] if as_json else [])], tuple(_FORMATS))
    options = _summary_options(flags)
    report = summarise(input_files(locate(verdicts)), options, source=verdicts, kind=kind)
    if not quiet and not any(file == "-" for _, file in writers):
        _show_document(report, Console(highlight=False))
    write_documents(report, writers, _FORMATS, quiet=quiet)
    return _label_problem(report)


def _label_problem(report: BatchReport) -> int:
    labels = report.labels
    if labels is None or labels.labelled or not labels.note:
        return 0
    sys.stderr.write(f"toolvet: --label {labels.column}: {labels.note}\n")
    return _BAD_INPUT


def _summary_options(flags: SummaryFlags) -> SummaryOptions:
    if flags.label is None and (flags.bad or flags.good):
        raise UsageError("--bad and --good say what labels mean: give --label COLUMN, too")
    if flags.time is None and flags.per is not None:
        raise UsageError(f"--per {flags.per}: give --time COLUMN, too")
    bad, good = _words(flags.bad), _words(flags.good)
    both = set(bad or ()) & set(good or ())
    if both:
        raise UsageError(f"--bad and --good both have '{min(both)}'")
    return SummaryOptions(time=flags.time, per=flags.per, label=flags.label, bad=bad, good=good)


def _words(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(each.strip() for each in text.split(",") if each.strip())


def _show_document(document: _Document, console: Console) -> None:
    if isinstance(document, BatchReport):
        print_batch(document, console)
    else:
        print_comparison(document, console)


def _page(document: _Document) -> str:
    from toolvet.assess.report import render_batch_page  # noqa: PLC0415 - the templates, only where they are wanted

    return render_batch_page(document)


_FORMATS: Final[Mapping[str, Callable[[_Document], str]]] = {"html": _page, "json": encode_document}
