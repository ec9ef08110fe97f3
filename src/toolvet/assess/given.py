"""`read_options`: what a user gave, as flags and in a settings file → the options of an assessment."""

from typing import Literal, TypeAlias, TypeVar, cast, get_args

import msgspec
import orjson

from toolvet.assess.options import Options
from toolvet.assess.rules.judge import card_named
from toolvet.assess.settings import AssessSettings, FixtureSettings, ValueSettings
from toolvet.core.json_value import is_object
from toolvet.core.settings import CheckSettings, Settings
from toolvet.errors import UsageError
from toolvet.mcp.wire import check_message_bytes

T = TypeVar("T")
_Level: TypeAlias = Literal["error", "warning", "info"]


class GivenOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The flags of `toolvet assess` about the calls. None: not given."""

    tool: list[str] | None = None
    exclude: list[str] | None = None
    include: list[str] | None = None
    include_destructive: bool | None = None
    arguments: str | None = None
    plan_only: bool = False
    tools_only: bool | None = None
    no_transport_checks: bool | None = None
    seed: int | None = None
    timeout: float | None = None
    deadline: float | None = None
    max_message_bytes: int | None = None
    disk: int | None = None
    concurrency: int | None = None
    era: Literal["auto", "legacy", "modern"] | None = None
    keep_home: bool | None = None
    sandbox: bool | None = None
    ignore: list[str] | None = None
    severity: list[str] | None = None


def read_options(settings: Settings, flags: GivenOptions | None = None) -> Options:
    """Return what the flags say, else the settings, else the defaults. Raises UsageError for what makes no sense."""
    defaults, file, flags = Options(), settings[AssessSettings], flags or GivenOptions()
    arguments = _parse_json_object(flags.arguments) if flags.arguments is not None else None
    if arguments is not None and (
        len(flags.tool or ()) != 1 or any(letter in (flags.tool or [""])[0] for letter in "*?[")
    ):
        raise UsageError("--arguments needs exactly one --tool NAME to call with them")
    timeout = first_given(flags.timeout, file.timeout, defaults.timeout)
    deadline = first_given(flags.deadline, file.deadline, None)
    concurrency = first_given(flags.concurrency, file.concurrency, defaults.concurrency)
    max_message_bytes = first_given(flags.max_message_bytes, file.max_message_bytes, defaults.max_message_bytes)
    check_message_bytes(max_message_bytes)
    for name, value in (
        ("timeout", timeout),
        ("deadline", deadline),
        ("concurrency", concurrency),
        ("max-disk-mib", flags.disk),
    ):
        if value is not None and not value > 0:
            raise UsageError(f"--{name} {value:g}: must be greater than 0")
    checks = settings[CheckSettings]
    ignore = [*checks.ignore, *(flags.ignore or ())]
    for text in ignore:
        card_named(text.partition(":")[0], option="--ignore")
    severity = dict(checks.severity)
    for check in severity:
        card_named(check, option="[checks.severity]")
    for text in flags.severity or ():
        check, _, level = text.partition("=")
        if level not in get_args(_Level):
            raise UsageError(f"--severity {text}: write it as CHECK=error, CHECK=warning or CHECK=info")
        card_named(check, option="--severity")
        severity[check] = cast("_Level", level)
    return Options(
        timeout=timeout,
        deadline=deadline,
        max_message_bytes=max_message_bytes,
        disk_mib=first_given(flags.disk, None, defaults.disk_mib),
        concurrency=concurrency,
        seed=first_given(flags.seed, file.seed, defaults.seed),
        tools=flags.tool or file.tool,
        exclude=(*file.exclude, *(flags.exclude or ())),
        include=(*file.include, *(flags.include or ())),
        destructive="call" if first_given(flags.include_destructive, file.include_destructive, False) else "skip",  # noqa: FBT003 - a default, not a flag
        era=first_given(flags.era, file.era, defaults.era),
        fixtures=settings[FixtureSettings].tools,
        values=settings[ValueSettings].parameters,
        arguments=arguments,
        plan_only=flags.plan_only,
        ignore=ignore,
        severity=severity,
        tools_only=first_given(flags.tools_only, file.tools_only, defaults.tools_only),
        keep_home=first_given(flags.keep_home, file.keep_home, defaults.keep_home),
        sandbox=first_given(flags.sandbox, file.sandbox, defaults.sandbox),
        transport_checks=not first_given(flags.no_transport_checks, file.no_transport_checks, False),  # noqa: FBT003 - as above
        check=settings.result_check(),
    )


def first_given(flag: T | None, file: T | None, default: T) -> T:
    """Return the flag, else the value of the settings file, else the default."""
    return flag if flag is not None else file if file is not None else default


def _parse_json_object(text: str) -> dict[str, object]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(f'--arguments is not JSON: {error}; example: --arguments \'{{"query": "pride"}}\'') from error
    if not is_object(value):
        raise UsageError(f"--arguments must be a JSON object, not {type(value).__name__}")
    return dict(value)
