"""The work of `toolvet assess`: flags and settings → servers to assess → documents and an exit code."""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Final, Literal, TypeAlias, TypeVar

from msgspec import DecodeError, json, structs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from toolvet.assess import GivenOptions, Options, Report, Silent, Watch, assess, beside, first_given, read_options
from toolvet.assess.many import AssessmentLimits
from toolvet.assess.report import (
    Scenario,
    apply_baseline,
    formats,
    load,
    print_report,
    render,
    thresholds,
    why_failed,
)
from toolvet.assess.rules import cards
from toolvet.assess.settings import AssessSettings
from toolvet.cli import INTERRUPTED
from toolvet.cli.commands.assess.flags import AssessFlags
from toolvet.cli.commands.assess.many import ManyOptions, ReportPublishing, assess_side_by_side
from toolvet.cli.options import checked_store, load_lock
from toolvet.cli.target import parse_header, parse_variable, read_target
from toolvet.core.directories import directory
from toolvet.core.portability import provider
from toolvet.core.settings import load_settings
from toolvet.errors import ToolvetError, UsageError
from toolvet.findings import Severity
from toolvet.mcp.transport import NamedTarget, ServerList, adopt_orphans, printable, read_server_list
from toolvet.store.private_file import write_private
from toolvet.store.settings import StoreSettings


class Progress:
    """A bar for each server: tools done, the tools under way, calls so far. `quiet` shows nothing.

    With `verbose` a line for each call instead, also where stderr is not a terminal.
    """

    def __init__(self, *, quiet: bool, verbose: bool = False) -> None:
        self._console = Console(stderr=True)
        # We ask the stream itself: with FORCE_COLOR the console calls every file a terminal, and bars would fill a log.
        self._shown = not quiet and sys.stderr.isatty()
        self._verbose = verbose

    @contextmanager
    def watching(self, name: str) -> Generator[Watch]:
        """Show the progress of one assessment while the block runs; yields what `assess` reports to."""
        if self._verbose:
            yield _PrintedCalls()
            return
        if not self._shown:
            yield Silent()
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(24),
            MofNCompleteColumn(),
            TextColumn("tools"),
            TextColumn("{task.fields[now]}", style="dim"),
            TimeElapsedColumn(),
        )
        with Bar(*columns, console=self._console, transient=True) as bar:
            yield _ProgressWatch(bar, name)


class _PrintedCalls(Silent):
    """The `Watch` of one assessment, which writes a line for each call."""

    def called(self, tool: str, scenario: Scenario) -> None:
        outcome = "passed" if scenario.passed else "failed"
        sys.stderr.write(f"{printable(tool)}  {scenario.id}  {outcome}  {scenario.duration_ms:.0f} ms\n")


class _ProgressWatch:
    """The `Watch` of one assessment, which moves its bar."""

    def __init__(self, bar: Bar, name: str) -> None:
        self._bar = bar
        self._calls = 0
        self._under_way: list[str] = []
        self._task = bar.add_task(Text(name).markup[:40], total=None, now="connecting")

    def planned(self, tools: int) -> None:
        self._bar.update(self._task, total=tools)

    def began(self, tool: str) -> None:
        self._under_way.append(tool)
        self._show()

    def called(self, tool: str, scenario: Scenario) -> None:
        del tool, scenario
        self._calls += 1
        self._show()

    def ended(self, tool: str) -> None:
        self._under_way.remove(tool)
        self._bar.advance(self._task)
        self._show()

    def _show(self) -> None:
        names = Text(", ".join(self._under_way)).markup
        self._bar.update(self._task, now=f"{self._calls} calls  {names}"[:60])


T = TypeVar("T")
# Options of ours that hardly any server has: behind `--` they are a mistake.
_UNLIKELY_OF_A_SERVER: Final = frozenset(
    {"--fail-on", "--fail-under", "--report", "--baseline", "--include-destructive", "--plan-only", "--tools-only"}
)
_Level = Literal["error", "warning", "info"]
_Handler: TypeAlias = "Callable[[int, FrameType | None], object] | int | signal.Handlers"
_ENDING: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class _AssessedServers:
    """The reports of those of `targets` servers that could be assessed, and the errors of the others by their names."""

    targets: int
    reports: tuple[Report, ...]
    errors: tuple[tuple[str, ToolvetError], ...]


