"""`toolvet replay`: the calls of a record, made again against a new version of the server."""

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from toolvet.cli import INTERRUPTED
from toolvet.cli.commands.assess.flags import (
    CALLS,
    LIMITS,
    OUTPUT,
    WHICH,
    DeadlineFlag,
    EnvFlag,
    ExcludeFlag,
    FolderFlag,
    HeaderFlag,
    IncludeFlag,
    JsonFlag,
    QuietFlag,
    ToolFlag,
)
from toolvet.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rich.progress import Progress, TaskID

    from toolvet.assess.replay import RecordedCall, ReplayOptions, ReplayWatch
    from toolvet.assess.report import ReplayedCall, ReplayReport
    from toolvet.mcp.transport import Target


@Parameter(name="*", negative="", show_default=False)
@dataclass(frozen=True, kw_only=True)
class ReplayFlags:
    """The options, as the command line knows them."""

    header: HeaderFlag = None
    env: EnvFlag = None
    cwd: FolderFlag = None
    keep_home: Annotated[
        bool, Parameter(group=WHICH, help="Start the server with your home instead of an empty one.")
    ] = False
    sandbox: Annotated[
        bool,
        Parameter(
            group=WHICH,
            help="Start the server without network, where it can write only to its own folders and `--cwd` (Linux).",
        ),
    ] = False
    era: Annotated[
        Literal["auto", "legacy", "modern"],
        Parameter(group=WHICH, help="Protocol: `modern` is 2026-07-28, `legacy` all before it. [default: auto]"),
    ] = "auto"

    tool: ToolFlag = None
    exclude: ExcludeFlag = None
    include: IncludeFlag = None
    include_destructive: Annotated[
        bool, Parameter(group=CALLS, help="Call every tool, also those that change, send or delete something.")
    ] = False
    all: Annotated[bool, Parameter(group=CALLS, help="Make identical calls each time, not once.")] = False

    limit: Annotated[int | None, Parameter(group=LIMITS, help="Make only the first N calls.")] = None
    sample: Annotated[int | None, Parameter(group=LIMITS, help="Make N calls, spread over the record.")] = None
    timeout: Annotated[float, Parameter(group=LIMITS, help="Seconds for one call. [default: 30]")] = 30.0
    deadline: DeadlineFlag = None

    report: Annotated[
        list[str] | None,
        Parameter(group=OUTPUT, help="`FORMAT=FILE` (`-` is stdout): html, json, junit, markdown; may be repeated."),
    ] = None
    json: JsonFlag = False
    lock: Annotated[
        Path | None,
        Parameter(group=OUTPUT, help="A file of `toolvet contract`: a result that leaves its contract ends worse."),
    ] = None
    fail_on: Annotated[
        Literal["worse", "changed", "never"],
        Parameter(
            group=OUTPUT,
            help="Exit with 1 for calls that end worse; `changed`: also for other shapes and errors. [default: worse]",
        ),
    ] = "worse"
    settings: Annotated[
        Path | None,
        Parameter(
            group=OUTPUT, help="Options of the checks. [default: toolvet.toml, or tool.toolvet in pyproject.toml]"
        ),
    ] = None
    quiet: QuietFlag = False


