"""The options of `toolvet proxy`, as the command line knows them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

SERVER = Group("Which server", sort_key=1)
POLICY = Group("Policies (toolvet.toml sets them tool by tool)", sort_key=2)
HTTP = Group("Over HTTP", sort_key=3)
RECORD = Group("What is kept", sort_key=4)


@Parameter(name="*", negative="", show_default=False)
@dataclass(frozen=True, kw_only=True)
class ProxyFlags:
    """The options. None means: not given, so that toolvet.toml or the default decides."""

    name: Annotated[
        str | None, Parameter(group=SERVER, help="The server's name in the record. [default: its command]")
    ] = None
    env: Annotated[
        list[str] | None,
        Parameter(group=SERVER, help="`NAME=VALUE` for the server, added to your environment; may be repeated."),
    ] = None
    cwd: Annotated[Path | None, Parameter(group=SERVER, help="The folder in which the server is started.")] = None
    header: Annotated[
        list[str] | None,
        Parameter(
            group=SERVER,
            help="A header for the server at a URL, `Name: value`, where `${NAME}` is an environment variable;"
            " may be repeated.",
        ),
    ] = None
    header_env: Annotated[
        list[str] | None,
        Parameter(
            group=SERVER,
            help="`NAME=VARIABLE`: a header whose whole value is that environment variable; may be repeated.",
        ),
    ] = None

    settings: Annotated[
        Path | None,
        Parameter(group=POLICY, help="Policies as TOML. [default: toolvet.toml, or tool.toolvet in pyproject.toml]"),
    ] = None
    arguments: Annotated[
        Literal["off", "audit", "enforce"] | None,
        Parameter(group=POLICY, help="Check arguments against the tool's schema. [default: enforce]"),
    ] = None
    repair: Annotated[
        Literal["off", "suggest", "apply"] | None,
        Parameter(group=POLICY, help="Suggest the nearest valid call, or make it. [default: suggest]"),
    ] = None
    results: Annotated[
        Literal["off", "annotate", "enforce"] | None,
        Parameter(group=POLICY, help="Judge results, or also flag errors without a flag. [default: annotate]"),
    ] = None
    output_schema: Annotated[
        Literal["off", "warn", "enforce"] | None,
        Parameter(group=POLICY, help="Check structured content against its schema. [default: warn]"),
    ] = None
    fit: Annotated[
        str | None,
        Parameter(
            group=POLICY,
            help="Shorten longer results, and keep the whole for a tool that returns the rest: `10000` (tokens), or"
            " `40000 characters`. [default: 0, never]",
        ),
    ] = None
    lock: Annotated[
        Path | None,
        Parameter(
            group=POLICY,
            help="A lock file of `toolvet lock`: a tool that differs from it is reported, or held back with"
            ' `lock = "hold"` in toolvet.toml. With contracts: the same for results.',
        ),
    ] = None
    interceptor: Annotated[
        list[str] | None,
        Parameter(
            group=POLICY,
            help="An interceptor server (SEP-2624) to ask about requests and results: a command in one word, or a URL;"
            " may be repeated.",
        ),
    ] = None
    max_message_bytes: Annotated[
        int | None,
        Parameter(
            group=POLICY,
            help="A longer message is not kept in memory: it passes unread, or is held back if a policy has to see it. "
            "[default: 67108864]",
        ),
    ] = None
    explain: Annotated[
        bool, Parameter(group=POLICY, help="Ask the server for its tools, print the policy of each, and end.")
    ] = False
    json: Annotated[bool, Parameter(group=POLICY, help="With `--explain`: as JSON.")] = False

    listen: Annotated[
        str | None,
        Parameter(group=HTTP, help="`HOST:PORT` to serve Streamable HTTP on, instead of stdin and stdout."),
    ] = None
    token: Annotated[
        str | None,
        Parameter(
            group=HTTP,
            env_var="TOOLVET_PROXY_TOKEN",
            help="The bearer token that clients must send. Needed for hosts other than the loopback; better given as"
            " TOOLVET_PROXY_TOKEN, because command lines can be read by others.",
        ),
    ] = None

    host: Annotated[
        list[str] | None,
        Parameter(group=HTTP, help="Another host name for clients, as behind a reverse proxy; may be repeated."),
    ] = None
    origin: Annotated[
        list[str] | None,
        Parameter(group=HTTP, help="An origin whose web pages may call it, `https://app.example`; may be repeated."),
    ] = None

    store: Annotated[
        str | None,
        Parameter(
            group=RECORD,
            help="Keep verdicts, durations and findings in this SQLite file, or in PostgreSQL (a URL). A name that"
            " ends in .jsonl gets lines of JSON.",
        ),
    ] = None
    record: Annotated[
        Literal["verdicts", "calls", "required", "required_calls"] | None,
        Parameter(
            group=RECORD,
            help="The parts of a call that the store keeps: its verdict, or also arguments and result (`calls`). With"
            " `required…` a call waits while the store has no room. [default: verdicts]",
        ),
    ] = None
    metrics: Annotated[
        str | None,
        Parameter(
            group=RECORD,
            help="`HOST:PORT` to answer /metrics (Prometheus) and /healthz on. `--listen` serves both already.",
        ),
    ] = None
    otel: Annotated[
        bool,
        Parameter(
            group=RECORD,
            help="Send spans and evaluation events by OpenTelemetry (toolvet[otel]; set up by the OTEL_… variables).",
        ),
    ] = False
