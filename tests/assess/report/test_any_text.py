"""The server under test writes most of a report's words. With any words, every format keeps its structure."""

import io
import itertools
import json
import re
import xml.etree.ElementTree as ET

import msgspec
import pytest
from hypothesis import given, strategies as st
from rich.console import Console
from tests.assess.report import parts, samples
from tests.assess.report.structure import check_junit, check_markdown, check_page, check_sarif
from tests.examples import examples

from toolvet.assess import report
from toolvet.assess.report.document import Baseline, Report, Scenario, Server, Tool, Verdict
from toolvet.assess.report.wording import compact, pretty
from toolvet.core.visible import escape_unseen, one_line, shorten, visible
from toolvet.findings import Finding, Severity

NASTY = [
    "", "\x00", "\x1b[2J", "\ud800", "\udfff", "\ufffe", "\uffff", "\u202e", "\u2028", "\r", "\n", "\t", "]]>", "<!--",
    "</script>", "</style>", "</pre>", "<img src=x onerror=alert(1)>", "&amp;", "&#0;", '"', "'", "`", "```", "~~~",
    "|", "\\", "[x](javascript:1)", "[bold]", "[/]", "{{ 7*7 }}", "{% raw %}", "%0A::error::", "::error::", "a,b:c",
    "::add-mask::x", "<script>alert(1)</script>", "# H1",
    "@everyone", "\U000e0041", "\u200b", "e\u0301" * 9, "漢字", "👩‍👩‍👧", "../../etc", "http://x.example/a?b#c",
    "\n```\n</details>\n# x", "\x85", "\x7f",
]  # fmt: skip
TEXT = st.lists(st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=()), max_size=8), max_size=4).map(
    "".join
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
RESULTS = JSON | st.fixed_dictionaries(
    {"content": st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}) | JSON, max_size=3)},
    optional={"isError": JSON, "structuredContent": JSON},
)
COUNT = examples(50)


@st.composite
def any_reports(draw: st.DrawFn) -> list[Report]:
    """Reports whose every text is one of a few that were drawn: as hostile as drawing each, and far quicker."""
    texts = itertools.cycle(draw(st.lists(TEXT, min_size=1, max_size=7)))
    values = itertools.cycle(draw(st.lists(RESULTS, min_size=1, max_size=3)))
    maybe = itertools.cycle(draw(st.lists(st.booleans(), min_size=1, max_size=5)))
    percents = itertools.cycle(draw(st.lists(st.floats(0, 100), min_size=1, max_size=3)))

    def text() -> str:
        return next(texts)

    def or_none() -> str | None:
        return text() if next(maybe) else None

    def finding() -> Finding:
        return Finding(
            id=text(), severity=Severity.ERROR if next(maybe) else Severity.INFO, message=text(), tool=or_none(),
            pointer=text(), evidence=text(), why=text(), remedy=text(), reproduce=text(), scenario=or_none(),
        )  # fmt: skip

    def verdict() -> Verdict:
        return Verdict(
            classification=text(), confidence=next(percents), is_valid=next(maybe), is_error=next(maybe),
            error_kind=or_none(), state=or_none(), retry=or_none(), issues=[text(), text()], evidence=[text()],
        )  # fmt: skip

    def scenario() -> Scenario:
        return Scenario(
            id=text(), name=text(), category="boundary", arguments=next(values),
            outcome="result" if next(maybe) else "not_run",
            passed=next(maybe), result=next(values), verdict=verdict() if next(maybe) else None, breaks=or_none(),
            note=text(), origin=text(), reproduce=text(), duration_ms=next(percents) ** 3,
        )  # fmt: skip

    def tool() -> Tool:
        return Tool(
            name=text(), status="broken", confidence=next(percents), skipped=or_none(), description=text(),
            error_message_score=next(percents) if next(maybe) else None, scenarios=[scenario(), scenario()],
        )  # fmt: skip

    def one() -> Report:
        baseline = Baseline(file=text(), known=[finding()], stale=[finding()]) if next(maybe) else None
        server = Server(
            name=text(), version=text(), protocol_version=text(), transport="http" if next(maybe) else "stdio",
            command=text(),
        )  # fmt: skip
        whole = parts.report(
            server, tools=[tool(), tool(), tool()], findings=[finding(), finding(), finding()],
            score=next(percents) if next(maybe) else None, status="broken", stderr=text(), incomplete=or_none(),
        )  # fmt: skip
        return msgspec.structs.replace(
            whole, started_at=text(), baseline=baseline, filtered=[text(), text()], toolvet_version=text()
        )

    return [one() for _ in range(draw(st.integers(0, 2)))]


