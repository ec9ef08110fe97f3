"""How soon the pages of the dashboard are painted in Chromium, and how much they load.

    python -m benchmarks.pages [VERDICTS]

Each page is opened five times by a browser that has nothing in its cache, on a store of 20,000 verdicts in two days; a
figure is the median. Needs Chromium and Playwright (`make test` installs both).
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from benchmarks.harness import Report

from toolvet import check_answer
from toolvet.store import SignalRecord, Store, VerdictRecord
from toolvet.store.records import encode_document, new_id

VISITS = 5
TRACE = "0af7651916cd43dd8448eb211c80319c"
PAGES = (
    "/",
    "/?period=7d",
    "/queue",
    "/verdicts",
    "/search?q=refused",
    "/tools",
    "/tool/shop/tool-1",
    f"/turn/{TRACE}",
    "/assessments",
    "/compare",
    "/events",
)
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


def fill(path: Path, count: int) -> None:
    """Calls of 40 tools over two days, one in ten failed, one answer for four calls."""
    now = time.time()
    detail = encode_document({"arguments": {"id": 7}, "result": {"content": [{"type": "text", "text": "found " * 40}]}})
    said = "I cannot help with that. " * 4
    quality = check_answer(said, calls=[])
    with Store(path) as store:
        store.add_records([_call(now, number, detail) for number in range(count * 4 // 5)])
        for number in range(count // 5):
            trace = TRACE if number == 0 else None
            store.add(quality, text=said, question="Where is it?", model="m", at=now - number * 40, trace=trace)
        store.flush()


def _call(now: float, number: int, detail: msgspec.Raw) -> VerdictRecord:
    at, failed = now - number * 7_919 % 172_800, number % 10 == 0
    return VerdictRecord(
        id=new_id(at),
        at=at,
        kind="call",
        server="shop",
        tool=f"tool-{number % 40}",
        outcome="tool_error" if failed else "success",
        failed=failed,
        reason="connection refused" if failed else "",
        duration=0.01 * (number % 97),
        document=detail,
        signals=(SignalRecord("unreachable", "error", 0.9),) if failed else (),
    )


@contextmanager
def served(path: Path) -> Iterator[str]:
    """The URL of a dashboard over this store."""
    command = [sys.executable, "-m", "toolvet", "serve", "--port", "0", "--store", str(path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield process.stderr.readline().split()[1].rstrip("/")
        finally:
            # Leaving the block waits for the server: without this, for ever after an error of the browser.
            process.terminate()


# Not `page.wait_for_function`: it evaluates its text in every frame until it is true, and the dashboard's
# Content-Security-Policy forbids that from the second frame on. One promise is evaluated once.
PAINTED = """() => new Promise(resolve => {
    new PerformanceObserver(seen => {
        if (seen.getEntriesByName("first-contentful-paint").length) resolve();
    }).observe({ type: "paint", buffered: true });
})"""


def visit(browser: Any, url: str) -> tuple[float, float, int]:
    """The milliseconds until the answer and until the first paint, and how many bytes the page loads beside itself."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(url)
    page.evaluate(PAINTED)
    found = page.evaluate(
        "[performance.getEntriesByType('navigation')[0].responseEnd,"
        " performance.getEntriesByName('first-contentful-paint')[0].startTime,"
        " performance.getEntriesByType('resource').reduce((sum, each) => sum + each.encodedBodySize, 0)]"
    )
    context.close()
    return found[0], found[1], found[2]


def main(count: int = 20_000) -> None:
    """Open each page."""
    chromium = shutil.which("chromium")
    if chromium is None or find_spec("playwright") is None:
        print("needs Chromium (apt-get install chromium) and Playwright (pip install playwright)")
        return
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not everywhere

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pages.db"
        fill(path, count)
        with served(path) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            visit(browser, f"{url}/events")
            rows = []
            for each in PAGES:
                seen = [visit(browser, url + each) for _ in range(VISITS)]
                answered, painted = (statistics.median(one[place] for one in seen) for place in (0, 1))
                rows.append([f"`{each}`", f"{answered:.0f} ms", f"{painted:.0f} ms", f"{seen[0][2] / 1024:.0f} KB"])
            browser.close()
    with Report("pages", peers=["playwright"]) as report:
        columns = ["page", "answered", "painted", "loads"]
        about = f"by the clock, the median of {VISITS} visits, on a store of {count:,} verdicts"
        report.table("Pages of the dashboard in Chromium", columns, rows, about=about)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
