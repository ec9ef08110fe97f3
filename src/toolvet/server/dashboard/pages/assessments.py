"""`/assessments`: what assessments found; `/assessment/{id}`: one; `/assessments/compare?a=…&b=…`: two side by side."""

from collections.abc import Mapping

from toolvet.core.envelope import not_found_error, validation_error
from toolvet.core.json_value import elements, members
from toolvet.server.dashboard.page import Page, Visit
from toolvet.server.dashboard.view.assessed import compare_assessments, report_findings
from toolvet.server.failures import ApiError
from toolvet.store import AssessmentRecord
from toolvet.store.browsing import read_assessment, read_assessment_heads

_MOST = 200


def _fill_list(visit: Visit) -> Mapping[str, object]:
    server = visit.query.get("server") or None
    with visit.site.store.reading() as connection:
        found = read_assessment_heads(connection, server, _MOST)
    previous: dict[str, str] = {}
    latest: dict[str, str] = {}
    # From the oldest: each is compared with the one of the same server before it.
    for record in reversed(found):
        if record.server in latest:
            previous[record.id] = latest[record.server]
        latest[record.server] = record.id
    return {"assessments": found, "server": server, "previous": previous}


def _fill_one(visit: Visit) -> Mapping[str, object]:
    record = _read(visit, visit.path["id"])
    # A report that was imported may lack any of them.
    tools = [
        {name: members(tool).get(name) or "" for name in ("name", "status", "skipped")}
        for tool in elements(record.detail.get("tools"))
    ]
    return {"record": record, "findings": report_findings(record), "tools": tools}


def _fill_compare(visit: Visit) -> Mapping[str, object]:
    with visit.site.store.reading() as connection:
        choices = read_assessment_heads(connection, None, _MOST)
    ids = [visit.query.get(name, "") for name in ("a", "b")]
    if not all(ids):
        return {"choices": choices, "a": None, "b": None, "comparison": None}
    a, b = (_read(visit, id_, name) for id_, name in zip(ids, ("a", "b"), strict=True))
    return {"choices": choices, "a": a, "b": b, "comparison": compare_assessments(a, b)}


def _read(visit: Visit, id_: str, field: str | None = None) -> AssessmentRecord:
    with visit.site.store.reading() as connection:
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
