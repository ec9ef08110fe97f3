"""The report as a document: the format `toolvet-report/1`, field by field, its JSON Schema, and reading one back.

Within version 1 fields are only added, never renamed or removed. Our own fields are snake_case. `arguments` and
`result` hold what MCP defines, as it was sent. The published JSON Schema is made from these types.
"""

import inspect
from collections.abc import Container, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from toolvet.core.decodable import decodable
from toolvet.core.directories import HintEvidence
from toolvet.errors import ConfigError
from toolvet.findings import Finding, ItemKind

SCHEMA_ID: Final = "toolvet-report/1"
COLLECTION_ID: Final = "toolvet-reports/1"
Status = Literal["fully_working", "partially_working", "connectivity_only", "broken", "not_exercised", "untested"]
Category = Literal["progressive", "happy_path", "edge_case", "boundary", "error_case"]
Json = Any  # Any JSON value: msgspec knows `Any`, not `object`.
Outcome = Literal["result", "protocol_error", "timeout", "server_died", "invalid_message", "not_run"]
# Described, not bounded: a report is read back from disk, and a score that breaks a bound must not hide the rest of it.
Percent = Annotated[float, Meta(description="0 to 100.")]
Milliseconds = Annotated[float, Meta(description="Wall time in milliseconds.")]
SCHEMA_FILE: Final = "toolvet-report-1.schema.json"


class ReportedToolValidation(msgspec.Struct, frozen=True, kw_only=True):
    """The capability `toolValidation` as announced: the tool that validates, and how often it was asked."""

    method: str
    asked: Annotated[
        int, Meta(description="Calls of the assessment that it was asked about before they were made.")
    ] = 0
    answered: Annotated[int, Meta(description="How many of these it gave a verdict on.")] = 0


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """The server as it introduced itself, and how it was reached. `command` is safe to show: secrets are masked.

    `tool_validation` is null when the server does not announce `toolValidation`.
    """

    name: str
    version: str = ""
    protocol_version: Annotated[str, Meta(description="The MCP revision that the session spoke.")] = ""
    transport: Literal["stdio", "http"] = "stdio"
    command: Annotated[str, Meta(description="The command line or the URL, secrets masked.")] = ""
    tool_validation: ReportedToolValidation | None = None


class ReportedProbe(msgspec.Struct, frozen=True, kw_only=True):
    """One probe of a server over HTTP. `sent` says what was odd about it, `wanted` what should come back.

    A finding about it has the JSON Pointer `/transport/` and this `id`.
    """

    id: str
    sent: str
    wanted: str
    outcome: Literal["answered", "refused", "failed"]
    status: Annotated[int | None, Meta(description="The HTTP status; null where no response came.")] = None
    as_wanted: Annotated[
        bool | None, Meta(description="Whether the protocol wants this response; null where none came.")
    ] = None


