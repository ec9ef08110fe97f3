"""The subjects of rules: a tool as it is defined, a call as it went, a server as it was seen.

The rules do not know where these come from: an assessment fills them from calls that it made, and a proxy could fill
them from calls that it passed on.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, Literal, cast

import msgspec

from toolvet.core.checks.capability import Level, ValidationReply
from toolvet.core.checks.result import ResultVerdict
from toolvet.core.contract import ContractChange
from toolvet.core.json_value import elements, is_object, members, names
from toolvet.core.schema import Violation

FOREIGN_ORIGIN: Final = "https://attacker.example"  # The origin that the probes claim.
# How the HTTP layers of the Python SDK (which FastMCP is built on) and the TypeScript SDK refuse a Content-Type.
_PYTHON: Final = ("Invalid Content-Type header",)
_TYPESCRIPT: Final = ("Unsupported Media Type: Content-Type must be application/json",)
_DEEPEST: Final = 3  # Levels of a structure whose members are parameters as well.
_MOST_MEMBERS: Final = 500
_LONGEST_DESCRIPTION: Final = 20_000  # Characters of a tool's description in which parameters are looked for.
# `name: …`, `- name (str): …`, `* **name** - …`, with the lines that continue it further in.
_OPENING: Final = (
    r"(?:[-*•][ ]{0,4})?[`'\"*]{0,3}(\w[\w.-]{0,99})[`'\"*]{0,3}"
    r"(?:[ ]?\([^)\n]{0,80}\))?[ ]{0,3}[:\u2013\u2014-]\*{0,2}[ \t]"
)
_PARAMETER_LINE: Final = re.compile(
    rf"(?m)^([ \t]{{0,20}}){_OPENING}(\S[^\n]{{0,1000}}(?:\n\1[ \t]{{1,20}}(?!{_OPENING})\S[^\n]{{0,500}}){{0,8}})"
)
_OF_THE_ANSWER: Final = re.compile(r"(?mi)^[ \t]*(?:returns?|yields?|raises|output|response|examples?)\b.{0,20}:\s*$")
PROBE_POINTER: Final = "/transport/"  # The beginning of the JSON Pointers of findings about probes.
# Statuses that decide nothing about the probe: it lacks credentials, or the server had too many requests.
UNJUDGED: Final = frozenset({401, 429})


class HttpExchange(msgspec.Struct, frozen=True, kw_only=True):
    """One probe and what came back.

    `probe` is its id, `sent` says in a phrase what was sent, and `wanted` what should come back. `status` is None where
    no response came; `failure` then says why. `body` is its head. `is_result` says whether the body is a JSON-RPC
    result (or an array with one), `code`, `words` and `data` are those of a JSON-RPC error. `as_wanted` says whether
    the protocol wants this response; None if none came.
    """

    probe: str
    sent: str = ""
    wanted: str = ""
    status: int | None = None
    headers: Mapping[str, str] = {}
    body: str = ""
    is_result: bool = False
    code: int | None = None
    words: str = ""
    data: Any = None
    failure: str = ""
    as_wanted: bool | None = None

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_served(self) -> bool:
        """Whether the request was carried out: a JSON-RPC result came back."""
        return self.is_success and self.is_result

    @property
    def is_refused(self) -> bool:
        """Whether the request was refused, by a status 4xx or by a JSON-RPC error that is not an internal one."""
        refused = self.status is not None and 400 <= self.status < 500
        return refused or (self.is_success and self.code is not None)

    @property
    def media_type(self) -> str:
        """The content type of the response without parameters; "" if it has none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def outcome(self) -> Literal["answered", "refused", "failed"]:
        """The response in a word: refused (4xx or a JSON-RPC error), failed (5xx or none at all), else answered."""
        if self.status is None or self.status >= 500:
            return "failed"
        return "refused" if self.is_refused else "answered"


