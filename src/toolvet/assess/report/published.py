"""The JSON report as other programs meet it: its JSON Schema, made from the document's types, and reading one back."""

import inspect
from collections.abc import Container, Mapping
from typing import Final

import msgspec

from toolvet.assess.report.document import COLLECTION_ID, SCHEMA_ID, Report, Reports
from toolvet.errors import ConfigError

FILE: Final = "toolvet-report-1.schema.json"


def schema() -> dict[str, object]:
    """JSON Schema 2020-12 of what the JSON format writes: one report, or a collection of them.

    Unknown fields are allowed on purpose: within version 1 fields are added.
    """
    alternatives, definitions = msgspec.json.schema_components([Report, Reports], ref_template="#/$defs/{name}")
    head: dict[str, object] = {
        "$id": "urn:toolvet:report:1",
        "title": "toolvet report, version 1",
        "description": "What `toolvet assess --report json=FILE` writes: one server, or several side by side.",
        "oneOf": list(alternatives),
    }
    return publish(head, definitions, named={Report.__name__, Reports.__name__})


def publish(
    head: Mapping[str, object], definitions: Mapping[str, Mapping[str, object]], *, named: Container[str]
) -> dict[str, object]:
    """A JSON Schema to publish: `head`, and the definitions that msgspec made.

    Documents of the types in `named` say in `schema` what they are, which is therefore required in them.
    """
    document: dict[str, object] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **head,
        "$defs": {name: _polish(item, is_named=name in named) for name, item in sorted(definitions.items())},
    }
    # As JSON has it: the default of a tuple is a list.
    return msgspec.json.decode(msgspec.json.encode(document), type=dict[str, object])


def load(content: bytes, file: str) -> tuple[Report, ...]:
    """The reports in a JSON report, one or several; fields that this version does not know are left out.

    Args:
        content: The bytes of the document.
        file: The name of the file, for the error.

    Raises:
        ConfigError: `content` is not such a report; the error names `file` and the place in it.
    """
    try:
        head = msgspec.json.decode(content, type=_FormatField)
        if head.schema == SCHEMA_ID:
            return (msgspec.json.decode(content, type=Report),)
        if head.schema == COLLECTION_ID:
            return tuple(msgspec.json.decode(content, type=Reports).reports)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at ")
        raise ConfigError(f"not a toolvet report: {problem}", file=file, key=place.strip("`") or None) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"not JSON: {error}", file=file, line=_line_of(content, str(error))) from error
    if head.schema is None:
        raise ConfigError("not a toolvet report: 'schema' is missing", file=file)
    raise ConfigError(
        f"this version of toolvet reads {SCHEMA_ID} and {COLLECTION_ID}, not '{head.schema}'", file=file, key="schema"
    )


def _polish(definition: Mapping[str, object], *, is_named: bool) -> dict[str, object]:
    """A definition made by msgspec, with its docstring as plain text."""
    polished = dict(definition)
    description = polished.get("description")
    if isinstance(description, str):
        polished["description"] = " ".join(inspect.cleandoc(description).split())
    if is_named:
        # It has a default in Python only: in a document nothing else says what the document is.
        required = polished.get("required")
        polished["required"] = ["schema", *(required if isinstance(required, list) else [])]
    return polished


class _FormatField(msgspec.Struct):
    """The field of a document that names its format."""

    schema: str | None = None


def _line_of(content: bytes, problem: str) -> int | None:
    """The line of the offset that msgspec's message ends with (`… (byte 17)`), or the last when the file is cut off."""
    digits = problem.rpartition("(byte ")[2].rstrip(")")
    if digits.isdigit():
        return content.count(b"\n", 0, int(digits)) + 1
    return content.count(b"\n") + 1 if "truncated" in problem else None
