"""`/v1/assessments`: reports of `toolvet assess`, kept and read."""

from typing import Any

from toolvet.assess.report import SCHEMA_ID, Report
from toolvet.core.envelope import not_found_error, validation_error
from toolvet.server.access.role import Role
from toolvet.server.dashboard.api.endpoint import ApiBody, ApiRequest, Endpoint, Nothing
from toolvet.server.dashboard.api.fields import Limit, Name
from toolvet.server.dashboard.api.routing import convert
from toolvet.server.dashboard.api.stored import AssessmentList, StoredAssessment, show_assessment
from toolvet.server.failures import ApiError
from toolvet.store import AssessmentRecord
from toolvet.store.judged import assessment_record
from toolvet.store.reading import read_assessment


class AssessmentQuery(ApiBody, frozen=True, kw_only=True):
    """Of which server, and how many at most."""

    server: Name | None = None
    limit: Limit = 100


class AssessmentBody(ApiBody, frozen=True, kw_only=True):
    """A report as `toolvet assess --report json=FILE` writes it."""

    report: dict[str, Any]


def _keep(asked: ApiRequest[AssessmentBody]) -> StoredAssessment:
    given = asked.body.report
    if given.get("schema") != SCHEMA_ID:
        raise ApiError(422, validation_error(f"report.schema must be {SCHEMA_ID}", field="report.schema"))
    convert(given, Report, below="report")
    record = assessment_record(given)
    if not isinstance(record, AssessmentRecord):
        raise ApiError(422, validation_error("not an assessment report", field="report"))
    asked.note("import", f"assessment {record.id} of {record.server}")
    asked.site.store.add_records([record])
    return show_assessment(record, with_report=False)


def _list(asked: ApiRequest[AssessmentQuery]) -> AssessmentList:
    found = asked.site.store.assessments(asked.body.server, asked.body.limit)
    return AssessmentList(assessments=[show_assessment(record, with_report=False) for record in found])


def _one(asked: ApiRequest[Nothing]) -> StoredAssessment:
    id_ = asked.path["id"]
    with asked.site.store.reading() as connection:
        record = read_assessment(connection, id_) if "\x00" not in id_ else None
    if record is None:
        raise ApiError(404, not_found_error("Assessment", id_))
    return show_assessment(record, with_report=True)


ENDPOINTS = (
    Endpoint("GET", "/v1/assessments", "List assessments.", AssessmentQuery, _list, reply=AssessmentList, waits=True),
    Endpoint(
        "POST",
        "/v1/assessments",
        "Keep an assessment; 201 once it is safe on disk.",
        AssessmentBody,
        _keep,
        status=201,
        reply=StoredAssessment,
        role=Role.REVIEWER,
        waits=True,
    ),
    Endpoint(
        "GET",
        "/v1/assessments/{id}",
        "Read one assessment with its report.",
        Nothing,
        _one,
        reply=StoredAssessment,
        failures=(404,),
        waits=True,
    ),
)
