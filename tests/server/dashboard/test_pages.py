"""Every page, with an empty store and with one whose texts are hostile, as a browser without scripts gets it."""

import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest
from starlette.testclient import TestClient
from tests.server.dashboard.filled import HOSTILE, TRACE, UNSEEN, fill, more, today

from toolvet import check_answer
from toolvet.server.access.gate import Gate
from toolvet.server.access.people import People
from toolvet.server.access.role import Person, Role
from toolvet.server.access.session import Sessions
from toolvet.server.context import ServerContext
from toolvet.server.dashboard.app import make_app
from toolvet.server.dashboard.pages import turns
from toolvet.server.dashboard.rendering import assets, pages
from toolvet.server.dashboard.view.formats import conversation_path, server_path, tool_path, turn_path
from toolvet.store import Store, VerdictFilter, verdict_page

LISTS: Final = (
    "/",
    "/?period=7d",
    "/?since=2026-01-01&until=2026-01-02",
    "/servers?period=90d",
    "/tools?sort=slow",
    "/verdicts",
    "/verdicts?kind=answer&escalated=1&max_score=0.5&period=1h&order=lowest_score",
    "/verdicts?signal=nothing",
    "/search",
    "/search?q=warehouse",
    f"/search?q={TRACE[:8]}",
    "/assessments",
    "/assessments?server=nothing",
    "/assessments/compare",
    "/compare",
    "/compare?by=model",
    "/compare?a=a&b=b",
    "/events",
)
SHOP: Final = f"shop/{HOSTILE}"
MOST_ASSETS: Final = 150 * 1024


def client(store: Store) -> TestClient:
    """A visitor at this machine."""
    gate = Gate(People(local=Person("ada", Role.ADMIN)), Sessions())
    return TestClient(make_app(ServerContext(store), gate), base_url="http://127.0.0.1:8741")


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[TestClient]:
    with Store(tmp_path / "empty.db") as store:
        yield client(store)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[TestClient]:
    fill(tmp_path / "full.db", today())
    with Store(tmp_path / "full.db") as store:
        yield client(store)


@pytest.fixture
def ones(full: TestClient, tmp_path: Path) -> list[str]:  # noqa: ARG001 - which fills the store
    """The paths of pages about one thing."""
    with Store(tmp_path / "full.db") as store:
        newer, older = store.assessments()
        verdicts = store.verdicts(VerdictFilter())
    return [
        turn_path(TRACE),
        turn_path(TRACE[:10]),
        conversation_path(f"talk/{HOSTILE}"),
        server_path(SHOP),
        server_path("shop"),
        tool_path(SHOP, f"find/{HOSTILE}"),
        tool_path(SHOP, ".."),
        tool_path("shop", "find"),
        f"/assessment/{newer.id}",
        f"/assessment/{older.id}",
        f"/assessments/compare?a={older.id}&b={newer.id}",
        *(f"/verdict/{verdict.id}" for verdict in verdicts),
    ]


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(words)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def check_safe(words: str) -> None:
    """No script or style stands in the page, no text became an element, and no control character is left."""
    for tag, attributes in Elements(words).found:
        assert tag != "img"
        assert tag != "style"
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        if tag == "script":
            assert attributes.get("type") == "application/json" or str(attributes.get("src")).startswith("/static/")
    assert "alert(1)&gt;49" not in words
    assert not set(UNSEEN) & set("\u202e\x1b") & set(words)


@pytest.mark.parametrize("path", LISTS)
def test_every_list_answers_for_an_empty_store(empty: TestClient, path: str) -> None:
    answer = empty.get(path)
    assert answer.status_code == 200
    check_safe(answer.text)


@pytest.mark.parametrize("path", LISTS)
def test_every_list_answers_for_a_filled_store_and_shows_hostile_texts_as_texts(full: TestClient, path: str) -> None:
    answer = full.get(path)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    check_safe(answer.text)


