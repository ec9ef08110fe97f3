"""The pages in a real browser: what a person does with them, by mouse and by keys."""

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect
from tests.dashboard.accessibility import faults
from tests.dashboard.browser import OpenPage, overflow, pressed, served
from tests.dashboard.filled import TRACE, fill, more

from toolvet.store import Store

TOKEN = "tvt_a-token-for-this-test-only"
LISTS = (
    "/",
    "/servers",
    "/tools",
    "/verdicts?kind=call",
    "/search?q=warehouse",
    "/assessments",
    "/compare?a=a&b=b",
    "/events",
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A filled store."""
    found = tmp_path_factory.mktemp("store") / "full.db"
    fill(found, time.time())
    return found


@pytest.fixture(scope="module")
def url(path: Path) -> Iterator[str]:
    """The dashboard over it."""
    with served(path) as found:
        yield found


@pytest.fixture(scope="module")
def paths(path: Path) -> list[str]:
    """A page of each kind."""
    with Store(path) as store:
        newer, older = store.assessments()
        server = newer.server.replace("/", "~1")
    return [
        *LISTS,
        f"/turn/{TRACE}",
        f"/server/{server}",
        "/tool/shop/find",
        f"/assessment/{newer.id}",
        f"/assessments/compare?a={older.id}&b={newer.id}",
    ]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_is_accessible_and_fits_its_window(
    url: str, paths: list[str], open_page: OpenPage, width: int, scheme: str
) -> None:
    page = open_page(url, width=width, color_scheme=scheme)
    found: dict[str, object] = {}
    for each in paths:
        page.goto(url + each)
        if faults(page) or overflow(page):
            found[each] = (faults(page), overflow(page))
    assert found == {}


def test_an_empty_store_becomes_an_overview_when_the_first_verdict_comes(tmp_path: Path, open_page: OpenPage) -> None:
    with served(tmp_path / "toolvet.db") as url:
        page = open_page(f"{url}/", width=390)
        expect(page.get_by_role("heading", level=1)).to_have_text("Nothing here yet")
        assert overflow(page) == 0
        assert faults(page) == []
        more(tmp_path / "toolvet.db", time.time())
        expect(page.get_by_role("heading", level=1)).to_have_text("Overview", timeout=20_000)


def test_a_person_logs_in_with_a_token_and_comes_to_the_page_they_wanted(path: Path, open_page: OpenPage) -> None:
    with served(path, TOOLVET_TOKEN=TOKEN) as url:
        page = open_page(f"{url}/verdicts", color_scheme="dark")
        assert faults(page) == []
        page.get_by_label("Your token").fill(TOKEN)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Verdicts")
        assert urlsplit(page.url).path == "/verdicts"


def test_a_filter_stands_in_the_url_and_leads_to_a_turn_with_its_evidence(url: str, open_page: OpenPage) -> None:
    page = open_page(f"{url}/verdicts")
    page.locator(".filters summary").click()
    page.get_by_label("Kind").select_option("answer")
    page.get_by_label("Variant").select_option("a")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("status")).to_have_text("2 verdicts")
    assert parse_qs(urlsplit(page.url).query) == {"kind": ["answer"], "variant": ["a"]}
    page.locator("#verdicts tbody a").first.click()
    page.wait_for_url("**/turn/**")
    expect(page.locator("mark", has_text="I cannot help with that").first).to_be_visible()
    page.get_by_label("Finding 1", exact=True).hover()
    assert page.locator(".finding.pointed").count() == 1


def test_a_chip_takes_its_part_of_the_filter_away(url: str, open_page: OpenPage) -> None:
    page = open_page(f"{url}/verdicts?kind=call&failed=1")
    page.get_by_role("link", name="Without failed 1").click()
    expect(page.get_by_role("status")).to_have_text("2 verdicts")
    assert urlsplit(page.url).query == "kind=call"


def test_the_chart_moves_when_verdicts_come(tmp_path: Path, open_page: OpenPage) -> None:
    path = tmp_path / "live.db"
    more(path, time.time() - 3_600, count=3)
    with served(path) as url:
        page = open_page(f"{url}/")
        calls = page.locator("#tiles strong").first
        expect(calls).to_have_text("3")
        before = page.locator("#chart-calls canvas").screenshot()
        page.locator("#chart-calls summary").click()
        more(path, time.time(), count=40)
        expect(calls).to_have_text("43", timeout=20_000)
        expect(page.locator("#chart-calls")).to_have_attribute("data-updated", "1")
        assert page.locator("#chart-calls canvas").screenshot() != before
        # What was open is still open, and the page was not loaded anew.
        expect(page.locator("#chart-calls details table")).to_contain_text("40")


def test_search_finds_words_and_turns(url: str, open_page: OpenPage) -> None:
    page = open_page(url)
    pressed(page, "/")
    page.keyboard.type("warehouse")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("2 verdicts")
    assert urlsplit(page.url).path == "/search"
    page.goto(f"{url}/search?q={TRACE[:8]}")
    page.get_by_role("link", name="A turn has this id").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(TRACE)


def _background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_colours_follow_the_system_until_a_person_chooses(url: str, open_page: OpenPage) -> None:
    page = open_page(url, color_scheme="dark")
    dark = _background(page)
    line = page.locator("#chart-calls canvas").screenshot()
    page.get_by_role("button", name="Colours").click()
    assert _background(page) != dark
    assert page.locator("#chart-calls canvas").screenshot() != line
    # The choice is kept.
    page.goto(f"{url}/tools")
    assert _background(page) != dark
    page.get_by_role("button", name="Colours: light").click()
    assert _background(page) == dark


def test_a_person_goes_everywhere_by_keys(url: str, open_page: OpenPage) -> None:
    page = open_page(f"{url}/events")
    for key, path in (("v", "/verdicts"), ("t", "/tools"), ("s", "/servers"), ("a", "/assessments"), ("o", "/")):
        pressed(page, "g", key)
        page.wait_for_url(url + path)
    page.goto(f"{url}/verdicts")
    pressed(page, "j", "j", "k", "j")
    second = page.locator("#verdicts tbody tr").nth(1).locator("th a")
    expect(second).to_be_focused()
    address = second.get_attribute("href")
    pressed(page, "Enter")
    page.wait_for_url(f"{url}{address}")
    pressed(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert faults(page) == []
    pressed(page, "Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_an_overview_shows_hostile_names_and_runs_none_of_them(url: str, paths: list[str], open_page: OpenPage) -> None:
    page = open_page(url)
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    for each in paths:
        page.goto(url + each)
        assert page.locator("img").count() == 0
    assert dialogs == []
