"""Why a run fails: the threshold of severity, the lowest score and the baseline, decided in one place.

The exit code, JUnit and the other reports read it, so that they agree in every combination. A baseline is an earlier
report whose findings are known, so that a new report shows only new ones.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from toolvet.assess.report.document import Baseline, Counts, Report
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
    return (*reasons, *(problem for _, problem in thresholds(report) if problem))


def fails(report: Report, finding: Finding) -> bool:
    """Whether a finding of the report fails the run."""
    return report.fail_on != "never" and finding.severity.reaches(Severity(report.fail_on))


def thresholds(report: Report) -> Iterator[tuple[str, str]]:
    """Yield what the run has to reach besides `fail_on`, each with why it fails, in a sentence; "" when it does not."""
    under, most = report.fail_under, report.max_tools_tokens
    if under is not None:
        problem = ""
        if report.score is None:
            problem = f"there is no score, because no tool was exercised, and --fail-under {under:g} asks for one"
        elif report.score < under:
            problem = f"the score {report.score:g} is below --fail-under {under:g}"
        yield f"score of at least {under:g}", problem
    if most is not None:
        cost = report.summary.list_tokens
        problem = f"tools/list costs about {cost:,} tokens, more than --max-tools-tokens {most}"
        yield f"tools/list of at most {most:,} tokens", problem if cost > most else ""


def apply_baseline(report: Report, baseline: Sequence[Report], file: str) -> Report:
    """`report` with the findings that `baseline` has for the same server moved into `Baseline.known`.

    Entries that occur no longer are `stale`, if this run could have found them: their tool was called, or the server no
    longer has it. Findings that an incomplete run lacks prove nothing. Of a finding that several tools share, those
    that the baseline has are kept out, whichever others shared it then. The score stays as it is.

    Args:
        report: The report of this run; it is not changed.
        baseline: Earlier reports, as `load` reads them. A report that was itself written with a baseline counts with
            the findings that were kept out, so it can be the next baseline.
        file: The name of the baseline's file, for the result.

    Example:
        report = apply_baseline(report, load(Path("base.json").read_bytes(), "base.json"), "base.json")
    """
    entries: dict[tuple[str, str, str], Finding] = {}
    tokens, list_tokens = dict[str, int](), None
    for earlier in baseline:
        if earlier.server.name == report.server.name:
            tokens.update((tool.name, tool.tokens) for tool in earlier.tools if tool.tokens)
            list_tokens = earlier.summary.list_tokens or list_tokens
            kept_out = earlier.baseline.known if earlier.baseline is not None else []
            for entry in (*earlier.findings, *kept_out):
                for single in _split(entry):
                    entries.setdefault(single.fingerprint, single)
    known: list[Finding] = []
    remaining: list[Finding] = []
    for finding in report.findings:
        here = _select(finding, entries, known=True)
        new = _select(finding, entries, known=False)
        known.extend([here] if here is not None else [])
        remaining.extend([new] if new is not None else [])
    seen = {single.fingerprint for finding in known for single in _split(finding)}
    missed = [entry for fingerprint, entry in entries.items() if fingerprint not in seen]
    unseen = {*report.filtered, *(tool.name for tool in report.tools if tool.skipped is not None)}
    # Findings that an incomplete run lacks prove nothing.
    stale = [entry for entry in missed if report.incomplete is None and entry.tool not in unseen]
    return msgspec.structs.replace(
        report,
        findings=remaining,
        summary=msgspec.structs.replace(report.summary, findings=count(remaining)),
        baseline=Baseline(file=file, known=known, stale=stale, tokens=tokens, list_tokens=list_tokens),
    )


def count(findings: Sequence[Finding]) -> Counts:
    """Findings by severity."""
    tally = {"error": 0, "warning": 0, "info": 0}
    for finding in findings:
        tally[finding.severity.value] += 1
    return Counts(**tally)


def _split(finding: Finding) -> list[Finding]:
    """The finding once for each tool or item that shares its cause, so that a baseline outlives a change of them."""
    return [finding.of_one(name) for name in finding.together] or [finding]


def _select(finding: Finding, entries: Mapping[tuple[str, str, str], Finding], *, known: bool) -> Finding | None:
    if not finding.together:
        return finding if (finding.fingerprint in entries) is known else None
    of_each = {name: finding.of_one(name).fingerprint in entries for name in finding.together}
    return finding.narrow({name for name, is_in in of_each.items() if is_in is known})
