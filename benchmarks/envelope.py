"""Measure envelopes: building beside a dataclass with `asdict`, checking beside `jsonschema` with the same schema.

python -m benchmarks.envelope
"""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import jsonschema  # type: ignore[import-untyped]
from benchmarks.harness import Report, Way

from toolvet import check_envelope, error_response, not_found_error, success_response
from toolvet.core.envelope.contract.table import envelope_schema

MESSAGE = "Validation failed: spec_id is required"
REMEDIATION = "Provide a non-empty spec_id parameter"
DETAILS = {"field": "spec_id", "constraint": "required", "received": None}


@dataclass
class Response:
    success: bool
    data: dict[str, Any]
    error: str | None
    meta: dict[str, Any]


def by_dataclass() -> dict[str, Any]:
    """The same response without any check: what a server writes that has no library."""
    data = {
        "error_code": "MISSING_REQUIRED",
        "error_type": "validation",
        "remediation": REMEDIATION,
        "details": dict(DETAILS),
    }
    meta = {"version": "response-v2", "request_id": "req_abc123"}
    return asdict(Response(success=False, data=data, error=MESSAGE, meta=meta))


def by_toolvet() -> dict[str, Any]:
    return error_response(
        MESSAGE,
        error_code="MISSING_REQUIRED",
        error_type="validation",
        remediation=REMEDIATION,
        details=DETAILS,
        request_id="req_abc123",
    ).to_dict()


def helper() -> dict[str, Any]:
    return not_found_error("Task", "task-1-2").to_dict()


def page(size: int) -> dict[str, Any]:
    items = [{"id": f"spec-{number}", "title": "Feature", "status": "active"} for number in range(size)]
    return success_response(
        {"specs": items, "count": size},
        warnings=["2 items skipped"],
        pagination={"cursor": "abc123", "has_more": True, "total_count": 100, "page_size": size},
        telemetry={"duration_ms": 45.2},
        request_id="req_abc123",
    ).to_dict()


VALIDATOR = jsonschema.Draft202012Validator(envelope_schema())
ENVELOPES = {"check, a failure": by_toolvet(), "check, a page of 10": page(10), "check, a page of 1,000": page(1_000)}
BROKEN = {**page(10), "extra": 1, "error": "x"}


TITLE = "Building and checking"


def main() -> None:
    assert by_toolvet() == by_dataclass()
    with Report("envelope", peers=["jsonschema"]) as report:
        plain = Way("a dataclass with `asdict`", by_dataclass, lost="checks nothing")
        report.compare(TITLE, "build an error, `to_dict`", [Way("toolvet", by_toolvet), plain])
        report.compare(TITLE, "`not_found_error`, `to_dict`", [Way("toolvet", helper), plain])
        for name, envelope in ENVELOPES.items():
            assert not check_envelope(envelope)
            assert VALIDATOR.is_valid(envelope)
            ours = Way("toolvet", partial(check_envelope, envelope))
            theirs = Way("jsonschema", partial(VALIDATOR.is_valid, envelope), lost="no look at the payload")
            report.compare(TITLE, name, [ours, theirs])
        ours = Way("toolvet", partial(check_envelope, BROKEN))
        theirs = Way(
            "jsonschema", lambda: list(VALIDATOR.iter_errors(BROKEN)), lost="no look at the payload, no advice"
        )
        report.compare(TITLE, "check, two errors", [ours, theirs])


if __name__ == "__main__":
    main()
