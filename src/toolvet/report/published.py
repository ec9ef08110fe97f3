"""The published JSON Schema of the JSON report, made from the document's types."""

import inspect
from collections.abc import Mapping

import msgspec

from toolvet.report.document import Report, Reports

FILE = "toolvet-report-1.schema.json"


def schema() -> dict[str, object]:
    """JSON Schema 2020-12 of what the JSON format writes: one report, or a collection of them.

    Unknown fields are allowed on purpose: within version 1 fields are added.
    """
    alternatives, definitions = msgspec.json.schema_components([Report, Reports], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:toolvet:report:1",
        "title": "toolvet report, version 1",
        "description": "What `toolvet assess --report json=FILE` writes: one server, or several side by side.",
        "oneOf": list(alternatives),
        "$defs": {name: _polished(name, item) for name, item in sorted(definitions.items())},
    }


def _polished(name: str, definition: Mapping[str, object]) -> dict[str, object]:
    """What msgspec made, with its docstring as plain text, and the version always required."""
    polished = dict(definition)
    description = polished.get("description")
    if isinstance(description, str):
        polished["description"] = " ".join(inspect.cleandoc(description).split())
    if name in {Report.__name__, Reports.__name__}:
        # It has a default in Python only: in a document nothing else says what the document is.
        required = polished.get("required")
        polished["required"] = ["schema", *(required if isinstance(required, list) else [])]
    return polished