def test_every_page_about_one_thing_shows_hostile_texts_as_texts(full: TestClient, ones: list[str]) -> None:
    for path in ones:
        answer = full.get(path)
        assert answer.status_code == 200, path
        assert "<script>alert" not in answer.text
        check_safe(answer.text)


def test_all_pages_are_tried_here(ones: list[str]) -> None:
    tried = {path.partition("?")[0].split("/")[1] for path in (*LISTS, *ones)}
    known = {page.path.split("/")[1] for page in pages()}
    assert known - tried <= {"queue"}


def test_an_empty_store_is_told_what_to_do_next(empty: TestClient) -> None:
    words = empty.get("/").text
    assert words.count('<pre class="run">') == 3
    for command in ("toolvet proxy --store", "toolvet check answer --store", "toolvet assess --store"):
        assert command in words


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/turn/ffffffff", 404, "not found"),
        ("/tool/shop/nothing", 404, "not found"),
        ("/server/nothing", 404, "not found"),
        ("/conversation/nothing", 404, "not found"),
        ("/verdict/nothing", 404, "not found"),
        ("/assessment/nothing", 404, "not found"),
        ("/assessments/compare?a=x&b=y", 422, "a: there is no assessment with this id"),
        ("/verdicts?kind=thing", 422, "kind must be one of call"),
        ("/verdicts?min_score=2", 422, "min_score must be a number from 0 to 1"),
        ("/verdicts?min_score=nan", 422, "min_score must be a number from 0 to 1"),
        ("/verdicts?failed=perhaps", 422, "failed must be one of"),
        ("/verdicts?before=-1", 422, "before must be a whole number"),
        ("/verdicts?before=99999999999999999999", 422, "before must be a whole number"),
        ("/verdicts?since=yesterday", 422, "since must be a date"),
        ("/verdicts?since=2026-01-02&until=2026-01-01", 422, "since must be before until"),
        ("/verdicts?order=random", 422, "order must be one of newest"),
        ("/tools?sort=colour", 422, "sort must be one of calls"),
        ("/?period=2w", 422, "period must be one of 1h"),
        ("/compare?by=colour", 422, "by must be one of variant"),
    ],
)
def test_what_a_url_cannot_ask_for_is_answered_with_the_reason(
    full: TestClient, path: str, status: int, words: str
) -> None:
    answer = full.get(path)
    assert answer.status_code == status
    assert words in answer.text.lower().replace("&#39;", "'") or words in answer.text


def test_a_list_is_paged_both_ways_without_losing_a_verdict(tmp_path: Path) -> None:
    with Store(tmp_path / "many.db") as store:
        more(tmp_path / "many.db", today(), count=120)
        visitor = client(store)
        seen: list[list[str]] = []
        path: str | None = "/verdicts"
        while path is not None:
            words = visitor.get(path).text
            seen.append(re.findall(r'href="[^"]*#v([0-9a-f]{32})"', words))
            path = _link(words, "next")
        assert [len(page) for page in seen] == [50, 50, 20]
        assert len({id_ for page in seen for id_ in page}) == 120
        back = _link(words, "prev")
        assert back is not None
        assert re.findall(r'href="[^"]*#v([0-9a-f]{32})"', visitor.get(back).text) == seen[1]


def _link(words: str, rel: str) -> str | None:
    found = re.search(rf'<a rel="{rel}" href="([^"]*)"', words)
    return found[1].replace("&amp;", "&") if found else None


def test_what_a_page_loads_weighs_at_most_150_kb(full: TestClient) -> None:
    known = {asset.path: len(asset.content) for asset in assets().values()}
    for path in LISTS:
        loaded = [
            known[str(address)]
            for tag, attributes in Elements(full.get(path).text).found
            for address in [attributes.get("src") if tag == "script" else attributes.get("href")]
            if str(address).startswith("/static/")
        ]
        assert sum(loaded) <= MOST_ASSETS, path


