"""JSON: one report is the document itself, several (or none) are a collection. The schema is `report.schema()`."""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from toolvet.assess.report.document import Report, Reports
from toolvet.assess.report.renderers import Format
from toolvet.core.visible import escape_unseen
from toolvet.findings import Card


def render(reports: Sequence[Report], cards: Mapping[str, Card]) -> str:  # noqa: ARG001 - every format takes both
    """Indented JSON, with a line feed at the end."""
    return encode_document(reports[0] if len(reports) == 1 else Reports(reports=list(reports)))


def encode_document(document: msgspec.Struct) -> str:
    """A document as indented JSON, with a line feed at the end."""
    try:
        encoded = msgspec.json.encode(document)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_encodable(msgspec.to_builtins(document)))
    return escape_unseen(msgspec.json.format(encoded, indent=2).decode()) + "\n"


def _encodable(value: object) -> object:
    """Lone surrogates (JSON can spell them, UTF-8 cannot) become question marks in a box."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        members = cast("dict[object, object]", value)
        return {_encodable(key): _encodable(item) for key, item in members.items()}
    if isinstance(value, list):
        return [_encodable(item) for item in cast("list[object]", value)]
    return value


FORMAT = Format(name="json", suffix=".json", render=render)
