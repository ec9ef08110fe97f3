"""Parts of a session by themselves: each state after each step, at the borders where a decision changes."""

from typing import Any, get_args

import pytest
from tests.session.test_own_answers import message, text

from toolvet.session import CallEnded, Policies, ProxySettings, Session, ToClient, ToolSettings, ToServer
from toolvet.session.breaker import Breaker
from toolvet.session.catalogue import Catalogue
from toolvet.session.fit import FitRoom, _share, fit_result
from toolvet.session.kept import KeptResults
from toolvet.session.pending import AmbiguousAnswers, PendingPage, read_call
from toolvet.session.policy import RecordWord
from toolvet.session.refusal import no_such_tool
from toolvet.session.repeats import RepeatWatch
from toolvet.session.retrieval import _found
from toolvet.session.splice import member, raw, split_members
from toolvet.session.trace import TraceSource
from toolvet.wire import Request, parse

# ── what repeats ──

State = tuple[int, int, str | None, dict[str, int | None]]


def state(watch: RepeatWatch) -> State:
    """How many calls brought nothing new, how many were refused, the last call, and the digest of each."""
    last = None if watch._last is None else watch._last[0]
    return watch._stale, watch._refusals, last, {key[0]: seen.digest for key, seen in watch._calls.items()}


def noted(watch: RepeatWatch, tool: str, effect: str = "reads", digest: int | None = 7) -> State:
    watch.note_result(tool, {"q": 1}, effect=lambda: effect, digest=lambda: digest)
    return state(watch)


def test_results_that_bring_nothing_new_are_counted_and_news_ends_the_row() -> None:
    watch = RepeatWatch()
    assert state(watch) == (0, 0, None, {})
    assert noted(watch, "a") == (0, 0, "a", {"a": None})
    assert noted(watch, "a") == (0, 0, "a", {"a": 7})
    assert noted(watch, "a") == (1, 0, "a", {"a": 7})
    assert noted(watch, "b") == (0, 0, "b", {"a": 7, "b": None})
    assert noted(watch, "b") == (0, 0, "b", {"a": 7, "b": 7})
    assert noted(watch, "a") == (1, 0, "a", {"a": 7, "b": 7})
    assert noted(watch, "a", digest=8) == (0, 0, "a", {"a": 8, "b": 7})
    assert noted(watch, "b") == (1, 0, "b", {"a": 8, "b": 7})
    assert noted(watch, "b", digest=None) == (0, 0, "b", {"a": 8, "b": None})
    watch.note_quiet()
    assert state(watch) == (0, 0, None, {"a": 8, "b": None})
    noted(watch, "a", digest=8)
    watch.clear()
    assert state(watch) == (0, 0, None, {})


@pytest.mark.parametrize(
    ("effect", "last", "after"),
    [
        ("reads", "a", (2, 0, "a", {"a": 7, "b": 7})),
        ("changes", "a", (0, 0, "a", {"a": None, "b": 7})),
        ("sets", "a", (2, 0, "a", {"a": 7, "b": 7})),
        ("sets", "b", (0, 0, "a", {"a": None, "b": 7})),
    ],
)
def test_what_a_tool_does_decides_whether_a_result_can_be_old(effect: str, last: str, after: State) -> None:
    watch = RepeatWatch()
    for tool in ("a", "b", "a", "b"):
        noted(watch, tool)
    noted(watch, last)
    assert noted(watch, "a", effect) == after


def test_failures_count_beside_results() -> None:
    watch = RepeatWatch()

    def failed(tool: str) -> State:
        watch.note_failure(tool, {"q": 1})
        return state(watch)

    assert failed("a") == (0, 0, "a", {"a": -1})
    assert failed("a") == (1, 0, "a", {"a": -1})
    assert failed("b") == (0, 0, "b", {"a": -1, "b": -1})
    assert failed("a") == (1, 0, "a", {"a": -1, "b": -1})
    assert noted(watch, "a") == (0, 0, "a", {"a": 7, "b": -1})
    assert failed("b") == (1, 0, "b", {"a": 7, "b": -1})
    assert failed("a") == (0, 0, "a", {"a": -1, "b": -1})


