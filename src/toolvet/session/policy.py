"""What is done with which call: the `[proxy]` part of a settings file → the policy of each tool.

[proxy]                            # holds for every tool
repair = "apply"

[proxy.tools."debug_*"]            # and this for some, by a shell pattern; an exact name goes before patterns
arguments = "off"
"""

from fnmatch import fnmatchcase
from typing import Annotated, Literal, TypeAlias

import msgspec

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0)]


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is done with the calls of one tool. The defaults are those of every tool that nothing is said about.

    `arguments` are checked against the inputSchema: `enforce` answers a bad call with what is wrong, `audit` only
    records it. `repair` offers the nearest valid call in that answer, or makes it (`apply`) where it is at least as
    sure as `repair_from`. `results` are judged and recorded (`annotate`); `enforce` also flags an error that the
    server did not flag, and answers for a result that is none. `output_schema` records a breach (`warn`) or keeps the
    structured content from the client (`enforce`). `verdict` says when `_meta["toolvet/verdict"]` is written: when the
    call's own `_meta` has that key, or always. `server_validation` asks the server's own validator before each call.

    `break_after` identical failing calls in a row the next one is not sent; 0 is never. Sizes are in bytes, depths in
    nested containers: larger arguments are refused as bad ones are, larger results than `max_result_bytes` where
    results are enforced, and results larger than `max_judged_bytes` pass unjudged. `record` says what the record may
    hold of a call besides the verdict; `redact` names fields that it must not, beside all that look like secrets.
    """

    arguments: Literal["off", "audit", "enforce"] = "enforce"
    repair: Literal["off", "suggest", "apply"] = "suggest"
    repair_from: Literal["high", "medium", "low"] = "high"
    results: Literal["off", "annotate", "enforce"] = "annotate"
    output_schema: Literal["off", "warn", "enforce"] = "warn"
    verdict: Literal["on_request", "always"] = "on_request"
    server_validation: Literal["off", "before_call"] = "off"
    break_after: Count = 5
    max_arguments_bytes: Count = 16 * 2**20
    max_result_bytes: Count = 64 * 2**20
    max_judged_bytes: Count = 2**20
    max_depth: Count = 128
    record: Literal["verdicts", "calls"] = "verdicts"
    redact: tuple[str, ...] = ()


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a policy, as a settings file says it. None: not set."""

    arguments: Literal["off", "audit", "enforce"] | None = None
    repair: Literal["off", "suggest", "apply"] | None = None
    repair_from: Literal["high", "medium", "low"] | None = None
    results: Literal["off", "annotate", "enforce"] | None = None
    output_schema: Literal["off", "warn", "enforce"] | None = None
    verdict: Literal["on_request", "always"] | None = None
    server_validation: Literal["off", "before_call"] | None = None
    break_after: Count | None = None
    max_arguments_bytes: Count | None = None
    max_result_bytes: Count | None = None
    max_judged_bytes: Count | None = None
    max_depth: Count | None = None
    record: Literal["verdicts", "calls"] | None = None
    redact: tuple[str, ...] | None = None


Announce = Literal["off", "capability", "tool"]


class ProxySettings(ToolSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[proxy]` part: what holds for all tools, what for some, and what for the connection.

    `announce` is for servers without a `toolValidation` of their own: `capability` announces it and answers calls of
    `validate_method`, `tool` also lists that as a tool, which models then read. `patience` is how many seconds a
    question of our own may take before the calls that wait for it go on unchecked.
    """

    announce: Announce = "capability"
    validate_method: str = "validate"
    patience: Seconds = 10.0
    tools: dict[str, ToolSettings] = {}


class PolicyLine(msgspec.Struct, frozen=True):
    """One line of an explained policy: `source` is `default`, `[proxy]`, or the pattern that decided."""

    name: str
    value: object
    source: str


class Policies:
    """The policy of every tool."""

    def __init__(self, settings: ProxySettings | None = None) -> None:
        self.settings = settings if settings is not None else ProxySettings()
        self._known: dict[str, Policy] = {}

    def of(self, tool: str) -> Policy:
        """The policy of this tool; the same object each time, as long as few enough are asked for."""
        found = self._known.get(tool)
        if found is None:
            chosen = {choice.name: choice.value for choice in self.explained(tool)}
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[tool] = msgspec.convert(chosen, Policy)
        return found

    def explained(self, tool: str) -> tuple[PolicyLine, ...]:
        """What is in force for this tool, and why."""
        found = {field: PolicyLine(field, getattr(_DEFAULT, field), "default") for field in _FIELDS}
        for source, settings in (("[proxy]", self.settings), *self._sections(tool)):
            for field in _FIELDS:
                value = getattr(settings, field)
                if value is not None:
                    found[field] = PolicyLine(field, value, source)
        return tuple(found.values())

    def _sections(self, tool: str) -> list[tuple[str, ToolSettings]]:
        """Those that speak of this tool: patterns in the order of the file, then its own name."""
        said = self.settings.tools
        matching = [name for name in said if name != tool and fnmatchcase(tool, name)]
        return [(f'[proxy.tools."{name}"]', said[name]) for name in (*matching, *((tool,) if tool in said else ()))]


_DEFAULT = Policy()
_FIELDS = Policy.__struct_fields__
# Clients make up names: what is kept for them must not grow without end.
_MOST_KNOWN = 4096