def test_evidence_is_underlined_where_it_stands(full: TestClient) -> None:
    words = full.get(turn_path(TRACE)).text
    assert re.search(r'<mark class="\w+" data-findings="[\d ]+"[^>]*>I cannot help with that<', words)


def test_a_filter_finds_what_it_says(full: TestClient) -> None:
    def count(query: str) -> str:
        found = re.search(r'role="status">(\w+) verdict', full.get(f"/verdicts?{query}").text)
        assert found is not None
        return found[1]

    assert count("") == "8"
    assert count("kind=call") == "2"
    assert count("kind=call&failed=1") == "One"
    assert count("variant=a") == "2"
    assert count("signal=unreachable") == "One"
    assert count("q=warehouse") == "2"
    assert count("until=2020-01-01") == "0"


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A store with more failed calls than a list looks at, none of which is newer than the others."""
    monkeypatch.setattr(verdict_page, "PROBED", 20)
    monkeypatch.setattr(verdict_page, "_STEPS", (10, 15))
    fill(tmp_path / "large.db", today() - 60)
    more(tmp_path / "large.db", today(), 150)
    with Store(tmp_path / "large.db") as store:
        yield client(store)


def linked(words: str, shown: str) -> str:
    """The path of the link with this text."""
    found = re.search(rf'<a[^>]* href="([^"]+)"[^>]*>{shown}</a>', words)
    assert found is not None, words
    return unescape(found[1])


def test_a_list_that_was_cut_short_says_so_and_leads_further(large: TestClient) -> None:
    page = large.get("/verdicts?failed=0").text
    assert "None in the newest part" in page
    assert "Nothing matches in the part of the store that was searched." in page
    assert "not all of the store" in page
    for _ in range(10):
        path = linked(page, "Look further")
        page = large.get(path).text
        if "/verdict/" in page or "/turn/" in page:
            break
    assert "Look further" not in page
    # A page that shows everything says nothing about it.
    assert "not all of the store" not in large.get("/verdicts?kind=answer").text


def test_a_list_by_score_says_what_is_sorted(large: TestClient) -> None:
    assert "Sorted are those with a score below 1" in large.get("/verdicts?order=lowest_score").text
    assert "a second or longer, and the newest of the others" in large.get("/verdicts?order=slowest").text
    assert "Sorted are" not in large.get("/verdicts?order=slowest&kind=answer").text
    assert "At least 21 verdicts" in large.get("/verdicts?failed=1").text


@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_pages_lead_on_and_back_again(large: TestClient, order: str) -> None:
    first = large.get(f"/verdicts?order={order}").text
    second = large.get(linked(first, "After these →")).text
    back = large.get(linked(second, "← Before these")).text
    rows = re.compile(r"<tbody>.*?</tbody>", re.DOTALL)
    assert rows.findall(back) == rows.findall(first) != rows.findall(second)


def test_a_turn_of_very_many_calls_shows_the_first(empty: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_MOST_VERDICTS", 2)
    for number in range(3):
        body = {"kind": "answer", "trace_id": TRACE, "text": f"Ship {number} sails.", "verdict": None}
        assert empty.post("/v1/verdicts", json=body).status_code == 201
    page = empty.get(turn_path(TRACE)).text
    assert "Only the first 2 verdicts of this turn are shown." in page
    assert ("Ship 1" in page, "Ship 2" in page) == (True, False)


def test_the_turn_of_a_queue_item_is_found_whatever_its_trace(tmp_path: Path) -> None:
    trace = "a/b?c#d"
    with Store(tmp_path / "queue.db") as store:
        store.add(check_answer("I cannot help with that.", trace=trace), text="I cannot help with that.")
        visitor = client(store)
        item = re.search(r'href="(/queue/[^"?]+)', visitor.get("/queue").text)
        assert item is not None
        page = visitor.get(item[1]).text
        link = re.search(r'href="([^"]+)">The whole turn', page)
        assert link is not None
        assert unescape(link[1]) == turn_path(trace)
        assert visitor.get(unescape(link[1])).status_code == 200
