"""The terminal: the summary first, then the ten worst findings; the rest on request."""

import io

import pytest
from rich.console import Console
from tests.assess.report import parts

from toolvet.assess.report import print_report
from toolvet.assess.report.document import Report, Scenario, Server, Tool
from toolvet.findings import Finding, Severity

ANSWERED = Scenario(name="a", category="happy_path", arguments={}, outcome="result", passed=True)
NAMES = [f"get_{letter}" for letter in "abcdefghijklm"]


def printed(report: Report, **more: int | None) -> str:
    console = Console(file=io.StringIO(), width=140, force_terminal=False)
    with console.capture() as capture:
        print_report([report], console, **more)
    return capture.get()


def report(*findings: Finding, tools: list[Tool] | None = None) -> Report:
    listed = tools or [Tool(name=name, status="fully_working", confidence=100.0) for name in NAMES]
    return parts.report(Server(name="s"), tools=listed, findings=findings, score=90.0, status="partially_working")


def found(check: str, tool: str, severity: Severity = Severity.ERROR, **facts: object) -> Finding:
    facts = {"message": f"{tool} says {check}.", **facts}
    return Finding(id=check, severity=severity, tool=tool, **facts)  # type: ignore[arg-type]


def test_the_summary_comes_before_the_findings() -> None:
    text = printed(report(found("call-timeout", "get_a")))
    assert text.index("13 tools") < text.index("1 error") < text.index("get_a says call-timeout.")
    assert text.count("1 error ·") == 1


def test_ten_findings_are_shown_and_the_others_counted() -> None:
    findings = [found(f"check-{number:02}", NAMES[number]) for number in range(12)]
    note = found("call-timeout", "get_m", Severity.INFO)
    text = printed(report(*findings, note))
    assert [f"says check-{number:02}." in text for number in range(12)] == [True] * 10 + [False] * 2
    assert "and 2 errors, 1 note more: --all shows them" in text


def test_all_findings_are_shown_whole_on_request() -> None:
    findings = [found("check", name) for name in NAMES]
    notes = [found("other", name, Severity.INFO, remedy="Do it.") for name in NAMES]
    text = printed(report(*findings, *notes), most=None)
    assert all(f"{name} says {check}." in text for name in NAMES for check in ("check", "other"))
    assert "--all" not in text


def test_the_notes_of_a_check_are_one_line() -> None:
    notes = [
        found("parameter-undescribed", name, Severity.INFO, occurrences=number, remedy="Describe it.")
        for number, name in enumerate(NAMES[:3], 1)
    ]
    lines = printed(report(*notes)).splitlines()
    line = "● parameter-undescribed  6 parameters have no description: 3 tools (get_a, get_b, get_c)"
    assert line in lines
    assert not any("Describe it." in each for each in lines)


@pytest.mark.parametrize(("exercised", "shown"), [(4, False), (5, True)])
def test_a_score_of_few_tools_has_no_bar(exercised: int, *, shown: bool) -> None:
    tools = [
        Tool(
            name=name,
            status="fully_working" if number < exercised else "untested",
            confidence=100.0,
            scenarios=[ANSWERED] if number < exercised else [],
        )
        for number, name in enumerate(NAMES)
    ]
    text = printed(report(tools=tools))
    assert f"90/100 on {exercised} of 13 tools" in text
    assert ("━" * 5 in text) == shown


def test_tools_that_were_refused_alike_are_listed_once() -> None:
    tools = [
        Tool(
            name=name,
            status="not_exercised",
            confidence=20.0,
            not_exercised=f'None of {number + 2} valid calls succeeded: "{name}: open a file first"',
            scenarios=[ANSWERED],
        )
        for number, name in enumerate(NAMES[:3])
    ]
    text = printed(report(tools=tools))
    assert text.count("open a file first") == 1
    assert "get_a, get_b, get_c" in text
