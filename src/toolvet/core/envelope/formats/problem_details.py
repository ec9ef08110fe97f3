"""Failures to and from RFC 9457, Problem Details for HTTP APIs.

Extension members hold what the standard has no place for.
"""

from collections.abc import Mapping
from typing import Final

from toolvet.core.envelope.builders.arguments import copy_object
from toolvet.core.envelope.contract.shapes import is_sequence
from toolvet.core.envelope.formats.failure import (
    Document,
    Failure,
    kind_of_code,
    kind_of_status,
    normalize_code,
    parse_failure,
    text_or_none,
)
from toolvet.core.envelope.response import Envelope
from toolvet.core.json_value import is_object

_STANDARD: Final = frozenset({"type", "title", "status", "detail", "instance"})
_EXTENSIONS: Final = frozenset(
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
    pointers in the fragment form of the RFC (`#/age`).

    Args:
        response: the envelope of a failure, as an Envelope or as its JSON object.

    Raises:
        EnvelopeError: for a success, and for a value that is not an envelope.

    Example:
        >>> from toolvet import not_found_error
        >>> problem = to_problem_details(not_found_error("Ship", "Aurora"))
        >>> problem["status"], problem["detail"]
        (404, "Ship 'Aurora' not found")
    """
    failure = parse_failure(response)
    details = dict(failure.details)
    title, instance = text_or_none(details.get("title")), text_or_none(details.get("instance"))
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
        errors: list[Document] = []
        for error in failure.errors:
            parts = dict(error)
            made: Document = {"detail": parts.pop("message")}
            pointer = parts.pop("pointer", None)
            if isinstance(pointer, str):
                made["pointer"] = f"#{pointer}"
            errors.append(made | parts)
        document["errors"] = errors
    failure.details = details
    return document | failure.extensions()


def from_problem_details(document: Mapping[str, object]) -> Envelope:
    """The envelope of problem details. Unknown extension members go into `data.details`.

    Without a `code`, the code is the last step of the `type` (`…/out-of-credit` is OUT_OF_CREDIT).

    Args:
        document: the JSON object. Members of the wrong type are ignored.

    Raises:
        EnvelopeTypeError: for a value that is not an object.

    Example:
        >>> from_problem_details({"status": 404, "detail": "No such ship."}).error
        'No such ship.'
    """
    parts = copy_object(document, "document")
    kind = kind_of_status(parts.get("status", 500))
    link = text_or_none(parts.get("type"))
    link = None if link == "about:blank" else link
    named = (
        text_or_none(parts.get("code"))
        or (link or "").rstrip("/").replace("#", "/").replace(":", "/").rpartition("/")[2]
    )
    # Only documents that toolvet wrote name the type beside the code; other codes are normalised.
    code = (text_or_none(parts.get("code")) if "error_type" in parts else None) or normalize_code(named, kind)
    kind = kind_of_code(code, kind)
    failure = Failure(
        message=text_or_none(parts.get("detail")) or text_or_none(parts.get("title")) or kind.headline,
        code=code,
        kind=kind.value,
        help_url=link,
    )
    stated = parts.get("errors")
    errors: list[Document] = []
    for error in stated if is_sequence(stated) else ():
        field = dict(error) if is_object(error) else {}
        detail = text_or_none(field.pop("detail", None)) or text_or_none(field.get("message"))
        if detail is not None:
            pointer = field.get("pointer")
            if isinstance(pointer, str) and pointer.startswith("#"):
                field["pointer"] = pointer[1:]
            errors.append({**field, "message": detail})
    unknown = {name: value for name, value in parts.items() if name not in _STANDARD | _EXTENSIONS}
    # Errors of which one has no message are not ours.
    if errors and is_sequence(stated) and len(errors) == len(stated):
        failure.errors = errors
    elif stated is not None:
        unknown["errors"] = stated
    failure.details = unknown
    failure.take_extensions(parts)
    title, instance = text_or_none(parts.get("title")), text_or_none(parts.get("instance"))
    if title is not None and title not in (failure.headline, failure.phrase, failure.message):
        failure.details = {"title": title, **failure.details}
    if instance is not None:
        failure.details = {"instance": instance, **failure.details}
    return failure.to_envelope()
