"""The pages in a real browser, on SQLite and on PostgreSQL: what a person does with them, by mouse and by keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect
from tests.server.dashboard.accessibility import faults
from tests.server.dashboard.browser import OpenPage, overflow, pressed
from tests.server.dashboard.filled import TRACE, fill, more, today
from tests.server.dashboard.serving import Running, serving

from toolvet.server.dashboard.view.formats import conversation_path, server_path
from toolvet.store import VerdictFilter

if TYPE_CHECKING:
    from tests.store.postgres import PostgresServer

LISTS = (
    "/",
    "/queue",
    "/servers",
    "/tools",
    "/verdicts?kind=call",
    "/search?q=warehouse",
    "/assessments",
    "/compare?a=a&b=b",
    "/events",
)
MOST_ASSETS = 150 * 1024


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The dashboard over a filled store, which no test changes."""
    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        if request.param == "sqlite":
            address = str(folder / "full.db")
        else:
            server: PostgresServer = request.getfixturevalue("postgres")
            address = server.own_database()
        fill(address, today())
        with serving(address) as made:
            yield made


@pytest.fixture(scope="module")
def base(running: Running) -> str:
    """Its URL."""
    return running.url


@pytest.fixture(scope="module")
def paths(running: Running) -> list[str]:
    """A page of each kind, those for failures too."""
    store = running.site.store
    newer, older = store.assessments()
    answer = store.verdicts(VerdictFilter(kind="answer", variant="a"))[0]
    return [
        *LISTS,
        f"/queue/{running.site.queue.items()[0].id}",
        f"/turn/{TRACE}",
        f"/verdict/{answer.id}",
        conversation_path(answer.conversation or ""),
        server_path(newer.server),
        "/tool/shop/find",
        f"/assessment/{newer.id}",
        f"/assessment/{older.id}",
        f"/assessments/compare?a={older.id}&b={newer.id}",
        "/login",
        "/nothing/here",
        "/verdicts?kind=thing",
    ]


def test_every_page_is_accessible_fits_weighs_little_and_runs_nothing_of_what_it_shows(
    base: str, paths: list[str], open_page: OpenPage, request: pytest.FixtureRequest
) -> None:
    """One look at each page, because each costs a second: wide and light on SQLite, narrow and dark on PostgreSQL."""
    is_wide = request.node.callspec.params["running"] == "sqlite"
    page = open_page(base, width=1280 if is_wide else 390, color_scheme="light" if is_wide else "dark", fails=True)
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    loaded = Loaded(page)
    found: dict[str, object] = {}
    for each in paths:
        loaded.clear()
        page.goto(base + each)
        weight, wrong, over = loaded.weight(), faults(page), overflow(page)
        assert weight > 10_000, f"{each} loaded no styles"
        if wrong or over or weight > MOST_ASSETS or page.locator("img").count():
            found[each] = (wrong, over, weight)
    assert found == {}
    assert dialogs == []
    assert loaded.hosts == {urlsplit(base).netloc}


class Loaded:
    """The requests of a page, with an empty cache."""

    def __init__(self, page: Page) -> None:
        self.hosts: set[str] = set()
        self._kinds: dict[str, str] = {}
        self._weights: dict[str, int] = {}
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.send("Network.setCacheDisabled", {"cacheDisabled": True})
        network.on("Network.requestWillBeSent", self._sent)
        network.on("Network.loadingFinished", self._ended)

    def clear(self) -> None:
        """Forget what was loaded."""
        self._weights.clear()

    def weight(self) -> int:
        """The bytes of what was loaded beside the page itself."""
        return sum(size for number, size in self._weights.items() if self._kinds.get(number) != "Document")

    def _sent(self, event: dict[str, Any]) -> None:
        self.hosts.add(urlsplit(event["request"]["url"]).netloc)
        self._kinds[event["requestId"]] = event.get("type", "")

    def _ended(self, event: dict[str, Any]) -> None:
        self._weights[event["requestId"]] = int(event["encodedDataLength"])


def test_an_empty_store_becomes_an_overview_when_the_first_verdict_comes(url: str, open_page: OpenPage) -> None:
    with serving(url) as running:
        page = open_page(f"{running.url}/", width=390)
        expect(page.get_by_role("heading", level=1)).to_have_text("Nothing here yet")
        assert (overflow(page), faults(page)) == (0, [])
        _wait_for_live(page)
        more(url, today())
        expect(page.get_by_role("heading", level=1)).to_have_text("Overview", timeout=20_000)


def test_a_person_logs_in_comes_to_the_page_they_wanted_and_logs_out(url: str, open_page: OpenPage) -> None:
    with serving(url, people=[("vera", "viewer")]) as running:
        page = open_page(f"{running.url}/verdicts?kind=call", color_scheme="dark", fails=True)
        assert faults(page) == []
        page.get_by_label("Your token").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("the token is not known")
        page.get_by_label("Your token").fill(running.tokens["vera"])
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Verdicts")
        assert page.url == f"{running.url}/verdicts?kind=call"
        # A viewer is not offered pages for reviewers, and is refused with a reason when they open one anyway.
        expect(page.get_by_role("link", name="Queue")).to_have_count(0)
        page.goto(f"{running.url}/queue")
        expect(page.get_by_role("heading", level=1)).to_have_text("Not for you")
        assert faults(page) == []
        page.goto(running.url)
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("Your token")).to_be_visible()
        page.goto(running.url)
        expect(page.get_by_label("Your token")).to_be_visible()


