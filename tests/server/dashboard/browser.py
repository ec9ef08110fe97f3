"""The dashboard in a process of its own, and Debian's Chromium that looks at it.

`served(path)` starts `toolvet serve`; `chromium` and `open_page` are fixtures (see conftest.py). A page that logs an
error, throws, is answered with 5xx or asks another host for anything fails its test; with `fails=True` failures to
load something are what the test is about, and with `clock=True` the page's time is the test's (`page.clock`).
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response

CHROMIUM: Final = shutil.which("chromium") or "/usr/bin/chromium"
OpenPage = Callable[..., "Page"]
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def served(store: Path | str, *words: str, **env: str) -> Iterator[str]:
    """The URL of a dashboard, without a slash at its end, on this store. It ends with the block."""
    command = [sys.executable, "-m", "toolvet", "serve", "--port", "0", "--store", str(store), *words]
    with subprocess.Popen(command, env={**os.environ, **env}, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = ""
            while "http://" not in said:
                line = process.stderr.readline()
                assert line, f"toolvet serve ended: {said}"
                said += line
            yield said[said.index("http://") :].split("/ ")[0]
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


# For one module: while Playwright runs, asyncio.run fails in this thread, and tests of other modules call it.
@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    """A browser without a window."""
    if not Path(CHROMIUM).exists():
        pytest.skip("needs Chromium: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: "Browser") -> Iterator[OpenPage]:
    """Opens a URL in a browser profile of its own: `open_page(url, width=390, color_scheme="dark")`."""
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def opened(
        url: str, *, width: int = 1280, height: int = 900, fails: bool = False, clock: bool = False, **options: Any
    ) -> "Page":
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        if clock:
            context.clock.install()
        contexts.append(context)
        page = context.new_page()
        _watch(page, urlsplit(url).netloc, problems, fails=fails)
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not problems, problems


def _watch(page: "Page", host: str, problems: list[str], *, fails: bool) -> None:
    page.on("pageerror", lambda error: problems.append(f"thrown: {error}"))
    page.on("request", lambda asked: problems.append(f"asks {asked.url}") if _is_elsewhere(asked.url, host) else None)
    page.on("console", lambda line: problems.append(f"console: {line.text}") if _is_fault(line, fails=fails) else None)
    if not fails:
        page.on("response", lambda got: problems.append(f"{got.status} {got.url}") if _is_broken(got) else None)


def _is_fault(line: "ConsoleMessage", *, fails: bool) -> bool:
    is_ended = line.location["url"].endswith("/live") and ("net::ERR_" in line.text or "503" in line.text)
    return line.type == "error" and not is_ended and not (fails and "Failed to load resource" in line.text)


def _is_broken(got: "Response") -> bool:
    # A page that is still open when its server ends asks for the stream of news again, and must come later.
    return got.status >= 500 and not (got.status == 503 and got.url.endswith("/live"))


def _is_elsewhere(url: str, host: str) -> bool:
    return urlsplit(url).scheme in {"http", "https", "ws", "wss"} and urlsplit(url).netloc != host


def pressed(page: "Page", *keys: str) -> None:
    """Press keys one after another, as in `pressed(page, "g", "q")`."""
    for key in keys:
        page.keyboard.press(key)


def overflow(page: "Page") -> int:
    """How many pixels the page is wider than its window: 0 where nothing scrolls sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
