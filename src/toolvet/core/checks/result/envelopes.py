"""The envelope in a result (contract response-v2): its failure, and what its `meta` says of the content. Total.

It may be the structured content (perhaps wrapped as `{"result": …}`), the text as JSON, or an object under `_meta`,
where the text is prose. An object counts as an envelope that has `success` and either names a response contract in
`meta.version`, or is a failure with an `error_type` or `error_code`; `{"success": false}` alone is any other format,
and its words decide.
"""

from collections.abc import Iterator
from typing import Final, cast

import msgspec

from toolvet.core.causes import State, state_of_failure
from toolvet.core.checks.result.plain import list_of, object_of
from toolvet.core.checks.result.response import ToolResponse, read_response

_MOST_BLOCKS: Final = 8
_MOST_META: Final = 50
_LONGEST_DECODED: Final = 4_000_000
_MOST_LISTED: Final = 1_000
_OPENINGS: Final = ("{", " ", "\n", "\t", "\r")
_CODES: Final = ("error_code", "errorCode")
_TYPES: Final = ("error_type", "errorType")


class SeenEnvelope(msgspec.Struct, frozen=True, kw_only=True):
    """The envelope of a result, as far as it is what the contract says. `error` is "" for a success.

    `state` is what its `error_type` and `error_code` say; None where they say nothing. `code` is its
    `error_code`, `named` that or else its `error_type`.
    """

    success: bool
    error: str = ""
    state: State | None = None
    named: str = ""
    code: str = ""
    warnings: tuple[str, ...] = ()
    pagination: dict[str, object] | None = None
    content_fidelity: str | None = None
    dropped_content_ids: tuple[str, ...] = ()
    request_id: str | None = None


def envelope_in(response: ToolResponse) -> SeenEnvelope | None:
    """The envelope of a result; None without one. As text and as structured content it counts once."""
    texts = response.texts
    if response.structured is None and response.meta is None and len(texts) == 1 and texts[0][:1] not in _OPENINGS:
        # The commonest result of all, a text in words.
        return None
    for members in _candidates(response):
        seen = _read(members)
        if seen is not None:
            return seen
    return None


def failure_sentence(result: object) -> str:
    """What the envelope of a failure says went wrong, in its own words; "" without one."""
    envelope = envelope_in(read_response(result))
    return "" if envelope is None else envelope.error


def _candidates(response: ToolResponse) -> Iterator[dict[object, object]]:
    structured = object_of(response.structured)
    if structured is not None:
        wrapped = object_of(structured.get("result")) if len(structured) == 1 else None
        yield structured if wrapped is None else wrapped
    for text in response.texts[:_MOST_BLOCKS]:
        # Most texts are no objects, and most objects no envelopes: those are not decoded.
        if text[:1] in _OPENINGS and len(text) <= _LONGEST_DECODED and '"success"' in text and text.lstrip()[:1] == "{":
            decoded = object_of(_decoded(text))
            if decoded is not None:
                yield decoded
    meta = object_of(response.meta)
    for value in list(meta.values())[:_MOST_META] if meta else ():
        under = object_of(value)
        if under is not None:
            yield under


def _decoded(text: str) -> object:
    try:
        return cast("object", msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _read(body: dict[object, object]) -> SeenEnvelope | None:
    success = body.get("success")
    if type(success) is not bool:
        return None
    data, meta = object_of(body.get("data")) or {}, object_of(body.get("meta")) or {}
    # Servers of their own making put the code beside the error.
    code, kind = _first(_CODES, data, body), _first(_TYPES, data, body)
    error = _text(body.get("error")) or _text(body.get("message"))
    if not _claims(meta) and (success or not error or not (code or kind)):
        return None
    return SeenEnvelope(
        success=success,
        error="" if success else error,
        state=None if success else state_of_failure(code, kind),
        named="" if success else code or kind,
        code="" if success else code,
        warnings=tuple(_warnings(meta)),
        pagination=cast("dict[str, object] | None", object_of(meta.get("pagination"))),
        content_fidelity=_text(meta.get("content_fidelity")) or None,
        dropped_content_ids=tuple(_strings(meta.get("dropped_content_ids"))),
        request_id=_text(meta.get("request_id")) or None,
    )


def _claims(meta: dict[object, object]) -> bool:
    """Whether `meta.version` names a response contract, in any spelling."""
    return _text(meta.get("version")).casefold().replace("_", "-").startswith("response-v")


def _warnings(meta: dict[object, object]) -> Iterator[str]:
    """The warnings in words, and of those with details the ones that are not said in words already."""
    said = list(_strings(meta.get("warnings")))
    yield from said
    for each in (list_of(meta.get("warning_details")) or [])[:_MOST_LISTED]:
        detail = object_of(each) or {}
        message, code = _text(detail.get("message")), _text(detail.get("code"))
        if message and message not in said:
            yield f"{code}: {message}" if code else message


def _strings(value: object) -> Iterator[str]:
    return (each for each in (list_of(value) or [])[:_MOST_LISTED] if isinstance(each, str))


def _first(names: tuple[str, ...], *places: dict[object, object]) -> str:
    return next((found for place in places for name in names if (found := _text(place.get(name)))), "")


def _text(value: object) -> str:
    return value if isinstance(value, str) and value.strip() else ""
