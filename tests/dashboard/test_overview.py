"""The overview in a real browser."""

from pathlib import Path

from tests.dashboard.accessibility import faults
from tests.dashboard.browser import OpenPage, overflow, served


def test_an_empty_store_has_an_overview(tmp_path: Path, open_page: OpenPage) -> None:
    with served(tmp_path / "toolvet.db") as url:
        page = open_page(f"{url}/", width=390)
        assert page.title() == "Overview · toolvet"
        assert overflow(page) == 0
        assert faults(page) == []