@pytest.mark.parametrize(
    ("stale", "limit", "arguments", "digest", "refusals", "found"),
    [
        (3, 5, {"q": 1}, 7, 0, 5),
        (2, 5, {"q": 1}, 7, 0, 0),
        (3, 0, {"q": 1}, 7, 0, 0),
        (1, 1, {"q": 1}, 7, 0, 3),
        (0, 1, {"q": 1}, 7, 0, 0),
        (1, 2, {"q": 1}, 7, 2, 3),
        (1, 2, {"q": 1}, 7, 3, 0),
        (3, 5, {"q": 1}, None, 0, 0),
        (3, 5, {"q": 1}, -1, 0, 0),
        (3, 5, {"q": 2}, 7, 0, 0),
        (17, 5, {}, 7, 0, 0),
        (18, 5, {}, 7, 0, 20),
    ],
)
def test_from_when_on_a_call_is_refused(  # noqa: PLR0917 - a row of the table
    stale: int, limit: int, arguments: dict[str, Any], digest: int | None, refusals: int, found: int
) -> None:
    watch = RepeatWatch()
    for given in ({"q": 1}, {}):
        for _ in range(2):
            watch.note_result("a", given, effect=lambda: "reads", digest=lambda: digest)
    watch._stale, watch._refusals = stale, refusals
    assert watch.check("a", arguments, limit) == found
    assert watch._refusals == (refusals + 1 if found else 0 if refusals == 3 else refusals)


def test_only_so_many_calls_are_remembered() -> None:
    watch = RepeatWatch()
    for number in range(262):
        noted(watch, str(number))
    assert list(state(watch)[3]) == [str(number) for number in range(6, 262)]


# ── what fails ──


def test_failures_of_a_call_are_counted_by_its_arguments_and_forgotten_when_it_works() -> None:
    breaker = Breaker()
    assert [breaker.check("a", {"q": 1}, limit) for limit in (0, 1, 2)] == [0, 0, 0]
    assert [breaker.count_failure("a", {"q": 1}) for _ in range(2)] == [1, 2]
    assert [Breaker().check_name("a", limit) for limit in (0, 1)] == [0, 0]
    assert [breaker.check("a", {"q": 1}, limit) for limit in (0, 3, 2)] == [0, 0, 2]
    assert breaker.check("a", {"q": 2}, 1) == 0
    breaker.count_name("b")
    assert [breaker.check_name("b", limit) for limit in (0, 2, 1)] == [0, 0, 1]
    breaker.note_success("b", {"q": 1}, changes_things=False)
    assert breaker.check_name("b", 1) == 0
    breaker.note_success("a", {"q": 1}, changes_things=False)
    assert breaker.check("a", {"q": 1}, 1) == 0


def test_a_call_that_works_clears_itself_and_one_that_changes_things_clears_all() -> None:
    for tool, arguments, changes, left in (
        ("a", {"q": 2}, False, 1),
        ("b", {"q": 1}, False, 1),
        ("a", {"q": 1}, False, 0),
        ("b", {}, True, 0),
    ):
        breaker = Breaker()
        breaker.count_failure("a", {"q": 1})
        breaker.note_success(tool, arguments, changes_things=changes)
        assert breaker.check("a", {"q": 1}, 1) == left


# ── what is too long ──


@pytest.mark.parametrize(
    ("fit", "room"),
    [
        (0, (0, False)),
        ("0 characters", (0, False)),
        ("00", (0, False)),
        ("many", (0, False)),
        (1, (600, True)),
        (200, (600, True)),
        (201, (603, True)),
        ("201 tokens", (603, True)),
        ("599 characters", (600, False)),
        ("601 characters", (601, False)),
    ],
)
def test_the_room_of_a_result(fit: int | str, room: tuple[int, bool]) -> None:
    assert FitRoom.of(fit) == room


@pytest.mark.parametrize(
    ("in_bytes", "words", "characters"),
    [
        (False, "äöü", 900),
        (True, "", 900),
        (True, "abc", 900),
        (True, "äöü", 450),
        (True, "漢字", 300),
        (True, "😀", 225),
    ],
)
def test_so_many_characters_have_room(words: str, characters: int, *, in_bytes: bool) -> None:
    assert FitRoom(900, in_bytes).characters(words) == characters


def test_a_room_is_never_nothing_and_long_texts_are_measured_at_their_beginning() -> None:
    assert FitRoom(1, in_bytes=True).characters("漢") == 1
    assert FitRoom(900, in_bytes=True).characters("a" * 100_000 + "漢" * 100_000) == 900
    assert FitRoom(900, in_bytes=True).characters("a" * 99_999 + "漢" * 100_000) == 899


@pytest.mark.parametrize(
    ("sizes", "room", "share"),
    [
        ([], 100, 100),
        ([100], 100, 100),
        ([101], 100, 100),
        ([50, 50], 100, 100),
        ([51, 50], 100, 50),
        ([10, 200], 100, 90),
        ([200, 10, 200], 100, 45),
        ([1, 1, 1], 2, 0),
        ([30, 30, 30, 500], 100, 25),
        ([20, 30, 500], 100, 50),
    ],
)
def test_short_texts_leave_their_room_to_long_ones(sizes: list[int], room: int, share: int) -> None:
    assert _share(sizes, room) == share


