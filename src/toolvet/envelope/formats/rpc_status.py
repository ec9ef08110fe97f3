"""google.rpc.Status (AIP-193) in its JSON form, with the standard details; a Struct holds what these have no place for.

Sources: google/rpc/status.proto, code.proto and error_details.proto of googleapis.
"""

from collections.abc import Mapping

from toolvet.envelope.formats.failure import (
    Document,
    Failure,
    are_errors,
    code_for,
    failure_of,
    seconds,
    words,
)
from toolvet.envelope.builders.arguments import mapping
from toolvet.envelope.response import Envelope
from toolvet.envelope.contract.shapes import is_array, is_members
from toolvet.envelope.contract.vocabulary import ErrorCode, ErrorType
from toolvet.errors import EnvelopeError

_PREFIX = "type.googleapis.com/"
_STRUCT = f"{_PREFIX}google.protobuf.Struct"

# In the order of their numbers, from 1: the name, and the type that is nearest.
_CODES: tuple[tuple[str, ErrorType], ...] = (
    ("CANCELLED", ErrorType.INTERNAL),
    ("UNKNOWN", ErrorType.INTERNAL),
    ("INVALID_ARGUMENT", ErrorType.VALIDATION),
    ("DEADLINE_EXCEEDED", ErrorType.UNAVAILABLE),
    ("NOT_FOUND", ErrorType.NOT_FOUND),
    ("ALREADY_EXISTS", ErrorType.CONFLICT),
    ("PERMISSION_DENIED", ErrorType.AUTHORIZATION),
    ("RESOURCE_EXHAUSTED", ErrorType.RATE_LIMIT),
    ("FAILED_PRECONDITION", ErrorType.CONFLICT),
    ("ABORTED", ErrorType.CONFLICT),
    ("OUT_OF_RANGE", ErrorType.VALIDATION),
    ("UNIMPLEMENTED", ErrorType.INTERNAL),
    ("INTERNAL", ErrorType.INTERNAL),
    ("UNAVAILABLE", ErrorType.UNAVAILABLE),
    ("DATA_LOSS", ErrorType.INTERNAL),
    ("UNAUTHENTICATED", ErrorType.AUTHENTICATION),
)
_NUMBERS = {name: number for number, (name, _) in enumerate(_CODES, start=1)}
_KINDS: Mapping[str, ErrorType] = dict(_CODES)
# Their general names, in our words.
_SAME = {alias: code.value for code in ErrorCode for alias in code.aliases}


def to_rpc_status(response: Envelope | Mapping[str, object]) -> Document:
    """The failure as google.rpc.Status: `code` (the number), `message` and `details`.

    ErrorInfo holds code and domain, BadRequest the fields, RetryInfo the delay, Help the link, RequestInfo the id of
    the request. Raises EnvelopeError for a success.
    """
    failure = failure_of(response)
    rest = failure.rest()
    details: list[Document] = [_detail("ErrorInfo", reason=failure.code, domain=rest.pop("domain", ""))]
    if failure.errors:
        details.append(_detail("BadRequest", fieldViolations=[_violation(error) for error in failure.errors]))
        # A violation has no place for a JSON Pointer.
        rest["errors"] = failure.errors
    if failure.retry_after is not None:
        details.append(_detail("RetryInfo", retryDelay=_duration(rest.pop("retry_after_seconds"))))
    if failure.help_url is not None:
        link = {"description": failure.headline, "url": failure.help_url}
        details.append(_detail("Help", links=[link]))
    if failure.request_id is not None:
        details.append(_detail("RequestInfo", requestId=rest.pop("request_id")))
    details.append({"@type": _STRUCT, "value": rest})
    return {"code": _NUMBERS[_grpc(failure)], "message": failure.message, "details": details}


def _grpc(failure: Failure) -> str:
    if failure.code == ErrorCode.DUPLICATE_ENTRY:
        return "ALREADY_EXISTS"
    return next((kind.grpc_status for kind in ErrorType if kind == failure.kind), "UNKNOWN")


def _detail(name: str, **members: object) -> Document:
    return {"@type": f"{_PREFIX}google.rpc.{name}", **members}


