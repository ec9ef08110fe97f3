"""The shapes in which tools come (`shapes.toml`), and a definition read by them, from its members or attributes.

`as_json_schema` turns a schema as Gemini writes it (a part of OpenAPI 3.0) into JSON Schema.

>>> as_json_schema({"type": "STRING", "nullable": True, "min_length": "1"})
{'type': ['string', 'null'], 'minLength': 1}
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final, TypeGuard, cast

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import whole
from toolvet.core.tools.annotations import is_python_tool, schema_of_type

SCHEMA_SHAPE: Final = "JSON Schema"
PYTHON_SHAPE: Final = "pydantic model, dataclass, TypedDict or annotated function"
_JSON_TYPES: Final = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))
_KEYWORDS: Final = (
    "properties",
    "$schema",
    "$ref",
    "$defs",
    "required",
    "anyOf",
    "oneOf",
    "allOf",
    "additionalProperties",
)
_TAKES_NOTHING: Final[object] = {"type": "object", "properties": {}}
_ABSENT: Final = object()

Getter = Callable[[str], object]
"""Returns the member or attribute of this name, or `_ABSENT`."""


class ToolShape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of `shapes.toml`, whose head explains the members."""

    name: str
    example: str
    schema: tuple[str, ...]
    output: tuple[str, ...]
    marker: str = ""
    kind: str = ""
    inside: str = ""
    optional: bool = False
    openapi: bool = False
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()


class Definition(msgspec.Struct, frozen=True):
    """The parts of a definition, unchanged; None for each absent one."""

    shape: str
    name: object
    description: object
    input_schema: object
    output_schema: object


class _ToolShapeTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    shape: tuple[ToolShape, ...]


@cache
def tool_shapes() -> tuple[ToolShape, ...]:
    """All shapes of the table, in the order in which they are tried."""
    return read_toml("toolvet.core.tools", "shapes.toml", _ToolShapeTable).shape


def readable_shapes() -> Iterator[tuple[str, str]]:
    """Yield name and example of every shape that is read, MCP first."""
    for shape in sorted(tool_shapes(), key=lambda shape: shape.name != "MCP"):
        yield shape.name, shape.example
    yield SCHEMA_SHAPE, '{"type": "object", "properties": {…}}'
    yield PYTHON_SHAPE, "the class or the function itself"


def read_definition(tool: object) -> Definition | None:
    """Read `tool` by the first shape that fits; None if none does. Raises what foreign objects raise when looked at."""
    if isinstance(tool, Mapping):
        parts = cast("Mapping[object, object]", tool)
        found = _read_by_table(_members(parts))
        if found is not None:
            return found
        if is_json_schema(parts):
            schema = as_json_schema(dict(parts)) if is_openapi(parts) else dict(parts)
            return Definition(SCHEMA_SHAPE, parts.get("title"), parts.get("description"), schema, None)
        if not isinstance(parts.get("name"), str):
            return None
        # MCP wants an inputSchema; without one it is still this tool, and cannot be checked.
        output = parts.get("outputSchema", parts.get("output_schema"))
        return Definition("MCP", parts.get("name"), parts.get("description"), None, output)
    return _read_by_table(_attributes(tool))


def is_json_schema(parts: Mapping[object, object]) -> bool:
    """Whether a mapping that is not a definition is a JSON Schema, by its keywords."""
    kind = parts.get("type")
    kinds = cast("list[object]", kind) if isinstance(kind, list) else [kind]
    if "type" in parts and not all(isinstance(each, str) and each.lower() in _JSON_TYPES for each in kinds):
        return False
    return "type" in parts or any(word in parts for word in _KEYWORDS)


def _read_by_table(get: Getter) -> Definition | None:
    for shape in tool_shapes():
        found = _read_as(shape, get)
        if found is not None:
            return found
    return None


def _read_as(shape: ToolShape, get: Getter) -> Definition | None:
    if shape.marker and get(shape.marker) is _ABSENT:
        return None
    if shape.kind and (get("type") != shape.kind or not isinstance(get("name"), str)):
        return None
    if shape.inside:
        inner = _inside(get(shape.inside))
        if inner is None or not isinstance(inner("name"), str):
            return None
        get = inner
    schema = next((value for path in shape.schema if (value := _schema(_at(get, path))) is not None), None)
    if schema is None:
        if not (shape.marker or shape.kind or shape.inside):
            return None
        if shape.optional:
            schema = _TAKES_NOTHING
    elif shape.openapi or is_openapi(schema):
        schema = as_json_schema(schema)
    # The first that is there counts, even if it is None: SDKs warn when the older spelling after it is read.
    output = next((value for name in shape.output if (value := get(name)) is not _ABSENT), None)
    return Definition(shape.name, get("name"), get("description"), schema, _schema(output))


