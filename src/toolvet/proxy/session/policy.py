"""The policy of each tool, read from the `[proxy]` part of a settings file.

[proxy]                            # for every tool
repair = "apply"

[proxy.tools."debug_*"]            # for some tools, by a shell pattern; an exact name wins over patterns
arguments = "off"
"""

import re
from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, TypeAlias

import msgspec

from toolvet.core.decodable import decodable
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES

if TYPE_CHECKING:
    from toolvet.core.checks import ArgumentCheck, ResultCheck
    from toolvet.core.contract import Lock
    from toolvet.core.envelope import ContentArchive

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0)]
# Less would not hold the envelopes of small messages.
MessageBytes: TypeAlias = Annotated[int, msgspec.Meta(ge=4096)]


_FIT: Final = r"^[0-9]{1,12}( tokens| characters)?$"
Fit: TypeAlias = Count | Annotated[str, msgspec.Meta(pattern=_FIT)]
"""How long a result may be: a number of tokens, or text such as `40000 characters`. 0 means no limit."""

RecordWord: TypeAlias = Literal["verdicts", "calls", "required", "required_calls"]
"""The part of a call that is recorded: its verdict, or its arguments and result as well.

With `required…` a call waits while the record has no room; otherwise its record is dropped, and counted.
"""


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to do with the calls of one tool. The defaults hold for tools without settings.

    `arguments` are checked against the inputSchema: `enforce` answers a bad call with what is wrong, `audit` only
    records it. `repair` offers the nearest valid call in that answer, or sends it (`apply`) where its confidence is at
    least `repair_from`. `results` are judged and recorded (`annotate`); `enforce` also flags an error that the server
    did not flag, and replaces an unusable result. `output_schema` records a violation (`warn`) or keeps the structured
    content from the client (`enforce`). `verdict` says when `_meta["dev.toolvet/verdict"]` is written: when the call's
    own `_meta` has that key, or always. `server_validation` asks the server's own validator before each call.

    After `break_after` identical failing calls in a row the next one is not sent, and after `break_repeats` calls in a
    row that worked and brought nothing new, which means at least three; 0 means never. Sizes are in bytes,
    depths in nested containers: larger arguments are refused as bad ones are, results larger than `max_result_bytes`
    are held back where results are enforced, and results larger than `max_judged_bytes` pass unjudged. Results longer
    than `fit` are shortened, and kept for a tool that returns the rest. `lock` says what becomes of a tool that is not
    what the lock file says, and of a result that leaves its contract there: they are reported, or also kept from the
    client (`hold`). `steering` says the same of a tool
    whose texts steer the model, and of results that do. `record` says
    what the record contains of a call (`calls`: its arguments and its result as well), and whether calls wait for it
    (`required`, `required_calls`); `redact` names fields that it hides, beside all that look
    like secrets.
    """

    arguments: Literal["off", "audit", "enforce"] = "enforce"
    repair: Literal["off", "suggest", "apply"] = "suggest"
    repair_from: Literal["high", "medium", "low"] = "high"
    results: Literal["off", "annotate", "enforce"] = "annotate"
    output_schema: Literal["off", "warn", "enforce"] = "warn"
    verdict: Literal["on_request", "always"] = "on_request"
    server_validation: Literal["off", "before_call"] = "off"
    break_after: Count = 5
    break_repeats: Count = 5
    max_arguments_bytes: Count = 16 * 2**20
    max_result_bytes: Count = 64 * 2**20
    max_judged_bytes: Count = 2**20
    max_depth: Count = 128
    fit: Fit = 0
    lock: Literal["off", "alarm", "hold"] = "alarm"
    steering: Literal["off", "alarm", "hold"] = "alarm"
    record: RecordWord = "verdicts"
    redact: tuple[str, ...] = ()


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The part of a policy that a settings file sets. None means not set; the fields are those of `Policy`."""

    arguments: Literal["off", "audit", "enforce"] | None = None
    repair: Literal["off", "suggest", "apply"] | None = None
    repair_from: Literal["high", "medium", "low"] | None = None
    results: Literal["off", "annotate", "enforce"] | None = None
    output_schema: Literal["off", "warn", "enforce"] | None = None
    verdict: Literal["on_request", "always"] | None = None
    server_validation: Literal["off", "before_call"] | None = None
    break_after: Count | None = None
    break_repeats: Count | None = None
    max_arguments_bytes: Count | None = None
    max_result_bytes: Count | None = None
    max_judged_bytes: Count | None = None
    max_depth: Count | None = None
    fit: Fit | None = None
    lock: Literal["off", "alarm", "hold"] | None = None
    steering: Literal["off", "alarm", "hold"] | None = None
    record: RecordWord | None = None
    redact: tuple[str, ...] | None = None


class InterceptorSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[proxy.interceptors]]`: an interceptor server (SEP-2624), a `command` to start or a `url`.

    `headers` are sent to the URL, `env` is added to the command's environment. `names` chooses interceptors; without it
    the proxy uses all that the server lists. `timeout` is in seconds, for each invocation. `mode`, `fail_open` and
    `priority` replace the values of the server's list; None keeps them.
    """

    command: tuple[str, ...] = ()
    url: str = ""
    headers: dict[str, str] = {}
    env: dict[str, str] = {}
    names: tuple[str, ...] = ()
    mode: Literal["active", "audit"] | None = None
    fail_open: bool | None = None
    priority: int | None = None
    timeout: Seconds = 5.0

    def __post_init__(self) -> None:
        """Raise ValueError unless there is exactly one of the two."""
        if bool(self.command) == bool(self.url):
            raise ValueError("give a `command` or a `url`")


Announce: TypeAlias = Literal["off", "capability", "tool"]


class ProxySettings(ToolSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[proxy]` part of a settings file: for all tools, for some (`tools`), and for the connection.

    `announce` is for servers without a `toolValidation` of their own: `capability` announces it and answers calls of
    `validate_method`, `tool` also lists that as a tool, which models then read. `lock_file` is what `toolvet lock`
    wrote of the server. `patience` is how many seconds a
    question of the proxy may take before the calls that wait for it go on unchecked. A message longer than
    `max_message_bytes` is not kept in memory: it passes as it comes, or is held back where a policy has to see it.
    `interceptors` are asked before a request goes to the server, and before its result goes to the client.
    """

    SEE: ClassVar = "`toolvet proxy --help` for the options there are"

    announce: Announce = "capability"
    validate_method: str = "validate"
    lock_file: str | None = None
    patience: Seconds = 10.0
    max_message_bytes: MessageBytes = DEFAULT_MESSAGE_BYTES
    tools: dict[str, ToolSettings] = {}
    interceptors: tuple[InterceptorSettings, ...] = ()


def is_fit(text: str) -> bool:
    """Whether this is a value of the policy `fit`, as a flag has it."""
    return re.match(_FIT, text) is not None


class PolicyLine(msgspec.Struct, frozen=True):
    """One line of an explained policy: `source` is `default`, `[proxy]`, or the pattern that decided."""

    name: str
    value: object
    source: str


class Policies:
    """The policy of every tool, and the check that judges results.

    Args:
        settings: The `[proxy]` part of a settings file; None, the default, is an empty one.
        check: Judges the results of all tools; `Settings.result_check` makes one. None, the default, is `check_result`.
        check_arguments: Judges the arguments of all tools; `Settings.argument_check` makes one. None, the default, is
            `toolvet.check_arguments`.
        lock: The server's promises; None, the default, compares nothing.
        others: Names of tools of other servers: a definition that orders the model to call one steers it.

    >>> policies = Policies(ProxySettings(repair="apply", tools={"debug_*": ToolSettings(arguments="off")}))
    >>> policies.of("debug_dump").arguments, policies.of("search").arguments
    ('off', 'enforce')
    """

    def __init__(
        self,
        settings: ProxySettings | None = None,
        *,
        check: "ResultCheck | None" = None,
        check_arguments: "ArgumentCheck | None" = None,
        lock: "Lock | None" = None,
        others: Collection[str] = (),
    ) -> None:
        self.settings = settings if settings is not None else ProxySettings()
        self._check = check
        self._archive: ContentArchive | None = None
        self.check_arguments = check_arguments
        self.lock = lock
        self.others = frozenset(others)
        self._known: dict[str, Policy] = {}
        parts: tuple[ToolSettings, ...] = (self.settings, *self.settings.tools.values())
        self.fits = any(str(part.fit or 0).split(" ")[0].strip("0") for part in parts)
        """Whether the results of any tool are shortened: then a tool of ours returns the rest."""

    @property
    def archive(self) -> "ContentArchive":
        """What keeps the whole of shortened results, for all sessions."""
        if self._archive is None:
            from toolvet.core.envelope import ContentArchive  # noqa: PLC0415 - most shorten nothing
            from toolvet.proxy.session.catalogue import KEPT_BYTES  # noqa: PLC0415 - as above

            self._archive = ContentArchive(max_bytes=KEPT_BYTES)
        return self._archive

    @property
    def check(self) -> "ResultCheck":
        """What judges the results of all tools."""
        if self._check is None:
            from toolvet.core.checks import ResultCheck  # noqa: PLC0415 - who asks about arguments alone needs none

            self._check = ResultCheck()
        return self._check

    @property
    def intercepts(self) -> bool:
        """Whether there are interceptors, which messages that cannot be read must not get around."""
        return bool(self.settings.interceptors)

    @property
    def enforces_arguments(self) -> bool:
        """Whether the arguments of any tool are enforced: a request that cannot be read may be a call of that tool."""
        parts: tuple[ToolSettings, ...] = (self.settings, *self.settings.tools.values())
        return self.intercepts or self.settings.arguments is None or any(part.arguments == "enforce" for part in parts)

    @property
    def requires_record(self) -> bool:
        """Whether the record of any tool is required: then all calls of the connection wait for it."""
        parts: tuple[ToolSettings, ...] = (self.settings, *self.settings.tools.values())
        return any(part.record in ("required", "required_calls") for part in parts)

    def contract_of(self, tool: str) -> object:
        """Return the schema that the lock has for the results of this tool; None if nothing is to be compared."""
        if self.lock is None or not self.lock.contracts or self.of(tool).lock == "off":
            return None
        return self.lock.contract_of(tool)

    def of(self, tool: str) -> Policy:
        """Return the policy of this tool; mostly the same object each time."""
        policy = self._known.get(tool)
        if policy is None:
            values = {line.name: line.value for line in self.explained(tool)}
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            policy = self._known[tool] = msgspec.convert(values, decodable(Policy))
        return policy

    def explained(self, tool: str) -> tuple[PolicyLine, ...]:
        """Return the value of each field for this tool, with the settings that it comes from."""
        lines = {field: PolicyLine(field, getattr(_DEFAULT, field), "default") for field in _FIELDS}
        tools = self.settings.tools
        # Patterns in the order of the file, then the tool's own name.
        matching = [name for name in tools if name != tool and fnmatchcase(tool, name)]
        sections = (*matching, *((tool,) if tool in tools else ()))
        named = [(f'[proxy.tools."{name}"]', tools[name]) for name in sections]
        for source, settings in (("[proxy]", self.settings), *named):
            for field in _FIELDS:
                value = getattr(settings, field)
                if value is not None:
                    lines[field] = PolicyLine(field, value, source)
        return tuple(lines.values())


_DEFAULT: Final = Policy()
_FIELDS: Final = Policy.__struct_fields__
# Clients can invent names: what is kept for them must not grow without end.
_MOST_KNOWN: Final = 4096
