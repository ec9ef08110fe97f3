"""`/assessments`: what assessments found; `/assessment/{id}`: one; `/assessments/compare?a=…&b=…`: two side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from toolvet.core.envelope import not_found_error, validation_error
from toolvet.core.json_value import elements, members
from toolvet.server.dashboard.page import Page, RequestContext
from toolvet.server.failures import ApiError
from toolvet.store import AssessmentRecord
from toolvet.store.reading import read_assessment, read_assessment_heads

_SEVERITIES: Final = ("error", "warning", "info")


@dataclass(frozen=True)
class ReportFindingView:
    """One finding of a report; `was` is its severity in the other report where that differs."""

    id: str
    severity: str
    message: str
    tools: Sequence[str] = ()
    remedy: str = ""
    was: str = ""


@dataclass(frozen=True)
class ToolChange:
    """A tool whose status is not the same in both reports; a status is empty if a report lacks the tool."""

    name: str
    a: str
    b: str


@dataclass(frozen=True)
class AssessmentComparison:
    """What changed from report a to report b. `kept` is how many findings are the same."""

    new: Sequence[ReportFindingView]
    gone: Sequence[ReportFindingView]
    changed: Sequence[ReportFindingView]
    kept: int
    tools: Sequence[ToolChange]


def report_findings(record: AssessmentRecord) -> Sequence[ReportFindingView]:
    """Return the findings of a report, the gravest first."""
    found: list[ReportFindingView] = []
    for finding in map(members, elements(record.detail.get("findings"))):
        tools = [str(name) for name in elements(finding.get("tools"))]
        one = finding.get("tool") or finding.get("item")
        found.append(
            ReportFindingView(
                id=str(finding.get("id", "")),
                severity=str(finding.get("severity", "")),
                message=str(finding.get("message", "")),
                tools=tools or ([str(one)] if one else []),
                remedy=str(finding.get("remedy") or ""),
            )
        )
    return _sorted(found)


def compare_assessments(a: AssessmentRecord, b: AssessmentRecord) -> AssessmentComparison:
    """Return what changed. A finding is the same where check and tool are; then its severity and words may differ."""
    before, after = _by_subject(report_findings(a)), _by_subject(report_findings(b))
    changed: list[ReportFindingView] = []
    kept = 0
    for key in after.keys() & before.keys():
        old, new = before[key], after[key]
        if (old.severity, old.message) == (new.severity, new.message):
            kept += 1
        else:
            words = old.severity if old.severity != new.severity else old.message
            changed.append(ReportFindingView(new.id, new.severity, new.message, new.tools, new.remedy, was=words))
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


def _by_subject(findings: Sequence[ReportFindingView]) -> Mapping[tuple[str, str, int], ReportFindingView]:
    found: dict[tuple[str, str, int], ReportFindingView] = {}
    for finding in findings:
        for name in finding.tools or ("",):
            number = 0
            while (finding.id, name, number) in found:
                number += 1
            single = ReportFindingView(
                finding.id, finding.severity, finding.message, (name,) if name else (), finding.remedy
            )
            found[finding.id, name, number] = single
    return found


def _statuses(record: AssessmentRecord) -> Mapping[str, str]:
    tools = map(members, elements(record.detail.get("tools")))
    return {
        str(tool.get("name", "")): "skipped" if tool.get("skipped") else str(tool.get("status", "")) for tool in tools
    }


def _sorted(findings: Iterable[ReportFindingView]) -> Sequence[ReportFindingView]:
    return sorted(
        findings,
        key=lambda each: (
            (_SEVERITIES.index(each.severity) if each.severity in _SEVERITIES else len(_SEVERITIES)),
            each.id,
            each.tools,
        ),
    )


_MOST = 200


def _fill_list(context: RequestContext) -> Mapping[str, object]:
    server = context.query.get("server") or None
    with context.server.store.reading() as connection:
        found = read_assessment_heads(connection, server, _MOST)
    previous: dict[str, str] = {}
    latest: dict[str, str] = {}
    # From the oldest: each is compared with the one of the same server before it.
    for record in reversed(found):
        if record.server in latest:
            previous[record.id] = latest[record.server]
        latest[record.server] = record.id
    return {"assessments": found, "server": server, "previous": previous}


def _fill_one(context: RequestContext) -> Mapping[str, object]:
    record = _read(context, context.path["id"])
    # A report that was imported may lack any of them.
    tools = [
        {name: members(tool).get(name) or "" for name in ("name", "status", "skipped")}
        for tool in elements(record.detail.get("tools"))
    ]
    return {"record": record, "findings": report_findings(record), "tools": tools}


def _fill_compare(context: RequestContext) -> Mapping[str, object]:
    with context.server.store.reading() as connection:
        choices = read_assessment_heads(connection, None, _MOST)
    ids = [context.query.get(name, "") for name in ("a", "b")]
    if not all(ids):
        return {"choices": choices, "a": None, "b": None, "comparison": None}
    a, b = (_read(context, id_, name) for id_, name in zip(ids, ("a", "b"), strict=True))
    return {"choices": choices, "a": a, "b": b, "comparison": compare_assessments(a, b)}


def _read(context: RequestContext, id_: str, field: str | None = None) -> AssessmentRecord:
    with context.server.store.reading() as connection:
        record = read_assessment(connection, id_)
    if record is None and field is not None:
        raise ApiError(422, validation_error(f"{field}: there is no assessment with this id", field=field))
    if record is None:
        raise ApiError(404, not_found_error("assessment", id_))
    return record


PAGES = (
    Page("/assessments", "Assessments", "assessments.html.jinja", _fill_list, menu=(6, "Assessments")),
    Page(
        "/assessments/compare",
        "Two assessments",
        "assessments_compare.html.jinja",
        _fill_compare,
        section="/assessments",
    ),
    Page("/assessment/{id}", "Assessment", "assessment.html.jinja", _fill_one, section="/assessments"),
)