def _inside(value: object) -> Getter | None:
    if isinstance(value, list | tuple):
        several = cast("list[object]", value)
        value = several[0] if len(several) == 1 else None
    if isinstance(value, Mapping):
        return _members(cast("Mapping[object, object]", value))
    return None if value is None or isinstance(value, str | bytes | int | float | list | tuple) else _attributes(value)


def _at(get: Getter, path: str) -> object:
    """The value at a path: `inputSchema.json` is the only member `json` of `inputSchema`."""
    name, _, below = path.partition(".")
    value = get(name)
    if not below:
        return value
    if not isinstance(value, Mapping) or len(cast("Mapping[str, object]", value)) != 1:
        return None
    return cast("Mapping[str, object]", value).get(below)


def _schema(value: object) -> object:
    if value is None or value is _ABSENT:
        return None
    if isinstance(value, dict | bool | str | int | float | list):
        return cast("object", value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if isinstance(value, type):
        return schema_of_type(value) if is_python_tool(value) else None
    dump = getattr(value, "model_dump", None)
    dumped: object = dump(mode="json", by_alias=True, exclude_none=True) if callable(dump) else None
    return cast("object", dumped) if isinstance(dumped, dict) else None


def _members(parts: Mapping[object, object]) -> Getter:
    return lambda name: parts.get(name, _ABSENT)


def _attributes(of: object) -> Getter:
    return lambda name: getattr(of, name, _ABSENT)


_TYPES: Final = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))
_SPELLINGS: Final = {
    "any_of": "anyOf",
    "max_items": "maxItems",
    "max_length": "maxLength",
    "max_properties": "maxProperties",
    "min_items": "minItems",
    "min_length": "minLength",
    "min_properties": "minProperties",
    "additional_properties": "additionalProperties",
    "prefix_items": "prefixItems",
    "defs": "$defs",
    "ref": "$ref",
}
_COUNTS: Final = frozenset(("maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"))
# What JSON Schema does not have; `example` is a value, and would be taken for a list of them under `examples`.
_FOREIGN: Final = frozenset(("nullable", "property_ordering", "propertyOrdering", "example"))
_OF_SCHEMAS: Final = frozenset(("properties", "$defs"))
_LISTS_OF_SCHEMAS: Final = frozenset(("anyOf", "prefixItems"))
_SCHEMAS: Final = frozenset(("items", "additionalProperties"))
_DEEPEST: Final = 100


def is_openapi(schema: object) -> bool:
    """Whether the type of `schema` is written in capitals, as only Gemini writes it."""
    kind = schema.get("type") if _is_object(schema) else None
    return isinstance(kind, str) and kind.isupper() and kind.lower() in _TYPES


def as_json_schema(schema: object, depth: int = 0) -> object:
    """Return `schema` as JSON Schema; what is not such a schema, or is nested too deeply, stays as it is."""
    if not _is_object(schema) or depth > _DEEPEST:
        return schema
    found: dict[str, object] = {}
    for given, value in schema.items():
        name = _SPELLINGS.get(given, given)
        if name in _FOREIGN:
            continue
        if name == "type":
            lower = value.lower() if isinstance(value, str) else ""
            if lower in _TYPES:
                found[name] = lower
            elif value is not None and value != "TYPE_UNSPECIFIED":
                found[name] = value
        elif name in _OF_SCHEMAS and _is_object(value):
            found[name] = {each: as_json_schema(part, depth + 1) for each, part in value.items()}
        elif name in _LISTS_OF_SCHEMAS and isinstance(value, list):
            found[name] = [as_json_schema(part, depth + 1) for part in cast("list[object]", value)]
        elif name in _SCHEMAS:
            found[name] = as_json_schema(value, depth + 1)
        elif name in _COUNTS and isinstance(value, str) and (number := whole(value)) is not None:
            # Whole numbers of 64 bits are strings in the JSON of Google's APIs.
            found[name] = number
        else:
            found[name] = value
    if schema.get("nullable") is not True:
        return found
    kind, choices, forms = found.get("type"), found.get("enum"), found.get("anyOf")
    if isinstance(kind, str):
        found["type"] = [kind, "null"]
    if isinstance(choices, list) and None not in choices:
        found["enum"] = [*cast("list[object]", choices), None]
    if isinstance(forms, list):
        found["anyOf"] = [*cast("list[object]", forms), {"type": "null"}]
    return found


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)
