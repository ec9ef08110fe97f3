"""The status of a tool and of a server, and the score. `rules/terms.py` says the same in words, for people."""

from collections.abc import Sequence

from toolvet.assess.report.document import Status, Tool
from toolvet.assess.rules.exercise import Exercise
from toolvet.findings import Finding, Severity

_UNSEEN = frozenset({"untested", "not_exercised"})
_WORKING = frozenset({"fully_working", "partially_working"})


def tool_status(*, total: int, executed: int, passed: int, exercise: Exercise | None = None) -> Status:
    """The status of a tool over its scenarios.

    All passed: fully working; more than half: partially; any answer at all: connectivity only; none: broken.
    Nothing planned: untested. A tool none of whose valid calls succeeded is not exercised, or at best connectivity only
    when it failed by its own fault.

    Args:
        total: How many scenarios were planned, without those that met an outage.
        executed: How many of them brought an answer of any kind.
        passed: How many of them brought the right answer.
        exercise: How the valid calls went; None where only the numbers are known.

    Example:
        >>> tool_status(total=4, executed=4, passed=3)
        'partially_working'
        >>> tool_status(total=4, executed=4, passed=4, exercise=Exercise(tried=2, succeeded=0))
        'not_exercised'
    """
    if exercise is not None and not exercise.succeeded and not exercise.failed and (total > 0 or exercise.tried):
        return "not_exercised"
    if total <= 0:
        return "untested"
    if exercise is None or exercise.succeeded:
        if passed >= total:
            return "fully_working"
        if passed > total * 0.5:
            return "partially_working"
    return "connectivity_only" if executed > 0 else "broken"


def server_status(tools: Sequence[Tool]) -> Status:
    """The status of a server follows from its exercised tools.

    All work fully: fully working; any works, fully or partially, or answered a valid call: partially working; any
    answers at all: connectivity only; none: broken. Without an exercised tool it is not exercised, or untested.
    """
    seen = [tool for tool in tools if tool.status not in _UNSEEN]
    if not seen:
        return "not_exercised" if any(tool.status == "not_exercised" for tool in tools) else "untested"
    if all(tool.status == "fully_working" for tool in seen):
        return "fully_working"
    if any(tool.status in _WORKING or tool.succeeded for tool in seen):
        return "partially_working"
    return "broken" if all(tool.status == "broken" for tool in seen) else "connectivity_only"


def score(tools: Sequence[Tool], findings: Sequence[Finding]) -> float | None:
    """0-100 for a server, or None when no tool was exercised.

    A tool scores four fifths for the share of its scenarios that passed and one fifth for its error messages (where no
    message could be scored, the scenarios alone count). Scenarios that met an outage are left out, as are those
    that share a call with an earlier one. A tool with a finding of severity error scores at most 50. The server
    scores the mean of its exercised tools.
    """
    faulty = {tool for finding in findings if finding.severity is Severity.ERROR for tool in finding.concerns}
    scores: list[float] = []
    for tool in tools:
        counted = [scenario for scenario in tool.scenarios if not scenario.outage and scenario.same_as is None]
        if not counted or tool.status in _UNSEEN:
            continue
        passed = 100 * sum(scenario.passed for scenario in counted) / len(counted)
        messages = tool.error_message_score
        value = passed if messages is None else 0.8 * passed + 0.2 * messages
        scores.append(min(value, 50.0) if tool.name in faulty else value)
    return round(sum(scores) / len(scores), 1) if scores else None