def assess_and_report(words: Sequence[str], flags: AssessFlags) -> int:
    """Assess the servers, print and write the reports, and return the exit code.

    Raises UsageError for wrong words, flags or settings before any server is started.
    """
    settings = load_settings(flags.settings)
    given = {name: getattr(flags, name) for name in GivenOptions.__struct_fields__}
    options = read_options(settings, GivenOptions(**given))
    if flags.lock is not None:
        options = replace(options, lock=load_lock(flags.lock))
    if flags.provider:
        for name in flags.provider:
            provider(name)
        options = replace(options, providers=tuple(flags.provider))
    if flags.profile:
        files = {directory(name).manifest for name in flags.profile} - {""}
        manifests = {name: _read_manifest(Path(name)) for name in files if Path(name).is_file()}
        options = replace(options, profiles=tuple(flags.profile), manifests=manifests)
    writers = _parse_writers([*settings[AssessSettings].report, *(flags.report or ())])
    baseline = flags.baseline or settings[AssessSettings].baseline
    try:
        known = None if baseline is None else (str(baseline), load(Path(baseline).read_bytes(), str(baseline)))
    except OSError as error:
        raise UsageError(f"--baseline {baseline}: {error.strerror}; write one with --report json={baseline}") from error
    servers = _read_targets(words, flags, settings[AssessSettings])
    level = first_given(flags.fail_on, settings[AssessSettings].fail_on, "error")
    fail_on = None if level == "never" else Severity(level)
    fail_under = first_given(flags.fail_under, settings[AssessSettings].fail_under, None)
    most_tokens = first_given(flags.max_tools_tokens, settings[AssessSettings].max_tools_tokens, None)
    limits = (fail_on, fail_under, most_tokens)
    store_url = flags.store or settings[StoreSettings].url
    store = None if store_url is None else checked_store(store_url)

    def publish(reports: Sequence[Report]) -> None:
        _publish(reports, writers, flags, prints=many is None)
        if store is not None:
            from toolvet.store import Store  # noqa: PLC0415 - only where it is asked for

            with Store(store) as opened:
                for report in reports:
                    opened.add(report)

    many = _read_many(flags, settings[AssessSettings])
    if many is not None:
        wants_all = bool(writers) or flags.json or store is not None
        publishing = ReportPublishing(
            judge=lambda report, names: _judged((beside(report, names, options),), known, limits)[0],
            publish=publish if wants_all else None,
            prints=not flags.quiet and not flags.json and all(file != "-" for _, file in writers),
        )
        return assess_side_by_side(servers, options, many, publishing)

    adopt_orphans()
    try:
        outcome = asyncio.run(_assess_all(servers, options, Progress(quiet=flags.quiet, verbose=flags.verbose)))
    except asyncio.CancelledError:  # SIGTERM before there was a session: nothing to report.
        return INTERRUPTED
    with _finishing() as interrupted:
        names = {tool.name for report in outcome.reports for tool in report.tools}
        reports = _judged([beside(report, names, options) for report in outcome.reports], known, limits)
        if reports:
            publish(reports)
        code = _exit_code(reports, outcome)
    return INTERRUPTED if interrupted.is_set() else code


def _judged(
    reports: Sequence[Report],
    known: tuple[str, tuple[Report, ...]] | None,
    limits: tuple[Severity | None, float | None, int | None],
) -> tuple[Report, ...]:
    if known is not None:
        reports = [apply_baseline(report, known[1], known[0]) for report in reports]
    fail_on, fail_under, most_tokens = limits
    level = fail_on.value if fail_on is not None else "never"
    changes = {"fail_on": level, "fail_under": fail_under, "max_tools_tokens": most_tokens}
    return tuple(structs.replace(report, **changes) for report in reports)


def _exit_code(reports: Sequence[Report], outcome: _AssessedServers) -> int:
    several = outcome.targets > 1
    for name, error in outcome.errors:
        sys.stderr.write(f"toolvet: {f'{name}: ' if several else ''}{error}\n")
    for report in reports:
        for problem in filter(None, (problem for _, problem in thresholds(report))):
            sys.stderr.write(f"toolvet: {f'{report.server.name}: ' if several else ''}{problem}\n")
    if any(report.incomplete == "interrupted" for report in reports):
        return INTERRUPTED
    if outcome.errors:
        return max(error.exit_code for _, error in outcome.errors)
    return int(any(why_failed(report) for report in reports))


@contextmanager
def _finishing() -> Generator[threading.Event]:
    """While the reports are written, the first SIGINT or SIGTERM sets the event; a second one ends us at once."""
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        # Signals are not heard here.
        yield interrupted
        return

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        interrupted.set()
        signal.signal(number, before[number])

    before: dict[int, _Handler] = {number: signal.getsignal(number) or signal.SIG_DFL for number in _ENDING}
    for number in before:
        signal.signal(number, note)
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _assess_all(servers: ServerList, options: Options, progress: Progress) -> _AssessedServers:
    """Assess one server after the other: two at once would slow each other down and spoil the durations."""
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        # CI systems end a job with SIGTERM: the report so far is printed, all servers end.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    reports: list[Report] = []
    errors: list[tuple[str, ToolvetError]] = [(name, UsageError(problem)) for name, problem in servers.left_out]
    for target in servers.targets:
        try:
            with progress.watching(target.name) as watch:
                report = await assess(target.target, options, watch)
        except ToolvetError as error:
            errors.append((target.name, error))
            continue
        reports.append(report)
        if report.incomplete == "interrupted":
            break
    return _AssessedServers(len(servers.targets) + len(servers.left_out), tuple(reports), tuple(errors))


