"""Failures to and from google.rpc.Status (AIP-193) in its JSON form, with the standard details.

A Struct holds what the standard details have no place for.

Sources: google/rpc/status.proto, code.proto and error_details.proto of googleapis.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from toolvet.core.causes import ErrorCode, State, cause_of, state_of_google_rpc
from toolvet.core.envelope.builders.arguments import copy_object
from toolvet.core.envelope.contract.shapes import is_sequence
from toolvet.core.envelope.formats.failure import (
    Document,
    Failure,
    are_errors,
    normalize_code,
    parse_failure,
    seconds_or,
    text_or_none,
)
from toolvet.core.envelope.response import Envelope
from toolvet.core.json_value import is_object, pointer_steps
from toolvet.errors import EnvelopeError

_PREFIX: Final = "type.googleapis.com/"
_STRUCT: Final = f"{_PREFIX}google.protobuf.Struct"

# The names of google.rpc.Code, in the order of their numbers, from 1.
_NAMES: Final = (
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
# Other names of a code → the documented code.
_SAME: Final = {alias: code.value for code in ErrorCode for alias in code.aliases}


def to_rpc_status(response: Envelope | Mapping[str, object]) -> Document:
    """The failure as google.rpc.Status: `code` (the number), `message` and `details`.

    ErrorInfo holds code and domain, BadRequest the fields, RetryInfo the delay, Help the link, RequestInfo the id of
    the request.

    Args:
        response: the envelope of a failure, as an Envelope or as its JSON object.

    Raises:
        EnvelopeError: for a success, and for a value that is not an envelope.

    Example:
        >>> from toolvet import not_found_error
        >>> status = to_rpc_status(not_found_error("Ship", "Aurora"))
        >>> status["code"], status["message"]
        (5, "Ship 'Aurora' not found")
    """
    failure = parse_failure(response)
    extensions = failure.extensions()
    details: list[Document] = [_detail("ErrorInfo", reason=failure.code, domain=extensions.pop("domain", ""))]
    if failure.errors:
        violations: list[Document] = []
        for error in failure.errors:
            path = ".".join(pointer_steps(text_or_none(error.get("pointer")) or ""))
            violation: Document = {"field": text_or_none(error.get("field")) or path, "description": error["message"]}
            reason = text_or_none(error.get("reason"))
            violations.append(violation if reason is None else {**violation, "reason": reason})
        details.append(_detail("BadRequest", fieldViolations=violations))
        # A violation has no place for a JSON Pointer.
        extensions["errors"] = failure.errors
    if failure.retry_after is not None:
        delay = extensions.pop("retry_after_seconds")
        # A Duration has at most nine digits after the point. A whole number may be too large for a float.
        seconds = delay if isinstance(delay, int) else f"{delay:.9f}".rstrip("0").rstrip(".")
        details.append(_detail("RetryInfo", retryDelay=f"{seconds}s"))
    if failure.help_url is not None:
        link = {"description": failure.headline, "url": failure.help_url}
        details.append(_detail("Help", links=[link]))
    if failure.request_id is not None:
        details.append(_detail("RequestInfo", requestId=extensions.pop("request_id")))
    details.append({"@type": _STRUCT, "value": extensions})
    return {"code": _NAMES.index(failure.grpc_status) + 1, "message": failure.message, "details": details}


def _detail(name: str, **members: object) -> Document:
    return {"@type": f"{_PREFIX}google.rpc.{name}", **members}


def from_rpc_status(document: Mapping[str, object]) -> Envelope:
    """The envelope of a google.rpc.Status, or of the `{"error": {…}}` that Google's HTTP APIs answer with.

    Args:
        document: the JSON object. Unknown details are kept in `data.details.rpc_details`.

    Raises:
        EnvelopeError: for a status that is OK; EnvelopeTypeError for a value that is not an object.

    Example:
        >>> from_rpc_status({"code": 5, "message": "No such ship."}).data["error_type"]
        'not_found'
    """
    parts = copy_object(document, "document")
    inner = parts.get("error")
    parts = dict(inner) if is_object(inner) else parts
    code, status = parts.get("code"), text_or_none(parts.get("status"))
    # `status` comes first: in the answers of HTTP APIs, `code` is the HTTP status.
    if status is not None and status in _NAMES:
        name = status
    elif isinstance(code, int) and 1 <= code <= len(_NAMES):
        name = _NAMES[code - 1]
    elif code == 0 or status == "OK":
        raise EnvelopeError("document", "is OK, and no failure")
    else:
        name = "UNKNOWN"
    kind = cause_of(state_of_google_rpc(name) or State.INTERNAL).error_type
    failure = Failure(message=text_or_none(parts.get("message")) or kind.headline, code="", kind=kind.value)
    unknown: list[object] = []
    listed = parts.get("details")
    ours: Mapping[str, object] | None = None
    for detail in listed if is_sequence(listed) else ():
        value = detail.get("value") if is_object(detail) and detail.get("@type") == _STRUCT else None
        if is_object(value) and "error_type" in value:
            ours = value
        elif not is_object(detail) or not _take_detail(failure, detail):
            unknown.append(detail)
    for known in ErrorCode:
        # FAILED_PRECONDITION is a conflict, unless the code says that a feature is switched off.
        if known == failure.code and known.grpc_status == name:
            failure.kind = known.error_type.value
    failure.take_extensions(ours)
    stated = None if ours is None else ours.get("errors")
    if are_errors(stated):
        failure.errors = stated
    if not failure.code:
        failure.code = normalize_code(_SAME.get(name, name), kind)
    if unknown:
        failure.details = {**failure.details, "rpc_details": unknown}
    return failure.to_envelope()


def _take_detail(failure: Failure, detail: Mapping[str, object]) -> bool:
    """Take a standard detail over into the failure. False for a detail that an envelope has no place for."""
    match str(detail.get("@type", "")).rpartition(".")[2]:
        case "ErrorInfo":
            failure.code = text_or_none(detail.get("reason")) or ""
            failure.domain = text_or_none(detail.get("domain"))
            about = detail.get("metadata")
            failure.details = {**failure.details, "metadata": about} if is_object(about) and about else failure.details
        case "BadRequest":
            violations = detail.get("fieldViolations")
            failure.errors = []
            for violation in violations if is_sequence(violations) else ():
                if is_object(violation):
                    error: Document = {"message": text_or_none(violation.get("description")) or "invalid"}
                    for name in ("field", "reason"):
                        text = text_or_none(violation.get(name))
                        if text is not None:
                            error[name] = text
                    failure.errors.append(error)
        case "RetryInfo":
            delay = detail.get("retryDelay")
            failure.retry_after = None
            if isinstance(delay, str) and delay.endswith("s"):
                with suppress(ValueError):
                    failure.retry_after = seconds_or(float(delay[:-1]) if "." in delay else int(delay[:-1]))
        case "RequestInfo":
            failure.request_id = text_or_none(detail.get("requestId"))
        case "Help":
            links = detail.get("links")
            first = links[0] if is_sequence(links) and links else None
            failure.help_url = text_or_none(first.get("url")) if is_object(first) else None
            return len(links) == 1 if is_sequence(links) else False
        case _:
            return False
    return True
