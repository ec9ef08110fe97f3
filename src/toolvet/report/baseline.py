"""A baseline: an earlier report whose findings are known, so that a new report shows only new ones."""

from collections.abc import Sequence

import msgspec

from toolvet.findings import Finding
from toolvet.report.document import Baseline, Counts, Report


def apply_baseline(report: Report, baseline: Sequence[Report], file: str) -> Report:
    """`report` with the findings that `baseline` has for the same server moved into `Baseline.known`.

    Entries that occur no longer are `stale`, if this run could have found them: their tool was called, or the server no
    longer has it. What an incomplete run did not find proves nothing. The score is about the tools and stays the same.

    Args:
        report: The report of this run; it is not changed.
        baseline: Earlier reports, as `load` reads them. A report that was itself written with a baseline counts with
            the findings that were kept out, so it can be the next baseline.
        file: The name of the baseline's file, for the result.

    Example:
        report = apply_baseline(report, load(Path("base.json").read_bytes(), "base.json"), "base.json")
    """
    entries: dict[tuple[str, str, str], Finding] = {}
    for earlier in baseline:
        if earlier.server.name == report.server.name:
            kept_out = earlier.baseline.known if earlier.baseline is not None else []
            for entry in (*earlier.findings, *kept_out):
                entries.setdefault(entry.fingerprint, entry)
    known = [finding for finding in report.findings if finding.fingerprint in entries]
    remaining = [finding for finding in report.findings if finding.fingerprint not in entries]
    seen = {finding.fingerprint for finding in known}
    stale = [entry for fingerprint, entry in entries.items() if fingerprint not in seen and _could_find(entry, report)]
    return msgspec.structs.replace(
        report,
        findings=remaining,
        summary=msgspec.structs.replace(report.summary, findings=count(remaining)),
        baseline=Baseline(file=file, known=known, stale=stale),
    )


def count(findings: Sequence[Finding]) -> Counts:
    """Findings by severity."""
    tally = {"error": 0, "warning": 0, "info": 0}
    for finding in findings:
        tally[finding.severity.value] += 1
    return Counts(**tally)


def _could_find(entry: Finding, report: Report) -> bool:
    """Whether this run would have found `entry` if it still occurred."""
    if report.incomplete is not None or entry.tool in report.filtered:
        return False
    return not any(tool.name == entry.tool and tool.skipped is not None for tool in report.tools)
