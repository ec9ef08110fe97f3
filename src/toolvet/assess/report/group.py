"""The findings of one check together: forty tools without parameter descriptions are one thing to read, not forty."""

from collections.abc import Iterable
from dataclasses import dataclass

from toolvet.assess.report.wording import counted
from toolvet.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """The findings of one check at one severity, in the order they were reported. Never empty."""

    id: str
    severity: Severity
    findings: tuple[Finding, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools concerned, each once, in the order they were reported; the server itself is not one."""
        return tuple(dict.fromkeys(tool for finding in self.findings for tool in finding.concerns))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The same with resources, templates and prompts: `search`, `prompt plan`."""
        return tuple(dict.fromkeys(name for finding in self.findings for name in finding.subjects))

    @property
    def where(self) -> str:
        """How many things are concerned, in words: `2 tools`, `3 prompts`, `4 places`; empty for the server alone."""
        kinds = {finding.item_kind or "tool" for finding in self.findings if finding.subjects}
        noun = next(iter(kinds)).replace("_", " ") if len(kinds) == 1 else "place"
        return counted(len(self.subjects), noun) if kinds else ""

    @property
    def why(self) -> str:
        """Why it matters, when all findings say the same; else empty, and each finding is shown with its own words."""
        return _agreed([finding.why for finding in self.findings])

    @property
    def remedy(self) -> str:
        """What to do, when all findings say the same; else empty, and each finding is shown with its own words."""
        return _agreed([finding.remedy for finding in self.findings])


def group_findings(findings: Iterable[Finding]) -> tuple[FindingGroup, ...]:
    """The worst first; within a severity the check with the most findings first, then by id."""
    groups: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.id), []).append(finding)
    ordered = sorted(groups.items(), key=lambda item: (-item[0][0].rank, -len(item[1]), item[0][1]))
    return tuple(FindingGroup(name, severity, tuple(members)) for (severity, name), members in ordered)


def _agreed(texts: list[str]) -> str:
    return texts[0] if all(text == texts[0] for text in texts) else ""
