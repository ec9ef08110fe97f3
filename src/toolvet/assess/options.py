"""The options of an assessment: what it may call, with which arguments, and how long."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from toolvet.core.checks import ResultCheck
from toolvet.core.contract import Lock
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES

Arguments = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to assess one server.

    `timeout` is in seconds per call, `deadline` in seconds for the whole run (None: none). Of a message of
    the server at most `max_message_bytes` are kept; a longer one is dropped. `tools` and `exclude`
    are shell patterns of tool names (`get_*`); no `tools` means all. `include` are patterns of tools that are
    called although nothing shows that they only read, and `destructive="call"` includes every tool. `concurrency`
    is the number of tools called at once, `seed` chooses among equally good arguments (0: the first ones). `era` is
    the revision of MCP to speak; "auto" detects it. `fixtures` holds known good arguments per tool, and `values`
    known good values per parameter, for all tools. `arguments` replaces all scenarios by one call with exactly
    these arguments. `plan_only` judges definitions and plans the calls, and makes none of them. `ignore` names checks
    (`CHECK` or `CHECK:TOOL`) whose findings are counted and not reported, and `severity` gives the findings of a check
    another one. `tools_only` leaves resources, prompts and completion alone. `keep_home` starts a server over stdio
    with the real home instead of an empty one, and `sandbox` starts it where all but its own folders is read-only
    and there is no network. `disk_mib` is how much a server over stdio may write into its own folders (None: without
    an end); beyond it the run ends, with a finding. `lock` is what the server promised before, and
    `providers` are the model providers that should take the definitions of the tools, `profiles` the directories that
    should accept the server, and `manifests` the files that these read beside it, by name (`server.json`). `check`
    judges the results of all tools. `transport_checks` sends a server over Streamable HTTP odd requests as well
    (`assess/http_probes.toml`).

        Options(timeout=5, tools=["get_*"], values={"repo_path": "/tmp/repo"})
    """

    timeout: float = 30.0
    max_message_bytes: int = DEFAULT_MESSAGE_BYTES
    deadline: float | None = None
    disk_mib: int | None = 1024
    concurrency: int = 1
    seed: int = 0
    tools: Sequence[str] = ()
    exclude: Sequence[str] = ()
    include: Sequence[str] = ()
    destructive: Literal["skip", "call"] = "skip"
    era: Literal["auto", "legacy", "modern"] = "auto"
    fixtures: Mapping[str, Sequence[Arguments]] = field(default_factory=dict[str, Sequence[Arguments]])
    values: Arguments = field(default_factory=dict[str, object])
    arguments: Arguments | None = None
    plan_only: bool = False
    ignore: Sequence[str] = ()
    severity: Mapping[str, Literal["error", "warning", "info"]] = field(
        default_factory=dict[str, Literal["error", "warning", "info"]]
    )
    tools_only: bool = False
    keep_home: bool = False
    sandbox: bool = False
    transport_checks: bool = True
    lock: Lock | None = None
    providers: Sequence[str] = ()
    profiles: Sequence[str] = ()
    manifests: Mapping[str, object] = field(default_factory=dict[str, object])
    check: ResultCheck = field(default_factory=ResultCheck)

    def why_left_out(self, tool: str) -> str | None:
        """Why the caller's own choice leaves this tool out; None when it does not."""
        if self.tools and not any(fnmatchcase(tool, pattern) for pattern in self.tools):
            return "left out by --tool"
        for pattern in self.exclude:
            if fnmatchcase(tool, pattern):
                return f"left out by --exclude {pattern}"
        return None

    def is_included(self, tool: str) -> bool:
        """Whether the user asked for this tool to be called, whatever it may change."""
        return self.destructive == "call" or any(fnmatchcase(tool, pattern) for pattern in self.include)
