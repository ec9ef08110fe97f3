"""`toolvet assess --workers` and `--into`: many servers, each by a process of its own, and one overview of all."""

import asyncio
import signal
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from toolvet.assess import Options, Report
from toolvet.assess.many import (
    WORKER,
    AssessmentJob,
    AssessmentLimits,
    AssessmentOutcome,
    ClusterAssessor,
    ResultsFolder,
    assess_many,
    write_atomically,
)
from toolvet.assess.report import (
    AssessedServer,
    ServersOverview,
    build_overview,
    counted,
    encode_document,
    print_overview,
    render,
    render_page,
)
from toolvet.assess.rules import cards
from toolvet.assess.sandbox import sandbox_tool
from toolvet.batch.executors import open_executor
from toolvet.cli import INTERRUPTED
from toolvet.errors import UsageError
from toolvet.mcp.transport import ServerList, StdioTarget
from toolvet.version import __version__

_NAMES_SHOWN: Final = 3


@dataclass(frozen=True, kw_only=True)
class ManyOptions:
    """Options of a run over many servers: how many at once, limits of each, folder of results (None: no folder).

    `workers` None means one here, and on a cluster as many as it has.

    `sandbox` None means: a sandbox for every server that a command starts.
    """

    workers: int | None
    limits: AssessmentLimits
    into: Path | None
    sandbox: bool | None
    quiet: bool
    engine: str = "local"
    address: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReportPublishing:
    """What becomes of a report: `judge` compares it with the baseline and the thresholds, `publish` takes them all.

    `judge` takes the names of the tools of all servers as well.

    `publish` is None where all reports are wanted neither in one document nor in a store; then they are never in memory
    together.
    """

    judge: Callable[[Report, Collection[str]], Report]
    publish: Callable[[Sequence[Report]], None] | None
    prints: bool


def assess_side_by_side(servers: ServerList, options: Options, many: ManyOptions, publishing: ReportPublishing) -> int:
    """Assess them, write the folder, print the overview, and return the exit code. Raises UsageError."""
    jobs = _jobs(servers, options, many)
    with (
        tempfile.TemporaryDirectory(prefix="toolvet-results-") as passing,
        closing(ResultsFolder(Path(passing) if many.into is None else many.into)) as folder,
    ):
        watch = _ManyProgress(len(jobs), quiet=many.quiet)
        with watch:
            outcomes = asyncio.run(_run(jobs, folder, many, watch))
        is_whole = len(outcomes) == len(jobs)
        overview, reports = _gather(servers, outcomes, folder, publishing)
        if many.into is not None:
            _write(many.into / "overview.json", encode_document(overview))
            _write(many.into / "index.html", render_page(overview))
        if publishing.publish is not None and reports:
            publishing.publish(reports)
        if publishing.prints:
            print_overview(overview, Console())
    if many.into is not None and not many.quiet:
        sys.stderr.write(f"overview: {many.into / 'index.html'}\n")
    if not is_whole:
        left = counted(len(jobs) - len(outcomes), "server")
        again = "the same command goes on with them" if many.into else "--into FOLDER would keep what is done"
        sys.stderr.write(f"toolvet: interrupted with {left} to go; {again}\n")
        return INTERRUPTED
    # As for one server: the worst problem of those that could not be assessed, else 1 where one fails.
    failed = [outcome.exit_code for outcome in outcomes if outcome.ending != "assessed"]
    return max(failed) if failed else int(any(row.failures for row in overview.ranking))


def _jobs(servers: ServerList, options: Options, many: ManyOptions) -> list[AssessmentJob]:
    wants_sandbox = many.sandbox is not False
    # On a cluster the sandbox is that of its workers.
    if (
        many.engine == "local"
        and wants_sandbox
        and any(isinstance(each.target, StdioTarget) for each in servers.targets)
    ):
        try:
            sandbox_tool()
        except UsageError as error:
            raise UsageError(f"{error}; --no-sandbox assesses without one") from error
    limited = replace(options, deadline=many.limits.seconds, sandbox=False)
    return [
        AssessmentJob(
            each.name, each.target, replace(limited, sandbox=wants_sandbox and isinstance(each.target, StdioTarget))
        )
        for each in servers.targets
    ]


