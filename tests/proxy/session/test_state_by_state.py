"""The parts of a session that decide by numbers and words, state by state: repeats, tools of ours, what is unread."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from toolvet.core.checks.arguments import ArgumentReport, check_arguments
from toolvet.core.checks.result import ResultCheck
from toolvet.core.envelope.archive import ContentArchive
from toolvet.core.meta import PROTOCOL_VERSION_KEY
from toolvet.core.schema.repairs import Repair
from toolvet.mcp.wire import Raws, Request, parse, split_member
from toolvet.mcp.wire.start import MessageStart
from toolvet.proxy.session import (
    CallEnded,
    CallStarted,
    Catalogue,
    Policies,
    ProxySettings,
    Session,
    ToClient,
    ToolSettings,
    ToServer,
)
from toolvet.proxy.session.catalogue import KnownTool, ResultCache
from toolvet.proxy.session.judge import ENVELOPE_KEY, _failure, end_call, envelope_form
from toolvet.proxy.session.own_tools import answer_validation, is_ours, needed_tools, validation_reply
from toolvet.proxy.session.pending import (
    AmbiguousAnswers,
    PendingAnswer,
    PendingCall,
    PendingOpening,
    PendingPage,
    client_meta,
    read_call,
)
from toolvet.proxy.session.repeats import RepeatWatch, _has_unfinished
from toolvet.proxy.session.session import decide_batch
from toolvet.proxy.session.step import Step
from toolvet.proxy.session.trace import TraceSource
from toolvet.proxy.session.unread import UnreadMessages
from toolvet.proxy.session.vet import no_such_tool


def call_of(
    tool: str = "t", *, id_: int = 1, policies: Policies | None = None, arguments: object = None, **params: Any
) -> PendingCall:
    body = {"name": tool, "arguments": {} if arguments is None else arguments, **params}
    data = msgspec.json.encode({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": body})
    request = parse(data)
    assert isinstance(request, Request)
    found = read_call(request, 1, policies or Policies(), TraceSource())
    assert found is not None
    return found


# ── repeats ──

A, B = "a", "b"
Watched = tuple[str, str, int | None, tuple[int, int, str | None]]
# The notes on each tool, with its digest; then how many calls were stale, how many refused, and the last one.
WATCHED: list[list[Watched]] = [
    [
        ("reads", A, 7, (0, 0, A)),
        ("reads", A, 7, (0, 0, A)),
        ("reads", A, 7, (1, 0, A)),
        ("reads", B, 8, (0, 0, B)),
        ("reads", A, 7, (1, 0, A)),
        ("reads", B, 8, (1, 0, B)),
        ("reads", B, 8, (2, 0, B)),
        ("reads", A, 9, (0, 0, A)),
        ("reads", A, None, (0, 0, A)),
        ("reads", A, 9, (0, 0, A)),
        ("reads", A, 9, (1, 0, A)),
    ],
    # After a change by a tool the next result is news, even if it is the same.
    [
        ("reads", A, 7, (0, 0, A)),
        ("reads", A, 7, (0, 0, A)),
        ("reads", A, 7, (1, 0, A)),
        ("changes", A, 7, (0, 0, A)),
        ("reads", A, 7, (0, 0, A)),
        ("reads", A, 7, (1, 0, A)),
    ],
    # To set the same again changes nothing, unless something else came between.
    [
        ("sets", A, 7, (0, 0, A)),
        ("sets", A, 7, (0, 0, A)),
        ("sets", A, 7, (1, 0, A)),
        ("reads", B, 8, (0, 0, B)),
        ("reads", B, 8, (0, 0, B)),
        ("sets", A, 7, (0, 0, A)),
        ("reads", B, 8, (1, 0, B)),
        ("sets", A, 7, (0, 0, A)),
        ("sets", A, 7, (0, 0, A)),
        ("sets", A, 7, (1, 0, A)),
    ],
    [
        ("fails", A, None, (0, 0, A)),
        ("fails", A, None, (1, 0, A)),
        ("reads", B, 8, (0, 0, B)),
        ("fails", A, None, (1, 0, A)),
        ("reads", B, 8, (1, 0, B)),
        ("fails", B, None, (0, 0, B)),
        ("fails", A, None, (1, 0, A)),
        ("reads", A, 7, (0, 0, A)),
        ("fails", A, None, (0, 0, A)),
        ("quiet", A, None, (0, 0, None)),
        ("fails", A, None, (1, 0, A)),
        ("clear", A, None, (0, 0, None)),
        ("fails", A, None, (0, 0, A)),
        ("fails", A, None, (1, 0, A)),
    ],
]


def watched(watch: RepeatWatch, kind: str, tool: str, digest: int | None) -> None:
    if kind == "fails":
        watch.note_failure(tool, {"q": tool})
    elif kind == "quiet":
        watch.note_quiet()
    elif kind == "clear":
        watch.clear()
        assert not watch._calls
    else:
        watch.note_result(tool, {"q": tool}, effect=lambda: kind, digest=lambda: digest)


@pytest.mark.parametrize("steps", WATCHED)
def test_a_watch_counts_what_brought_nothing_new(steps: Sequence[Watched]) -> None:
    watch = RepeatWatch()
    for number, (kind, tool, digest, expected) in enumerate(steps):
        watched(watch, kind, tool, digest)
        last = None if watch._last is None else watch._last[0]
        assert (watch._stale, watch._refusals, last) == expected, number


def checked(stale: int, limit: int, *, arguments: bool = True, times: int = 1) -> list[int]:
    watch = RepeatWatch()
    given = {"q": A} if arguments else {}
    for _ in range(stale + 2):
        watch.note_result(A, given, effect=lambda: "reads", digest=lambda: 7)
    return [watch.check(A, given, limit) for _ in range(times)]


@pytest.mark.parametrize(
    ("stale", "limit", "told"),
    [(0, 0, 0), (3, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0), (1, 1, 3), (1, 3, 3), (1, 4, 0), (2, 4, 4), (5, 4, 7)],
)
def test_a_row_is_told_from_its_limit_on(stale: int, limit: int, told: int) -> None:
    assert checked(stale, limit) == [told]


def test_a_call_without_arguments_has_four_times_as_long() -> None:
    assert [checked(stale, 3, arguments=False) for stale in (1, 9, 10)] == [[0], [0], [12]]


def test_after_as_many_refusals_one_call_is_let_through() -> None:
    assert checked(1, 1, times=9) == [3, 3, 3, 0, 3, 3, 3, 0, 3]
    assert checked(2, 4, times=6) == [4, 4, 4, 4, 0, 4]


def test_a_call_that_was_not_made_or_fails_or_is_news_is_not_refused() -> None:
    watch = RepeatWatch()
    for _ in range(9):
        watch.note_failure(A, {"q": A})
    watch._calls[B, (1, 1)] = watch._calls[next(iter(watch._calls))]
    assert watch._stale == 8
    assert (watch.check(A, {"q": A}, 3), watch.check(B, {"q": B}, 3)) == (0, 0)


def test_256_calls_are_watched() -> None:
    watch, sizes = RepeatWatch(), list[int]()
    for number in range(258):
        watch.note_result(A, {"q": number}, effect=lambda: "reads", digest=lambda: 7)
        sizes.append(len(watch._calls))
    assert sizes == [*range(1, 257), 256, 256]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"status": "running"}, True),
        ({"a": {"status": "running"}}, True),
        ({"a": {"a": {"status": "running"}}}, True),
        ({"a": {"a": {"a": {"status": "running"}}}}, False),
        ([[{"status": "running"}]], True),
        ([[[{"status": "running"}]]], False),
        ({"status": "done"}, False),
        ({"name": "running"}, False),
        ({"a": 1, "b": "x", "status": "running"}, True),
        ({**{f"k{number}": 1 for number in range(63)}, "status": "running"}, True),
        ({**{f"k{number}": 1 for number in range(64)}, "status": "running"}, False),
        ([*[0] * 63, {"status": "running"}], True),
        ([*[0] * 64, {"status": "running"}], False),
        ("running", False),
        (None, False),
    ],
)
def test_what_goes_on_is_looked_for_three_levels_deep(value: object, *, found: bool) -> None:
    assert _has_unfinished(value) is found


# ── tools of ours ──


def announced(*, ours: bool, keeps: bool) -> Catalogue:
    catalogue = Catalogue()
    catalogue.is_ours_announced = ours
    catalogue.result_cache = ResultCache(ContentArchive(max_bytes=1 << 20)) if keeps else None
    return catalogue


@pytest.mark.parametrize(
    ("ours", "keeps", "tool", "expected"),
    [
        (False, False, "validate", False),
        (True, False, "validate", True),
        (True, True, "retrieve_result", True),
        (False, True, "retrieve_result", True),
        (True, False, "retrieve_result", False),
        (False, True, "validate", False),
        (False, True, "other", False),
        (True, True, "other", False),
    ],
)
def test_which_tools_are_ours(tool: str, *, ours: bool, keeps: bool, expected: bool) -> None:
    settings = ProxySettings(validate_method="validate")
    assert is_ours(tool, announced(ours=ours, keeps=keeps), settings) is expected


def test_whose_schemas_a_call_needs() -> None:
    settings = ProxySettings(validate_method="validate")
    off = Policies(ProxySettings(arguments="off"))
    for ours, policies, tool, expected in (
        (False, Policies(), "t", ("t",)),
        (False, off, "t", ()),
        (True, off, "validate", ("validate", "a", "b")),
        (False, Policies(), "validate", ("validate",)),
    ):
        catalogue = announced(ours=ours, keeps=False)
        given = {"tool": "a", "arguments": {}, "calls": [{"tool": "x:b", "arguments": {}}]}
        assert needed_tools(call_of(tool, policies=policies, arguments=given), catalogue, settings) == expected


@pytest.mark.parametrize(
    ("ops", "places"),
    [
        ([], []),
        (["add"], ["/0"]),
        (["replace"], ["/0"]),
        (["add", "replace"], ["/0", "/1"]),
        (["remove"], []),
        (["add", "remove"], []),
    ],
)
def test_only_a_repair_that_sets_values_is_a_correction(ops: list[str], places: list[str]) -> None:
    patch = tuple({"op": op, "path": f"/{number}", "value": number} for number, op in enumerate(ops))
    repair = Repair(arguments={}, patch=patch, confidence="high", steps=(), certainty=1.0)
    report: Any = SimpleNamespace(valid=False, issues=(), suggestions=(), repair=repair)
    reply = validation_reply("t", report, {})
    assert [(found.path, found.value) for found in reply.corrections] == [
        (place, number) for number, place in enumerate(places)
    ]
    report.repair = None
    assert validation_reply("t", report, {}).corrections == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("find_bock", "There is no tool 'find_bock'. Did you mean 'find_book'?"),
        ("zzz", "There is no tool 'zzz'."),
    ],
)
def test_a_name_that_is_close_is_named(name: str, said: str) -> None:
    catalogue = Catalogue()
    catalogue.tools.update({known: KnownTool(known, {}) for known in ("find_book", "drop_table")})
    call = call_of("validate", arguments={"tool": name, "arguments": {}})
    reply = answer_validation(call, catalogue, ResultCheck())
    assert msgspec.json.decode(reply.data)["result"]["structuredContent"]["errors"] == [said]


@pytest.mark.parametrize("count", [0, 1, 2, 19, 20, 21, 22, 30, 31, 50, 51])
def test_tools_are_named_up_to_a_number(count: int) -> None:
    result: Any = no_such_tool(call_of("zzz"), 3, [f"t{number}" for number in range(count)])
    said = result["content"][0]["text"]
    named = said.count("'t")
    rest = f", and {count - named} more" if count > named else ""
    assert named == min(count, 20)
    assert rest in said
    assert (" more" in said) is (count > 20)
    assert (" The server has no tools." in said) is (count == 0)


# ── what is unread ──


@pytest.mark.parametrize(
    ("settings", "requires"),
    [
        (ProxySettings(), False),
        (ProxySettings(record="calls"), False),
        (ProxySettings(record="required"), True),
        (ProxySettings(record="required_calls"), True),
        (ProxySettings(tools={"a": ToolSettings(record="required")}), True),
        (ProxySettings(record="required", tools={"a": ToolSettings(record="calls")}), True),
    ],
)
def test_a_record_is_required_where_that_of_any_tool_is(settings: ProxySettings, *, requires: bool) -> None:
    assert Policies(settings).requires_record is requires


def unread(pending: dict[Any, PendingAnswer], settings: ProxySettings | None = None) -> UnreadMessages:
    found = UnreadMessages(Policies(settings or ProxySettings()), Catalogue(), pending, "own:")
    assert not found.has_asked
    return found


OURS: list[tuple[bytes, bool]] = [
    (b'{"jsonrpc":"2.0","id":"own:1","result":{}}', True),
    (b'{"jsonrpc":"2.0","id":1,"result":{"text":"of own:1"}}', True),
    (b'{"jsonrpc":"2.0","id":1,"result":{}}', False),
    (b'{"jsonrpc":"2.0","id":"\\u006fwn:1","result":{}}', True),
    (b'{"jsonrpc":"2.0","id":"\\u006fwn:1","error":{"code":1,"message":"x"}}', True),
    (b'{"jsonrpc":"2.0","id":"\\u006fther","result":{}}', False),
    (b'{"jsonrpc":"2.0","id":7,"result":{"a":"\\u006f"}}', False),
    (b'{"jsonrpc":"2.0","id":"\\u006fther","method":"ping"}', False),
    (b'{"jsonrpc":"2.0","id":"\\u006fther","result":{},"error":{}}', True),
]


@pytest.mark.parametrize(("data", "ours"), OURS)
def test_what_may_answer_a_question_of_ours_is_not_handed_on(data: bytes, *, ours: bool) -> None:
    messages = unread({})
    assert messages.hands_on(data)
    messages.has_asked = True
    assert messages.hands_on(data) is not ours
    assert not messages.hands_on(b" " + data)


def test_with_more_than_sixteen_open_requests_nothing_is_handed_on() -> None:
    pending: dict[Any, PendingAnswer] = {number: AmbiguousAnswers(1) for number in range(16)}
    assert unread(pending).hands_on(OURS[2][0])
    assert not unread({**pending, 16: AmbiguousAnswers(1)}).hands_on(OURS[2][0])
    for held in (PendingPage(None, 0), PendingOpening("legacy")):
        assert not unread({0: held}).hands_on(OURS[2][0])
        assert held.reads_answer(1)
    assert not AmbiguousAnswers(1).reads_answer(1)


WHOLE: dict[str, Any] = {"results": "off", "output_schema": "enforce", "max_judged_bytes": 1 << 26}


@pytest.mark.parametrize(
    ("settings", "promises", "passes"),
    [
        (ProxySettings(results="enforce"), False, False),
        (ProxySettings(results="off", output_schema="off"), None, True),
        (ProxySettings(**WHOLE), None, False),
        (ProxySettings(**WHOLE), True, False),
        (ProxySettings(**WHOLE), False, True),
        (ProxySettings(results="off", output_schema="enforce", max_judged_bytes=10, max_message_bytes=10), True, False),
        (ProxySettings(results="off", output_schema="enforce", max_judged_bytes=9, max_message_bytes=10), True, True),
        (ProxySettings(results="off", output_schema="off", max_judged_bytes=10, max_message_bytes=10), True, True),
    ],
)
def test_a_long_answer_passes_where_nothing_has_to_be_decided(
    settings: ProxySettings, *, promises: bool | None, passes: bool
) -> None:
    messages = unread({1: call_of(policies=Policies(settings))}, settings)
    if promises is not None:
        schema = {"outputSchema": {"type": "object"}} if promises else {}
        messages._catalogue.tools["t"] = KnownTool("t", {"name": "t", **schema})
    assert messages.passes_to_client(MessageStart(id=1, cut="result")) is passes
    assert messages.passes_to_client(MessageStart(cut="result")) is passes
    assert messages.passes_to_client(MessageStart(id=2, cut="result"))


# ── what is read of a call ──


@pytest.mark.parametrize(
    ("params", "era", "is_task"),
    [
        ({}, "legacy", False),
        ({"task": {}}, "legacy", True),
        ({"task": 7}, "legacy", False),
        ({"_meta": {PROTOCOL_VERSION_KEY: "2026-07-28"}}, "modern", False),
        ({"_meta": {PROTOCOL_VERSION_KEY: "2026-07-28"}, "task": {}}, "modern", False),
        ({"_meta": 7, "task": {}}, "legacy", True),
    ],
)
def test_the_era_of_a_call_says_what_a_task_is(params: dict[str, Any], era: str, *, is_task: bool) -> None:
    found = call_of(**params)
    assert (found.era, found.is_task, found.is_unread) == (era, is_task, False)
    assert (found.number, found.size) == (1, len(found.data))


@pytest.mark.parametrize(("given", "found"), [(None, {}), (b"7", {}), (b"{}", {}), (b'{"b":1}', {"b": b"1"})])
def test_a_member_that_is_no_object_has_no_members(given: bytes | None, found: dict[str, bytes]) -> None:
    held: Raws = {} if given is None else {"a": msgspec.Raw(given)}
    assert {name: bytes(value) for name, value in split_member(held, "a").items()} == found


# ── envelopes ──


def test_the_envelope_of_wrong_arguments_names_what_is_wrong() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    report: ArgumentReport = check_arguments({"name": "t", "inputSchema": schema}, {"n": "5"})
    document = _failure("text", None, "trace", report).to_dict("v2")
    (error,) = document["errors"] if isinstance(document.get("errors"), list) else [document]
    shown = str(document)
    assert "'repair'" in shown
    assert report.issues[0].problem in shown
    assert report.issues[0].fix in shown
    assert error is not None
    plain = str(_failure("the text", None, "trace-7").to_dict("v2"))
    assert "the text" in plain
    assert "trace-7" in plain


# ── single decisions ──


@pytest.mark.parametrize(("about", "inside"), [(None, True), (7, True), ("1own:", True), ("own:1", False)])
def test_a_question_of_ours_does_not_travel_in_a_batch(about: str | int | None, *, inside: bool) -> None:
    def decide(message: bytes) -> list[Step]:
        return [ToServer(b"{}", about), ToServer(message)]

    steps = decide_batch(b"[1,[2]]", decide, ToServer, "own:")
    batch = ToServer(b"[{},1,[2]]" if inside else b"[1,[2]]")
    assert steps == ([batch] if inside else [batch, ToServer(b"{}", about)])


@pytest.mark.parametrize(("version", "json"), [("response-v2", "json"), ("response-v1", None)])
def test_how_a_result_carries_an_envelope(version: str, json: str | None) -> None:
    envelope = {"success": False, "data": None, "error": {}, "meta": {"version": version}}
    text = msgspec.json.encode(envelope).decode()
    without = {key: value for key, value in envelope.items() if key != "data"}
    for result, form in (
        ({}, None),
        ({"structuredContent": envelope}, json),
        ({"structuredContent": without}, None),
        ({"content": [{"type": "text", "text": text}]}, json),
        ({"content": [{"type": "text", "text": f" {text}"}]}, None),
        ({"_meta": {ENVELOPE_KEY: envelope}}, "prose" if json else None),
        ({"_meta": {ENVELOPE_KEY: without}}, None),
    ):
        assert envelope_form(result) == form


@pytest.mark.parametrize(
    ("record", "kept"), [("verdicts", False), ("required", False), ("calls", True), ("required_calls", True)]
)
def test_arguments_are_in_the_note_where_calls_are_recorded(record: Any, *, kept: bool) -> None:
    call = call_of(policies=Policies(ProxySettings(record=record)), arguments={"a": 1})
    note = end_call(call, "lost")
    assert (note.arguments, note.result, note.size) == ({"a": 1} if kept else None, None, 0)


def test_a_question_says_of_the_client_what_its_call_says() -> None:
    capabilities: dict[str, object] = {"io.modelcontextprotocol/clientCapabilities": {}}
    version = {PROTOCOL_VERSION_KEY: "2026-07-28"}
    assert client_meta(call_of(_meta={**capabilities, "other": 1})) == {}
    assert client_meta(call_of(_meta={**version, **capabilities, "other": 1})) == {**version, **capabilities}


@pytest.mark.parametrize(
    ("arguments", "limit", "found"),
    [
        ({"a": "x" * (1 << 20)}, 1 << 10, {}),
        ({"a": "x" * (1 << 20)}, 1 << 22, {"a": "x" * (1 << 20)}),
        ([1, "x" * (1 << 20)], 1 << 10, None),
        ([1, "x" * (1 << 20)], 1 << 22, None),
    ],
)
def test_a_large_call_is_read_as_far_as_its_limit(arguments: object, limit: int, found: object) -> None:
    policies = Policies(ProxySettings(max_arguments_bytes=limit))
    params = {"name": "t", "arguments": arguments}
    request = parse(msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
    assert isinstance(request, Request)
    call = read_call(request, 1, policies, TraceSource())
    assert (None if call is None else call.arguments) == found
    assert call is None or call.is_unread is (found == {})


@pytest.mark.parametrize(("arguments", "refused"), [("enforce", True), ("audit", False), ("off", False)])
def test_a_call_that_is_too_long_to_be_kept_passes_where_its_arguments_may(arguments: Any, *, refused: bool) -> None:
    session = Session(Policies(ProxySettings(arguments=arguments)))
    request = parse(msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}}))
    assert isinstance(request, Request)
    steps = session.take_unread_call(request, 1 << 30)
    answers = [step for step in steps if isinstance(step, ToClient)]
    assert bool(answers) is refused
    (note,) = (step for step in steps if isinstance(step, CallStarted | CallEnded))
    assert isinstance(note, CallEnded) is refused
    assert (note.call, note.tool) == (1, "t")
    pending = session._pending.get(1)
    if not refused:
        assert isinstance(pending, PendingCall)
        assert (pending.size, pending.would_block) == (1 << 30, "limits" if arguments == "audit" else None)
