"""The HTML page: whole, safe, readable in both colours, and small enough."""

import base64
import hashlib
import itertools
import re

import msgspec
import pytest
from tests.assess.report import parts, samples
from tests.assess.report.structure import Page, check_page

from toolvet.assess import report
from toolvet.assess.report import wording
from toolvet.assess.report.document import Report
from toolvet.assess.report.renderers.html import views
from toolvet.findings import Severity


def page_of(*reports: Report) -> Page:
    return check_page(report.render("html", reports, samples.CARDS))


@pytest.mark.parametrize("name", ["bookshop", "hostile", "empty", "several", "forty", "baselined"])
def test_a_page_is_well_formed_and_needs_nothing_from_elsewhere(name: str) -> None:
    source = report.render("html", samples.named(name), samples.CARDS)
    page = check_page(source)
    assert "url(" not in page.code["style"]
    assert "@import" not in page.code["style"]
    assert not re.search(r"fetch\(|XMLHttp|innerHTML|eval\(|import\(", page.code["script"])


def test_the_policy_allows_this_script_and_this_style_and_nothing_else() -> None:
    page = page_of(samples.hostile())
    (policy,) = [item for item in page.values("content") if "default-src" in item]

    def digest(tag: str) -> str:
        return base64.b64encode(hashlib.sha256(page.code[tag].encode()).digest()).decode()

    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digest('script')}'"
    assert rules["style-src"] == f"'sha256-{digest('style')}'"


def test_everything_the_report_knows_can_be_read_without_a_script() -> None:
    shop = samples.baselined()
    page = page_of(shop)
    words = " ".join(page.text.split())
    for tool in shop.tools:
        assert tool.name in words
        assert (tool.skipped or "") in words
        for scenario in tool.scenarios:
            assert scenario.name in words
            assert scenario.reproduce in words
    for finding in shop.findings:
        assert finding.message.replace("`", "") in words
        assert " ".join(finding.evidence.split()) in words
        assert finding.remedy in words
        assert finding.why in words
        assert finding.reproduce in words
    for text in (
        "cache is cold",
        "MCP 2025-11-25 over stdio",
        "close_shop",
        "baseline.json",
        "tool-without-description",
    ):
        assert text in words
    (form,) = [attributes for _, attributes in page.tags if attributes.get("id") == "filter"]
    assert "hidden" in form


def test_request_and_response_stand_in_the_page_as_they_were() -> None:
    words = page_of(samples.bookshop()).text
    assert '{\n  "query": "tea",\n  "limit": 101\n}' in words
    assert "limit: 101 is more than 100. Use a number from 1 to 100." in words
    assert '"title": "The Dispossessed"' in words
    assert '"code": -32603' in words
    assert "Nothing came back: timed out." in words


def test_a_finding_leads_to_the_call_that_shows_it() -> None:
    page = page_of(samples.bookshop())
    links = [attributes["href"] for _, attributes in page.tags if attributes.get("class") == "see"]
    # The hidden error, the crash, the timeout, and the first call of those that share a cause.
    assert links == ["#s1-t2-c2", "#s1-t3-c1", "#s1-t4-c2", "#s1-t1-c1"]


def test_a_finding_leads_to_its_call_by_the_id_and_not_by_the_command() -> None:
    shop = samples.bookshop()
    same = [msgspec.structs.replace(item, reproduce="the same command") for item in shop.tools[1].scenarios]
    order = msgspec.structs.replace(shop.tools[1], scenarios=same)
    finding = msgspec.structs.replace(shop.findings[0], reproduce="the same command", scenario="order_book/3")
    page = page_of(msgspec.structs.replace(shop, tools=[order], findings=[finding]))
    assert [attributes["href"] for _, attributes in page.tags if attributes.get("class") == "see"] == ["#s1-t1-c3"]


def test_two_tools_of_one_name_and_a_finding_of_a_tool_that_is_not_listed_break_nothing() -> None:
    shop = samples.bookshop()
    stranger = msgspec.structs.replace(shop.findings[0], tool="not_listed")
    page_of(msgspec.structs.replace(shop, tools=[*shop.tools, *shop.tools], findings=[*shop.findings, stranger]))


