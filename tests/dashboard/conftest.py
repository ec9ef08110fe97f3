"""The browser for the tests of pages (see browser.py)."""

from tests.dashboard.browser import chromium, open_page

__all__ = ["chromium", "open_page"]