class ObservedHttp(msgspec.Struct, frozen=True, kw_only=True):
    """The HTTP transport of a server, as the probes saw it.

    `place` is where the host is, by its name alone. `has_credentials` says whether the user's headers went with the
    requests. `legacy` and `modern` are the protocol eras that the server speaks, `revision` what it agreed to in the
    handshake. `session_ids` are those that it issued, and `is_session_illegal` says that one was not visible ASCII.
    `sdk` is the SDK that its words give away, or "". `not_probed` says why probes are missing. `card` is the server
    card (SEP-2127) under `/.well-known/mcp/`, None without one, and `url` the URL of the server, without credentials.
    """

    place: Literal["loopback", "private", "public"] = "loopback"
    is_encrypted: bool = False
    has_credentials: bool = False
    legacy: bool = False
    modern: bool = False
    revision: str = ""
    session_ids: tuple[str, ...] = ()
    is_session_illegal: bool = False
    exchanges: tuple[HttpExchange, ...] = ()
    sdk: Literal["", "fastmcp", "python", "typescript"] = ""
    not_probed: str = ""
    url: str = ""
    card: Any = None

    def find(self, probe: str) -> HttpExchange | None:
        """Return the exchange of this probe; None if it was not sent."""
        return next((exchange for exchange in self.exchanges if exchange.probe == probe), None)

    def is_served(self, probe: str) -> bool:
        """Whether this probe was sent and carried out."""
        exchange = self.find(probe)
        return exchange is not None and exchange.is_served

    @property
    def is_local(self) -> bool:
        """Whether web pages can reach this server only through the browser of a user: this is what rebinding is for."""
        return self.place != "public"

    @property
    def is_open_to_pages(self) -> bool:
        """Whether a page of another web site can send this server requests, without rebinding its name.

        A browser asks first (a preflight) before it sends JSON to another site, and does not ask for text/plain.
        """
        asked = self.find("preflight")
        if asked is None or not self.is_served("foreign-origin"):
            return False
        headers = asked.headers
        allowed = headers.get("access-control-allow-headers", "").lower()
        may_post = headers.get("access-control-allow-origin") in {"*", FOREIGN_ORIGIN}
        return self.is_served("text-plain") or (may_post and ("content-type" in allowed or "*" in allowed))

    @property
    def is_guarded(self) -> bool:
        """Whether requests without the user's credentials are refused, so that a web page cannot make any."""
        exchange = self.find("no-credentials")
        return exchange is not None and exchange.status in {401, 403}


def recognise_sdk(
    exchanges: Sequence[HttpExchange], tools: Sequence[Mapping[str, object]]
) -> Literal["", "fastmcp", "python", "typescript"]:
    """Name the SDK that the words of refusals give away. FastMCP also marks its tools: `tools` are their `_meta`.

    >>> recognise_sdk([HttpExchange(probe="text-plain", status=400, body="Invalid Content-Type header")], [])
    'python'
    """
    words = [f"{exchange.words}\n{exchange.body}" for exchange in exchanges if not exchange.is_served]
    if any(phrase in text for text in words for phrase in _TYPESCRIPT):
        return "typescript"
    if any(phrase in text for text in words for phrase in _PYTHON):
        return "fastmcp" if any("fastmcp" in meta for meta in tools) else "python"
    return ""


