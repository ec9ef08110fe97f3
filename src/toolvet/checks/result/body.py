"""Does a JSON value report an error? Judged by its shape, so that a payload that merely mentions errors is none.

Known shapes: `{"error": …}`, `{"errors": […]}`, `success`/`ok` false, `status: "error"`, RFC 9457 problem details,
JSON-RPC errors, google.rpc.Status, `code` and `message`, AWS (`__type`), FastAPI (`detail`), GitHub
(`documentation_url`).
"""

from collections.abc import Iterable, Mapping
from typing import cast

_ERROR_KEYS = (
    "error", "errors", "err", "exception", "error_message", "errormessage", "error_msg", "errormsg", "fault", "failure",
    "error_description", "traceback", "stacktrace", "stack_trace",
)  # fmt: skip
# Keys that come with an error and carry nothing else.
_COMPANIONS = frozenset(_ERROR_KEYS) | frozenset((
    "code", "status", "statuscode", "status_code", "http_status", "httpstatus", "message", "msg", "detail", "details", "reason",
    "type", "title", "instance", "success", "ok", "succeeded", "successful", "error_code", "errorcode", "error_type",
    "errortype", "request_id", "requestid", "trace_id", "traceid", "correlation_id", "timestamp", "time", "path", "hint",
    "hints", "suggestion", "suggestions", "help", "documentation_url", "docs", "doc_url", "retry_after", "retryafter",
    "retryable", "jsonrpc", "id", "__type", "iserror", "is_error", "name", "cause", "param", "field", "fields", "innererror",
    "target", "meta", "metadata", "extensions", "locations", "stack", "statustext", "method", "url", "tool", "version", "kind",
    "apiversion", "context", "info", "description", "action", "resolution", "example", "valid_values", "allowed", "available",
    "isretryable", "category", "severity", "data", "result", "results", "response", "headers", "body", "summary",
))  # fmt: skip
_PAYLOADS = ("data", "result", "results", "items", "response", "rows", "records", "output", "value", "content", "body")
_SUCCESS_FLAGS = ("success", "ok", "succeeded", "successful", "is_success", "issuccess")
_FAILED_WORDS = frozenset(("error", "errored", "failed", "failure", "fail", "fatal", "exception"))
_TOLD_BY = (*_ERROR_KEYS, "message", "msg", "detail", "details", "reason", "title", "description")
_NO_ERRORS = frozenset(
    ("", "none", "null", "no error", "no errors", "false", "0", "ok", "success", "n/a", "-", "nil", "undefined")
)
_CODE_WORDS = (
    "err", "invalid", "not_", "not", "fail", "denied", "exceeded", "missing", "unauth", "forbidden", "timeout", "unavailable",
    "conflict", "exception", "limit", "required", "expired", "bad", "unknown", "internal", "aborted", "exhausted", "throttl",
)  # fmt: skip
_TELLING = frozenset((
    *_TOLD_BY, *_SUCCESS_FLAGS, "status", "code", "statuscode", "status_code", "__type", "iserror", "is_error", "result", "output",
    "response", "text", "content", "data", "answer", "value",
))  # fmt: skip
_MOST_KEYS = 16
_MOST_OTHERS = 2


def reports_error(value: object) -> bool:
    """Whether this JSON value, as a whole, says that the call failed."""
    if not isinstance(value, Mapping):
        return False
    body: dict[str, object] = {}
    for key, member in cast("Mapping[object, object]", value).items():
        if len(body) >= _MOST_KEYS:
            return False
        if isinstance(key, str):
            body[key.lower()] = member
    if any(body.get(flag) is True for flag in _SUCCESS_FLAGS):
        return False
    if _carries_payload(body):
        return False
    others = sum(key not in _COMPANIONS for key in body)
    told = any(_speaks(body.get(key)) for key in _TOLD_BY)
    if _says_failed(body):
        return others <= _MOST_OTHERS and (told or len(body) == 1)
    if any(_speaks(body.get(key)) for key in _ERROR_KEYS):
        return others <= _MOST_OTHERS
    return others == 0 and told and _is_problem(body)


def could_report(keys: Iterable[str]) -> bool:
    """Whether an object with these keys needs a closer look: most payloads do not, and are not decoded."""
    return any(key.lower() in _TELLING for key in keys)


def _says_failed(body: Mapping[str, object]) -> bool:
    if (
        any(body.get(flag) is False for flag in _SUCCESS_FLAGS)
        or body.get("iserror") is True
        or body.get("is_error") is True
    ):
        return True
    if body.get("error") is True:
        return True
    status = body.get("status")
    return isinstance(status, str) and status.lower() in _FAILED_WORDS


def _carries_payload(body: Mapping[str, object]) -> bool:
    """Something to read beside the error: then it is a part of an answer, such as GraphQL's partial results."""
    return any(_is_filled(body.get(key)) for key in _PAYLOADS if key not in ("body", "response") or "error" not in body)


def _is_filled(value: object) -> bool:
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return any(member is not None for member in members.values()) and not _speaks(members.get("error"))
    if isinstance(value, list):
        return bool(cast("list[object]", value))
    return isinstance(value, str) and bool(value.strip()) and not _short(value)


def _short(value: str) -> bool:
    return len(value) <= 200


def _speaks(value: object) -> bool:
    """An error that says something: no null, no empty list, no count."""
    if isinstance(value, str):
        return value.strip().lower() not in _NO_ERRORS
    if isinstance(value, Mapping):
        return bool(cast("Mapping[object, object]", value))
    if isinstance(value, list):
        members = cast("list[object]", value)
        return bool(members) and isinstance(members[0], str | dict)
    return False


def _is_problem(body: Mapping[str, object]) -> bool:
    """Problem details, status objects and the like: an error by the keys that stand together."""
    status = _first(
        body, ("status", "statuscode", "status_code", "http_status", "httpstatus", "code", "error_code", "errorcode")
    )
    if _is_error_number(status):
        return True
    if isinstance(status, str) and any(word in status.lower() for word in _CODE_WORDS):
        return True
    if "__type" in body or "documentation_url" in body:
        return True
    if "title" in body and "detail" in body and "type" in body:
        return True
    if "error_type" in body or "errortype" in body:
        return True
    # FastAPI and Django answer with nothing but the detail.
    return len(body) == 1 and "detail" in body


def _first(body: Mapping[str, object], keys: tuple[str, ...]) -> object:
    return next((body[key] for key in keys if body.get(key) is not None), None)


def _is_error_number(status: object) -> bool:
    if isinstance(status, str) and status.lstrip("-").isdecimal() and len(status) < 8:
        status = int(status)
    if isinstance(status, bool) or not isinstance(status, int):
        return False
    return 400 <= status < 600 or -32999 <= status <= -32000
