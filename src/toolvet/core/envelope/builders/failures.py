"""One function for each kind of failure, which knows its code, its type and a usual remediation.

All of them return the envelope of a failure, and raise as `error_response` does. `remediation` replaces the usual
sentence about what to do.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from toolvet.core.causes import ErrorCode
from toolvet.core.envelope.builders.arguments import FieldError, copy_text
from toolvet.core.envelope.builders.responses import error_response
from toolvet.core.envelope.json_copy import is_blank
from toolvet.core.envelope.request import checked_id, current_request_id
from toolvet.core.envelope.response import Envelope


def validation_error(
    message: str,
    *,
    field: str | None = None,
    details: Mapping[str, object] | None = None,
    errors: Iterable[FieldError | Mapping[str, object]] | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The input is wrong: VALIDATION_ERROR.

    Args:
        message: what is wrong, in a sentence.
        field: the one field that is wrong, into `details.field`; a `field` in `details` wins.
        details: further facts.
        errors: several fields that are wrong: FieldError, or objects with a `message`.
        remediation: what the caller can do; none by default.
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> validation_error("The age must be at least 18.", field="age").data["details"]
        {'field': 'age'}
    """
    known = details if field is None else {"field": copy_text(field, "field"), **(details or {})}
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
    """A required field is missing: MISSING_REQUIRED.

    Args:
        field: its name.
        message: defaults to "`field` is required".
        details: further facts besides `field` and `constraint`.
        remediation: defaults to "Provide `field`."
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> missing_required_error("departure").error
        'departure is required'
    """
    name = copy_text(field, "field")
    return error_response(
        f"{name} is required" if message is None else message,
        error_code=ErrorCode.MISSING_REQUIRED,
        details={"field": name, "constraint": "required", **(details or {})},
        remediation=remediation or f"Provide {name}.",
        request_id=request_id,
    )


