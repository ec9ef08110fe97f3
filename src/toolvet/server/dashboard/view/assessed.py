"""Two assessments of a server side by side: which findings are new, gone or changed, and what became of its tools."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from toolvet.core.json_value import elements, members
from toolvet.store import AssessmentRecord

_SEVERITIES: Final = ("error", "warning", "info")


@dataclass(frozen=True)
class ShownReportFinding:
    """One finding of a report; `was` is its severity in the other report where that differs."""

    id: str
    severity: str
    message: str
    tools: Sequence[str] = ()
    remedy: str = ""
    was: str = ""


@dataclass(frozen=True)
class ToolChange:
    """A tool whose status is not the same in both reports; a status is empty where a report lacks the tool."""

    name: str
    a: str
    b: str


@dataclass(frozen=True)
class AssessmentComparison:
    """What changed from report a to report b. `kept` is how many findings are the same."""

    new: Sequence[ShownReportFinding]
    gone: Sequence[ShownReportFinding]
    changed: Sequence[ShownReportFinding]
    kept: int
    tools: Sequence[ToolChange]


def report_findings(record: AssessmentRecord) -> Sequence[ShownReportFinding]:
    """Return the findings of a report, the gravest first."""
    found = [
        ShownReportFinding(
            id=str(finding.get("id", "")),
            severity=str(finding.get("severity", "")),
            message=str(finding.get("message", "")),
            tools=_subjects(finding),
            remedy=str(finding.get("remedy") or ""),
        )
        for finding in map(members, elements(record.detail.get("findings")))
    ]
    return _sorted(found)


def compare_assessments(a: AssessmentRecord, b: AssessmentRecord) -> AssessmentComparison:
    """Return what changed. A finding is the same where check and tool are; then its severity and words may differ."""
    before, after = _by_subject(report_findings(a)), _by_subject(report_findings(b))
    changed: list[ShownReportFinding] = []
    kept = 0
    for key in after.keys() & before.keys():
        old, new = before[key], after[key]
        if (old.severity, old.message) == (new.severity, new.message):
            kept += 1
        else:
            words = old.severity if old.severity != new.severity else old.message
            changed.append(ShownReportFinding(new.id, new.severity, new.message, new.tools, new.remedy, was=words))
    statuses = _statuses(a), _statuses(b)
    names = sorted(statuses[0].keys() | statuses[1].keys())
    tools = [ToolChange(name, statuses[0].get(name, ""), statuses[1].get(name, "")) for name in names]
    return AssessmentComparison(
        new=_sorted(after[key] for key in after.keys() - before.keys()),
        gone=_sorted(before[key] for key in before.keys() - after.keys()),
        changed=_sorted(changed),
        kept=kept,
        tools=[tool for tool in tools if tool.a != tool.b],
    )


def _subjects(finding: Mapping[str, object]) -> Sequence[str]:
    names = [str(name) for name in elements(finding.get("tools"))]
    one = finding.get("tool") or finding.get("item")
    return names or ([str(one)] if one else [])


def _by_subject(findings: Sequence[ShownReportFinding]) -> Mapping[tuple[str, str, int], ShownReportFinding]:
    """Return each finding once for each of its tools; several of one check about one tool are counted."""
    found: dict[tuple[str, str, int], ShownReportFinding] = {}
    for finding in findings:
        for name in finding.tools or ("",):
            number = 0
            while (finding.id, name, number) in found:
                number += 1
            single = ShownReportFinding(
                finding.id, finding.severity, finding.message, (name,) if name else (), finding.remedy
            )
            found[finding.id, name, number] = single
    return found


def _statuses(record: AssessmentRecord) -> Mapping[str, str]:
    tools = map(members, elements(record.detail.get("tools")))
    return {
        str(tool.get("name", "")): "skipped" if tool.get("skipped") else str(tool.get("status", "")) for tool in tools
    }


def _sorted(findings: Iterable[ShownReportFinding]) -> Sequence[ShownReportFinding]:
    return sorted(findings, key=lambda each: (_rank(each.severity), each.id, each.tools))


def _rank(severity: str) -> int:
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)