def place_in_report(probe: str) -> str:
    """The JSON Pointer of a finding about this probe: findings and probes are joined by it.

    >>> place_in_report("foreign-origin")
    '/transport/foreign-origin'
    """
    return f"{PROBE_POINTER}{probe}"


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of `tools/list`, as the server sent it.

    `raw` is the entry itself, `position` its place in the list over all pages. The other fields are what could be read
    from it: a missing or wrongly typed name or description is "", a missing schema None, annotations that are not
    an object are empty. A parameter that its schema does not describe gets the words that `description` has for it.
    `contract` is the schema that its results kept in a record, if there is one.
    """

    raw: Any
    position: int = 0
    name: str = ""
    description: str = ""
    input_schema: Any = None
    output_schema: Any = None
    annotations: Mapping[str, Any] = {}
    contract: Mapping[str, Any] | None = None

    @property
    def schema(self) -> Mapping[str, object] | None:
        """The inputSchema, if it is an object."""
        return _object(self.input_schema)

    @property
    def result_schema(self) -> Mapping[str, object] | None:
        """The outputSchema, if it is an object."""
        return _object(self.output_schema)

    @property
    def properties(self) -> Mapping[str, object]:
        """The declared top-level parameters: name to schema; empty if the schema has no readable ones."""
        return members(members(self.input_schema).get("properties"))

    def parameters(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield the parameters and, as `request.path`, the members of those that are objects, or lists of them."""
        waiting = deque((name, self.opened(declared)) for name, declared in self.properties.items())
        room = _MOST_MEMBERS
        while waiting:
            name, declared = waiting.popleft()
            yield name, declared
            inner = members(self.single(declared).get("properties"))
            if inner and name.count(".") < _DEEPEST and room > 0:
                room -= len(inner)
                waiting.extend((f"{name}.{own}", self.opened(each)) for own, each in inner.items())

    def single(self, declared: object) -> Mapping[str, object]:
        """The schema of one value: the branch of an `anyOf` that is not null, and the items of a list."""
        schema: Mapping[str, object] = self.opened(declared)
        for _ in range(_DEEPEST):
            branches = [self.opened(branch) for branch in elements(schema.get("anyOf"))]
            chosen = [branch for branch in branches if branch.get("type") != "null"]
            schema = chosen[0] if len(chosen) == 1 else schema
            if schema.get("type") != "array":
                break
            schema = self.opened(schema.get("items"))
        return schema

    def opened(self, declared: object) -> Mapping[str, object]:
        """A schema, or the one in `$defs` that it refers to."""
        where, _, name = str(members(declared).get("$ref")).removeprefix("#/").partition("/")
        return members(members(members(self.input_schema).get(where)).get(name)) or members(declared)

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the required parameters."""
        return names(members(self.input_schema).get("required"))

    @property
    def closed(self) -> bool:
        """Whether the schema forbids arguments that it does not name (so that an unknown one is invalid)."""
        schema = members(self.input_schema)
        return schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False

    @property
    def runs_as_task(self) -> bool:
        """2025-11-25: a tool with `execution.taskSupport: "required"` is right to refuse a plain call."""
        return members(members(self.raw).get("execution")).get("taskSupport") == "required"


def tool_definition(raw: object, position: int = 0) -> ToolDefinition:
    """The definition in an entry of a tool list (`raw`), at its `position` in that list.

    Total: any entry is some definition, perhaps one without a name.
    """
    entry = members(raw)
    name, description = entry.get("name"), entry.get("description")
    schema, description = entry.get("inputSchema"), description if isinstance(description, str) else ""
    return ToolDefinition(
        raw=raw,
        position=position,
        name=name if isinstance(name, str) else "",
        description=description,
        input_schema=_with_descriptions(schema, description) if is_object(schema) and description else schema,
        output_schema=entry.get("outputSchema"),
        annotations=members(entry.get("annotations")),
    )


def _with_descriptions(schema: Mapping[str, object], description: str) -> Mapping[str, object]:
    """The schema with the texts of a docstring (`Args:`, a list of parameters) where it describes a parameter itself.

    Words of a docstring about the answer (`Returns:`) are not about the parameters.
    """
    text, declared = _OF_THE_ANSWER.split(description[:_LONGEST_DESCRIPTION])[0], members(schema.get("properties"))
    said = {found[2]: " ".join(found[3].split()) for found in _PARAMETER_LINE.finditer(text)}
    described = {
        name: {**one, "description": said[name]}
        for name, one in declared.items()
        if name in said and is_object(one) and "$ref" not in one and not str(one.get("description") or "").strip()
    }
    return {**schema, "properties": {**declared, **described}} if described else schema


def _object(value: object) -> Mapping[str, object] | None:
    return members(cast("object", value)) if isinstance(value, dict) else None


class Outcome(StrEnum):
    """The kind of answer to a call. `RESULT` is a tool result (with or without isError), the others are not."""

    RESULT = "result"
    PROTOCOL_ERROR = "protocol_error"
    TIMEOUT = "timeout"
    SERVER_DIED = "server_died"
    INVALID_MESSAGE = "invalid_message"


Category = Literal["progressive", "happy_path", "edge_case", "boundary", "error_case"]


class IntendedViolation(msgspec.Struct, frozen=True, kw_only=True):
    """The fault that the arguments of an error case have on purpose.

    `keyword` is the JSON Schema keyword that is broken ("additionalProperties" also for an unknown argument that the
    schema does not forbid), `pointer` the place in the arguments, `property` the name that is missing or unknown,
    `detail` a phrase for people. `declared` is False when the schema allows it after all.
    """

    keyword: str
    pointer: str = ""
    property: str | None = None
    detail: str = ""
    declared: bool = True


class ProtocolError(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON-RPC error object."""

    code: int | None
    message: str
    data: Any = None


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of a server's own validator on a call. `levels` are those that it checks; empty if unknown."""

    reply: ValidationReply
    levels: tuple[Level, ...] = ()