def command(
    record: Annotated[
        str,
        Parameter(
            help='A record of `toolvet proxy --store` with `record = "calls"` (a file or a URL), or a store or a JSON '
            "report of `toolvet assess`."
        ),
    ],
    *target: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=False,
            help="`-- COMMAND ARGS…` starts the new version and speaks stdio; a URL reaches one over HTTP.",
        ),
    ],
    flags: ReplayFlags | None = None,
) -> int:
    """Repeat recorded calls against a new version, and report which of them now end differently.

    toolvet replay record.db -- python server.py

    toolvet replay record.db http://127.0.0.1:8000/mcp --report junit=replay.xml

    Calls are compared by verdict, never by text: whether the arguments are still valid, whether the call succeeds, what
    an error says went wrong, whether the result keeps its outputSchema, and its shape. A call that was recorded often
    is made once. As in an assessment, only tools that are known to read are called; `--include TOOL` calls others.
    """
    import asyncio  # noqa: PLC0415 - all of these are for this command only

    from msgspec import structs  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415

    from toolvet.assess.replay import read_recorded  # noqa: PLC0415
    from toolvet.assess.report import REPLAY_FORMATS, encode_document, print_replay  # noqa: PLC0415
    from toolvet.cli.options import parse_reports, write_documents  # noqa: PLC0415
    from toolvet.cli.target import parse_header, parse_variable, read_target  # noqa: PLC0415
    from toolvet.mcp.transport import adopt_orphans  # noqa: PLC0415

    flags = flags or ReplayFlags()
    writers = parse_reports(flags.report, tuple(REPLAY_FORMATS))
    options = _read_options(flags)
    if not target:
        raise UsageError(f"which server? Give the new version: toolvet replay {record} -- COMMAND, or a URL")
    server = read_target(
        target,
        headers=dict(map(parse_header, flags.header or ())),
        environment=dict(map(parse_variable, flags.env or ())),
        cwd=str(flags.cwd) if flags.cwd else None,
    )
    calls = read_recorded(record)
    adopt_orphans()
    try:
        with _progress(quiet=flags.quiet) as watch:
            report = asyncio.run(_replay(server, calls, options, watch, record))
    except asyncio.CancelledError:  # SIGTERM before there was a session: nothing to report.
        return INTERRUPTED
    report = structs.replace(report, fail_on=flags.fail_on)
    if flags.json:
        sys.stdout.write(encode_document(report))
    elif not flags.quiet and all(file != "-" for _, file in writers):
        print_replay(report, Console())
    write_documents(report, writers, REPLAY_FORMATS, quiet=flags.quiet)
    return INTERRUPTED if report.incomplete == "interrupted" else int(report.fails)


def _read_options(flags: ReplayFlags) -> "ReplayOptions":
    from toolvet.assess.replay import ReplayOptions  # noqa: PLC0415 - as above
    from toolvet.cli.options import load_lock  # noqa: PLC0415 - as above
    from toolvet.core.settings import load_settings  # noqa: PLC0415 - as above

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
        lock=None if flags.lock is None else load_lock(flags.lock),
    )


async def _replay(
    target: "Target", calls: "Sequence[RecordedCall]", options: "ReplayOptions", watch: "ReplayWatch", record: str
) -> "ReplayReport":
    import asyncio  # noqa: PLC0415 - as above
    import signal  # noqa: PLC0415 - as above

    from toolvet.assess.replay import replay  # noqa: PLC0415 - as above

    # CI systems end a job with SIGTERM: the report so far is printed, and the server ends.
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await replay(target, calls, options, watch, record=record)


@contextmanager
def _progress(*, quiet: bool) -> "Generator[ReplayWatch]":
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - as above

    from toolvet.assess.replay import NoReplayWatch  # noqa: PLC0415 - as above

    if quiet or not sys.stderr.isatty():
        yield NoReplayWatch()
        return
    columns = (TextColumn("replaying"), BarColumn(24), MofNCompleteColumn(), TextColumn("{task.fields[now]}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        yield _ReplayBar(bar, bar.add_task("", total=None, now=""))


class _ReplayBar:
    """The `ReplayWatch` that moves a bar."""

    def __init__(self, bar: "Progress", task: "TaskID") -> None:
        self._bar = bar
        self._task = task

    def chosen(self, calls: int) -> None:
        self._bar.update(self._task, total=calls)

    def compared(self, call: "ReplayedCall") -> None:
        from rich.text import Text  # noqa: PLC0415 - as above

        self._bar.update(self._task, now=Text(call.tool).markup[:40], advance=1)