@pytest.mark.parametrize(
    "data",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{"content":"' + b"x" * 3_000 + b'"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[1e999,"' + b"x" * 3_000 + b'"]}}',
        b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 3_000 + b'"}',
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"short"}],"x":"' + b"x" * 3_000 + b'"}}',
        b"x" * 3_000,
    ],
)
def test_what_cannot_be_shortened_stays_the_very_same(data: bytes) -> None:
    kept = KeptResults(Policies(ProxySettings(fit=200)).archive)
    assert fit_result(data, FitRoom(600, in_bytes=False), None, kept, "more") == (data, ())
    assert fit_result(data, FitRoom(600, in_bytes=False), None, kept, "more")[0] is data


def test_a_result_that_is_as_long_as_its_room_stays_and_all_long_texts_are_shortened() -> None:
    kept = KeptResults(Policies(ProxySettings(fit=200)).archive)
    blocks = [{"type": "text", "text": letter * 800} for letter in "ab"]
    image = {"type": "image", "data": "x" * 900, "mimeType": "image/png"}
    data = message(id=1, result={"content": [blocks[0], image, blocks[1]]})
    assert fit_result(data, FitRoom(len(data), in_bytes=False), None, kept, "more") == (data, ())
    found, changed = fit_result(data, FitRoom(700, in_bytes=False), None, kept, "more")
    assert changed == ("content",)
    result: Any = parse(found).result  # type: ignore[union-attr]
    assert [note["characters"] for note in result["_meta"]["dev.toolvet/fit"]] == [800, 800]
    assert result["content"][1] == image
    assert all(len(result["content"][place]["text"]) <= 350 for place in (0, 2))
    assert len(result["content"]) == 5


def test_places_are_shown_as_long_as_there_is_room() -> None:
    words = " ".join(["needle" + " x" * 400] * 30)
    shown = [_found(words, "needle", 0, most) for most in (10, 620, 930, 1_520, 1_600, 100_000)]
    assert [len(each) - 1 for each in shown] == [1, 1, 2, 2, 3, 20]
    assert [len(each) for each in shown[5][:4]] == [312, 614, 615, 615]
    assert shown[0][0] == shown[5][0][:200]
    assert [len(_found(words, "needle", 0, most)) - 1 for most in (925, 926, 1_540, 1_541)] == [1, 2, 2, 3]
    ends = [_found(words, "needle", skipped, 100_000)[-1] for skipped in (9, 10, 29)]
    assert [each.partition(" Read")[0] for each in ends] == [
        '[20 of 30 places; for the next: "offset": 29.',
        "[20 of 30 places.",
        "[1 of 30 places.",
    ]


# ── small states ──

TWENTY = ", ".join(f"'t{number}'" for number in range(20))


def test_nothing_is_known_of_a_server_at_first() -> None:
    found = Catalogue()
    assert (found.tools, found.announcement, found.is_ours_announced, dict(found.stamp)) == ({}, None, False, {})
    assert (found.client_capabilities, found.lifetime_ms, found.is_one_conversation) == (None, None, True)
    assert (found.kept, found.generation, found.is_complete) == (None, 0, False)
    assert (found.breaker.check("a", {}, 1), found.repeats.check("a", {}, 1)) == (0, 0)


def test_what_needs_no_reading() -> None:
    assert [AmbiguousAnswers(2).reads_answer(size) for size in (1, 1 << 22)] == [False, False]
    assert [PendingPage(None, 0).reads_answer(size) for size in (1, 1 << 22)] == [True, True]


@pytest.mark.parametrize("word", get_args(RecordWord))
@pytest.mark.parametrize("other", get_args(RecordWord))
def test_a_record_is_required_where_any_tool_requires_it(word: RecordWord, other: RecordWord) -> None:
    policies = Policies(ProxySettings(record=word, tools={"a": ToolSettings(record=other)}))
    assert policies.requires_record is any(each in ("required", "required_calls") for each in (word, other))


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, " The server has no tools."),
        (1, " The server's tools are: 't0'."),
        (20, f" The server's tools are: {TWENTY}."),
        (21, f" The server's tools are: {TWENTY}, and 1 more."),
        (50, f" The server's tools are: {TWENTY}, and 30 more."),
    ],
)
def test_a_name_that_no_tool_has_is_told_with_the_tools_there_are(count: int, told: str) -> None:
    request = parse(message(id=1, method="tools/call", params={"name": "unheard_of", "arguments": {}}))
    assert isinstance(request, Request)
    call = read_call(request, 1, Policies(), TraceSource())
    assert call is not None
    found: Any = no_such_tool(call, 3, [f"t{number}" for number in range(count)])
    assert found["content"][0]["text"] == (
        "There is no tool 'unheard_of': 3 calls of it failed, and other arguments will not help. "
        f"It was not called again.{told}"
    )


