"""The status of a tool and of a server, and the score."""

from collections.abc import Sequence

from toolvet.findings import Finding, Severity
from toolvet.report.document import Status, Tool


def tool_status(*, total: int, executed: int, passed: int) -> Status:
    """The status of a tool over its scenarios.

    All passed: fully working; more than half: partially; any answer at all: connectivity only; none: broken.
    Nothing planned: untested.

    Args:
        total: How many scenarios were planned.
        executed: How many of them brought an answer of any kind.
        passed: How many of them brought the right answer.

    Example:
        >>> tool_status(total=4, executed=4, passed=3)
        'partially_working'
    """
    if total <= 0:
        return "untested"
    if passed >= total:
        return "fully_working"
    if passed > total * 0.5:
        return "partially_working"
    return "connectivity_only" if executed > 0 else "broken"


def server_status(tools: Sequence[Tool]) -> Status:
    """The status of a server: of its tools, those that work fully count as passed, and broken ones as not executed."""
    tested = [tool.status for tool in tools if tool.status != "untested"]
    return tool_status(
        total=len(tested),
        executed=sum(status != "broken" for status in tested),
        passed=tested.count("fully_working"),
    )


def score(tools: Sequence[Tool], findings: Sequence[Finding]) -> float | None:
    """0-100 for a server, or None when no tool was called.

    A tool scores four fifths for the share of its scenarios that passed and one fifth for its error messages (where no
    message could be scored, the scenarios alone count). A tool with a finding of severity error scores at most 50.
    The server scores the mean of its tested tools.
    """
    faulty = {finding.tool for finding in findings if finding.severity is Severity.ERROR}
    scores: list[float] = []
    for tool in tools:
        if not tool.scenarios or tool.status == "untested":
            continue
        passed = 100 * sum(scenario.passed for scenario in tool.scenarios) / len(tool.scenarios)
        messages = tool.error_message_score
        value = passed if messages is None else 0.8 * passed + 0.2 * messages
        scores.append(min(value, 50.0) if tool.name in faulty else value)
    return round(sum(scores) / len(scores), 1) if scores else None