class ReportedTransport(msgspec.Struct, frozen=True, kw_only=True):
    """The probes that a server over HTTP was sent. `not_probed` says why some or all are missing."""

    probes: list[ReportedProbe] = []
    requests: Annotated[
        int, Meta(description="All requests that were sent, with those that open and end sessions.")
    ] = 0
    not_probed: str | None = None
    duration_ms: Milliseconds = 0.0


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of `check_result` on one result (see `toolvet.ResultVerdict`)."""

    classification: str
    confidence: Percent
    is_valid: bool
    is_error: bool
    error_kind: str | None = None
    state: str | None = None
    retry: str | None = None
    issues: list[str] = []
    evidence: list[str] = []


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One call: what was sent, what came back, and whether that is what should come back.

    `result` is the tool result or, for a protocol error, the JSON-RPC error object; null where nothing came back
    (`outcome` says which). Long payloads are cut and then end with a note. `breaks` names the JSON Schema keyword that
    an error case breaks on purpose. `note` says in a sentence why the scenario passed or failed. `origin` says where
    the arguments came from (fixture, schema, earlier result, generator). `id` is unique in the report, and a finding
    about this call has it in `scenario`.
    """

    id: Annotated[str, Meta(description="The name of the tool, a slash, and the number of its scenario from 1.")] = ""
    name: str
    category: Category
    arguments: Annotated[Json, Meta(description="The `arguments` of the tools/call request.")]
    outcome: Outcome
    passed: Annotated[bool, Meta(description="Whether what came back is what should come back.")]
    result: Annotated[Json, Meta(description="The tool result, or the JSON-RPC error object.")] = None
    verdict: Verdict | None = None
    duration_ms: Milliseconds = 0.0
    breaks: Annotated[str | None, Meta(description="The keyword that an error case breaks on purpose.")] = None
    note: str = ""
    outage: Annotated[
        bool, Meta(description="Whether the surroundings of the server failed; such a scenario counts neither way.")
    ] = False
    framework: Annotated[
        str | None,
        Meta(description="The framework that wrote this refusal: it does not affect the score."),
    ] = None
    origin: str = ""
    reproduce: Annotated[str, Meta(description="A command line that makes this one call again.")] = ""
    same_as: Annotated[
        str | None,
        Meta(description="The id of the scenario whose call this is, too: it was made once, and counts once."),
    ] = None


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool: status and confidence (0-100) over its scenarios, or why it was not called (`skipped`).

    `error_message_score` (0-100) says how much its own error messages help a model to correct the call; null when no
    bad call was answered with an error in the author's own words. `not_exercised` says, for a tool none of whose valid
    calls succeeded, what was tried and what would help; null for any other.
    """

    name: str
    status: Status
    confidence: Percent
    error_message_score: Percent | None = None
    skipped: Annotated[str | None, Meta(description="Why the tool was not called; null when it was.")] = None
    not_exercised: Annotated[
        str | None, Meta(description="What was tried in vain, and what would help; null when a valid call succeeded.")
    ] = None
    valid_calls: Annotated[int, Meta(description="Calls with arguments that the schema allows.")] = 0
    succeeded: Annotated[int, Meta(description="How many of the valid calls succeeded.")] = 0
    description: str = ""
    scenarios: list[Scenario] = []
    tokens: Annotated[
        int, Meta(description="About how many tokens its name, description and inputSchema cost a model; 0: unknown.")
    ] = 0
    description_tokens: Annotated[int, Meta(description="The part of these that its description costs.")] = 0


class ItemRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request about a resource, a resource template, a prompt or completion: what was sent, and what came back.

    `passed` says whether what came back is what should come back; null where nothing follows from it, as from the
    refusal of a value that the assessment made up. `note` says why in a sentence. Long payloads are cut and then end
    with a note. `origin` says where the values came from. `id` is unique in the report, and a finding about this
    request has it in `scenario`.
    """

    id: str
    name: str
    method: str
    params: Annotated[Json, Meta(description="The `params` of the request, without `_meta`.")]
    outcome: Outcome
    passed: bool | None
    result: Annotated[Json, Meta(description="The result, or the JSON-RPC error object.")] = None
    duration_ms: Milliseconds = 0.0
    note: str = ""
    origin: str = ""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One resource, resource template, prompt or skill of the server's lists.

    `identity` is its URI, its URI template or its name. `exercised` says whether it was read or fetched with success at
    least once; `why_not` says why not, also if it was not requested at all.
    """

    kind: ItemKind
    identity: str
    exercised: bool
    why_not: str | None = None
    name: Annotated[str, Meta(description="The name or title for people.")] = ""
    description: str = ""
    mime_type: Annotated[str, Meta(description="The MIME type that the list declares.")] = ""
    requests: list[ItemRequest] = []


class Items(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the server lists besides tools. None of it counts in the score; its findings count as all findings do.

    `others` are requests about things that do not exist, which the server should refuse. `left_out` says why nothing
    was listed or asked (`--tools-only`, `--tool`); null if it was. `announced` names the capabilities that the
    server announced of `resources`, `prompts`, `completions` and `skills`.
    """

    announced: list[str] = []
    left_out: str | None = None
    resources: list[Item] = []
    resource_templates: list[Item] = []
    prompts: list[Item] = []
    skills: list[Item] = []
    others: list[ItemRequest] = []


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Findings by severity."""

    error: int = 0
    warning: int = 0
    info: int = 0


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The report in numbers. `overhead_share` is the share of the wall time spent outside waiting for the server."""

    tools: int = 0
    tested: int = 0
    not_exercised: Annotated[
        int, Meta(description="Tools that were called, and none of whose valid calls succeeded.")
    ] = 0
    skipped: int = 0
    scenarios: int = 0
    passed: int = 0
    findings: Counts = Counts()
    calls: int = 0
    list_tokens: Annotated[
        int, Meta(description="About how many tokens the whole of tools/list costs a model, with tools left out here.")
    ] = 0
    overhead_share: Annotated[float | None, Meta(description="0 to 1.")] = None


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """A baseline that was applied: the findings that it kept out, and its entries that occur no longer (stale).

    `tokens` is what each tool cost a model then, and `list_tokens` all of them; null where the baseline does not say.
    """

    file: str
    known: list[Finding] = []
    stale: list[Finding] = []
    tokens: dict[str, int] = {}
    list_tokens: int | None = None


