"""Reports of a server with ten thousand tools: small enough to open, and what is left out is counted."""

import io

from rich.console import Console
from tests.assess.report import parts, samples
from tests.steps import lines_run

from toolvet.assess import report
from toolvet.assess.report.document import Report, Scenario, Server, Tool
from toolvet.findings import Finding, Severity

MANY = 10_000


def call(tool: str, number: int) -> Scenario:
    return Scenario(
        id=f"{tool}/{number}", name="a call", category="happy_path", arguments={"query": "x"}, outcome="result",
        passed=True, result={"content": [{"type": "text", "text": "fine"}]},
    )  # fmt: skip


def many(tools: int, *, called: bool = True, findings: bool = False) -> Report:
    """A report of `count` tools, each called once, on request with a finding of its own."""
    names = [f"get_item_{number}" for number in range(tools)]
    listed = [
        Tool(name=name, status="fully_working", confidence=100.0, scenarios=[call(name, 1)])
        if called
        else Tool(name=name, status="untested", confidence=0.0, skipped=f"nothing shows that {name} only reads")
        for name in names
    ]
    found = [
        Finding(id="tool-undescribed", severity=Severity.ERROR, message=f"The tool {name} says nothing.", tool=name)
        for name in (names if findings else ())
    ]
    return parts.report(Server(name="many"), tools=listed, findings=found, score=100.0, status="fully_working")


def rendered(document: Report, name: str) -> str:
    return report.render(name, [document], samples.CARDS)


def test_a_page_of_ten_thousand_called_tools_stays_small_and_counts_the_others() -> None:
    page = rendered(many(MANY), "html")
    assert len(page) < 4_000_000
    assert "9,000 more tools" in page


def test_a_page_of_ten_thousand_findings_stays_small_and_counts_the_others() -> None:
    page = rendered(many(MANY, findings=True), "html")
    assert len(page) < 4_000_000
    assert "9,800 more findings" in page


def test_the_tools_with_findings_are_among_those_that_a_page_shows() -> None:
    document = many(2_000)
    document.findings.append(
        Finding(id="call-timeout", severity=Severity.ERROR, message="It hung.", tool="get_item_1999")
    )
    assert ">get_item_1999</a>" in rendered(document, "html")


def test_junit_counts_the_tools_that_were_not_called() -> None:
    assert "9,000 more tools" in rendered(many(MANY, called=False), "junit")
    assert rendered(many(MANY), "junit").count("<testsuite ") == MANY + 1


def test_sarif_has_no_more_results_than_github_takes() -> None:
    assert rendered(many(25_001, findings=True), "sarif").count('"ruleIndex"') == 25_000


def test_markdown_stays_below_what_github_takes() -> None:
    assert len(rendered(many(MANY, findings=True), "markdown").encode()) < 1_048_576


def test_a_terminal_shows_the_first_tools_and_counts_the_others() -> None:
    for document, rest in ((many(MANY), "9,500 more tools"), (many(MANY, called=False), "and 9,992 more")):
        console = Console(file=io.StringIO(), width=100)
        with console.capture() as capture:
            report.print_report([document], console)
        assert len(capture.get().splitlines()) < 700
        assert rest in " ".join(capture.get().split())


def test_a_baseline_is_compared_in_linear_time() -> None:
    def steps(tools: int) -> int:
        old, new = many(tools, findings=True), many(tools, called=False)
        return lines_run(lambda: report.apply_baseline(new, [old], "old.json"))

    assert steps(400) < 2.5 * steps(200)
