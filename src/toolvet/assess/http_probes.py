"""Sends a server over Streamable HTTP a bounded list of odd but harmless requests, and records what comes back.

    {"id": "foreign-origin", "message": "ping", "headers": {"origin": "https://attacker.example"}}
    ──► POST /mcp with that header ──► HttpExchange(probe="foreign-origin", status=403, …) ──► rules/catalog/http_*.py

The probes are data (`http_probes.toml`). Each is one request to the URL that the user gave, with the user's headers,
and none makes a call: the methods are `initialize`, `notifications/initialized`, `ping` and `server/discover`. Probes
go one after the other, in a session of their own. The first of each era is a correct request; where the server refuses
that, the probes of the era are left out.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec
import orjson

from toolvet.assess.rules import ToolDefinition
from toolvet.core.discover import read_toml
from toolvet.core.json_value import is_array, members
from toolvet.core.meta import PROTOCOL_VERSION_KEY
from toolvet.core.tool_rules import HttpExchange, ObservedHttp, recognise_sdk
from toolvet.mcp.transport import (
    LEGACY_VERSIONS,
    MODERN_VERSION,
    Era,
    HttpTarget,
    RawHttp,
    RawResponse,
    initialize_params,
    printable,
    request_meta,
)
from toolvet.mcp.wire import ErrorReply, Result, encode_notification, encode_request, parse

MOST_REQUESTS: Final = 40

_MOST_SILENT: Final = 2  # Probes without any response, after which the rest is not worth the wait.
_LONGEST_WAIT: Final = 5.0  # Seconds for one probe.
_LONGEST_HEAD_WAIT: Final = 1.0  # … and for the head of a stream, which some servers send with its first event.
_LONGEST_IN_ALL: Final = 30.0  # Seconds of waiting, after which no probe is begun.
_SESSIONS: Final = 3  # Session ids that are compared.
_DEPTH: Final = 2_000
_BODY: Final = 2_000  # Characters of a body that are kept.
_HEADER: Final = 500
_KEPT_HEADERS: Final = frozenset(
    {
        "access-control-allow-credentials", "access-control-allow-headers", "access-control-allow-origin", "allow",
        "content-type", "location", "mcp-session-id", "server", "www-authenticate", "x-powered-by",
    }
)  # fmt: skip
_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")
_SESSION: Final = "mcp-session-id"
_VERSION: Final = "mcp-protocol-version"
_BATCHES: Final = frozenset({"2024-11-05", "2025-03-26"})  # Revisions in which a POST may hold an array.
_ACCEPTED: Final = 202
_OK: Final = 200
CARD: Final = "server-card"
_FUTURE: Final = "2099-01-01"

Condition = Literal["local", "session", "credentials", "single", "modern-only"]
MessageKind = Literal[
    "",
    "ping",
    "initialize",
    "initialized",
    "discover",
    "batch",
    "broken",
    "foreign",
    "deep",
    "incomplete",
    "future",
    "removed",
]


class HttpProbe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of `http_probes.toml`, which says what its fields mean."""

    id: str
    sent: str
    wanted: str
    right: tuple[str, ...] = ()
    era: Literal["legacy", "modern", "any"] = "any"
    verb: Literal["POST", "GET", "DELETE", "OPTIONS"] = "POST"
    message: MessageKind = ""
    headers: Mapping[str, str] = {}
    without: tuple[str, ...] = ()
    when: tuple[Condition, ...] = ()
    head_only: bool = False
    path: str = ""


class HttpProbeTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `http_probes.toml`."""

    probe: tuple[HttpProbe, ...]


def probe_table() -> tuple[HttpProbe, ...]:
    """All probes, in the order in which they are sent."""
    return read_toml("toolvet.assess", "http_probes.toml", HttpProbeTable).probe


class HttpProbing:
    """The probes of one server. `seen` says what they showed so far, also when the run is cancelled."""

    def __init__(self, target: HttpTarget, *, eras: Sequence[Era], timeout: float) -> None:
        """`eras` are those that the server may speak; `timeout` is in seconds for one probe, 5 at most."""
        self._http = RawHttp(target)
        self._eras = eras
        self._timeout = min(timeout, _LONGEST_WAIT)
        self._exchanges: list[HttpExchange] = []
        self._sessions: list[str] = []
        self._illegal_session = False
        self._spoken: list[Era] = []
        self._revision = LEGACY_VERSIONS[-1]
        self._silent = 0
        self._gave_up = ""
        self._card: object = None
        self.seconds = 0.0

    def seen(self, tools: Sequence[ToolDefinition]) -> ObservedHttp:
        """Return the observations of the probes, for the rules; `tools` are those of the server."""
        refused = "" if self._spoken else "the server refused a correct request"
        return ObservedHttp(
            place=self._http.place,
            is_encrypted=self._http.is_encrypted,
            has_credentials=self._http.has_credentials,
            legacy="legacy" in self._spoken,
            modern="modern" in self._spoken,
            revision=self._revision if "legacy" in self._spoken else "",
            session_ids=tuple(self._sessions),
            is_session_illegal=self._illegal_session,
            exchanges=tuple(self._exchanges),
            sdk=recognise_sdk(self._exchanges, [members(tool.raw.get("_meta")) for tool in tools]),
            not_probed=self._gave_up or refused,
            url=self._http.url,
            card=self._card,
        )

    @property
    def requests(self) -> int:
        """How many requests were sent."""
        return self._http.sent

    async def run(self) -> None:
        """Send all probes that apply, and end the sessions that were opened for them."""
        try:
            for era in self._eras:
                await self._open(era)
            for probe in probe_table():
                if self._silent >= _MOST_SILENT:
                    self._gave_up = f"{self._silent} probes brought no response"
                    break
                if self.seconds > _LONGEST_IN_ALL:
                    self._gave_up = f"the probes took more than {_LONGEST_IN_ALL:g} s"
                    break
                if self._applies(probe):
                    await self._send(probe)
            await self._compare_sessions()
        finally:
            await self._http.close()

    async def _open(self, era: Era) -> None:
        table = {probe.id: probe for probe in probe_table()}
        if era == "modern":
            if (await self._send(table["discover"])).is_served:
                self._spoken.append(era)
            return
        opened = await self._send(table["initialize"])
        if not opened.is_served:
            return
        await self._send(table["initialized"])
        if (await self._send(table["ping"])).is_served:
            self._spoken.append(era)

    def _applies(self, probe: HttpProbe) -> bool:
        known = {exchange.probe for exchange in self._exchanges}
        spoken = bool(self._spoken) if probe.era == "any" else probe.era in self._spoken
        is_modern_only = "legacy" not in self._spoken
        holds: Mapping[Condition, bool] = {
            "local": self._http.place != "public",
            "session": bool(self._sessions),
            "credentials": self._http.has_credentials,
            "single": is_modern_only or self._revision not in _BATCHES,
            "modern-only": is_modern_only,
        }
        return spoken and probe.id not in known and all(holds[condition] for condition in probe.when)

    async def _send(self, probe: HttpProbe) -> HttpExchange:
        modern = probe.era == "modern" or (probe.era == "any" and "legacy" not in self._spoken)
        response = await self._http.send(
            probe.verb,
            self._headers(probe, modern=modern),
            _body(probe, modern=modern),
            timeout=min(self._timeout, _LONGEST_HEAD_WAIT) if probe.head_only else self._timeout,
            head_only=probe.head_only,
            anonymous="credentials" in probe.when or bool(probe.path),
            path=probe.path,
        )
        self.seconds += response.seconds
        if response.status is None and not probe.head_only:
            self._silent += 1
        if probe.id == "initialize":
            self._remember_session(response)
        if probe.id == CARD and response.status == _OK:
            self._card = _read_card(response.body)
        exchange = _exchange(probe, response, self._sessions)
        self._exchanges.append(exchange)
        return exchange

    def _headers(self, probe: HttpProbe, *, modern: bool) -> dict[str, str]:
        headers = {"accept": "application/json, text/event-stream"}
        if probe.message:
            headers["content-type"] = "application/json"
        if modern:
            headers |= {_VERSION: MODERN_VERSION, "mcp-method": "server/discover"}
        else:
            headers[_VERSION] = self._revision
            if self._sessions:
                headers[_SESSION] = self._sessions[0]
        own = self._http.own_origin
        headers |= {name: own if value == "{own}" else value for name, value in probe.headers.items()}
        return {name: value for name, value in headers.items() if name not in probe.without}

    def _remember_session(self, response: RawResponse) -> None:
        reply = parse(response.message)
        if not isinstance(reply, Result):
            return
        version = members(reply.result).get("protocolVersion")
        if isinstance(version, str) and _VISIBLE.fullmatch(version):
            self._revision = version
        session = response.headers.get(_SESSION, "")
        if _VISIBLE.fullmatch(session):
            self._sessions.append(session)
        elif session:
            self._illegal_session = True

    async def _compare_sessions(self) -> None:
        """Open and end a few more sessions, if the server has them: the rules look at their ids."""
        if not self._sessions or self._gave_up:
            return
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        for _ in range(_SESSIONS - 1):
            response = await self._http.send(
                "POST", headers, encode_request(1, "initialize", initialize_params({})), timeout=self._timeout
            )
            self.seconds += response.seconds
            before = len(self._sessions)
            self._remember_session(response)
            if len(self._sessions) > before:
                ended = {_SESSION: self._sessions[-1], _VERSION: self._revision}
                self.seconds += (await self._http.send("DELETE", ended, timeout=self._timeout)).seconds


def _read_card(body: bytes) -> object:
    """Return the card: a JSON object of a server; None for a page that answers every path."""
    try:
        card = members(orjson.loads(body))
    except orjson.JSONDecodeError:
        return None
    return card if isinstance(card.get("name"), str) or "remotes" in card else None


def _body(probe: HttpProbe, *, modern: bool) -> bytes | None:
    meta = request_meta({})
    match probe.message:
        case "initialize":
            return encode_request(1, "initialize", initialize_params({}))
        case "initialized":
            return encode_notification("notifications/initialized")
        case "ping":
            return encode_request(1, "server/discover", {"_meta": meta}) if modern else encode_request(1, "ping")
        case "discover":
            return encode_request(1, "server/discover", {"_meta": meta})
        case "removed":
            return encode_request(1, "ping", {"_meta": meta})
        case "future":
            return encode_request(1, "server/discover", {"_meta": {**meta, PROTOCOL_VERSION_KEY: _FUTURE}})
        case "batch":
            one = _body(msgspec.structs.replace(probe, message="ping"), modern=modern) or b""
            return b"[" + one + b"," + one.replace(b'"id":1', b'"id":2', 1) + b"]"
        case "broken":
            return b'{"jsonrpc":"2.0","id":1,"method":"ping"'
        case "foreign":
            return b'{"greeting":"hello"}'
        case "incomplete":
            only_version = {PROTOCOL_VERSION_KEY: MODERN_VERSION}
            return encode_request(1, "server/discover", {"_meta": only_version})
        case "deep":
            return b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * _DEPTH + b"]" * _DEPTH + b"}"
        case "":
            return None


def _exchange(probe: HttpProbe, response: RawResponse, sessions: Sequence[str]) -> HttpExchange:
    """Return the response without session ids: a reader who knows one can take part in the session."""

    def shown(text: str) -> str:
        for session in sessions:
            text = text.replace(session, "[session id]")
        return text

    is_result, code, words, data = _read_message(response.message)
    body = response.body[: 4 * _BODY].decode(errors="replace")
    kept = {name: value for name, value in response.headers.items() if name in _KEPT_HEADERS}
    exchange = HttpExchange(
        probe=probe.id,
        sent=probe.sent,
        wanted=probe.wanted,
        status=response.status,
        headers={name: shown(value)[:_HEADER] for name, value in kept.items()},
        body=shown(body)[:_BODY],
        is_result=is_result,
        code=code,
        words=shown(words)[:_BODY],
        data=data,
        failure=printable(response.failure, 200),
    )
    right = exchange.status is not None and (not probe.right or any(_is_right(exchange, way) for way in probe.right))
    return msgspec.structs.replace(exchange, as_wanted=None if exchange.status is None else right)


def _is_right(exchange: HttpExchange, way: str) -> bool:
    match way:
        case "result":
            return exchange.is_served
        case "refused":
            return exchange.is_refused
        case "success":
            return exchange.is_success
        case "stream":
            return exchange.is_success and exchange.media_type == "text/event-stream"
        case "empty":
            return exchange.status == _ACCEPTED and not exchange.body.strip()
        case _:
            status, _, code = way.partition("/")
            return str(exchange.status) == status and code in {"", str(exchange.code)}


def _read_message(message: bytes) -> tuple[bool, int | None, str, object]:
    reply = parse(message)
    if isinstance(reply, Result):
        return True, None, "", None
    if isinstance(reply, ErrorReply):
        return False, reply.code, reply.message, reply.data
    try:
        entries: object = orjson.loads(message) if message.lstrip().startswith(b"[") else None
    except orjson.JSONDecodeError:
        entries = None
    if is_array(entries) and entries:
        return _read_message(orjson.dumps(entries[0]))
    return False, None, "", None
