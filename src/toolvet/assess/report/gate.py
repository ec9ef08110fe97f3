"""Why a run fails: the threshold of severity, the lowest score and the baseline, decided in one place.

The exit code, JUnit and the other reports read it, so that they agree in every combination.
"""

from toolvet.assess.report.document import Report
from toolvet.assess.report.wording import counted
from toolvet.findings import Finding, Severity


def why_failed(report: Report) -> tuple[str, ...]:
    """Return a sentence for each reason why the run fails by the thresholds in `report`; empty when it passes.

    Findings that a baseline or the user keeps out do not count; a report without a score reaches no lowest score.
    """
    failing = [finding for finding in report.findings if fails(report, finding)]
    reasons: list[str] = []
    if failing:
        level = report.fail_on
        reasons.append(f"{counted(len(failing), 'finding')} of severity {level} or above (--fail-on {level})")
    shortfall = explain_shortfall(report)
    return tuple([*reasons, shortfall] if shortfall else reasons)


def fails(report: Report, finding: Finding) -> bool:
    """Whether a finding of the report fails the run."""
    return report.fail_on != "never" and finding.severity.reaches(Severity(report.fail_on))


def explain_shortfall(report: Report) -> str:
    """Why the score fails the run, in a sentence; empty when it does not."""
    under = report.fail_under
    if under is None or (report.score is not None and report.score >= under):
        return ""
    if report.score is None:
        return f"there is no score, because no tool was exercised, and --fail-under {under:g} asks for one"
    return f"the score {report.score:g} is below --fail-under {under:g}"
