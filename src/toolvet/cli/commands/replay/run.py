"""The work of `toolvet replay`: a record and a server → documents and an exit code."""

import asyncio
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from msgspec import structs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from toolvet.assess.replay import NoReplayWatch, RecordedCall, ReplayOptions, ReplayWatch, read_recorded, replay
from toolvet.assess.report import REPLAY_FORMATS, ReplayedCall, ReplayReport, encode_document, print_replay
from toolvet.cli.codes import INTERRUPTED
from toolvet.cli.commands.replay.flags import ReplayFlags
from toolvet.cli.documents import parse_reports, write_documents
from toolvet.cli.target import parse_variable, read_target
from toolvet.cli.values import parse_header
from toolvet.core.settings import load_settings
from toolvet.errors import UsageError
from toolvet.mcp.transport import Target, adopt_orphans


def replay_and_report(record: str, words: Sequence[str], flags: ReplayFlags) -> int:
    """Replay a record, print and write the reports, and return the exit code.

    Raises UsageError for wrong words, flags, settings or a record without calls before any server is started.
    """
    writers = parse_reports(flags.report, tuple(REPLAY_FORMATS))
    options = _read_options(flags)
    if not words:
        raise UsageError(f"which server? Give the new version: toolvet replay {record} -- COMMAND, or a URL")
    target = read_target(
        words,
        headers=dict(map(parse_header, flags.header or ())),
        environment=dict(map(parse_variable, flags.env or ())),
        cwd=str(flags.cwd) if flags.cwd else None,
    )
    calls = read_recorded(record)
    adopt_orphans()
    try:
        with _progress(quiet=flags.quiet) as watch:
            report = asyncio.run(_replay(target, calls, options, watch, record))
    except asyncio.CancelledError:  # SIGTERM before there was a session: nothing to report.
        return INTERRUPTED
    report = structs.replace(report, fail_on=flags.fail_on)
    if flags.json:
        sys.stdout.write(encode_document(report))
    elif not flags.quiet and all(file != "-" for _, file in writers):
        print_replay(report, Console())
    write_documents(report, writers, REPLAY_FORMATS, quiet=flags.quiet)
    return INTERRUPTED if report.incomplete == "interrupted" else int(report.fails)


def _read_options(flags: ReplayFlags) -> ReplayOptions:
    for name, value in (
        ("limit", flags.limit),
        ("sample", flags.sample),
        ("timeout", flags.timeout),
        ("deadline", flags.deadline),
    ):
        if value is not None and not value > 0:
            raise UsageError(f"--{name} {value:g}: must be greater than 0")
    return ReplayOptions(
        timeout=flags.timeout,
        deadline=flags.deadline,
        tools=flags.tool or (),
        exclude=flags.exclude or (),
        include=flags.include or (),
        destructive="call" if flags.include_destructive else "skip",
        repeats=flags.all,
        limit=flags.limit,
        sample=flags.sample,
        era=flags.era,
        keep_home=flags.keep_home,
        sandbox=flags.sandbox,
        check=load_settings(flags.settings).result_check(),
    )


async def _replay(
    target: Target, calls: Sequence[RecordedCall], options: ReplayOptions, watch: ReplayWatch, record: str
) -> ReplayReport:
    # CI systems end a job with SIGTERM: the report so far is printed, and the server ends.
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await replay(target, calls, options, watch, record=record)


@contextmanager
def _progress(*, quiet: bool) -> Generator[ReplayWatch]:
    """A bar on stderr while the block runs; nothing where stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield NoReplayWatch()
        return
    columns = (TextColumn("replaying"), BarColumn(24), MofNCompleteColumn(), TextColumn("{task.fields[now]}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        yield _ReplayBar(bar, bar.add_task("", total=None, now=""))


class _ReplayBar:
    """The `ReplayWatch` that moves a bar."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar = bar
        self._task = task

    def chosen(self, calls: int) -> None:
        self._bar.update(self._task, total=calls)

    def compared(self, call: ReplayedCall) -> None:
        self._bar.update(self._task, now=Text(call.tool).markup[:40], advance=1)
