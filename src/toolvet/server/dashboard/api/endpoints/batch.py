"""`POST /v1/check/batch`: many checks in one request, each with its own verdict or its own error."""

from typing import Annotated, Any, Final, Literal

import msgspec

from toolvet.server.dashboard.api.bodies import BODIES, judge
from toolvet.server.dashboard.api.endpoint import ApiBody, ApiRequest, Endpoint
from toolvet.server.dashboard.api.openapi import FailureReply
from toolvet.server.dashboard.api.routing import convert
from toolvet.server.failures import ApiError

MOST_CHECKS: Final = 1000

Kind = Literal["answer", "arguments", "result", "envelope", "conversation"]


class BatchBody(ApiBody, frozen=True, kw_only=True):
    """Up to a thousand checks. Each has a `kind`, and beside it the members of that check's own body."""

    checks: Annotated[list[dict[str, Any]], msgspec.Meta(max_length=MOST_CHECKS)]


class BatchEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One check's outcome: `verdict` is what the check alone would reply, `error` the failure that it would get."""

    kind: str | None = None
    verdict: dict[str, Any] | None = None
    error: FailureReply | None = None


class BatchReply(msgspec.Struct, frozen=True, kw_only=True):
    """The outcomes, in the order of the checks, and how many of them are errors."""

    results: list[BatchEntry]
    errors: int


def _batch(asked: ApiRequest[BatchBody]) -> object:
    results: list[dict[str, object]] = []
    for check in asked.body.checks:
        kind = check.get("kind")
        try:
            kind = convert({"kind": kind}, _Kinded).kind
            body = convert({name: value for name, value in check.items() if name != "kind"}, BODIES[kind])
            results.append({"kind": kind, "verdict": judge(body)})
        except ApiError as error:
            known = {"kind": kind} if isinstance(kind, str) else {}
            results.append({**known, "error": error.envelope.to_dict()})
    return {"results": results, "errors": sum("error" in each for each in results)}


class _Kinded(ApiBody, frozen=True, kw_only=True):
    kind: Kind


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/check/batch",
        "Do up to a thousand checks.",
        BatchBody,
        _batch,
        reply=BatchReply,
        is_long=lambda _: True,
    ),
)
