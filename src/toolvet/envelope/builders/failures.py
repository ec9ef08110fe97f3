"""One function for each kind of failure, so that nobody has to remember its code and type."""

from collections.abc import Iterable, Mapping

from toolvet.envelope.builders.responses import error_response
from toolvet.envelope.build.arguments import FieldError
from toolvet.envelope.builders.arguments import text
from toolvet.envelope.response import Envelope
from toolvet.envelope.contract.vocabulary import ErrorCode


def validation_error(
    message: str,
    *,
    field: str | None = None,
    details: Mapping[str, object] | None = None,
    errors: Iterable[FieldError | Mapping[str, object]] | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The input is wrong. `field` names one field (`details.field` wins), `errors` several."""
    known = details if field is None else {"field": text(field, "field"), **(details or {})}
    return error_response(
        message,
        error_code=ErrorCode.VALIDATION_ERROR,
        details=known,
        errors=errors,
        remediation=remediation,
        request_id=request_id,
    )


def missing_required_error(
    field: str,
    *,
    message: str | None = None,
    details: Mapping[str, object] | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """A required field was not given."""
    name = text(field, "field")
    return error_response(
        f"{name} is required" if message is None else message,
        error_code=ErrorCode.MISSING_REQUIRED,
        details={"field": name, "constraint": "required", **(details or {})},
        remediation=remediation or f"Provide {name}.",
        request_id=request_id,
    )


def not_found_error(
    resource_type: str,
    resource_id: str,
    *,
    error_code: str = ErrorCode.NOT_FOUND,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """There is no such thing. `error_code` may say more, such as TASK_NOT_FOUND or a code of your own.

    An empty `resource_id` is not found like any other: callers ask for that, too.
    """
    kind = text(resource_type, "resource_type")
    name = resource_id if resource_id == "" or str(resource_id).isspace() else text(resource_id, "resource_id")
    return error_response(
        f"{kind} '{name}' not found",
        error_code=error_code,
        error_type="not_found",
        data={"resource_type": kind, "resource_id": name},
        remediation=remediation or f"Verify the {_spoken(kind)} ID exists.",
        request_id=request_id,
    )


def _spoken(kind: str) -> str:
    """A kind of thing as it stands inside a sentence: `Spec` is spec, `API key` stays."""
    return kind if any(letter.isupper() for letter in kind[1:2]) else kind[:1].lower() + kind[1:]


def conflict_error(
    message: str,
    *,
    details: Mapping[str, object] | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The state of things does not allow it: it exists already, or somebody else changed it."""
    return error_response(
        message,
        error_code=ErrorCode.CONFLICT,
        details=details,
        remediation=remediation or "Check current state and retry if appropriate.",
        request_id=request_id,
    )


def unauthorized_error(
    message: str = "Authentication required",
    *,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The caller's credentials are missing or invalid."""
    return error_response(
        message,
        error_code=ErrorCode.UNAUTHORIZED,
        remediation=remediation or "Provide valid authentication credentials.",
        request_id=request_id,
    )


def forbidden_error(
    message: str,
    *,
    required_permission: str | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The caller is known and may not do this."""
    needed = None if required_permission is None else text(required_permission, "required_permission")
    advice = "Request access from an administrator." if needed is None else f"Request the {needed} permission."
    return error_response(
        message,
        error_code=ErrorCode.FORBIDDEN,
        data=None if needed is None else {"required_permission": needed},
        remediation=remediation or advice,
        request_id=request_id,
    )


def feature_disabled_error(
    feature: str,
    *,
    message: str | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The feature is switched off for this caller."""
    name = text(feature, "feature")
    return error_response(
        f"Feature '{name}' is not enabled" if message is None else message,
        error_code=ErrorCode.FEATURE_DISABLED,
        data={"feature": name},
        remediation=remediation or "Ask for the feature to be enabled, or check its configuration.",
        request_id=request_id,
    )


def rate_limit_error(
    limit: int,
    period: str,
    retry_after_seconds: float,
    *,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """Too many calls: `limit` are allowed in a `period` such as "minute"."""
    return error_response(
        f"Rate limit exceeded: {limit} requests per {text(period, 'period')}",
        error_code=ErrorCode.RATE_LIMIT_EXCEEDED,
        remediation=remediation or f"Wait {_seconds(retry_after_seconds)} before retrying.",
        retry_after_seconds=retry_after_seconds,
        rate_limit={"limit": limit, "period": period, "retry_after": retry_after_seconds},
        request_id=request_id,
    )


def internal_error(
    message: str = "An internal error occurred",
    *,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """Something broke on the server's side. The message is shown to callers: put no internals into it."""
    return error_response(
        message,
        error_code=ErrorCode.INTERNAL_ERROR,
        remediation=remediation or "Please try again. If the problem persists, contact support.",
        request_id=request_id,
    )


def unavailable_error(
    message: str = "Service temporarily unavailable",
    *,
    retry_after_seconds: float | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The service, or one that it needs, does not answer for the time being."""
    wait = "later" if retry_after_seconds is None else f"after {_seconds(retry_after_seconds)}"
    return error_response(
        message,
        error_code=ErrorCode.UNAVAILABLE,
        remediation=remediation or f"Retry {wait}.",
        retry_after_seconds=retry_after_seconds,
        request_id=request_id,
    )


def _seconds(number: float) -> str:
    return f"{number} second" if number == 1 else f"{number} seconds"
