"""The heavy half of `toolvet assess`: flags and settings → servers to assess → documents and an exit code."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import orjson
from rich.console import Console

from toolvet.assess import Options, Report, assess
from toolvet.cli.codes import INTERRUPTED
from toolvet.cli.commands.assess.flags import AssessFlags
from toolvet.cli.commands.assess.progress import Progress
from toolvet.cli.settings import AssessSettings, Settings, load_settings
from toolvet.errors import ToolvetError, UsageError
from toolvet.findings import Severity
from toolvet.report import apply_baseline, apply_gate, formats, load, print_report, render
from toolvet.rules import cards
from toolvet.schema.json_value import is_object
from toolvet.transport import HttpTarget, NamedTarget, StdioTarget, Target, read_client_config

T = TypeVar("T")


@dataclass(frozen=True)
class _AssessedServers:
    """What came of all servers: the reports, and for each that could not be assessed why not."""

    reports: tuple[Report, ...]
    errors: tuple[tuple[str, ToolvetError], ...]


def assess_and_report(words: Sequence[str], flags: AssessFlags) -> int:
    """Assess, print, write; the exit code. What is wrong with the words is said before a server starts."""
    settings = load_settings(flags.settings)
    options = _options(flags, settings)
    writers = _writers([*settings.assess.report, *(flags.report or ())])
    known = _baseline(flags.baseline or settings.assess.baseline)
    targets = _targets(words, flags, settings.assess)
    fail_on, fail_under = _thresholds(flags, settings.assess)

    outcome = asyncio.run(_all(targets, options, Progress(quiet=flags.quiet)))
    reports = outcome.reports
    if known is not None:
        reports = tuple(apply_baseline(report, known[1], known[0]) for report in reports)
    reports = tuple(apply_gate(report, fail_on, fail_under) for report in reports)
    if reports:
        _publish(reports, writers, flags)
    for name, error in outcome.errors:
        sys.stderr.write(f"toolvet: {f'{name}: ' if len(targets) > 1 else ''}{error}\n")
    if any(report.incomplete == "interrupted" for report in reports):
        return INTERRUPTED
    if outcome.errors:
        return max(error.exit_code for _, error in outcome.errors)
    return int(any(report.gate is not None and report.gate.failures for report in reports))


async def _all(targets: Sequence[NamedTarget], options: Options, progress: Progress) -> _AssessedServers:
    """One server after the other: two at once would be measured against each other's load."""
    _end_on_sigterm()
    reports: list[Report] = []
    errors: list[tuple[str, ToolvetError]] = []
    for target in targets:
        try:
            with progress.watching(target.name) as watch:
                report = await assess(target.target, options, watch)
        except ToolvetError as error:
            errors.append((target.name, error))
            continue
        reports.append(report)
        if report.incomplete == "interrupted":
            break
    return _AssessedServers(tuple(reports), tuple(errors))


def _end_on_sigterm() -> None:
    """CI systems end a job with SIGTERM: then, too, the report so far is printed and no server is left behind."""
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def _options(flags: AssessFlags, settings: Settings) -> Options:
    defaults, file = Options(), settings.assess
    arguments = _json_object(flags.arguments) if flags.arguments is not None else None
    if arguments is not None and (
        len(flags.tool or ()) != 1 or any(letter in (flags.tool or [""])[0] for letter in "*?[")
    ):
        raise UsageError("--arguments needs exactly one --tool NAME to call with them")
    timeout = _given(flags.timeout, file.timeout, defaults.timeout)
    deadline = _given(flags.deadline, file.deadline, None)
    concurrency = _given(flags.concurrency, file.concurrency, defaults.concurrency)
    for name, value in (("timeout", timeout), ("deadline", deadline), ("concurrency", concurrency)):
        if value is not None and not value > 0:
            raise UsageError(f"--{name} {value:g}: must be greater than 0")
    return Options(
        timeout=timeout,
        deadline=deadline,
        concurrency=concurrency,
        seed=_given(flags.seed, file.seed, defaults.seed),
        tools=flags.tool or file.tool,
        exclude=(*file.exclude, *(flags.exclude or ())),
        destructive="call" if _given(flags.include_destructive, file.include_destructive, False) else "skip",  # noqa: FBT003 - a default, not a flag
        era=_given(flags.era, file.era, defaults.era),
        fixtures=settings.fixtures,
        values=settings.values,
        arguments=arguments,
        plan_only=flags.plan_only,
    )