def test_a_filter_stands_in_the_url_and_leads_to_a_turn_with_its_evidence(base: str, open_page: OpenPage) -> None:
    page = open_page(f"{base}/verdicts")
    pressed(page, "f")
    expect(page.get_by_label("Words")).to_be_focused()
    page.get_by_label("Kind").select_option("answer")
    page.get_by_label("Variant").select_option("a")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("status").first).to_have_text("2 verdicts")
    assert parse_qs(urlsplit(page.url).query) == {"kind": ["answer"], "variant": ["a"]}
    page.locator("#verdicts tbody a").first.click()
    page.wait_for_url("**/turn/**")
    expect(page.locator("mark", has_text="I cannot help with that").first).to_be_visible()
    page.get_by_label("Finding 1", exact=True).hover()
    assert page.locator(".finding.pointed").count() == 1
    # The way back leads to the same filter, and further back to all.
    page.go_back()
    expect(page.get_by_role("status").first).to_have_text("2 verdicts")
    page.go_back()
    expect(page.get_by_role("status").first).to_have_text("8 verdicts")


def test_a_chip_takes_its_part_of_the_filter_away(base: str, open_page: OpenPage) -> None:
    page = open_page(f"{base}/verdicts?kind=call&failed=1")
    page.get_by_role("link", name="Without failed 1").click()
    expect(page.get_by_role("status").first).to_have_text("2 verdicts")
    assert urlsplit(page.url).query == "kind=call"


def test_the_chart_moves_when_verdicts_come(url: str, open_page: OpenPage) -> None:
    more(url, today() - 3_600, count=3)
    with serving(url) as running:
        page = open_page(f"{running.url}/")
        calls = page.locator("#tiles strong").first
        expect(calls).to_have_text("3")
        before = page.locator("#chart-calls canvas").screenshot()
        page.locator("#chart-calls summary").click()
        _wait_for_live(page)
        more(url, today(), count=40)
        expect(calls).to_have_text("43", timeout=20_000)
        expect(page.locator("#chart-calls")).to_have_attribute("data-updated", "1")
        assert page.locator("#chart-calls canvas").screenshot() != before
        # Open parts are still open, and the page was not loaded again.
        expect(page.locator("#chart-calls details table")).to_contain_text("40")


def _wait_for_live(page: Page) -> None:
    """Wait until the page listens to a server that has looked at its store: what comes now is news."""
    expect(page.locator("html")).to_have_attribute("data-listens", "", timeout=20_000)


def test_search_finds_words_and_turns(base: str, open_page: OpenPage) -> None:
    page = open_page(base)
    pressed(page, "/")
    page.keyboard.type("warehouse")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_have_text("2 verdicts")
    assert urlsplit(page.url).path == "/search"
    page.goto(f"{base}/search?q={TRACE[:8]}")
    page.get_by_role("link", name="A turn has this id").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(TRACE)


def _background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_colours_follow_the_system_until_a_person_chooses(base: str, open_page: OpenPage) -> None:
    page = open_page(base, color_scheme="dark")
    dark = _background(page)
    line = page.locator("#chart-calls canvas").screenshot()
    page.get_by_role("button", name="Colours").click()
    assert _background(page) != dark
    assert page.locator("#chart-calls canvas").screenshot() != line
    # The choice is kept.
    page.goto(f"{base}/tools")
    assert _background(page) != dark
    page.get_by_role("button", name="Colours: light").click()
    assert _background(page) == dark


def test_a_person_goes_everywhere_by_keys(running: Running, open_page: OpenPage) -> None:
    base = running.url
    page = open_page(f"{base}/events")
    places = {"q": "/queue", "v": "/verdicts", "t": "/tools", "s": "/servers", "a": "/assessments", "c": "/compare"}
    for key, path in {**places, "e": "/events", "o": "/"}.items():
        pressed(page, "g", key)
        page.wait_for_url(base + path)
    # The first Tab of a page offers the way past the menu.
    pressed(page, "Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    pressed(page, "Enter", "Tab")
    assert page.evaluate("document.getElementById('main').contains(document.activeElement)")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.goto(f"{base}/verdicts")
    pressed(page, "j", "j", "k", "j")
    second = page.locator("#verdicts tbody tr").nth(1).locator("th a")
    expect(second).to_be_focused()
    address = second.get_attribute("href")
    pressed(page, "Enter")
    page.wait_for_url(f"{base}{address}")
    pressed(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert faults(page) == []
    pressed(page, "Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_key_of_a_page_does_not_press_a_key_of_the_queue(running: Running, open_page: OpenPage) -> None:
    item = running.site.queue.items()[0].id
    page = open_page(f"{running.url}/queue/{item}")
    pressed(page, "g", "s")
    page.wait_for_url(f"{running.url}/servers")
    assert list(running.site.queue.history(item)) == []


def test_a_store_may_be_a_file_by_its_path(tmp_path: Path, open_page: OpenPage) -> None:
    with serving(str(tmp_path / "a folder" / "with spaces.db")) as running:
        page = open_page(running.url)
        expect(page.locator("code").first).to_contain_text("with spaces.db")
