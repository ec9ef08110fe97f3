"""The documentation's site, as `make site` built it, in a browser: no accessibility fault, nothing from elsewhere."""

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

import pytest
from tests.server.dashboard.browser import OpenPage, chromium, open_page

__all__ = ["chromium", "open_page"]
SITE = Path(__file__).parent.parent / "build" / "site"
if not SITE.is_dir():
    pytest.skip("needs the site: make site", allow_module_level=True)
pytest.importorskip("axe_playwright_python")
# Of the pages of single checks, which are all made alike, the first.
PAGES = sorted(
    name
    for name in (each.parent.relative_to(SITE).as_posix() for each in SITE.rglob("index.html"))
    if not name.startswith("checks/") or name == "checks/absent-answered"
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is that of the base
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


# The dark colours are those of the theme, the same on each page.
@pytest.mark.parametrize(
    ("name", "scheme"),
    [*((name, "light") for name in PAGES), *((name, "dark") for name in (".", "checks", "settings"))],
)
def test_a_page_of_the_site_has_no_fault_and_fetches_nothing_from_elsewhere(
    name: str, scheme: Literal["light", "dark"], site: str, open_page: OpenPage
) -> None:
    from tests.server.dashboard.accessibility import faults  # noqa: PLC0415 - needs Playwright

    # `open_page` fails for a request to another host, and for an error in the console.
    assert faults(open_page(f"{site}{name}/", color_scheme=scheme)) == []


def test_an_edit_link_leads_to_a_file_of_the_repository() -> None:
    links = {
        link
        for page in SITE.rglob("index.html")
        for link in re.findall(r'href="[^"]*/edit/main/([^"]*)"', page.read_text(encoding="utf-8"))
    }
    assert len(links) > 50
    assert [link for link in sorted(links) if not (SITE.parents[1] / link).is_file()] == []
