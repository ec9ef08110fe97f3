"""A baseline: findings that are known, and so kept out of the way until they are gone."""

from collections.abc import Sequence

import msgspec

from toolvet.findings import Finding
from toolvet.report.document import Baseline, Counts, Report


def apply_baseline(report: Report, baseline: Sequence[Report], file: str) -> Report:
    """`report` with the findings that `baseline` has for the same server moved into `Baseline.known`.

    Entries that nothing matched any more are `stale`, if this run could have matched them: the entry's tool was called,
    or the server no longer has it. What an incomplete run did not find proves nothing. A report that was itself
    written with a baseline counts with the findings it kept out, so it can be the next baseline. `file` is named in
    the result. Pure; the score is about the tools and stays as it is.
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
    stale = [entry for fingerprint, entry in entries.items() if fingerprint not in seen and _covered(entry, report)]
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


def _covered(entry: Finding, report: Report) -> bool:
    """Whether this run would have found `entry`, were it still true."""
    if report.incomplete is not None or entry.tool in report.filtered:
        return False
    return not any(tool.name == entry.tool and tool.skipped is not None for tool in report.tools)
