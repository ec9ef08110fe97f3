"""Failures to and from JSON:API 1.1: one error object for each wrong field, or one for the whole failure."""

from collections.abc import Mapping

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
from toolvet.errors import EnvelopeError


def to_jsonapi(response: Envelope | Mapping[str, object]) -> Document:
    """The failure as a JSON:API document. Its top-level `meta` holds what error objects have no place for.

    Args:
        response: the envelope of a failure, as an Envelope or as its JSON object.

    Raises:
        EnvelopeError: for a success, and for a value that is not an envelope.

    Example:
        >>> from toolvet import not_found_error
        >>> to_jsonapi(not_found_error("Ship", "Aurora"))["errors"][0]["detail"]
        "Ship 'Aurora' not found"
    """
    failure = parse_failure(response)
    common: Document = {"status": str(failure.http_status), "code": failure.code, "title": failure.headline}
    if failure.help_url is not None:
        common["links"] = {"type": failure.help_url}
    extensions = failure.extensions()
    if failure.errors:
        extensions["message"] = failure.message
        objects: list[Document] = []
        for error in failure.errors:
            parts = dict(error)
            made: Document = {**common, "detail": parts.pop("message")}
            if isinstance(parts.get("pointer"), str):
                made["source"] = {"pointer": parts.pop("pointer")}
            elif isinstance(parts.get("field"), str):
                made["source"] = {"parameter": parts.pop("field")}
            objects.append({**made, "meta": parts} if parts else made)
    else:
        objects = [{**common, "detail": failure.message}]
    return {"errors": objects, "meta": extensions}


def from_jsonapi(document: Mapping[str, object]) -> Envelope:
    """The envelope of a JSON:API document of errors.

    The first error gives code, type and link; several errors, and one with a source, become field errors.

    Args:
        document: the JSON object. Members of the wrong type are ignored.

    Raises:
        EnvelopeError: for a document without errors; EnvelopeTypeError for a value that is not an object.

    Example:
        >>> from_jsonapi({"errors": [{"status": "404", "detail": "No such ship."}]}).data["error_code"]
        'NOT_FOUND'
    """
    parts = copy_object(document, "document")
    listed = parts.get("errors")
    objects = [dict(item) for item in listed if is_object(item)] if is_sequence(listed) else []
    if not objects:
        raise EnvelopeError("document", "must have errors: an array of error objects")
    first, meta = objects[0], parts.get("meta")
    kind = kind_of_status(first.get("status", 500))
    # Only documents that toolvet wrote name the type in `meta`; other codes are normalised.
    ours = text_or_none(first.get("code")) if is_object(meta) and "error_type" in meta else None
    code = ours or normalize_code(first.get("code"), kind)
    kind = kind_of_code(code, kind)
    message = text_or_none(meta.get("message")) if is_object(meta) else None
    failure = Failure(message=message or _message_of(first) or kind.headline, code=code, kind=kind.value)
    links = first.get("links")
    # `type` is about this kind of error, `about` about this one: a string or a link object.
    for name in ("type", "about"):
        link = links.get(name) if is_object(links) else None
        failure.help_url = failure.help_url or text_or_none(link.get("href") if is_object(link) else link)
    failure.take_extensions(meta)
    if message is not None or len(objects) > 1 or is_object(first.get("source")):
        failure.errors = []
        for item in objects:
            about, source = item.get("meta"), item.get("source")
            error: Document = dict(about) if is_object(about) else {}
            for theirs, name in (("pointer", "pointer"), ("parameter", "field"), ("header", "field")):
                place = source.get(theirs) if is_object(source) else None
                if isinstance(place, str):
                    error[name] = place
            if item.get("code") != first.get("code") and isinstance(item.get("code"), str):
                error.setdefault("reason", item["code"])
            error["message"] = _message_of(item) or "invalid"
            failure.errors.append(error)
    elif text_or_none(first.get("id")) is not None and failure.request_id is None:
        failure.request_id = text_or_none(first.get("id"))
    return failure.to_envelope()


def _message_of(error: Mapping[str, object]) -> str | None:
    return text_or_none(error.get("detail")) or text_or_none(error.get("title"))