async def _run(
    jobs: Sequence[AssessmentJob], folder: ResultsFolder, many: ManyOptions, watch: "_ManyProgress"
) -> tuple[AssessmentOutcome, ...]:
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        loop = asyncio.get_running_loop()
        for ending in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(ending, task.cancel)
    if many.engine == "local":
        return await assess_many(jobs, folder, workers=many.workers or 1, limits=many.limits, watch=watch)
    if many.engine == "daft" and many.address is None:
        raise UsageError("--engine daft: give the --address of a Ray cluster; on one machine --workers N is enough")
    executor = await asyncio.to_thread(open_executor, many.engine, many.address, many.workers, WORKER)
    assessor = ClusterAssessor(executor)
    try:
        workers = min(many.workers or assessor.workers, assessor.workers)
        return await assess_many(jobs, folder, workers=workers, limits=many.limits, watch=watch, assessor=assessor)
    finally:
        await asyncio.to_thread(assessor.close)


def _gather(
    servers: ServerList, outcomes: Sequence[AssessmentOutcome], folder: ResultsFolder, publishing: ReportPublishing
) -> tuple[ServersOverview, list[Report]]:
    reports: list[Report] = []
    assessed = [outcome for outcome in outcomes if outcome.ending == "assessed"]
    # Each report is read twice: in a survey of many servers they do not fit into memory together.
    names = {tool.name for outcome in assessed for tool in folder.read_report(outcome).tools}

    def judged() -> Iterable[AssessedServer]:
        for outcome in outcomes:
            if outcome.ending != "assessed":
                yield AssessedServer(
                    name=outcome.name, file=outcome.file, reason=outcome.ending, problem=outcome.problem
                )
                continue
            report = publishing.judge(folder.read_report(outcome), names)
            page = folder.report_file(outcome).with_suffix(".html")
            _write(page, render("html", (report,), cards()))
            if publishing.publish is not None:
                reports.append(report)
            yield AssessedServer(name=outcome.name, file=outcome.file, report=report, peak_mib=outcome.peak_mib)
        for name, problem in servers.left_out:
            yield AssessedServer(name=name, file="", reason="left out", problem=problem)

    return build_overview(judged(), cards(), __version__), reports


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


class _ManyProgress:
    """Progress on stderr: a bar with the servers under way at a terminal, else a line for each server that is done."""

    def __init__(self, servers: int, *, quiet: bool) -> None:
        self._servers = servers
        self._quiet = quiet
        self._done = 0
        self._earlier = 0
        self._failed = 0
        self._under_way: list[str] = []
        self._bar: Bar | None = None
        self._task = TaskID(0)

    def __enter__(self) -> Self:
        # We ask the stream itself: with FORCE_COLOR the console calls every file a terminal, and bars would fill a log.
        if not self._quiet and sys.stderr.isatty():
            columns = (
                TextColumn("{task.description}"),
                BarColumn(24),
                MofNCompleteColumn(),
                TextColumn("servers"),
                TextColumn("{task.fields[now]}", style="dim"),
                TimeElapsedColumn(),
            )
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("assessing", total=self._servers, now="")
            self._bar.start()
        return self

    def __exit__(self, *unused: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._earlier and not self._quiet:
            sys.stderr.write(f"{counted(self._earlier, 'server')} of an earlier run kept\n")

    def began(self, name: str) -> None:
        self._under_way.append(name)
        self._show()

    def ended(self, outcome: AssessmentOutcome, *, is_earlier: bool) -> None:
        with suppress(ValueError):
            self._under_way.remove(outcome.name)
        self._done += 1
        self._earlier += is_earlier
        self._failed += outcome.ending != "assessed"
        if self._bar is not None:
            self._bar.advance(self._task)
            self._show()
        elif not self._quiet and not is_earlier:
            came = outcome.problem.splitlines()[0].rstrip(":") if outcome.problem else outcome.ending
            width = len(str(self._servers))
            line = f"{self._done:>{width}}/{self._servers} {outcome.name}: {came} ({outcome.seconds:.1f} s)\n"
            sys.stderr.write(line)

    def _show(self) -> None:
        if self._bar is None:
            return
        names = ", ".join(self._under_way[:_NAMES_SHOWN])
        failed = f"{self._failed} failed  " if self._failed else ""
        self._bar.update(self._task, now=f"{failed}{Text(names).markup}"[:60])
