"""JSON:API 1.1, a document of errors: one error object for each field that is wrong, or one for the whole failure."""

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
from toolvet.errors import EnvelopeError


def to_jsonapi(response: Envelope | Mapping[str, object]) -> Document:
    """The failure as a JSON:API document. The top-level `meta` holds what error objects have no place for.

    Raises EnvelopeError for a success.
    """
    failure = failure_of(response)
    whole: Document = {"status": str(failure.http_status), "code": failure.code, "title": failure.headline}
    if failure.help_url is not None:
        whole["links"] = {"type": failure.help_url}
    about = failure.rest()
    if failure.errors:
        about["message"] = failure.message
        objects = [{**whole, **_written(error)} for error in failure.errors]
    else:
        objects = [{**whole, "detail": failure.message}]
    return {"errors": objects, "meta": about}


def _written(error: Mapping[str, object]) -> Document:
    parts = dict(error)
    written: Document = {"detail": parts.pop("message")}
    if isinstance(parts.get("pointer"), str):
        written["source"] = {"pointer": parts.pop("pointer")}
    elif isinstance(parts.get("field"), str):
        written["source"] = {"parameter": parts.pop("field")}
    return {**written, "meta": parts} if parts else written


def from_jsonapi(document: Mapping[str, object]) -> Envelope:
    """The envelope of a JSON:API document of errors.

    The first error decides about code, type and link; several errors, and one with a source, become field errors.
    Raises EnvelopeError for a document without errors.
    """
    parts = mapping(document, "document")
    listed = parts.get("errors")
    objects = [dict(item) for item in listed if is_members(item)] if is_array(listed) else []
    if not objects:
        raise EnvelopeError("document", "must have errors: an array of error objects")
    first, about = objects[0], parts.get("meta")
    kind = kind_of_status(first.get("status", 500))
    # Only documents that we wrote name the type in `meta`; the codes of others are put in our spelling.
    ours = words(first.get("code")) if is_members(about) and "error_type" in about else None
    code = ours or code_for(first.get("code"), kind)
    kind = kind_of_code(code, kind)
    told = words(about.get("message")) if is_members(about) else None
    failure = Failure(message=told or _told(first) or kind.headline, code=code, kind=kind.value)
    failure.help_url = _link(first)
    failure.take(about)
    if told is not None or len(objects) > 1 or is_members(first.get("source")):
        failure.errors = [_read(item, first) for item in objects]
    elif words(first.get("id")) is not None and failure.request_id is None:
        failure.request_id = words(first.get("id"))
    return failure.to_envelope()


def _told(error: Mapping[str, object]) -> str | None:
    return words(error.get("detail")) or words(error.get("title"))


def _link(error: Mapping[str, object]) -> str | None:
    """`type` leads to the kind of error, `about` to this one; either may be a string or a link object."""
    links = error.get("links")
    for name in ("type", "about"):
        link = links.get(name) if is_members(links) else None
        found = words(link.get("href") if is_members(link) else link)
        if found is not None:
            return found
    return None


def _read(error: Mapping[str, object], first: Mapping[str, object]) -> Document:
    about, source = error.get("meta"), error.get("source")
    parts: Document = dict(about) if is_members(about) else {}
    for theirs, ours in (("pointer", "pointer"), ("parameter", "field"), ("header", "field")):
        place = source.get(theirs) if is_members(source) else None
        if isinstance(place, str):
            parts[ours] = place
    if error.get("code") != first.get("code") and isinstance(error.get("code"), str):
        parts.setdefault("reason", error["code"])
    parts["message"] = _told(error) or "invalid"
    return parts
