"""Parts of a session by themselves, where a decision changes."""

from typing import Any

import pytest
from tests.proxy.session.test_own_answers import message, text

from toolvet.mcp.wire import encode_raw
from toolvet.proxy.session import CallEnded, Policies, ProxySettings, Session, ToClient, ToServer
from toolvet.proxy.session.catalogue import Catalogue, ResultCache
from toolvet.proxy.session.fit import FitRoom, fit_result
from toolvet.proxy.session.pending import AmbiguousAnswers, PendingPage
from toolvet.proxy.session.repeats import Breaker

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
    kept = ResultCache(Policies(ProxySettings(fit=200)).archive)
    assert fit_result(data, FitRoom(600, in_bytes=False), None, kept, "more") == (data, ())
    assert fit_result(data, FitRoom(600, in_bytes=False), None, kept, "more")[0] is data


# ── small states ──


def test_nothing_is_known_of_a_server_at_first() -> None:
    found = Catalogue()
    assert (found.tools, found.announcement, found.is_ours_announced, dict(found.stamp)) == ({}, None, False, {})
    assert (found.client_capabilities, found.lifetime_ms, found.is_one_conversation) == (None, None, True)
    assert (found.result_cache, found.generation, found.is_complete) == (None, 0, False)
    assert (found.breaker.check("a", {}, 1), found.repeats.check("a", {}, 1)) == (0, 0)


def test_what_needs_no_reading() -> None:
    assert [AmbiguousAnswers(2).reads_answer(size) for size in (1, 1 << 22)] == [False, False]
    assert [PendingPage(None, 0).reads_answer(size) for size in (1, 1 << 22)] == [True, True]


def test_large_numbers_are_encoded_as_they_are() -> None:
    assert bytes(encode_raw({"n": 10**40})) == b'{"n":' + str(10**40).encode() + b"}"
    assert bytes(encode_raw([1, "ü"])) == '[1,"ü"]'.encode()


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
        found.repeats.note_result("a", {"q": 1}, effect=lambda: "reads", digest=lambda: 7)
    assert (found.breaker.check("a", {"q": 1}, 1), found.breaker.check_name("b", 1), found.repeats._stale) == (1, 1, 1)
    found.forget_calls()
    assert (found.breaker.check("a", {"q": 1}, 1), found.breaker.check_name("b", 1)) == (0, 0)
    assert (found.repeats._stale, found.repeats._last, found.repeats._calls) == (0, None, {})


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
