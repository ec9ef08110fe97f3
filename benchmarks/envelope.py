"""Measure envelopes: building beside a dataclass with `asdict`, checking beside `jsonschema` with the same schema.

python benchmarks/envelope.py
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import jsonschema  # type: ignore[import-untyped]

from toolvet import check_envelope, error_response, not_found_error, success_response
from toolvet.envelope.contract.table import envelope_schema

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


def round_of(run: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats * 1e6


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Both in turn, so that a busy machine slows both: medians of the rounds, and the ratio."""
    repeats = max(3, int(3_000 / max(round_of(theirs, 3), 1)))
    rounds = [(round_of(ours, repeats), round_of(theirs, repeats)) for _ in range(41)]
    first, second = (statistics.median(times) for times in zip(*rounds, strict=True))
    print(f"{name:26}{first:11.1f} µs{second:12.1f} µs{second / first:8.1f}x   (best {min(rounds)[0]:.1f} µs)")


def main() -> None:
    assert by_toolvet() == by_dataclass()
    print(f"{'':26}{'toolvet':>14}{'peer':>15}{'ratio':>9}")
    compare("build, to_dict", by_toolvet, by_dataclass)
    compare("not_found_error, to_dict", helper, by_dataclass)
    for name, envelope in ENVELOPES.items():
        assert not check_envelope(envelope)
        assert VALIDATOR.is_valid(envelope)
        compare(name, partial(check_envelope, envelope), partial(VALIDATOR.is_valid, envelope))
    compare("check, two errors", lambda: check_envelope(BROKEN), lambda: list(VALIDATOR.iter_errors(BROKEN)))
    print("peers: a dataclass with asdict, nothing checked; jsonschema with the same schema, which ignores the payload")


if __name__ == "__main__":
    main()