def _violation(error: Mapping[str, object]) -> Document:
    pointer = words(error.get("pointer")) or ""
    path = ".".join(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    written: Document = {"field": words(error.get("field")) or path, "description": error["message"]}
    reason = words(error.get("reason"))
    return {**written, "reason": reason} if reason is not None else written


def _duration(delay: float) -> str:
    """A Duration in JSON: seconds with at most nine digits behind the point, and `s`."""
    whole, _, fraction = f"{delay:.9f}".partition(".")
    digits = fraction.rstrip("0")
    return f"{whole}.{digits}s" if digits else f"{whole}s"


def from_rpc_status(document: Mapping[str, object]) -> Envelope:
    """The envelope of a google.rpc.Status, or of the `{"error": {…}}` that Google's HTTP APIs answer with.

    Details that we do not know are kept in `data.details.rpc_details`. Raises EnvelopeError for a status that is OK.
    """
    parts = mapping(document, "document")
    inner = parts.get("error")
    parts = dict(inner) if is_members(inner) else parts
    name = _name(parts)
    kind = _KINDS[name]
    failure = Failure(message=words(parts.get("message")) or kind.headline, code="", kind=kind.value)
    unknown: list[object] = []
    listed = parts.get("details")
    ours: Mapping[str, object] | None = None
    for detail in listed if is_array(listed) else ():
        value = detail.get("value") if is_members(detail) and detail.get("@type") == _STRUCT else None
        if is_members(value) and "error_type" in value:
            ours = value
        elif not is_members(detail) or not _take(failure, detail):
            unknown.append(detail)
    for known in ErrorCode:
        # FAILED_PRECONDITION is a conflict, unless the code says that a feature is switched off.
        if known == failure.code and known.error_type.grpc_status == name:
            failure.kind = known.error_type.value
    failure.take(ours)
    stated = None if ours is None else ours.get("errors")
    if are_errors(stated):
        failure.errors = stated
    if not failure.code:
        failure.code = code_for(_SAME.get(name, name), kind)
    if unknown:
        failure.details = {**failure.details, "rpc_details": unknown}
    return failure.to_envelope()


def _name(status: Mapping[str, object]) -> str:
    """The name of the code: from the number, or from `status`, where `code` is the HTTP status."""
    code, name = status.get("code"), words(status.get("status"))
    if name in _KINDS:
        return str(name)
    if isinstance(code, int) and 1 <= code <= len(_CODES):
        return _CODES[code - 1][0]
    if code == 0 or name == "OK":
        raise EnvelopeError("document", "is OK, and no failure")
    return "UNKNOWN"


def _take(failure: Failure, detail: Mapping[str, object]) -> bool:
    """Whether the detail is one that has a place in an envelope; then it is there now."""
    match str(detail.get("@type", "")).rpartition(".")[2]:
        case "ErrorInfo":
            failure.code = words(detail.get("reason")) or ""
            failure.domain = words(detail.get("domain"))
            about = detail.get("metadata")
            failure.details = {**failure.details, "metadata": about} if is_members(about) and about else failure.details
        case "BadRequest":
            violations = detail.get("fieldViolations")
            failure.errors = [_error(item) for item in violations if is_members(item)] if is_array(violations) else []
        case "RetryInfo":
            failure.retry_after = _delay(detail.get("retryDelay"))
        case "RequestInfo":
            failure.request_id = words(detail.get("requestId"))
        case "Help":
            links = detail.get("links")
            first = links[0] if is_array(links) and links else None
            failure.help_url = words(first.get("url")) if is_members(first) else None
            return len(links) == 1 if is_array(links) else False
        case _:
            return False
    return True


def _error(violation: Mapping[str, object]) -> Document:
    error: Document = {"message": words(violation.get("description")) or "invalid"}
    for name in ("field", "reason"):
        text = words(violation.get(name))
        if text is not None:
            error[name] = text
    return error


def _delay(duration: object) -> float | None:
    text = duration[:-1] if isinstance(duration, str) and duration.endswith("s") else ""
    try:
        return seconds(float(text) if "." in text else int(text))
    except ValueError:
        return None
