"""`Settings`: what a settings file says. `toolvet.cli.settings` has an example of one."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, get_type_hints

import msgspec

from toolvet.cli.settings.file import settings_file
from toolvet.cli.settings.hook import HookSettings
from toolvet.core.checks import ResultCheck, ResultSettings, ToolResultSettings
from toolvet.core.discover import decode_toml
from toolvet.core.json_value import members
from toolvet.errors import ConfigError
from toolvet.proxy.session import ProxySettings, ToolSettings
from toolvet.store.alerts import AlertRule

if TYPE_CHECKING:
    from toolvet.core.checks import ArgumentCheck, Wording
    from toolvet.core.turn import AnswerCheck, AnswerOptions


class AssessSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `toolvet assess` under the names of its flags. None: not set."""

    timeout: float | None = None
    deadline: float | None = None
    max_message_bytes: int | None = None
    concurrency: int | None = None
    seed: int | None = None
    tool: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    include_destructive: bool | None = None
    tools_only: bool | None = None
    cwd: str | None = None
    keep_home: bool | None = None
    sandbox: bool | None = None
    no_transport_checks: bool | None = None
    era: Literal["auto", "legacy", "modern"] | None = None
    header: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    report: tuple[str, ...] = ()
    baseline: str | None = None
    fail_on: Literal["error", "warning", "info", "never"] | None = None
    fail_under: float | None = None


class AnswerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[checks.answer]`: the options of `AnswerCheck` under their names. None: not set.

    `model` is a file that `toolvet review learn` wrote, beside the settings file.
    """

    min_length: int | None = None
    strict: bool | None = None
    threshold: float | None = None
    packs: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    custom_patterns: dict[str, tuple[str, ...]] | None = None
    replace_patterns: bool | None = None
    exceptions: dict[str, tuple[str, ...]] | None = None
    weights: dict[str, float] | None = None
    model: str | None = None


class ArgumentSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[checks.arguments]`: `wording` is a TOML file with the texts of reports, beside the settings file."""

    wording: str | None = None


class CheckSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[checks]`: what the user says of findings, answers and results.

    `ignore` names findings to leave out (`CHECK` or `CHECK:TOOL`), `severity` has the severity of checks by their ids.
    """

    ignore: tuple[str, ...] = ()
    severity: dict[str, Literal["error", "warning", "info"]] = {}
    answer: AnswerSettings = AnswerSettings()
    arguments: ArgumentSettings = ArgumentSettings()
    result: ResultSettings = ResultSettings()


class PersonSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[serve.people]]`: a name, a role, and the SHA-256 of the person's token (`toolvet serve token` makes both).

    The token itself is in no file: it has 256 random bits, so its plain hash gives nothing away.
    """

    name: str
    role: Literal["viewer", "reviewer", "admin"] = "viewer"
    token_sha256: str = ""
    email: str = ""


class OidcSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[serve.oidc]`: an identity provider that people log in with.

    `url` is how browsers reach this server. The client's secret is in the environment, under the name
    `client_secret_env`. `emails` has addresses (or `@domain`) by their role, `roles` the values of the claim
    `role_claim`; whom neither names, and no email of `[[serve.people]]`, has no access.
    """

    issuer: str
    client_id: str
    url: str
    client_secret_env: str = "TOOLVET_OIDC_SECRET"  # noqa: S105 - the name of a variable
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    role_claim: str = "groups"
    roles: dict[Literal["viewer", "reviewer", "admin"], tuple[str, ...]] = {}
    emails: dict[Literal["viewer", "reviewer", "admin"], tuple[str, ...]] = {}


class ServeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[serve]`: the options of `toolvet serve` under the names of its flags, and who may log in. None: not set."""

    host: str | None = None
    port: int | None = None
    allow_host: tuple[str, ...] = ()
    https: bool | None = None
    requests_per_minute: int | None = None
    people: tuple[PersonSettings, ...] = ()
    oidc: OidcSettings | None = None
    alerts: tuple[AlertRule, ...] = ()


class StoreSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[store]`: where verdicts are kept (`url`, a path or a URL), and how long (`30d`) or how much of it (`2GiB`).

    With `sync` they outlive a power failure.
    """

    url: str | None = None
    older_than: str | None = None
    max_size: str | None = None
    sync: bool = False


class QueueSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[review.queue]]`: one rule by which the review queue fills, under the names of `toolvet.server.review.QueueRule`."""

    name: str
    kind: Literal["call", "arguments", "result", "envelope", "answer"] | None = None
    server: str | None = None
    tool: str | None = None
    model: str | None = None
    signal: str | None = None
    failed: bool | None = None
    escalated: bool | None = None
    min_score: float | None = None
    max_score: float | None = None
    disagreement: bool = False
    share: float = 1.0
    priority: int = 0
    reviewers: int = 1


class ReviewSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[review]`: what fills the review queue, and for how many minutes a reviewer has an item. None: not set."""

    queue: tuple[QueueSettings, ...] | None = None
    lease_minutes: float | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything a settings file may hold; `load_settings` reads one.

    Example:
        >>> settings = Settings(checks=CheckSettings(answer=AnswerSettings(packs=("finance",))))
        >>> settings.answer_check()("The fund offers guaranteed returns of 12 %.").signals[0].label
        'overclaim'
    """

    assess: AssessSettings = AssessSettings()
    checks: CheckSettings = CheckSettings()
    hook: HookSettings = HookSettings()
    proxy: ProxySettings = ProxySettings()
    review: ReviewSettings = ReviewSettings()
    serve: ServeSettings = ServeSettings()
    store: str | StoreSettings = StoreSettings()
    fixtures: dict[str, tuple[dict[str, Any], ...]] = {}
    values: dict[str, Any] = {}

    def store_settings(self) -> StoreSettings:
        """Return `[store]`; `store = "verdicts.db"` is short for its `url`."""
        return StoreSettings(url=self.store) if isinstance(self.store, str) else self.store

    def answer_options(self) -> "AnswerOptions":
        """Return the options of `[checks.answer]` that are set, as keywords of `check_answer`.

        Raises ConfigError where the file of the learned model cannot be read.
        """
        given = msgspec.structs.asdict(self.checks.answer)
        if self.checks.answer.model is not None:
            # Loaded only when asked for, as below.
            from toolvet.core.checks import read_model  # noqa: PLC0415

            given["model"] = read_model(_read_bytes(Path(self.checks.answer.model)), self.checks.answer.model)
        return cast("AnswerOptions", {name: value for name, value in given.items() if value is not None})

    def answer_check(self) -> "AnswerCheck":
        """Return the check of answers that `[checks.answer]` describes. Raises as `AnswerCheck` does."""
        # Loaded only when asked for: the proxy reads its settings before it starts the server.
        from toolvet.core.turn import AnswerCheck  # noqa: PLC0415

        return AnswerCheck(**self.answer_options())

    def argument_check(self) -> "ArgumentCheck":
        """Return the check of arguments that `[checks.arguments]` describes. Raises ConfigError for a bad wording."""
        # Loaded only when asked for, like the check of answers: it brings the schema engine.
        from toolvet.core.checks import ArgumentCheck  # noqa: PLC0415

        found = self.checks.arguments.wording
        return ArgumentCheck(None if found is None else load_wording(found))

    def result_check(self) -> ResultCheck:
        """Return the check of results that `[checks.result]` describes. Raises as `ResultCheck` does."""
        return ResultCheck(self.checks.result)


def load_wording(path: str | Path) -> "Wording":
    """Return the wording of argument reports in a TOML file.

    `toolvet/core/checks/arguments/wording.toml` has all keys, and explains them.

    Raises:
        ConfigError: the file cannot be read, or `read_wording` refuses what is in it.
    """
    from toolvet.core.checks import read_wording  # noqa: PLC0415 - as above.

    return read_wording(_read_text(Path(path)), str(path))


def load_settings(path: str | Path | None) -> Settings:
    """Return the settings of `path`, or, for None, of the current folder.

    Raises:
        UsageError: there is no such file.
        ConfigError: the file is wrong; the error has the file, the line and the key.
    """
    found = settings_file(None if path is None else str(Path(path)))
    return Settings() if found is None else _read_file(Path(found))


def _read_file(path: Path) -> Settings:
    text = _read_text(path)
    try:
        document: object = decode_toml(text, object)
    except msgspec.DecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        problem = str(error).partition(" (at ")[0]
        raise ConfigError(
            f"not TOML: {problem}", file=str(path), line=int(line[1]) if line else len(text.splitlines())
        ) from error
    prefix: list[str] = []
    if path.name == "pyproject.toml":
        prefix = ["tool", "toolvet"]
        for key in prefix:
            document = members(document).get(key, {})
    try:
        _check_fixtures(members(members(document).get("fixtures")))
        _check_tools(members(members(document).get("proxy")).get("tools"), ToolSettings, "proxy")
        result = members(members(members(document).get("checks")).get("result"))
        _check_tools(result.get("tools"), ToolResultSettings, "checks][result")
        return _resolved(msgspec.convert(document, Settings), path.parent)
    except msgspec.ValidationError as error:
        problem, keys = _split_problem(str(error))
        place = line_of(text, [*prefix, *keys])
        raise ConfigError(problem, file=str(path), line=place, key=".".join(keys) or None) from error


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8: {error.reason} at byte {error.start}", file=str(path)) from error
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=str(path)) from error


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=str(path)) from error


def _resolved(settings: Settings, folder: Path) -> Settings:
    """The settings with paths that hold wherever the program runs."""
    checks = settings.checks
    if checks.arguments.wording is not None:
        arguments = msgspec.structs.replace(checks.arguments, wording=str(folder / checks.arguments.wording))
        checks = msgspec.structs.replace(checks, arguments=arguments)
    if checks.answer.model is not None:
        answer = msgspec.structs.replace(checks.answer, model=str(folder / Path(checks.answer.model).expanduser()))
        checks = msgspec.structs.replace(checks, answer=answer)
    return settings if checks is settings.checks else msgspec.structs.replace(settings, checks=checks)


def _check_fixtures(fixtures: Mapping[str, object]) -> None:
    """Check tool by tool, because msgspec does not say under which key of a mapping it found a wrong value."""
    for tool, given in fixtures.items():
        try:
            msgspec.convert(given, tuple[dict[str, Any], ...])
        except msgspec.ValidationError as error:
            words = f"must be a list of tables: write [[fixtures.{tool}]]"
            raise msgspec.ValidationError(f"{words} - at `$.fixtures.{tool}`") from error


def _check_tools(tools: object, kind: type[msgspec.Struct], section: str) -> None:
    """Check tool by tool, for the same reason."""
    for tool, given in members(tools).items():
        try:
            msgspec.convert(given, kind)
        except msgspec.ValidationError as error:
            problem, _, path = str(error).partition(" - at `$")
            raise msgspec.ValidationError(f"{problem} - at `$[{section}][tools][{tool}]{path or '`'}") from error


def _split_problem(words: str) -> tuple[str, list[str]]:
    """Split "Expected `float`, got `str` - at `$.assess.timeout`" of msgspec into the problem and its keys."""
    problem, _, path = words.partition(" - at ")
    keys = [
        key for key in re.split(r"[.\[\]]+", path.strip("`")) if key and key not in {"$", "..."} and not key.isdigit()
    ]
    unknown = re.search(r"unknown field `([^`]+)`", problem)
    if unknown:
        if keys and keys[0] == "review":
            return "unknown key; docs/review.md has the members of a rule", [*keys, unknown[1]]
        if keys and keys[0] == "hook":
            return "unknown key; docs/hooks.md has the settings of hooks", [*keys, unknown[1]]
        command = keys[0] if keys and keys[0] in {"proxy", "serve"} else "assess"
        return f"unknown key; see `toolvet {command} --help` for the options there are", [*keys, unknown[1]]
    if problem.startswith("Invalid enum value") and (choices := _choices(keys)):
        return f"{problem.removeprefix('Invalid enum value ')} is none of {', '.join(choices)}", keys
    # TOML has no null: that a setting may be absent says nothing to its reader.
    return problem.replace(" | null`", "`").replace("`", "'"), keys


def _choices(keys: list[str]) -> list[str]:
    """Return the words that the setting may have."""
    sections = {
        "proxy": ProxySettings,
        "assess": AssessSettings,
        "serve": ServeSettings,
        "review": QueueSettings,
        "hook": HookSettings,
    }
    section = sections.get(keys[0]) if keys else None
    hint = get_type_hints(section).get(keys[-1]) if section is not None else None
    # Most settings may also be absent (`Literal[…] | None`): then the words are one level deeper.
    return [word for part in (hint, *get_args(hint)) for word in get_args(part) if isinstance(word, str)]


def line_of(text: str, keys: list[str]) -> int | None:
    """Return the line of a key: under its table's header, or the header itself. None when it is not found."""
    if not keys:
        return None
    table: list[str] = []
    best: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?", line)
        if header:
            table = [part.strip().strip("\"'") for part in header[1].split(".")]
            if table == keys[: len(table)]:
                best = number
            if table == keys:
                return number
            continue
        name = re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line)
        if name:
            path = [*table, *(part.strip("\"'") for part in name[1].split("."))]
            if path == keys[: len(path)]:
                return number
    return best