def invalid_format_error(
    field: str,
    expected: str,
    *,
    message: str | None = None,
    details: Mapping[str, object] | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """A field has the wrong form (the wrong type, a broken date, text that is not JSON): INVALID_FORMAT.

    Args:
        field: its name.
        expected: the right form in a few words, such as "a date (YYYY-MM-DD)".
        message: defaults to "`field` must be `expected`".
        details: further facts besides `field`, `constraint` and `expected`, such as what was received.
        remediation: defaults to "Send `field` as `expected`."
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> invalid_format_error("departure", "a date (YYYY-MM-DD)").error
        'departure must be a date (YYYY-MM-DD)'
    """
    name, form = copy_text(field, "field"), copy_text(expected, "expected")
    return error_response(
        f"{name} must be {form}" if message is None else message,
        error_code=ErrorCode.INVALID_FORMAT,
        details={"field": name, "constraint": "format", "expected": form, **(details or {})},
        remediation=remediation or f"Send {name} as {form}.",
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
    """A thing does not exist: NOT_FOUND.

    Args:
        resource_type: the kind of thing, such as "Ship".
        resource_id: its name. An empty one is not found like any other, because callers ask for that, too.
        error_code: may be more specific, such as TASK_NOT_FOUND or a code of the server's own.
        remediation: defaults to a request to verify the id.
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> not_found_error("Ship", "Aurora").error
        "Ship 'Aurora' not found"
    """
    kind = copy_text(resource_type, "resource_type")
    name = resource_id if is_blank(str(resource_id)) else copy_text(resource_id, "resource_id")
    return error_response(
        f"{kind} '{name}' not found",
        error_code=error_code,
        error_type="not_found",
        data={"resource_type": kind, "resource_id": name},
        remediation=remediation or f"Verify the {_in_sentence(kind)} ID exists.",
        request_id=request_id,
    )


def _in_sentence(kind: str) -> str:
    """A kind of thing in the middle of a sentence: `Spec` becomes spec, `API key` stays."""
    return kind if any(letter.isupper() for letter in kind[1:2]) else kind[:1].lower() + kind[1:]


def conflict_error(
    message: str,
    *,
    details: Mapping[str, object] | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The current state does not allow the operation (the thing exists already, or has changed meanwhile): CONFLICT.

    Args:
        message: what the conflict is.
        details: further facts.
        remediation: defaults to a request to check the current state.
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> conflict_error("The berth is taken.").data["error_code"]
        'CONFLICT'
    """
    return error_response(
        message,
        error_code=ErrorCode.CONFLICT,
        details=details,
        remediation=remediation or "Check current state and retry if appropriate.",
        request_id=request_id,
    )


def duplicate_entry_error(
    resource_type: str,
    resource_id: str,
    *,
    details: Mapping[str, object] | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """A thing exists already: DUPLICATE_ENTRY.

    Args:
        resource_type: the kind of thing, such as "Ship".
        resource_id: its name.
        details: further facts.
        remediation: defaults to a request to use another ID or to update what exists.
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> duplicate_entry_error("Ship", "Aurora").error
        "Ship 'Aurora' already exists"
    """
    kind, name = copy_text(resource_type, "resource_type"), copy_text(resource_id, "resource_id")
    return error_response(
        f"{kind} '{name}' already exists",
        error_code=ErrorCode.DUPLICATE_ENTRY,
        data={"resource_type": kind, "resource_id": name},
        details=details,
        remediation=remediation or f"Use another ID, or update the existing {_in_sentence(kind)}.",
        request_id=request_id,
    )


def unauthorized_error(
    message: str = "Authentication required",
    *,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The caller's credentials are missing or invalid: UNAUTHORIZED.

    Args:
        message: what is wrong with them.
        remediation: defaults to a request for valid credentials.
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> unauthorized_error("The token has expired.").data["error_type"]
        'authentication'
    """
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
    """The caller is known and is not allowed to do this: FORBIDDEN.

    Args:
        message: what is not allowed.
        required_permission: the permission that is missing, into `data.required_permission`.
        remediation: defaults to a request for that permission.
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> forbidden_error("Only the harbour master moves ships.", required_permission="move").data["remediation"]
        'Request the move permission.'
    """
    needed = None if required_permission is None else copy_text(required_permission, "required_permission")
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
    """The feature is switched off for this caller: FEATURE_DISABLED.

    Args:
        feature: its name, also into `data.feature`.
        message: defaults to "Feature '`feature`' is not enabled".
        remediation: defaults to a request to enable it.
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> feature_disabled_error("night sailing").error
        "Feature 'night sailing' is not enabled"
    """
    name = copy_text(feature, "feature")
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
    remaining: int | None = None,
    reset_at: str | float | datetime | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The caller made too many calls: RATE_LIMIT_EXCEEDED.

    Args:
        limit: how many calls are allowed in a period.
        period: its name, such as "minute".
        retry_after_seconds: after how many seconds to try again, also into `meta.rate_limit.retry_after`.
        remaining: how many calls are left in this period, mostly 0; None leaves it out.
        reset_at: when the period ends: RFC 3339, epoch seconds, or a datetime with a time zone.
        remediation: defaults to a request to wait that long.
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> rate_limit_error(60, "minute", 12).error
        'Rate limit exceeded: 60 requests per minute'
    """
    state = {"limit": limit, "remaining": remaining, "reset_at": reset_at, "period": period}
    known = {name: value for name, value in state.items() if value is not None}
    return error_response(
        f"Rate limit exceeded: {limit} requests per {copy_text(period, 'period')}",
        error_code=ErrorCode.RATE_LIMIT_EXCEEDED,
        remediation=remediation or f"Wait {_seconds(retry_after_seconds)} before retrying.",
        retry_after_seconds=retry_after_seconds,
        rate_limit={**known, "retry_after": retry_after_seconds},
        request_id=request_id,
    )


def internal_error(
    message: str = "An internal error occurred",
    *,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """Something broke inside the server: INTERNAL_ERROR.

    Args:
        message: shown to callers, so it must not contain internals.
        remediation: defaults to a request to try again, and then to contact support with the request's id.
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> internal_error(request_id="req_7").data["remediation"]
        'Please try again. If the problem persists, contact support and mention the request ID req_7.'
    """
    known = current_request_id() if request_id is None else checked_id(request_id)
    mention = "" if known is None else f" and mention the request ID {known}"
    return error_response(
        message,
        error_code=ErrorCode.INTERNAL_ERROR,
        remediation=remediation or f"Please try again. If the problem persists, contact support{mention}.",
        request_id=request_id,
    )


def unavailable_error(
    message: str = "Service temporarily unavailable",
    *,
    retry_after_seconds: float | None = None,
    remediation: str | None = None,
    request_id: str | None = None,
) -> Envelope:
    """The service, or one that it needs, does not answer at the moment: UNAVAILABLE.

    Args:
        message: what does not answer.
        retry_after_seconds: after how many seconds to try again, if that is known.
        remediation: defaults to a request to retry, after that time or, if none is known, with backoff.
        request_id: defaults to that of the surrounding `request_id(...)`.

    Example:
        >>> unavailable_error(retry_after_seconds=30).data["remediation"]
        'Retry after 30 seconds.'
    """
    backoff = "Retry with exponential backoff."
    if retry_after_seconds is not None:
        backoff = f"Retry after {_seconds(retry_after_seconds)}."
    return error_response(
        message,
        error_code=ErrorCode.UNAVAILABLE,
        remediation=remediation or backoff,
        retry_after_seconds=retry_after_seconds,
        request_id=request_id,
    )


def _seconds(number: float) -> str:
    return f"{number} second" if number == 1 else f"{number} seconds"
