"""RFC 9457, Problem Details for HTTP APIs: extension members hold what the standard has no place for."""

from collections.abc import Mapping

from toolvet.envelope.formats.failure import (
    Document,
    Failure,
    code_for,
    failure_of,
    kind_of_code,
    kind_of_status,
    words,
)
from toolvet.envelope.builders.arguments import mapping
from toolvet.envelope.response import Envelope
from toolvet.envelope.contract.shapes import is_array, is_members

_STANDARD = frozenset({"type", "title", "status", "detail", "instance"})
_EXTENSIONS = frozenset(
    {
        "code",
        "errors",
        "error_type",
        "remediation",
        "domain",
        "retry_after_seconds",
        "request_id",
        "details",
        "context",
        "meta",
    }
)


def to_problem_details(response: Envelope | Mapping[str, object]) -> Document:
    """The failure as problem details (media type application/problem+json).

    The help link is the `type`, "about:blank" without one; the message is the `detail`. Field errors are `errors`, with
    pointers in the fragment form of the RFC (`#/age`). Raises EnvelopeError for a success.
    """
    failure = failure_of(response)
    details = dict(failure.details)
    title, instance = words(details.get("title")), words(details.get("instance"))
    document: Document = {
        "type": failure.help_url or "about:blank",
        "title": title or (failure.headline if failure.help_url else failure.phrase),
        "status": failure.http_status,
        "detail": failure.message,
    }
    if title is not None:
        del details["title"]
    if instance is not None:
        document["instance"] = details.pop("instance")
    document["code"] = failure.code
    if failure.errors:
        document["errors"] = [_written(error) for error in failure.errors]
    failure.details = details
    return document | failure.rest()


def _written(error: Mapping[str, object]) -> Document:
    parts = dict(error)
    written: Document = {"detail": parts.pop("message")}
    pointer = parts.pop("pointer", None)
    if isinstance(pointer, str):
        written["pointer"] = f"#{pointer}"
    return written | parts


def from_problem_details(document: Mapping[str, object]) -> Envelope:
    """The envelope of a problem. Extension members that we do not know go into `data.details`.

    Without a `code` the last step of the `type` is one (`…/out-of-credit` is OUT_OF_CREDIT). Raises EnvelopeTypeError
    for what is no object.
    """
    parts = mapping(document, "document")
    kind = kind_of_status(parts.get("status", 500))
    about = words(parts.get("type"))
    about = None if about == "about:blank" else about
    named = words(parts.get("code")) or (about or "").rstrip("/").replace("#", "/").replace(":", "/").rpartition("/")[2]
    # Only documents that we wrote name the type beside the code; the codes of others are put in our spelling.
    code = (words(parts.get("code")) if "error_type" in parts else None) or code_for(named, kind)
    kind = kind_of_code(code, kind)
    failure = Failure(
        message=words(parts.get("detail")) or words(parts.get("title")) or kind.headline,
        code=code,
        kind=kind.value,
        help_url=about,
    )
    errors = parts.get("errors")
    read = [_read(error) for error in errors] if is_array(errors) and errors else []
    unknown = {name: value for name, value in parts.items() if name not in _STANDARD | _EXTENSIONS}
    if read and all(error is not None for error in read):
        failure.errors = [error for error in read if error is not None]
    elif errors is not None:
        unknown["errors"] = errors
    failure.details = unknown
    failure.take(parts)
    title, instance = words(parts.get("title")), words(parts.get("instance"))
    if title is not None and title not in (failure.headline, failure.phrase, failure.message):
        failure.details = {"title": title, **failure.details}
    if instance is not None:
        failure.details = {"instance": instance, **failure.details}
    return failure.to_envelope()


def _read(error: object) -> Document | None:
    """A field error; None for what has no words."""
    if not is_members(error):
        return None
    parts = dict(error)
    detail = words(parts.pop("detail", None)) or words(parts.get("message"))
    if detail is None:
        return None
    pointer = parts.get("pointer")
    if isinstance(pointer, str) and pointer.startswith("#"):
        parts["pointer"] = pointer[1:]
    return {**parts, "message": detail}