def _given(flag: T | None, file: T | None, default: T) -> T:
    """Flags win over the settings file, and that over the default."""
    return flag if flag is not None else file if file is not None else default


def _json_object(text: str) -> dict[str, object]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(f'--arguments is not JSON: {error}; example: --arguments \'{{"query": "pride"}}\'') from error
    if not is_object(value):
        raise UsageError(f"--arguments must be a JSON object, not {type(value).__name__}")
    return dict(value)


def _targets(words: Sequence[str], flags: AssessFlags, file: AssessSettings) -> tuple[NamedTarget, ...]:
    headers = dict(_header(text) for text in (*file.header, *(flags.header or ())))
    environment = dict(_variable(text) for text in (*file.env, *(flags.env or ())))
    if flags.config is not None:
        if words:
            raise UsageError("--config already names the servers: leave the command or URL away")
        return _configured(flags.config, flags.server or ())
    if flags.server:
        raise UsageError("--server chooses from a --config FILE, which is missing")
    if not words:
        raise UsageError(
            "which server? Give a command (toolvet assess -- uvx mcp-server-time), a URL, or --config mcp.json"
        )
    target: Target
    if words[0].startswith(("http://", "https://")):
        if len(words) > 1:
            raise UsageError(f"one URL at a time; unexpected: {' '.join(words[1:])}")
        target = HttpTarget(url=words[0], headers=headers)
    else:
        if headers:
            raise UsageError("--header is for a URL; a command gets its secrets through --env NAME")
        target = StdioTarget(
            command=words[0], args=tuple(words[1:]), env=environment, cwd=str(flags.cwd) if flags.cwd else None
        )
    return (NamedTarget(name=target.describe(), target=target),)


def _configured(path: Path, chosen: Sequence[str]) -> tuple[NamedTarget, ...]:
    targets = read_client_config(path)
    names = [target.name for target in targets]
    for name in chosen:
        if name not in names:
            raise UsageError(f"--server {name}: {path} has no such server; it has {', '.join(names) or 'none'}")
    return tuple(target for target in targets if not chosen or target.name in chosen)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or any(letter in text for letter in "\r\n"):
        raise UsageError(f"--header {name.strip()!r}: write it as 'Name: value'")
    return name.strip(), value.strip()


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if equals:
        return name, value
    if name not in os.environ:
        raise UsageError(f"--env {name}: our own environment has no such variable; give one as {name}=VALUE")
    return name, os.environ[name]


def _writers(wanted: Sequence[str]) -> list[tuple[str, str]]:
    """`FORMAT=FILE` → (format, file). The folder must exist now, not after minutes of assessing."""
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


def _baseline(path: Path | str | None) -> tuple[str, tuple[Report, ...]] | None:
    if path is None:
        return None
    try:
        return str(path), load(Path(path).read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"--baseline {path}: {error.strerror}; write one with --report json={path}") from error


def _thresholds(flags: AssessFlags, file: AssessSettings) -> tuple[Severity | None, float | None]:
    level = _given(flags.fail_on, file.fail_on, "error")
    return (None if level == "never" else Severity(level)), _given(flags.fail_under, file.fail_under, None)


def _publish(reports: tuple[Report, ...], writers: Sequence[tuple[str, str]], flags: AssessFlags) -> None:
    """The report for people goes to stdout unless a document was asked for there."""
    on_stdout = [name for name, file in writers if file == "-"] + (["json"] if flags.json else [])
    for name in on_stdout:
        sys.stdout.write(render(name, reports, cards()).rstrip("\n") + "\n")
    if not on_stdout and not flags.quiet:
        print_report(reports, Console())
    for name, file in writers:
        if file == "-":
            continue
        try:
            Path(file).write_text(render(name, reports, cards()), encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"--report {name}={file}: {error.strerror}") from error
        if not flags.quiet:
            sys.stderr.write(f"{name} report: {file}\n")
