"""The options of `toolvet assess`, as the command line knows them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from toolvet.core.discover import module_names

WHICH = Group("Which server", sort_key=1)
CALLS = Group("Which calls", sort_key=2)
LIMITS = Group("How long, how many", sort_key=3)
MANY = Group("Many servers", sort_key=4)
OUTPUT = Group("What comes out", sort_key=5)
# Read from the folder, because importing the formats would make `toolvet --help` slow.
FORMATS = ", ".join(module_names("toolvet.assess.report.renderers"))

# What `toolvet replay` has as well.
HeaderFlag = Annotated[list[str] | None, Parameter(group=WHICH, help="An HTTP header, `Name: value`; may be repeated.")]
EnvFlag = Annotated[
    list[str] | None,
    Parameter(
        group=WHICH,
        help="`NAME=VALUE` for the server's environment, or `NAME` to pass yours on; may be repeated.",
    ),
]
FolderFlag = Annotated[
    Path | None, Parameter(group=WHICH, help="The folder in which the server is started. [default: an empty one]")
]
ToolFlag = Annotated[
    list[str] | None, Parameter(group=CALLS, help="Only tools of this name or pattern (`get_*`); may be repeated.")
]
ExcludeFlag = Annotated[
    list[str] | None, Parameter(group=CALLS, help="No tools of this name or pattern; may be repeated.")
]
IncludeFlag = Annotated[
    list[str] | None,
    Parameter(
        group=CALLS,
        help="Also call tools of this name or pattern, even if they may change something; may be repeated.",
    ),
]
DeadlineFlag = Annotated[
    float | None,
    Parameter(group=LIMITS, help="Seconds for the whole run; the report is then marked incomplete. [default: none]"),
]
JsonFlag = Annotated[bool, Parameter(group=OUTPUT, help="Print the JSON report instead of the readable one.")]
QuietFlag = Annotated[
    bool,
    Parameter(
        name=["--quiet", "-q"],
        group=OUTPUT,
        help="No progress and no printed report; only files and the exit code.",
    ),
]


@Parameter(name="*", negative="", show_default=False)
@dataclass(frozen=True, kw_only=True)
class AssessFlags:
    """The options. None means: not given, so that toolvet.toml or the default decides."""

    config: Annotated[
        Path | None,
        Parameter(
            group=WHICH,
            help="An `mcp.json` as desktop clients write it, or the list of an MCP registry: its servers are assessed.",
        ),
    ] = None
    server: Annotated[
        list[str] | None, Parameter(group=WHICH, help="Only this server of `--config`; may be repeated.")
    ] = None
    header: HeaderFlag = None
    env: EnvFlag = None
    cwd: FolderFlag = None
    keep_home: Annotated[
        bool | None, Parameter(group=WHICH, help="Start the server with your home instead of an empty one.")
    ] = None
    sandbox: Annotated[
        bool | None,
        Parameter(
            group=WHICH,
            help="Start the server without network, where it can write only to its own folders and `--cwd` (Linux).",
        ),
    ] = None
    era: Annotated[
        Literal["auto", "legacy", "modern"] | None,
        Parameter(group=WHICH, help="Protocol: `modern` is 2026-07-28, `legacy` all before it. [default: auto]"),
    ] = None

    tool: ToolFlag = None
    exclude: ExcludeFlag = None
    include: IncludeFlag = None
    include_destructive: Annotated[
        bool | None,
        Parameter(group=CALLS, help="Call every tool, including those that change, send or delete something."),
    ] = None
    arguments: Annotated[
        str | None,
        Parameter(group=CALLS, help="Call the tool of `--tool` once with these arguments (JSON), and nothing else."),
    ] = None
    plan_only: Annotated[
        bool, Parameter(group=CALLS, help="Check the definitions and show what would be called; call nothing.")
    ] = False
    tools_only: Annotated[
        bool | None,
        Parameter(group=CALLS, help="Test tools only; skip resources, prompts and completions."),
    ] = None
    no_transport_checks: Annotated[
        bool | None, Parameter(group=CALLS, help="Do not send malformed HTTP requests to a server at a URL.")
    ] = None
    seed: Annotated[
        int | None, Parameter(group=CALLS, help="Use a different seed to try different generated values. [default: 0]")
    ] = None

    timeout: Annotated[
        float | None, Parameter(group=LIMITS, help="Seconds to wait for the start and for each call. [default: 30]")
    ] = None
    deadline: DeadlineFlag = None
    max_message_bytes: Annotated[
        int | None,
        Parameter(group=LIMITS, help="Drop and report longer messages of the server. [default: 67108864]"),
    ] = None
    disk: Annotated[
        int | None,
        Parameter(
            name="--max-disk-mib",
            group=LIMITS,
            help="How much a server may write to its own folders before it is stopped. [default: 1024]",
        ),
    ] = None
    concurrency: Annotated[
        int | None, Parameter(group=LIMITS, help="How many tools to call at the same time. [default: 1]")
    ] = None

    workers: Annotated[
        int | None,
        Parameter(
            group=MANY,
            help="Assess this many servers of `--config` in parallel, each in its own process, sandboxed and limited. "
            "[default: one after the other]",
        ),
    ] = None
    engine: Annotated[
        Literal["local", "dask", "daft"] | None,
        Parameter(
            group=MANY,
            help="Where servers are assessed: on this machine, or on a cluster of Dask distributed or (with Daft) Ray. "
            "[default: local]",
        ),
    ] = None
    address: Annotated[
        str | None,
        Parameter(group=MANY, help="The cluster: `tcp://HOST:8786` for Dask, `ray://HOST:10001` for Daft."),
    ] = None
    into: Annotated[
        Path | None,
        Parameter(
            group=MANY,
            help="A folder for an overview (`index.html`), and a page and a report of each server. An interrupted run "
            "resumes there.",
        ),
    ] = None
    memory: Annotated[
        int | None,
        Parameter(
            name="--max-memory-mib",
            group=MANY,
            help="How much memory a server and the process that assesses it may use together. [default: 2048]",
        ),
    ] = None
    output: Annotated[
        int | None,
        Parameter(
            name="--max-output-mib",
            group=MANY,
            help="How much a server may send to toolvet, and write to any one file. [default: 1024]",
        ),
    ] = None
    no_sandbox: Annotated[
        bool,
        Parameter(group=MANY, help="No sandbox: for servers that need the network, such as packages to download."),
    ] = False

    report: Annotated[
        list[str] | None,
        Parameter(
            group=OUTPUT,
            help=f"`FORMAT=FILE` (`-` is stdout): {FORMATS}; may be repeated.",
        ),
    ] = None
    json: JsonFlag = False
    baseline: Annotated[
        Path | None,
        Parameter(
            group=OUTPUT,
            help="An earlier JSON report: hide its findings, and report entries that no longer match.",
        ),
    ] = None
    lock: Annotated[
        Path | None,
        Parameter(
            group=OUTPUT,
            help="A lock file of `toolvet lock`: changes that break callers, or contracts, are findings.",
        ),
    ] = None
    provider: Annotated[
        list[str] | None,
        Parameter(
            group=OUTPUT,
            help="A model provider, such as `openai` or `anthropic-strict`: what it refuses, ignores or changes of the "
            "definitions is a finding; may be repeated.",
        ),
    ] = None
    profile: Annotated[
        list[str] | None,
        Parameter(
            group=OUTPUT,
            help="A directory of servers (`openai`, `claude`, `registry`): rules that the server breaks are findings, "
            "and the report justifies each hint by what the calls changed; may be repeated.",
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        Parameter(
            group=OUTPUT,
            help="Hide the findings of `CHECK`, or of `CHECK:TOOL`; they are counted; may be repeated.",
        ),
    ] = None
    severity: Annotated[
        list[str] | None,
        Parameter(group=OUTPUT, help="`CHECK=error|warning|info`: change the severity of a check; may be repeated."),
    ] = None
    fail_on: Annotated[
        Literal["error", "warning", "info", "never"] | None,
        Parameter(group=OUTPUT, help="Exit with 1 for findings of this severity or above. [default: error]"),
    ] = None
    fail_under: Annotated[float | None, Parameter(group=OUTPUT, help="Exit with 1 for a score below this.")] = None
    max_tools_tokens: Annotated[
        int | None,
        Parameter(group=OUTPUT, help="Exit with 1 if tools/list costs a model more tokens than this, counted roughly."),
    ] = None
    all: Annotated[
        bool,
        Parameter(group=OUTPUT, help="Print every finding in full, not only the ten worst."),
    ] = False
    store: Annotated[
        str | None,
        Parameter(group=OUTPUT, help="Add the report to this SQLite file or PostgreSQL database (a URL)."),
    ] = None
    settings: Annotated[
        Path | None,
        Parameter(
            group=OUTPUT,
            help="Options and fixtures as TOML. [default: toolvet.toml, or tool.toolvet in pyproject.toml]",
        ),
    ] = None
    quiet: QuietFlag = False
    verbose: Annotated[
        bool, Parameter(name=["--verbose", "-v"], group=OUTPUT, help="Print each call to stderr as it is made.")
    ] = False
