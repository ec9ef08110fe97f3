"""A store that cannot be read while a page is open: what the page says, and that it goes on when the store is back."""

import sqlite3
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import expect
from tests.server.dashboard.accessibility import faults
from tests.server.dashboard.browser import OpenPage, overflow, pressed
from tests.server.dashboard.filled import fill, more, today
from tests.server.dashboard.serving import serving
from tests.store.postgres import PostgresServer

from toolvet.errors import StoreError
from toolvet.server.dashboard.failure_pages import outage_of
from toolvet.store import EventRecord, Store, queue

PAGES = (
    "/",
    "/queue",
    "/verdicts",
    "/search?q=x",
    "/servers",
    "/tools",
    "/assessments",
    "/compare",
    "/events",
    "/turn/x",
)
HTML = {"accept": "text/html"}


def damage(path: Path) -> bytes:
    """Write over every page of a database; what it was."""
    sound = path.read_bytes()
    path.write_bytes(b"\x5a" * len(sound))
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    return sound


def test_a_damaged_database_is_said_on_every_page_and_the_pages_are_back_with_a_sound_one(
    tmp_path: Path, open_page: OpenPage, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shop.db"
    fill(path, today())
    sound = damage(path)
    with serving(str(path)) as running:
        with httpx2.Client(base_url=running.url, headers=HTML) as client:
            for each in PAGES:
                answer = client.get(each)
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "5"), each
                assert "The database is damaged." in answer.text
                assert "Traceback" not in answer.text
        page = open_page(f"{running.url}/verdicts", width=390, fails=True, clock=True)
        expect(page.get_by_role("heading", level=1)).to_have_text("The store cannot be read")
        main = page.locator("main")
        for words in ("The database is damaged.", str(path), "toolvet store check"):
            expect(main).to_contain_text(words)
        assert (overflow(page), faults(page)) == (0, [])
        path.write_bytes(sound)
        # By itself, without a reload.
        page.clock.run_for(5_000)
        expect(page.get_by_role("heading", level=1)).to_have_text("Verdicts", timeout=30_000)
    assert "Traceback" not in capfd.readouterr().err


def test_a_server_that_is_lost_and_found_is_said_on_an_open_page(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_page: OpenPage
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    address = postgres.own_database()
    fill(address, today())
    with serving(address) as running:
        page = open_page(f"{running.url}/verdicts", fails=True)
        state = page.locator("#state")
        expect(state).to_be_hidden()
        expect(page.locator("html")).to_have_attribute("data-listens", "", timeout=20_000)
        postgres.stop()
        try:
            expect(state).to_contain_text("The store cannot be read.", timeout=30_000)
            other = open_page(running.url, fails=True, clock=True)
            expect(other.locator("main")).to_contain_text("The database server does not answer.")
        finally:
            postgres.start()
        more(address, today(), count=2)
        other.clock.run_for(5_000)
        expect(state).to_be_hidden(timeout=30_000)
        expect(page.locator("#verdicts [role=status]")).to_have_text("10 verdicts")
        expect(other.get_by_role("heading", level=1)).to_have_text("Overview", timeout=30_000)


def test_a_dashboard_that_ends_and_begins_again_is_said_on_an_open_page(tmp_path: Path, open_page: OpenPage) -> None:
    path = tmp_path / "shop.db"
    more(path, today(), count=1)
    with serving(str(path)) as running:
        page = open_page(f"{running.url}/verdicts", fails=True)
        expect(page.locator("html")).to_have_attribute("data-listens", "", timeout=20_000)
        port = int(running.url.rpartition(":")[2])
    expect(page.locator("#state")).to_contain_text("The server does not answer.", timeout=30_000)
    more(path, today(), count=1)
    with serving(str(path), port=port):
        expect(page.locator("#state")).to_be_hidden(timeout=30_000)
        expect(page.locator("#verdicts [role=status]")).to_have_text("2 verdicts")


def test_a_label_that_a_locked_database_does_not_take_is_said_to_be_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_page: OpenPage
) -> None:
    monkeypatch.setattr(queue, "_PATIENCE", 0.0)
    path = tmp_path / "shop.db"
    fill(path, today())
    with serving(str(path)) as running:
        page = open_page(f"{running.url}/queue", fails=True, clock=True)
        pressed(page, "Enter")
        page.wait_for_url("**/queue/*")
        item = page.url
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            pressed(page, "1")
            expect(page.locator("main")).to_contain_text("Another program holds the database.", timeout=30_000)
            expect(page.locator("main")).to_contain_text("What you just sent was not kept.")
            other.execute("ROLLBACK")
        page.clock.run_for(5_000)
        # The item is there again, and was not labelled in secret.
        page.wait_for_url(item, timeout=30_000)
        expect(page.get_by_role("heading", level=2, name="Answer")).to_be_visible(timeout=30_000)
        assert list(running.site.queue.labels()) == []
        pressed(page, "1")
        page.wait_for_url(lambda url: url != item)
        assert len(list(running.site.queue.labels())) == 1


class Broken(Store):
    """A store with a bug of ours in it."""

    def events(self, limit: int = 0) -> list[EventRecord]:
        raise RuntimeError(f"a secret of the inside, {limit}")


def test_a_bug_is_a_page_without_internals_for_a_browser_and_an_envelope_for_a_program(
    tmp_path: Path, open_page: OpenPage, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving("", store=Broken(tmp_path / "a.db")) as running:
        page = open_page(f"{running.url}/events", width=390, fails=True)
        expect(page.get_by_role("heading", level=1)).to_have_text("Something broke in this server")
        assert "secret" not in page.content()
        assert (overflow(page), faults(page)) == (0, [])
        assert httpx2.get(f"{running.url}/events").json()["data"]["error_code"] == "INTERNAL_ERROR"
        assert "a secret of the inside" in capfd.readouterr().err


def test_what_is_not_there_is_a_page_for_a_browser_and_an_envelope_for_a_program(tmp_path: Path) -> None:
    people = [("vera", "viewer")]
    with serving(str(tmp_path / "a.db"), people=people) as running, httpx2.Client(base_url=running.url) as client:
        shown = client.get("/nothing", headers=HTML)
        assert (shown.status_code, "<h1>Not found</h1>" in shown.text) == (404, True)
        assert "vera" not in shown.text
        assert client.get("/nothing").json()["data"]["error_code"] == "NOT_FOUND"
        assert client.get("/v1/nothing", headers=HTML).json()["data"]["error_code"] == "NOT_FOUND"
        foreign = client.get("/", headers={**HTML, "host": "evil.example"})
        assert (foreign.status_code, "--allow-host" in foreign.text) == (403, True)
        assert "/static/" not in foreign.text


@pytest.mark.parametrize(
    ("reason", "what"),
    [
        ("a.db: database is locked", "Another program holds the database."),
        ("a.db: database disk image is malformed", "The database is damaged."),
        ("a.db: file is not a database", "The database is damaged."),
        ("a.db: database or disk is full", "The disk of the store is full."),
        ("a.db: unable to open database file", "The file of the store cannot be opened."),
        ("a.db: attempt to write a readonly database", "The file of the store cannot be opened."),
        ('db: connection to server at "h" failed: Connection refused', "The database server does not answer."),
        ("db: FATAL:  the database system is starting up", "The database server does not answer."),
        (
            "a.db was written by a later release of toolvet",
            "This database is not one that this release of toolvet reads.",
        ),
        ("something else", "The store cannot be reached."),
    ],
)
def test_the_words_of_a_database_are_told_in_ours(reason: str, what: str) -> None:
    assert outage_of(StoreError(reason)).what == what