class AnswerExcerpt(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a very large answer, of which the rules receive an excerpt.

    `size` is the bytes of the whole message. `verdict_on` says what the verdict is about: the whole answer if it has
    few values, else the excerpt. The excerpt's structured content was not compared with the outputSchema. `borders` are
    texts around the places where the excerpt was cut, to look for secrets in.
    """

    size: int
    verdict_on: Literal["whole", "excerpt"] = "whole"
    borders: tuple[str, ...] = ()


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder of the server's working folder that a call added, changed or removed; `path` is relative."""

    kind: Literal["added", "changed", "removed"]
    path: str


class ObservedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One `tools/call` and what came of it.

    `violations` says how the arguments break the tool's inputSchema (empty: they satisfy it). `intended` is set when
    a scenario broke one thing on purpose. `verdict` is set exactly when `outcome` is RESULT; `error_verdict` is the
    verdict on a protocol error, read as the error result that it should have been; None if there is no such error.
    `detail` holds what is known of an outcome without an answer (exit code, last words on stderr, why a message was
    invalid). `preview` is what the server's own validator said just before the call; None when it was not asked or
    gave no verdict. `known_paths` are paths that the caller gave to the server in other ways: its working folder,
    its command line. `absent` is the parameter whose value was made to name nothing that exists, or "", and
    `present` the value that a listing of the server has for it; None if no listing has one. `excerpt` is set where
    `result` or `error` is only an excerpt of a very large answer. `repeats` says that the tool fails in the same words
    without the fault of this call, `outage_nearby` that other tools reported an outage that explains how it ended.
    `is_own` says that the caller made up all values of `arguments`, so that none of them is a secret. `files` is what
    was different in the server's working folder after the call; None if the folder was not compared.
    """

    tool: ToolDefinition
    arguments: Any
    outcome: Outcome
    category: Category | None = None
    result: Any = None
    error: ProtocolError | None = None
    verdict: ResultVerdict | None = None
    error_verdict: ResultVerdict | None = None
    violations: tuple[Violation, ...] = ()
    intended: IntendedViolation | None = None
    duration_ms: float = 0.0
    protocol_version: str = ""
    detail: str = ""
    preview: Preview | None = None
    known_paths: tuple[str, ...] = ()
    absent: str = ""
    present: Any = None
    excerpt: AnswerExcerpt | None = None
    repeats: bool = False
    outage_nearby: bool = False
    is_own: bool = False
    files: tuple[FileChange, ...] | None = None

    @property
    def rejected(self) -> bool:
        """Whether the server refused the arguments: an error about them, in either form; never a crash."""
        if self.outcome is Outcome.PROTOCOL_ERROR:
            return self.error is not None and self.error.code in {-32602, -32600}
        return self.verdict is not None and self.verdict.error_kind == "business" and self.verdict.reports_error

    @property
    def accepted(self) -> bool:
        """Whether the call came back as a success that reports no error."""
        return (
            self.outcome is Outcome.RESULT
            and self.verdict is not None
            and not self.verdict.is_error
            and not self.verdict.error_without_flag
        )


class Consequence(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool (`action`), and the answers of a reader `before` (None if it was not called) and `after` it.

    `value` is the id of the thing that the action made or deleted, which the reader was called with; None for a list.
    """

    action: ObservedCall
    after: ObservedCall
    before: ObservedCall | None = None
    value: Any = None


class WireAnomaly(msgspec.Struct, frozen=True, kw_only=True):
    """Something on the wire that no server should send: its `kind` (noise, duplicate_answer, …) and the words."""

    kind: str
    evidence: str = ""


class ObservedValidation(msgspec.Struct, frozen=True, kw_only=True):
    """The capability `toolValidation` as it was seen, on a server that announces it, rightly or wrongly.

    `method` is the tool that validates, `asked` how often it was asked. `announcement_problems` are sentences about
    what was announced: `announced` is False when they leave no announcement. `failures` says, once for each time, why
    asking gave no verdict.
    """

    announced: bool
    method: str
    asked: int = 0
    announcement_problems: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


class ObservedServer(msgspec.Struct, frozen=True, kw_only=True):
    """The server as a whole: its tools, how it answered a tool that does not exist, and what was odd on the wire.

    `unknown_tool` is the call of a tool that is not in the list (None: not tried). `listing_problems` are sentences.
    `validation` is None if the server does not mention `toolValidation`. `calls` are all calls of all tools, for what
    only the whole of them shows. `odd_arguments` are calls whose `arguments` were not a JSON object.
    `overfilled` says how much the server wrote into its folders, if that was more than allowed.
    `http` is what the probes of the transport showed; None over stdio. `is_without_tools` says that the server
    announces resources or prompts, and no tools. `consequences` are the answers of readers after other calls, `changes`
    those since the server's lock was written. `version` is the one that the server gives itself. `providers` are the
    model providers that should take the definitions, and `profiles` the directories that should accept the server;
    `manifests` are their files beside it, by name.
    """

    tools: tuple[ToolDefinition, ...]
    protocol_version: str = ""
    unknown_tool: ObservedCall | None = None
    anomalies: tuple[WireAnomaly, ...] = ()
    listing_problems: tuple[str, ...] = ()
    validation: ObservedValidation | None = None
    calls: tuple[ObservedCall, ...] = ()
    odd_arguments: tuple[ObservedCall, ...] = ()
    http: ObservedHttp | None = None
    is_without_tools: bool = False
    overfilled: str = ""
    consequences: tuple[Consequence, ...] = ()
    changes: tuple[ContractChange, ...] = ()
    version: str = ""
    providers: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    manifests: Mapping[str, Any] = {}

    def anomalies_of(self, *kinds: str) -> tuple[str, ...]:
        """The words of all anomalies of these kinds, in the order they came."""
        return tuple(anomaly.evidence for anomaly in self.anomalies if anomaly.kind in kinds)
