"""The HTML pages in a browser, at a desk and on a phone, light and dark: what is seen first, what fits, axe."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
import pyarrow as pa
import pytest
from tests.assess.report import samples
from tests.assess.report.test_batch_report import DAYS
from tests.assess.report.test_overview import scored
from tests.batch.summary.test_summary import SCHEMA, whole
from tests.server.dashboard.browser import OpenPage, chromium, open_page, overflow

from toolvet.assess import report
from toolvet.assess.report.batch.formats import render_batch_page
from toolvet.assess.report.overview import AssessedServer, build_overview
from toolvet.assess.report.overview.formats import render_page

__all__ = ["chromium", "open_page"]
pytest.importorskip("axe_playwright_python")
WORD = "x" * 300
FORMS = [(1280, 900, "light"), (1280, 900, "dark"), (390, 844, "light"), (390, 844, "dark")]


def assessment() -> str:
    (shop,) = samples.named("bookshop")
    server = msgspec.structs.replace(shop.server, name=f"books {WORD[:60]}")
    finding = msgspec.structs.replace(shop.findings[0], message=WORD, evidence=WORD)
    return report.render(
        "html", [msgspec.structs.replace(shop, server=server, findings=[*shop.findings, finding])], samples.CARDS
    )


def many() -> str:
    gone = [AssessedServer(name=f"gone-{n}", file="", reason="unreachable", problem=WORD) for n in range(7)]
    return render_page(build_overview([scored(f"server {WORD}", 80.0), scored("b", None), *gone], samples.CARDS, "1"))


def batch() -> str:
    signal = {"type": "refusal", "evidence": f"no {WORD}", "context": WORD, "weight": 1.0}
    row = {"row": 1, "id": WORD, "score": 0.2, "should_escalate": True, "signals": [signal]}
    return render_batch_page(whole(pa.Table.from_pylist([row] * 3, SCHEMA), DAYS))


@pytest.mark.parametrize(("width", "height", "scheme"), FORMS)
@pytest.mark.parametrize(
    ("page", "first"),
    [(assessment, ".first li"), (many, "[aria-labelledby=not-assessed] dd"), (batch, ".signal .words")],
    ids=["assessment", "many servers", "batch"],
)
def test_the_first_finding_is_in_the_first_screen_words_wrap_and_axe_finds_nothing(  # noqa: PLR0917
    page: Callable[[], str],
    first: str,
    width: int,
    height: int,
    scheme: Literal["light", "dark"],
    tmp_path: Path,
    open_page: OpenPage,
) -> None:
    from tests.server.dashboard.accessibility import faults  # noqa: PLC0415 - needs Playwright

    (tmp_path / "page.html").write_text(page(), encoding="utf-8")
    opened = open_page((tmp_path / "page.html").as_uri(), width=width, height=height, color_scheme=scheme)
    assert overflow(opened) == 0
    assert faults(opened) == []
    seen = opened.locator(first).first.bounding_box()
    assert seen is not None
    assert seen["y"] < height, "the first finding is below the first screen"


def test_the_overview_has_the_ranking_before_what_is_common_and_the_unreachable_before_both(
    tmp_path: Path, open_page: OpenPage
) -> None:
    (tmp_path / "page.html").write_text(many(), encoding="utf-8")
    opened = open_page((tmp_path / "page.html").as_uri())
    tops = [opened.locator(f"#{name}").bounding_box() for name in ("not-assessed", "ranking", "common", "scores")]
    assert [each and each["y"] for each in tops] == sorted(each["y"] for each in tops if each)
    assert opened.locator("[aria-labelledby=not-assessed] dt:visible").count() == 5
    opened.get_by_text("2 more servers").click()
    assert opened.locator("[aria-labelledby=not-assessed] dt:visible").count() == 7


def test_an_assessment_says_near_the_top_what_was_not_called_and_why(tmp_path: Path, open_page: OpenPage) -> None:
    (tmp_path / "page.html").write_text(assessment(), encoding="utf-8")
    opened = open_page((tmp_path / "page.html").as_uri())
    first = opened.locator(".first").inner_text()
    (shop,) = samples.named("bookshop")
    for tool in shop.tools:
        if tool.skipped:
            assert tool.name in first
            assert tool.skipped in first
    assert "of 100" in (opened.locator(".ring").first.text_content() or "")
    opened.locator(".first a").first.click()
    assert opened.locator("[data-group]").first.bounding_box() is not None
    assert "#s1-f1" in opened.url


def test_the_batch_report_shows_intervals_when_they_are_asked_for(tmp_path: Path, open_page: OpenPage) -> None:
    (tmp_path / "page.html").write_text(batch(), encoding="utf-8")
    opened = open_page((tmp_path / "page.html").as_uri())
    assert not opened.get_by_text("43.9 to 100 %").first.is_visible()
    opened.get_by_label("Show 95 % intervals").check()
    assert opened.get_by_text("43.9 to 100 %").first.is_visible()