ANY_REPORTS = any_reports()


@COUNT
@given(ANY_REPORTS)
def test_junit_is_valid_xml_of_the_usual_structure(reports: list[Report]) -> None:
    check_junit(ET.fromstring(report.render("junit", reports, samples.CARDS).encode()))  # noqa: S314 - our own output


@COUNT
@given(ANY_REPORTS)
def test_sarif_keeps_its_structure(reports: list[Report]) -> None:
    text = report.render("sarif", reports, samples.CARDS)
    check_sarif(json.loads(text.encode()))
    assert escape_unseen(text) == text


@COUNT
@given(ANY_REPORTS)
def test_the_page_holds_only_our_elements(reports: list[Report]) -> None:
    source = report.render("html", reports, samples.CARDS)
    source.encode()
    page = check_page(source)
    assert visible(page.text) == page.text


@COUNT
@given(ANY_REPORTS)
def test_json_can_be_read_back(reports: list[Report]) -> None:
    text = report.render("json", reports, {})
    assert len(report.load(text.encode(), "r.json")) == len(reports)
    assert escape_unseen(text) == text


@COUNT
@given(ANY_REPORTS)
def test_every_annotation_is_one_line_with_a_title(reports: list[Report]) -> None:
    text = report.render("github", reports, samples.CARDS)
    for line in text.encode().decode().split("\n")[:-1]:
        assert re.fullmatch(r"::(error|warning|notice) title=[^:,\r]*::[^\r]+", line)
        assert re.fullmatch(r"(?:[^%]|%25|%0A|%3A|%2C)*", line)
    assert visible(text) == text


@COUNT
@given(ANY_REPORTS)
def test_markdown_becomes_no_element_that_we_did_not_write(reports: list[Report]) -> None:
    check_markdown(report.render("markdown", reports, samples.CARDS))


def test_a_message_at_the_start_of_a_line_of_markdown_is_no_workflow_command() -> None:
    words = "::set-output name=x::y"
    found = [Finding(id="call-timeout", severity=Severity.ERROR, message=words, why=words, remedy=words)]
    server = Server(name=words, command=words)
    document = parts.report(server, tools=[], findings=found, score=None, status="broken", incomplete=words)
    text = report.render("markdown", [document], samples.CARDS)
    assert "set-output" in text
    assert not re.findall(r"^\s*::.*", text, re.MULTILINE)


@COUNT
@given(ANY_REPORTS)
def test_no_line_of_markdown_steers_a_log_that_shows_it_as_text(reports: list[Report]) -> None:
    text = report.render("markdown", reports, samples.CARDS)
    assert not re.findall(r"<(?:script|img|style|!--)", text, re.IGNORECASE)
    assert not re.findall(r"^\s*::.*", text, re.MULTILINE)


@COUNT
@given(ANY_REPORTS, st.integers(20, 200))
def test_the_terminal_gets_no_control_character(reports: list[Report], width: int) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    with console.capture() as capture:
        report.print_report(reports, console)
    assert visible(capture.get()) == capture.get()


@given(JSON | st.builds(object), st.integers(1, 50))
def test_any_value_has_a_text_that_is_cut_and_visible(value: object, limit: int) -> None:
    for text in (pretty(value, limit), compact(value, limit)):
        assert visible(text) == text
        assert len(text) <= limit + len(" … (99,999 more characters)")


def test_a_value_nested_without_end_is_still_shown() -> None:
    deep: list[object] = []
    deep.append(deep)
    assert pretty(deep, 100) == compact(deep, 100) == "(a value that cannot be shown as JSON)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, é, 漢字, 👩‍👧", "plain, é, 漢字, 👩‍👧"),
        ("\x1b[31mred\x00", "␛[31mred␀"),
        ("a\r\nb\rc\td\n", "a\nb␍c\td\n"),
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
        ("hi\U000e0068\U000e0069", "hi⟨U+E0068⟩⟨U+E0069⟩"),
        ("\x7f\x9b\ufeff\ud800", "␡⟨U+009B⟩⟨U+FEFF⟩⟨U+D800⟩"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_line_stays_a_line_and_long_text_says_how_long() -> None:
    assert one_line(" a\nb\tc ") == "a ↵ b c"
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abc def", 4) == "abc … (3 more characters)"


def test_markdown_shows_hostile_words_as_they_are() -> None:
    page = check_markdown(report.render("markdown", [samples.hostile()], samples.CARDS))
    assert page.text.count(one_line(samples.HOSTILE)) >= 8
