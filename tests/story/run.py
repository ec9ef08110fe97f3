"""Run the incidents of docs/story.md: server → proxy → client → record → answers, and each station's report of it."""

import asyncio
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

import mcp
from mcp import StdioServerParameters
from toolvet import AnswerQuality, State, check_answer, check_result
from toolvet.core.causes import cause_of, state_of_failure
from toolvet.core.json_value import members
from toolvet.core.meta import META_PREFIX
from toolvet.store import Store, VerdictFilter, VerdictRecord

HERE: Final = Path(__file__).parent
SERVER: Final = HERE / "shop_server.py"
TRACE_KEY: Final = f"{META_PREFIX}trace"
VERDICT_KEY: Final = f"{META_PREFIX}verdict"
ENVELOPE_KEY: Final = f"{META_PREFIX}envelope"
BOOK: Final = "calls.db"
NOTHING: Final = "-"

# The words of a verdict on an answer for a call that failed, and for one that returned a part.
_OF_A_CALL: Final = (("state", "content_fidelity"), ("error_code", "warning_code"), ("retry",))
Sends = Literal["traceparent", "trace", "nothing"]


class Incident(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One incident of incidents.toml, which explains the members."""

    id: str
    title: str
    story: str
    state: str
    tool: str
    arguments: Mapping[str, Any]
    sends: Sends
    question: str
    honest: str
    dishonest: str
    plain: str


class Cell(msgspec.Struct, frozen=True):
    """A station's words, or (`by_table`) the entry of the table of causes for them."""

    text: str
    by_table: bool = False


class Station(msgspec.Struct, frozen=True):
    """One row of an incident: what a station calls it."""

    name: str
    word: Cell
    code: Cell
    retry: Cell
    id: Cell


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """One incident as it ran: the call, what the client received, what each station says, and the two answers."""

    incident: Incident
    meta: Mapping[str, Any]
    result: Mapping[str, Any]
    record: VerdictRecord
    plain: Mapping[str, Any]
    stations: tuple[Station, ...]
    dishonest: str
    answers: tuple[AnswerQuality, AnswerQuality]

    @property
    def text(self) -> str:
        """The first text of the result."""
        return str(self.result["content"][0]["text"])

    @property
    def envelope(self) -> Mapping[str, Any]:
        """The envelope of the result; {} for a result without one."""
        return envelope_of(self.result)


class Story(msgspec.Struct, frozen=True):
    """All incidents, and the last turn as `toolvet trace` prints it."""

    told: Sequence[Told]
    last_turn: str


class Asked(msgspec.Struct, frozen=True):
    """One call: the tool, its arguments and the `_meta` that the client sends."""

    tool: str
    arguments: Mapping[str, Any]
    meta: Any


class Calls(msgspec.Struct, frozen=True):
    """All calls of one run: each result beside its row of the record."""

    results: Sequence[Mapping[str, Any]]
    records: Sequence[VerdictRecord]
    tools: Mapping[str, Mapping[str, Any]]


def incidents() -> list[Incident]:
    """The incidents of incidents.toml, in its order."""
    read = tomllib.loads((HERE / "incidents.toml").read_text(encoding="utf-8"))
    return msgspec.convert(read["incident"], list[Incident])


def run_story() -> Story:
    """Bring all incidents, collect every station's report of each, and print the last turn from the record."""
    every = incidents()
    asked = [Asked(each.tool, each.arguments, meta_of(number, each)) for number, each in enumerate(every, 1)]
    asked += [Asked(f"plain_{each.tool}", each.arguments, {VERDICT_KEY: True}) for each in every]
    with tempfile.TemporaryDirectory() as folder:
        calls = asyncio.run(call_through_proxy(asked, Path(folder)))
        told = [
            tell(incident, asked[place].meta, calls, place, calls.results[place + len(every)])
            for place, incident in enumerate(every)
        ]
        book = Path(folder) / BOOK
        last = told[-1]
        with Store(book) as store:
            store.add(last.answers[1], text=last.dishonest)
        shown = [sys.executable, "-m", "toolvet", "trace", str(last.answers[1].trace_id), "--store", str(book)]
        printed = subprocess.run(shown, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    return Story(told, printed)


def meta_of(number: int, incident: Incident) -> dict[str, Any]:
    """The `_meta` of a call: it asks for verdict and id, and says the id of the turn as the incident wants it."""
    asked: dict[str, Any] = {VERDICT_KEY: True, TRACE_KEY: True}
    if incident.sends == "traceparent":
        asked["traceparent"] = f"00-{0x0AF7651916CD43DD8448EB2100000000 + number:032x}-b7ad6b7169203331-01"
    elif incident.sends == "trace":
        asked[TRACE_KEY] = f"turn-{incident.id}"
    return asked


async def call_through_proxy(asked: Sequence[Asked], folder: Path) -> Calls:
    """Start `toolvet proxy` before the shop, and make the calls one after the other with the SDK's client."""
    book, settings = folder / BOOK, folder / "toolvet.toml"
    settings.write_text("[proxy]\n", encoding="utf-8")
    proxy = ["-m", "toolvet", "proxy", "--name", "shop", "--settings", str(settings), "--store", str(book)]
    program = StdioServerParameters(
        command=sys.executable, args=[*proxy, "--", sys.executable, str(SERVER)], cwd=str(folder)
    )
    async with mcp.Client(program, cache=None) as client:
        listed = (await client.list_tools()).tools
        results = [as_json(await client.call_tool(each.tool, dict(each.arguments), meta=each.meta)) for each in asked]
    with Store(book) as store:
        records = store.verdicts(VerdictFilter(kind="call"), order="oldest", limit=1000)
    return Calls(results, records, {tool.name: as_json(tool) for tool in listed})


def as_json(message: Any) -> dict[str, Any]:
    """A message of the SDK in the JSON form that was sent."""
    found: dict[str, Any] = message.model_dump(by_alias=True, mode="json", exclude_none=True)
    return found


def tell(incident: Incident, meta: Mapping[str, Any], calls: Calls, place: int, plain: Mapping[str, Any]) -> Told:
    """Every station's report of one call and of the two answers that follow it."""
    result, record, tool = calls.results[place], calls.records[place], calls.tools[incident.tool]
    noted: Mapping[str, Any] = result.get("_meta", {})
    trace = noted.get(TRACE_KEY)
    kept = len(envelope_of(result).get("data", {}).get("orders", ()))
    dishonest = incident.dishonest.replace("{kept}", str(kept))
    call = {"name": incident.tool, "arguments": dict(incident.arguments), "result": dict(result)}
    answers = tuple(
        check_answer(text, calls=[call], question=incident.question, trace=trace)
        for text in (incident.honest, dishonest)
    )
    verdict = check_result(tool, dict(incident.arguments), result, trace=trace).to_dict()
    proxys = noted.get(VERDICT_KEY, {})
    stations = [
        of_envelope(envelope_of(result)),
        of_verdict("proxy's verdict", proxys, proxys.get("trace_id")),
        of_verdict("client's verdict", verdict, verdict.get("trace_id")),
        of_verdict("record", members(record.detail.get("verdict")), record.trace),
        of_answer("honest answer", answers[0]),
        of_answer("dishonest answer", answers[1]),
    ]
    return Told(
        incident=incident,
        meta=meta,
        result=result,
        record=record,
        plain=plain,
        stations=tuple(stations),
        dishonest=dishonest,
        answers=(answers[0], answers[1]),
    )


def envelope_of(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The envelope of a result: structured content, else in `_meta`, else the text; {} without one."""
    for found in _candidates(result):
        if isinstance(found, dict) and "success" in found:
            return found
    return {}


def _candidates(result: Mapping[str, Any]) -> Iterator[object]:
    yield result.get("structuredContent")
    yield result.get("_meta", {}).get(ENVELOPE_KEY)
    try:
        yield json.loads(result["content"][0]["text"])
    except (ValueError, LookupError):
        return


def of_envelope(envelope: Mapping[str, Any]) -> Station:
    """A failure says type and code, and the table which word that is; a success says how much of its data is there."""
    data, meta = envelope.get("data", {}), envelope.get("meta", {})
    trace = said(meta.get("request_id"))
    if envelope.get("success", False):
        codes = [warning.get("code") for warning in meta.get("warning_details", ())]
        return Station("envelope", said(meta.get("content_fidelity")), said(*codes), said(), trace)
    code, kind = data.get("error_code", ""), data.get("error_type", "")
    state = state_of_failure(code, kind) if code or kind else None
    return Station("envelope", by_table(state), said(code), retry_of(state), trace)


def of_verdict(name: str, verdict: Mapping[str, Any], trace: object) -> Station:
    """A verdict: of a success it says how much of the data is there, and quotes the warnings with their codes."""
    about = verdict.get("metadata", {})
    word, code = verdict.get("state"), verdict.get("error_code")
    if word is None and "content_fidelity" in about:
        word = about["content_fidelity"]
        code = ", ".join(warning.partition(": ")[0] for warning in about.get("warnings", ()))
    return Station(name, said(word), said(code), said(verdict.get("retry")), said(trace))


def of_answer(name: str, quality: AnswerQuality) -> Station:
    """The verdict on an answer, which lists the calls that failed and those that brought a part."""
    document: Any = quality.to_dict()
    calls = [*document.get("failed_calls", ()), *document.get("partial_calls", ())]
    word, code, retry = (said(*(call.get(key) for call in calls for key in keys)) for keys in _OF_A_CALL)
    return Station(name, word, code, retry, said(document.get("trace_id")))


def retry_of(state: State | None) -> Cell:
    """A cell with the advice that the table of causes has for a word."""
    return by_table(None if state is None else cause_of(state).retry)


def said(*values: object) -> Cell:
    """A cell with the station's own words."""
    return Cell(", ".join(str(value) for value in values if value) or NOTHING)


def by_table(value: object) -> Cell:
    """A cell with the word of the table of causes."""
    return Cell(str(value), by_table=True) if value else Cell(NOTHING)