def test_words_of_a_hostile_server_are_shown_as_words() -> None:
    page = page_of(samples.hostile())
    assert page.text.count("</script><img src=x onerror=alert(1)>␛[31m␀⟨U+202E⟩gnp.exe [bold]]]>") > 10


def test_several_servers_are_compared_on_top_and_each_has_its_part() -> None:
    page = page_of(*samples.named("several"))
    articles = [attributes["id"] for tag, attributes in page.tags if tag == "article"]
    assert articles == ["s1", "s2", "s3"]
    assert page.text.index("3 MCP servers, side by side") < page.text.index("python examples/bookshop_server.py")
    assert {f"#{name}" for name in articles} <= set(page.values("href"))


def test_a_thousand_calls_stay_below_three_megabytes() -> None:
    text = msgspec.json.encode({"books": [{"id": f"bk_{n}", "note": "<b>&</b>" * 4} for n in range(60)]}).decode()
    call = parts.scenario("a call", "boundary", {"query": "x" * 900}, parts.answered(text))
    tools = [
        msgspec.structs.replace(samples.bookshop().tools[0], name=f"tool_{n}", scenarios=[call] * 25) for n in range(40)
    ]
    big = msgspec.structs.replace(samples.bookshop(), tools=tools)
    assert 1_000_000 < len(report.render("html", [big], samples.CARDS).encode()) < 3_000_000


def test_long_payloads_are_cut_and_say_so() -> None:
    call = parts.scenario("long", "boundary", {}, parts.answered("word " * 100_000))
    tool = msgspec.structs.replace(samples.bookshop().tools[0], scenarios=[call])
    page = page_of(msgspec.structs.replace(samples.bookshop(), tools=[tool]))
    assert re.search(r"word … \(49\d,\d{3} more characters\)", page.text)


@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "paper"),
    [
        *itertools.product(["text", "faint", "link", "good", "fair", "poor", "info"], ["page", "card", "sunk"]),
        *((grade, f"{grade}-soft") for grade in ("good", "fair", "poor", "info")),
        ("faint", "idle-soft"),
    ],
)
def test_text_has_the_contrast_that_wcag_aa_asks_for(ink: str, paper: str, side: int) -> None:
    assert contrast(colour(ink, side), colour(paper, side)) >= 4.5


@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["edge", "amber", "good", "poor"])
def test_borders_of_controls_and_bars_have_the_contrast_of_graphics(ink: str, side: int) -> None:
    assert contrast(colour(ink, side), colour("card", side)) >= 3


def colour(name: str, side: int) -> tuple[float, float, float]:
    """The red, green and blue (0 to 1) of a custom property, for light (0) or dark (1)."""
    style = page_of(samples.empty()).code["style"]
    match = re.search(rf"--{name}: light-dark\(#(\w{{6}}), #(\w{{6}})\)", style)
    assert match is not None
    digits = match.group(side + 1)
    red, green, blue = (int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4))
    return red, green, blue


def contrast(first: tuple[float, float, float], second: tuple[float, float, float]) -> float:
    """WCAG 2.2, contrast ratio."""

    def luminance(parts: tuple[float, float, float]) -> float:
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_the_strip_has_a_mark_for_each_scenario_that_the_number_counts() -> None:
    shop = samples.bookshop()
    tool = shop.tools[0]
    again = msgspec.structs.replace(tool.scenarios[0], id=f"{tool.name}/9", same_as=tool.scenarios[0].id)
    for scenarios in ([*tool.scenarios, again], [*tool.scenarios] * 20):
        one = msgspec.structs.replace(tool, scenarios=scenarios)
        (server,) = views([msgspec.structs.replace(shop, tools=[one])], samples.CARDS)
        passed, _, total = wording.passed(one).partition("/")
        strip = server.tools[0].strip
        assert len(strip) == int(total) or (not strip and int(total) > 60)
        assert strip.count("pass") == int(passed) or not strip


def test_notes_of_one_check_are_a_line_in_the_heading() -> None:
    shop = samples.bookshop()
    notes = [
        msgspec.structs.replace(shop.findings[0], id="a-note", severity=Severity.INFO, tool=name, message=f"{name}!")
        for name in ("find_books", "order_book")
    ]
    page = page_of(msgspec.structs.replace(shop, findings=notes))
    assert "find_books!: 2 tools (find_books, order_book)" in page.text
