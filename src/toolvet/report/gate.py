"""What makes a run fail: the threshold of severity, the lowest score, and the baseline, decided in one place.

The exit code, JUnit and the report all read `Report.gate`, so that they agree in every combination.
"""

import msgspec

from toolvet.findings import Finding, Severity
from toolvet.report.document import Gate, Report
from toolvet.report.wording import counted, number


def apply_gate(report: Report, fail_on: Severity | None, fail_under: float | None = None) -> Report:
    """Return `report` with its `gate`: the thresholds, and a sentence for each reason why the run fails.

    Args:
        report: The report, with its baseline already applied: known findings do not fail a run.
        fail_on: The severity from which a finding fails; None when no finding does.
        fail_under: The lowest score that passes; a report without a score does not reach it. None when any does.

    Example:
        failed = bool(apply_gate(report, Severity.ERROR, 80).gate.failures)
    """
    gate = Gate(fail_on=None if fail_on is None else fail_on.value, fail_under=fail_under)
    failing = [finding for finding in report.findings if fails(finding, gate)]
    reasons: list[str] = []
    if failing and fail_on is not None:
        reasons.append(
            f"{counted(len(failing), 'finding')} of severity {fail_on.value} or above (--fail-on {fail_on.value})"
        )
    shortfall = explain_shortfall(report, gate)
    if shortfall:
        reasons.append(shortfall)
    return msgspec.structs.replace(report, gate=msgspec.structs.replace(gate, failures=reasons))


def fails(finding: Finding, gate: Gate | None) -> bool:
    """Whether a finding of a report fails the run under `gate`; without a gate an error does."""
    level = "error" if gate is None else gate.fail_on
    return level is not None and finding.severity.reaches(Severity(level))


def explain_shortfall(report: Report, gate: Gate | None) -> str:
    """Why the score fails the run, in a sentence; empty when it does not."""
    if gate is None or gate.fail_under is None:
        return ""
    wanted = f"--fail-under {gate.fail_under:g}"
    if report.score is None:
        return f"there is no score, because no tool was exercised ({wanted})"
    if report.score >= gate.fail_under:
        return ""
    shown = f"{report.score:g}" if number(report.score) == number(gate.fail_under) else number(report.score)
    return f"the score {shown} is below {gate.fail_under:g} ({wanted})"
