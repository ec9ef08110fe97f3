"""The browser for the tests of pages (see browser.py). A test that takes `url` runs on SQLite and on PostgreSQL."""

from tests.server.dashboard.browser import chromium, open_page
from tests.store.conftest import url

__all__ = ["chromium", "open_page", "url"]