def test_members_that_are_no_objects_have_no_members_and_large_numbers_are_encoded() -> None:
    held = split_members(b'{"a":{"b":1},"c":[1],"d":{"e":}}'.replace(b'{"e":}', b"7"))
    assert {name: bytes(value) for name, value in member(held, "a").items()} == {"b": b"1"}
    assert [member(held, name) for name in ("c", "d", "missing")] == [{}, {}, {}]
    assert bytes(raw({"n": 10**40})) == b'{"n":' + str(10**40).encode() + b"}"
    assert bytes(raw([1, "ü"])) == '[1,"ü"]'.encode()


@pytest.mark.parametrize(("more", "judged"), [(0, True), (1, False)])
def test_a_result_is_judged_up_to_its_limit(more: int, *, judged: bool) -> None:
    result = b'{"content":[{"type":"text","text":"' + b"y" * 200 + b'"}]}'
    reply = b'{"jsonrpc":"2.0","id":1,"result":' + result + b"}"
    # The size of a result is that of its whole message.
    session = Session(Policies(ProxySettings(max_judged_bytes=len(reply) - more, arguments="off")))
    sent = session.from_client(message(id=1, method="tools/call", params={"name": "a", "arguments": {}}))
    assert isinstance(sent[0], ToServer)
    passed, note = session.from_server(reply)
    assert isinstance(passed, ToClient)
    assert isinstance(note, CallEnded)
    assert (note.verdict is not None, note.unjudged is None) == (judged, judged)


@pytest.mark.parametrize(
    ("number", "asked"),
    [("1", True), ("2", False), ("0", False), ("1x", False), ("000000000000001", True), ("0" * 15 + "1", False)],
)
def test_which_questions_are_ours(number: str, *, asked: bool) -> None:
    session = Session(Policies())
    session.from_client(message(id=1, method="tools/call", params={"name": "a", "arguments": {}}))
    reply = message(id=f"toolvet:{number}", result={"tools": []})
    assert (session.from_server(reply) == [ToClient(reply)]) is not asked


def test_a_row_of_failures_counts_names_only_of_one_conversation() -> None:
    for single, found in ((True, 1), (False, 0)):
        catalogue = Catalogue()
        catalogue.is_one_conversation = single
        session = Session(Policies(ProxySettings(break_after=0)), catalogue)
        session.from_client(message(id="l", method="tools/list"))
        session.from_server(message(id="l", result={"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}))
        for number in range(3):
            session.from_client(message(id=number, method="tools/call", params={"name": "a", "arguments": {"q": 1}}))
            session.from_server(message(id=number, result=text("No column named 'q' in the table", isError=True)))
        assert min(catalogue.repeats._stale, 1) == found


def test_a_server_whose_tools_changed_has_no_past() -> None:
    found = Catalogue()
    found.breaker.count_failure("a", {"q": 1})
    found.breaker.count_name("b")
    for _ in range(3):
        noted(found.repeats, "a")
    assert (found.breaker.check("a", {"q": 1}, 1), found.breaker.check_name("b", 1), found.repeats._stale) == (1, 1, 1)
    found.forget_calls()
    assert (found.breaker.check("a", {"q": 1}, 1), found.breaker.check_name("b", 1)) == (0, 0)
    assert state(found.repeats) == (0, 0, None, {})


@pytest.mark.parametrize(("depth", "limit", "passes"), [(1, 1, True), (2, 1, False), (2, 2, True), (3, 2, False)])
def test_arguments_are_as_deep_as_a_policy_allows(depth: int, limit: int, *, passes: bool) -> None:
    arguments: Any = {}
    for _ in range(depth - 1):
        arguments = {"a": arguments}
    session = Session(Policies(ProxySettings(max_depth=limit)))
    session.from_client(message(id="l", method="tools/list"))
    session.from_server(message(id="l", result={"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}))
    steps = session.from_client(message(id=1, method="tools/call", params={"name": "a", "arguments": arguments}))
    assert isinstance(steps[0], ToServer) is passes