def _read_many(flags: AssessFlags, file: AssessSettings) -> ManyOptions | None:
    engine = flags.engine or "local"
    if flags.address is not None and engine == "local":
        raise UsageError("--address: give --engine dask or --engine daft, too")
    if flags.workers is None and flags.into is None and engine == "local":
        for name, value in (
            ("max-memory-mib", flags.memory),
            ("max-output-mib", flags.output),
            ("no-sandbox", flags.no_sandbox or None),
        ):
            if value is not None:
                raise UsageError(
                    f"--{name} is for servers in processes of their own: give --workers N or --into FOLDER"
                )
        return None
    if flags.no_sandbox and flags.sandbox:
        raise UsageError("--sandbox and --no-sandbox: one of them")
    defaults = AssessmentLimits()
    deadline = first_given(flags.deadline, file.deadline, defaults.seconds)
    memory = first_given(flags.memory, None, defaults.memory_mib)
    output = first_given(flags.output, None, defaults.output_mib)
    for name, value in (("workers", first_given(flags.workers, None, 1)), ("memory", memory), ("output", output)):
        if value < 1:
            raise UsageError(f"--{name} {value}: must be at least 1")
    return ManyOptions(
        workers=flags.workers,
        limits=AssessmentLimits(seconds=deadline, memory_mib=memory, output_mib=output),
        into=flags.into,
        sandbox=False if flags.no_sandbox else first_given(flags.sandbox, file.sandbox, None),
        quiet=flags.quiet,
        engine=engine,
        address=flags.address,
    )


def _read_targets(words: Sequence[str], flags: AssessFlags, file: AssessSettings) -> ServerList:
    headers = dict(parse_header(text) for text in (*file.header, *(flags.header or ())))
    environment = dict(parse_variable(text) for text in (*file.env, *(flags.env or ())))
    if flags.config is not None:
        if words:
            raise UsageError("use either --config or a command or URL, not both")
        servers = read_server_list(flags.config, environment)
        if not servers.targets and not servers.left_out:
            raise UsageError(
                f"--config {flags.config} names no server; see https://modelcontextprotocol.io for its form"
            )
        chosen = flags.server or ()
        names = [*(target.name for target in servers.targets), *(name for name, _ in servers.left_out)]
        for name in chosen:
            if name not in names:
                known = ", ".join(names) or "none"
                raise UsageError(f"--server {name}: {flags.config} has no such server; it has {known}")
        return ServerList(
            tuple(target for target in servers.targets if not chosen or target.name in chosen),
            tuple((name, reason) for name, reason in servers.left_out if not chosen or name in chosen),
        )
    if flags.server:
        raise UsageError("--server chooses from a --config FILE, which is missing")
    if not words:
        raise UsageError(
            "which server? Give a command (toolvet assess -- uvx mcp-server-time), a URL, or --config mcp.json"
        )
    for word in words[1:]:
        if word.partition("=")[0] in _UNLIKELY_OF_A_SERVER:
            sys.stderr.write(f"toolvet: {word} is after `--`, so the server gets it; put it before `--`\n")
    target = read_target(words, headers=headers, environment=environment, cwd=str(flags.cwd) if flags.cwd else file.cwd)
    return ServerList((NamedTarget(name=target.describe(), target=target),))


def _read_manifest(path: Path) -> object:
    """The JSON in a file; None for a file that is not JSON, which breaks the rules of its directory."""
    try:
        return json.decode(path.read_bytes())
    except (OSError, DecodeError, RecursionError):
        return None


def _parse_writers(wanted: Sequence[str]) -> list[tuple[str, str]]:
    """Split each `FORMAT=FILE`. A missing folder is an error now, not after minutes of assessing."""
    writers: list[tuple[str, str]] = []
    for text in wanted:
        name, equals, file = text.partition("=")
        if name not in formats():
            raise UsageError(f"--report {text}: no report format is named '{name}'; use one of {', '.join(formats())}")
        if not equals or not file:
            raise UsageError(f"--report {text}: write it as {name}=FILE, or {name}=- for stdout")
        if file != "-" and not Path(file).resolve().parent.is_dir():
            raise UsageError(f"--report {text}: there is no folder {Path(file).resolve().parent}")
        writers.append((name, file))
    return writers


def _publish(
    reports: Sequence[Report], writers: Sequence[tuple[str, str]], flags: AssessFlags, *, prints: bool
) -> None:
    on_stdout = [name for name, file in writers if file == "-"] + (["json"] if flags.json else [])
    for name in on_stdout:
        sys.stdout.write(render(name, reports, cards()).rstrip("\n") + "\n")
    if not on_stdout and not flags.quiet and prints:
        print_report(reports, Console(), *([None] if flags.all else []))
    for name, file in writers:
        if file == "-":
            continue
        try:
            private = write_private(Path(file), render(name, reports, cards()))
        except OSError as error:
            raise UsageError(f"--report {name}={file}: {error.strerror}") from error
        if not private:
            sys.stderr.write(
                f"toolvet: --report {name}={file}: others can read it, and it is not ours to change that\n"
            )
        if not flags.quiet:
            sys.stderr.write(f"{name} report: {file}\n")