class ReportedDirectory(msgspec.Struct, frozen=True, kw_only=True):
    """A directory of servers (`--profile`), with its rules' source and date, and what its reviewers ask for besides."""

    name: str
    title: str
    source: str
    date: str
    asks: list[str] = []


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One server, assessed. `incomplete` says why a run was cut short.

    `score` (0-100) is null when no tool was exercised. It rests on the exercised ones of the tools (`summary.tested`
    without `summary.not_exercised`), and is not a grade if these are fewer than a third.

    `items` are the resources, resource templates and prompts.

    `filtered` names the tools that the server lists and the user left out (`--tool`, `--exclude`); the rest of the
    report does not mention them. `directories` are those of `--profile`, and `hints` what the calls say about the hints
    that these want justified. `suppressed` are the findings that the user ignores (`--ignore`, `[checks] ignore`):
    they count nowhere. `transport` is null over stdio and where the user left it out. `fail_on`, `fail_under` and
    `max_tools_tokens` are the thresholds of the exit code, so that formats fail with it.
    """

    schema: Literal["toolvet-report/1"] = SCHEMA_ID
    server: Server
    score: Percent | None
    status: Status
    tools: list[Tool]
    findings: list[Finding]
    summary: Summary
    incomplete: str | None = None
    baseline: Baseline | None = None
    transport: ReportedTransport | None = None
    suppressed: list[Finding] = []
    fail_on: Literal["error", "warning", "info", "never"] = "error"
    fail_under: Percent | None = None
    max_tools_tokens: Annotated[int | None, Meta(description="The most that tools/list may cost.")] = None
    filtered: list[str] = []
    items: Items = Items()
    directories: list[ReportedDirectory] = []
    hints: list[HintEvidence] = []
    stderr: Annotated[str, Meta(description="The server's output on stderr; long output is cut.")] = ""
    toolvet_version: str = ""
    started_at: Annotated[str, Meta(description="ISO 8601, with the offset from UTC.")] = ""
    duration_ms: Milliseconds = 0.0
    seed: int = 0

    @property
    def rests_on(self) -> int:
        """How many of the tools the score rests on: those that were exercised."""
        return self.summary.tested - self.summary.not_exercised

    @property
    def is_graded(self) -> bool:
        """Whether the score is a grade: it rests on at least a third of the tools."""
        return self.score is not None and 3 * self.rests_on >= self.summary.tools


class Reports(msgspec.Struct, frozen=True, kw_only=True):
    """Several servers, assessed side by side."""

    schema: Literal["toolvet-reports/1"] = COLLECTION_ID
    reports: list[Report]


def schema() -> dict[str, object]:
    """JSON Schema 2020-12 of what the JSON format writes: one report, or a collection of them.

    Unknown fields are allowed on purpose: within version 1 fields are added.
    """
    alternatives, definitions = msgspec.json.schema_components([Report, Reports], ref_template="#/$defs/{name}")
    head: dict[str, object] = {
        "$id": "urn:toolvet:report:1",
        "title": "toolvet report, version 1",
        "description": "What `toolvet assess --report json=FILE` writes: one server, or several side by side.",
        "oneOf": list(alternatives),
    }
    return publish(head, definitions, named={Report.__name__, Reports.__name__})


def publish(
    head: Mapping[str, object], definitions: Mapping[str, Mapping[str, object]], *, named: Container[str]
) -> dict[str, object]:
    """A JSON Schema to publish: `head`, and the definitions that msgspec made.

    Documents of the types in `named` say in `schema` what they are, which is therefore required in them.
    """
    polished = {name: dict(item) for name, item in sorted(definitions.items())}
    for name, item in polished.items():
        description = item.get("description")
        if isinstance(description, str):
            item["description"] = " ".join(inspect.cleandoc(description).split())
        if name in named:
            # It has a default in Python only: in a document nothing else says what the document is.
            required = item.get("required")
            item["required"] = ["schema", *(required if isinstance(required, list) else [])]
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **head, "$defs": polished}
    # As JSON has it: the default of a tuple is a list.
    return msgspec.json.decode(msgspec.json.encode(document), type=dict[str, object])


def load(content: bytes, file: str) -> tuple[Report, ...]:
    """The reports in a JSON report, one or several; fields that this version does not know are left out.

    Args:
        content: The bytes of the document.
        file: The name of the file, for the error.

    Raises:
        ConfigError: `content` is not such a report; the error names `file` and the place in it.
    """
    try:
        head = msgspec.json.decode(content, type=decodable(_FormatField))
        if head.schema == SCHEMA_ID:
            return (msgspec.json.decode(content, type=decodable(Report)),)
        if head.schema == COLLECTION_ID:
            return tuple(msgspec.json.decode(content, type=decodable(Reports)).reports)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at ")
        raise ConfigError(f"not a toolvet report: {problem}", file=file, key=place.strip("`") or None) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        # msgspec's message ends with the offset (`… (byte 17)`), unless the file is cut off.
        line, offset = None, str(error).rpartition("(byte ")[2].rstrip(")")
        if offset.isdigit():
            line = content.count(b"\n", 0, int(offset)) + 1
        elif "truncated" in str(error):
            line = content.count(b"\n") + 1
        raise ConfigError(f"not JSON: {error}", file=file, line=line) from error
    if head.schema is None:
        raise ConfigError("not a toolvet report: 'schema' is missing", file=file)
    raise ConfigError(
        f"this version of toolvet reads {SCHEMA_ID} and {COLLECTION_ID}, not '{head.schema}'", file=file, key="schema"
    )


class _FormatField(msgspec.Struct):
    """The field of a document that names its format."""

    schema: str | None = None
