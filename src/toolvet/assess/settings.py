"""`[assess]`, `[fixtures]` and `[values]` of a settings file."""

from typing import Any, ClassVar, Final, Literal

import msgspec


class AssessSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `toolvet assess` under the names of its flags. None: not set."""

    SEE: ClassVar = "`toolvet assess --help` for the options there are"

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
    max_tools_tokens: int | None = None


class FixtureSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[[fixtures.TOOL]]`: known good arguments of a tool; there may be several."""

    WHOLE: ClassVar = "tools"

    tools: dict[str, tuple[dict[str, Any], ...]] = {}


class ValueSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[values]`: values for parameters, by the names of the parameters."""

    WHOLE: ClassVar = "parameters"

    parameters: dict[str, Any] = {}


SECTIONS: Final = {"assess": AssessSettings, "fixtures": FixtureSettings, "values": ValueSettings}
