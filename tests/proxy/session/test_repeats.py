"""Models that go round in circles with calls that work, and what only looks like that."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from tests.proxy.session.test_own_answers import message, text

from toolvet.proxy.session import Asked, Policies, ProxySettings, Session, ToServer
from toolvet.proxy.session.catalogue import Catalogue
from toolvet.proxy.session.repeats import (
    RepeatWatch,
    asks_for_a_state,
    goes_on,
    repeat_tables,
    says_no_tool,
)

LIMIT = 5
ANY: dict[str, Any] = {"type": "object"}
PLAIN = [
    {"name": name, "inputSchema": ANY}
    for name in ("search_books", "read_file", "list_books", "edit_file", "add_book", "get_job_status", "press_key")
]
ANNOTATED = [
    {"name": "look_up", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "fetch_page", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "set_title", "inputSchema": ANY, "annotations": {"readOnlyHint": False, "idempotentHint": True}},
    {"name": "push", "inputSchema": ANY, "annotations": {"readOnlyHint": False}},
]
Call = tuple[str, dict[str, Any], dict[str, Any]]
ONE_BOOK = text("1 book: Emma")
FAILED = text("The file has another content", isError=True)


def played(calls: Iterable[Call], tools: Sequence[dict[str, Any]] = PLAIN, **settings: Any) -> list[str]:
    """The outcome of each call: "sent", or why it was not."""
    session = Session(Policies(ProxySettings(**settings)))
    session.from_client(message(id=1, method="tools/list"))
    session.from_server(message(id=1, result={"tools": tools}))
    return [one(session, number, call) for number, call in enumerate(calls, 2)]


def one(session: Session, number: int, call: Call) -> str:
    name, arguments, answer = call
    steps = session.from_client(message(id=number, method="tools/call", params={"name": name, "arguments": arguments}))
    for asked in [step for step in steps if isinstance(step, Asked)]:
        # The list, which is read once more for a tool that was not on it.
        steps = session.from_server(message(id=asked.id, result={"tools": PLAIN}))
    if any(isinstance(step, ToServer) for step in steps):
        session.from_server(message(id=number, **({"error": answer} if "code" in answer else {"result": answer})))
        return "sent"
    return next(step.blocked for step in steps if hasattr(step, "blocked")) or ""


def unknown(name: str) -> Call:
    return name, {"q": name}, {"code": -32602, "message": f"Unknown tool: {name}"}


SEARCH: Call = ("search_books", {"q": "emma"}, ONE_BOOK)
READ: Call = ("read_file", {"path": "a.txt"}, text("line 1"))
EDIT: Call = ("edit_file", {"path": "a.txt", "old": "x"}, FAILED)
LOOK: Call = ("look_up", {"word": "a"}, text("the first letter"))
FETCH: Call = ("fetch_page", {"url": "https://a.example"}, text("a page"))
TITLE: Call = ("set_title", {"title": "Emma"}, text("ok"))
NOTHING: Call = ("search_books", {"q": "emmma"}, text("[]"))

CIRCLES: list[tuple[str, list[Call], list[dict[str, Any]]]] = [
    ("one search", [SEARCH], PLAIN),
    ("one search that finds nothing", [NOTHING], PLAIN),
    ("a tool that says that it reads", [LOOK], ANNOTATED),
    ("a setting that is set already", [TITLE], ANNOTATED),
    ("a pair of searches", [SEARCH, NOTHING], PLAIN),
    ("a search and a file", [SEARCH, READ], PLAIN),
    ("a pair that reads", [LOOK, FETCH], ANNOTATED),
    ("an edit that fails, and the look after it", [READ, EDIT], PLAIN),
    ("three in turn", [SEARCH, READ, NOTHING], PLAIN),
    ("a tool that does not exist", [unknown("frobnicate")], PLAIN),
    (
        "a tool that does not exist, with other arguments each time",
        [("frob", {"n": n}, unknown("frob")[2]) for n in range(LIMIT)],
        PLAIN,
    ),
    ("an edit that fails", [EDIT], PLAIN),
]


@pytest.mark.parametrize(("name", "circle", "tools"), CIRCLES, ids=[name for name, *_ in CIRCLES])
def test_a_circle_stops_within_five_useless_calls(name: str, circle: list[Call], tools: list[dict[str, Any]]) -> None:
    rounds = len({(call[0], json.dumps(call[1])) for call in circle}) if "other arguments" not in name else 1
    found = played(circle * 20, tools)
    # The first call of each kind brings something; the second has nothing to be compared with.
    assert set(found[: LIMIT + 2 * (rounds - 1) + 1]) - {"sent"}


WORK: list[tuple[str, list[Call], list[dict[str, Any]]]] = [
    ("other arguments each time", [("search_books", {"page": n}, ONE_BOOK) for n in range(60)], PLAIN),
    ("other results each time", [("read_file", {"path": "log"}, text(f"line {n}")) for n in range(60)], PLAIN),
    ("the same thing added again", [("add_book", {"title": "Emma"}, text("ok"))] * 60, PLAIN),
    ("a key that is pressed", [("press_key", {"key": "Down"}, text("ok"))] * 60, PLAIN),
    ("what a tool says that it changes", [("push", {"what": "x"}, text("ok"))] * 60, ANNOTATED),
    ("a job that is asked about", [("get_job_status", {"job": 7}, text("running"))] * 60, PLAIN),
    ("a job that goes on", [("read_file", {"job": 7}, text('{"status": "in_progress"}'))] * 60, PLAIN),
    ("a build in words", [("read_file", {"build": 7}, text("The build is still running."))] * 60, PLAIN),
    (
        "a look after each change",
        [call for n in range(20) for call in (("edit_file", {"n": n}, text("ok")), READ)],
        PLAIN,
    ),
    ("a setting that goes back and forth", [TITLE, ("set_title", {"title": "x"}, text("ok"))] * 30, ANNOTATED),
    (
        "two files read again beside new ones",
        [call for n in range(20) for call in (READ, SEARCH, ("read_file", {"path": str(n)}, text("x")))],
        PLAIN,
    ),
    ("how things stand, a few times", [("list_books", {}, text("[]"))] * (4 * LIMIT), PLAIN),
    (
        "what may work later",
        [("search_books", {"q": "x"}, text("Rate limit exceeded, retry after 3 seconds", isError=True))] * 60,
        PLAIN,
    ),
]


@pytest.mark.parametrize(("calls", "tools"), [case[1:] for case in WORK], ids=[name for name, *_ in WORK])
def test_work_is_not_stopped(calls: list[Call], tools: list[dict[str, Any]]) -> None:
    assert set(played(calls, tools)) == {"sent"}


def test_how_things_stand_is_no_question_for_ever() -> None:
    found = played([("list_books", {}, text("[]"))] * (4 * LIMIT + 1))
    assert found[-1] == "unchanged"


def test_the_answer_says_what_to_do() -> None:
    session = Session(Policies())
    session.from_client(message(id=1, method="tools/list"))
    session.from_server(message(id=1, result={"tools": PLAIN}))
    assert [one(session, number, SEARCH) for number in range(2, 8)] == ["sent"] * LIMIT + ["unchanged"]
    steps = session.from_client(message(id=9, method="tools/call", params={"name": SEARCH[0], "arguments": SEARCH[1]}))
    said = json.loads(steps[0].data)["result"]  # type: ignore[union-attr]
    assert said["isError"]
    assert "nothing was changed meanwhile" in said["content"][0]["text"]


def test_after_as_many_refusals_one_call_is_sent() -> None:
    found = played([SEARCH] * 12)
    assert found == ["sent"] * 5 + ["unchanged"] * 5 + ["sent", "unchanged"]


def test_another_result_ends_the_row() -> None:
    found = played([*[SEARCH] * 4, (*SEARCH[:2], text("2 books")), *[(*SEARCH[:2], text("2 books"))] * 3])
    assert set(found) == {"sent"}


@pytest.mark.parametrize("settings", [{"break_repeats": 0}, {"results": "off"}])
def test_it_can_be_switched_off(settings: dict[str, Any]) -> None:
    assert set(played([SEARCH] * 30, **settings)) == {"sent"}


def test_an_audit_only_notes_it() -> None:
    assert set(played([SEARCH] * 30, arguments="audit")) == {"sent"}


def test_the_lowest_limit_is_three() -> None:
    assert played([SEARCH] * 4, break_repeats=1) == ["sent"] * 3 + ["unchanged"]


def test_calls_of_many_conversations_are_no_circle() -> None:
    catalogue = Catalogue()
    catalogue.is_one_conversation = False
    session = Session(Policies(), catalogue)
    session.from_client(message(id=1, method="tools/list"))
    session.from_server(message(id=1, result={"tools": PLAIN}))
    assert {one(session, number, SEARCH) for number in range(2, 40)} == {"sent"}
    refused = unknown("serch_books")[2]
    assert {one(session, number, ("serch_books", {"n": number}, refused)) for number in range(50, 60)} == {"sent"}


def test_after_a_quiet_while_the_row_begins_anew() -> None:
    catalogue = Catalogue()
    session = Session(Policies(), catalogue)
    session.from_client(message(id=1, method="tools/list"))
    session.from_server(message(id=1, result={"tools": PLAIN}))
    for number in range(2, 40):
        assert one(session, number, SEARCH) == "sent"
        if number % 3 == 0:
            catalogue.repeats.note_quiet()


def test_a_model_hears_which_tools_there_are() -> None:
    session = Session(Policies())
    session.from_client(message(id=1, method="tools/list"))
    session.from_server(message(id=1, result={"tools": PLAIN}))
    calls = [("serch_books", {"n": n}, unknown("serch_books")[2]) for n in range(LIMIT)]
    assert {one(session, number, call) for number, call in enumerate(calls, 2)} == {"sent"}
    steps = session.from_client(message(id=9, method="tools/call", params={"name": "serch_books", "arguments": {}}))
    said = json.loads(steps[0].data)["result"]["content"][0]["text"]  # type: ignore[union-attr]
    assert "There is no tool 'serch_books'" in said
    assert "Did you mean 'search_books'?" in said


def test_a_tool_that_is_not_listed_but_fails_for_another_reason_is_called() -> None:
    calls = [("hidden", {"n": n}, {"code": -32603, "message": f"row {n} is locked"}) for n in range(30)]
    assert set(played(calls)) == {"sent"}


def test_the_memory_is_bounded() -> None:
    watch = RepeatWatch()
    for number in range(1_000):
        watch.note_result("get", {"n": number}, effect=lambda: "reads", digest=lambda: 1)
        watch.note_failure("get", {"m": number})
    assert len(watch._calls) <= 256


def test_what_is_asked_of_a_result_is_asked_only_where_a_call_comes_again() -> None:
    asked: list[str] = []
    watch = RepeatWatch()

    def effect() -> str:
        asked.append("effect")
        return "reads"

    def digest() -> int:
        asked.append("digest")
        return 1

    for number in range(3):
        watch.note_result("get", {"n": number}, effect=effect, digest=digest)
    assert asked == []
    watch.note_result("get", {"n": 0}, effect=effect, digest=digest)
    assert asked == ["effect", "digest"]


TABLES = repeat_tables()


def test_words_of_names() -> None:
    assert [name for name in TABLES.asking.hits if not asks_for_a_state(name)] == []
    assert [name for name in TABLES.asking.misses if asks_for_a_state(name)] == []


def test_words_of_results_that_go_on() -> None:
    table, texts = TABLES.unfinished, TABLES.unfinished_text
    assert [said for said in (*table.hits, *texts.hits) if not goes_on(text(said))] == []
    assert [said for said in (*table.misses, *texts.misses) if goes_on(text(said))] == []
    assert [said for said in table.hits if not goes_on({"structuredContent": json.loads(said)})] == []


def test_words_of_errors_without_a_tool() -> None:
    table = TABLES.no_tool
    assert [said for said in table.hits if not says_no_tool(said, "frobnicate")] == []
    assert [said for said in table.misses if says_no_tool(said, "frobnicate")] == []


def test_every_word_is_needed_once() -> None:
    for table in (TABLES.asking, TABLES.unfinished, TABLES.unfinished_text):
        for words in (table.words, table.names, table.values, table.phrases):
            assert list(words) == sorted(set(words))
            assert all(re.fullmatch(r"[a-z_ ]+", word) for word in words)


def test_odd_results_are_looked_at_in_bounds() -> None:
    deep: Any = {"status": "running"}
    for _ in range(50):
        deep = {"a": deep}
    assert not goes_on({"structuredContent": deep})
    assert not goes_on({"content": [None, 7, {"text": 5}, {"text": "{" * 100_000}]})
    assert goes_on(text('{"status": 5, is still running'))
    assert not goes_on(None)
