"""The words of the contract response-v2: error types, error codes, warnings, levels of fidelity, contract versions.

Each word has a row of facts: the HTTP status that an error type corresponds to, whether trying again helps, the type
that a code belongs to. The schema, the checks, the builders and the converters all read this file, so a new code is a
member and its row.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

VERSION: Final = "response-v2"
FIDELITY_VERSION: Final = "1.0"


class RetryAdvice(StrEnum):
    """Whether the same call may succeed later."""

    NO = "no"
    MAYBE = "maybe"
    AFTER_DELAY = "after delay"
    BACKOFF = "backoff"


class ErrorType(StrEnum):
    """The kind of a failure, for clients that route by kind."""

    VALIDATION = "validation"
    AUTHENTICATION = "authentication"
    AUTHORIZATION = "authorization"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    RATE_LIMIT = "rate_limit"
    FEATURE_FLAG = "feature_flag"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"

    @property
    def http_status(self) -> int:
        """The HTTP status that a web service would answer with."""
        return _TYPES[self].http_status

    @property
    def retry(self) -> RetryAdvice:
        """Whether the same call may succeed later."""
        return _TYPES[self].retry

    @property
    def grpc_status(self) -> str:
        """The name of the corresponding code in google.rpc.Status."""
        return _TYPES[self].grpc_status

    @property
    def headline(self) -> str:
        """The reason phrase of that HTTP status."""
        return _TYPES[self].headline

    @property
    def default_code(self) -> "ErrorCode":
        """The most general code of this type."""
        return _TYPES[self].default_code


class ErrorCode(StrEnum):
    """The documented codes; a server may have codes of its own beside them."""

    VALIDATION_ERROR = "VALIDATION_ERROR"
    INVALID_FORMAT = "INVALID_FORMAT"
    MISSING_REQUIRED = "MISSING_REQUIRED"
    NOT_FOUND = "NOT_FOUND"
    SPEC_NOT_FOUND = "SPEC_NOT_FOUND"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    DUPLICATE_ENTRY = "DUPLICATE_ENTRY"
    CONFLICT = "CONFLICT"
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    FEATURE_DISABLED = "FEATURE_DISABLED"
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    UNAVAILABLE = "UNAVAILABLE"

    @property
    def error_type(self) -> ErrorType:
        """The type that the code belongs to."""
        return _CODES[self].error_type

    @property
    def headline(self) -> str:
        """The failure in words that never change: the `title` of RFC 9457."""
        return _CODES[self].headline

    @property
    def aliases(self) -> tuple[str, ...]:
        """Names that other systems use for the same failure."""
        return _CODES[self].aliases


class _Type(NamedTuple):
    http_status: int
    retry: RetryAdvice
    grpc_status: str
    headline: str
    default_code: ErrorCode


class _Code(NamedTuple):
    error_type: ErrorType
    headline: str
    aliases: tuple[str, ...] = ()


_T, _C, _R = ErrorType, ErrorCode, RetryAdvice
_TYPES: Final[Mapping[ErrorType, _Type]] = {
    _T.VALIDATION: _Type(400, _R.NO, "INVALID_ARGUMENT", "Bad Request", _C.VALIDATION_ERROR),
    _T.AUTHENTICATION: _Type(401, _R.NO, "UNAUTHENTICATED", "Unauthorized", _C.UNAUTHORIZED),
    _T.AUTHORIZATION: _Type(403, _R.NO, "PERMISSION_DENIED", "Forbidden", _C.FORBIDDEN),
    _T.NOT_FOUND: _Type(404, _R.NO, "NOT_FOUND", "Not Found", _C.NOT_FOUND),
    _T.CONFLICT: _Type(409, _R.MAYBE, "ABORTED", "Conflict", _C.CONFLICT),
    _T.RATE_LIMIT: _Type(429, _R.AFTER_DELAY, "RESOURCE_EXHAUSTED", "Too Many Requests", _C.RATE_LIMIT_EXCEEDED),
    _T.FEATURE_FLAG: _Type(403, _R.NO, "FAILED_PRECONDITION", "Forbidden", _C.FEATURE_DISABLED),
    _T.INTERNAL: _Type(500, _R.BACKOFF, "INTERNAL", "Internal Server Error", _C.INTERNAL_ERROR),
    _T.UNAVAILABLE: _Type(503, _R.BACKOFF, "UNAVAILABLE", "Service Unavailable", _C.UNAVAILABLE),
}
_CODES: Final[Mapping[ErrorCode, _Code]] = {
    _C.VALIDATION_ERROR: _Code(_T.VALIDATION, "Invalid input", ("INVALID_ARGUMENT", "BAD_REQUEST")),
    _C.INVALID_FORMAT: _Code(_T.VALIDATION, "Malformed input", ("PARSE_ERROR",)),
    _C.MISSING_REQUIRED: _Code(_T.VALIDATION, "Required value missing", ("MISSING_FIELD",)),
    _C.NOT_FOUND: _Code(_T.NOT_FOUND, "Not found"),
    _C.SPEC_NOT_FOUND: _Code(_T.NOT_FOUND, "Specification not found"),
    _C.TASK_NOT_FOUND: _Code(_T.NOT_FOUND, "Task not found"),
    _C.DUPLICATE_ENTRY: _Code(_T.CONFLICT, "Already exists", ("ALREADY_EXISTS",)),
    _C.CONFLICT: _Code(_T.CONFLICT, "Conflict with the current state", ("ABORTED",)),
    _C.UNAUTHORIZED: _Code(_T.AUTHENTICATION, "Authentication required", ("UNAUTHENTICATED",)),
    _C.FORBIDDEN: _Code(_T.AUTHORIZATION, "Permission denied", ("PERMISSION_DENIED", "ACCESS_DENIED")),
    _C.FEATURE_DISABLED: _Code(_T.FEATURE_FLAG, "Feature not enabled"),
    _C.RATE_LIMIT_EXCEEDED: _Code(
        _T.RATE_LIMIT,
        "Too many requests",
        ("RATE_LIMITED", "RATE_LIMIT", "RATE_LIMIT_ERROR", "TOO_MANY_REQUESTS", "RESOURCE_EXHAUSTED"),
    ),
    _C.INTERNAL_ERROR: _Code(_T.INTERNAL, "Internal error", ("INTERNAL", "INTERNAL_SERVER_ERROR")),
    _C.UNAVAILABLE: _Code(_T.UNAVAILABLE, "Service unavailable", ("SERVICE_UNAVAILABLE",)),
}


class WarningSeverity(StrEnum):
    """What a warning asks of its reader: nothing (info), to weigh it (warning), or to act before going on (error)."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class WarningCode(StrEnum):
    """The documented warnings."""

    CONTENT_TRUNCATED = "CONTENT_TRUNCATED"
    STALE_CACHE = "STALE_CACHE"
    PARTIAL_FAILURE = "PARTIAL_FAILURE"
    DEPRECATED_FIELD = "DEPRECATED_FIELD"
    RATE_LIMIT_APPROACHING = "RATE_LIMIT_APPROACHING"
    FALLBACK_USED = "FALLBACK_USED"

    @property
    def severity(self) -> WarningSeverity:
        """The usual severity of this warning: the builders fill it in where none is given."""
        return _SEVERITIES[self]


_SEVERITIES: Final[Mapping[WarningCode, WarningSeverity]] = {
    WarningCode.CONTENT_TRUNCATED: WarningSeverity.INFO,
    WarningCode.STALE_CACHE: WarningSeverity.WARNING,
    WarningCode.PARTIAL_FAILURE: WarningSeverity.WARNING,
    WarningCode.DEPRECATED_FIELD: WarningSeverity.INFO,
    WarningCode.RATE_LIMIT_APPROACHING: WarningSeverity.WARNING,
    WarningCode.FALLBACK_USED: WarningSeverity.INFO,
}


class ContentFidelity(StrEnum):
    """How much of the content a response holds, from all of it (full) to mere references."""

    FULL = "full"
    PARTIAL = "partial"
    SUMMARY = "summary"
    REFERENCE_ONLY = "reference_only"


class ResponseContract(StrEnum):
    """The shape of a response that the caller asked for: v1 is the bare payload, v2 the envelope."""

    V1 = "v1"
    V2 = "v2"
