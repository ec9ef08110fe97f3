"""A schema as Gemini writes it (a part of OpenAPI 3.0) → JSON Schema.

>>> as_json_schema({"type": "STRING", "nullable": True, "min_length": "1"})
{'type': ['string', 'null'], 'minLength': 1}
"""

from typing import Final, TypeGuard, cast

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
            if (kind := _type_of(value)) is not None:
                found[name] = kind
        elif name in _OF_SCHEMAS and _is_object(value):
            found[name] = {each: as_json_schema(part, depth + 1) for each, part in value.items()}
        elif name in _LISTS_OF_SCHEMAS and isinstance(value, list):
            found[name] = [as_json_schema(part, depth + 1) for part in cast("list[object]", value)]
        elif name in _SCHEMAS:
            found[name] = as_json_schema(value, depth + 1)
        elif name in _COUNTS and isinstance(value, str) and value.isdecimal():
            # Whole numbers of 64 bits are strings in the JSON of Google's APIs.
            found[name] = int(value)
        else:
            found[name] = value
    return _with_null(found) if schema.get("nullable") is True else found


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _type_of(value: object) -> object:
    """The type in small letters; None for a type that is not given (`TYPE_UNSPECIFIED`)."""
    if not isinstance(value, str):
        return value
    lower = value.lower()
    return lower if lower in _TYPES else None if value == "TYPE_UNSPECIFIED" else value


def _with_null(schema: dict[str, object]) -> dict[str, object]:
    kind, choices, forms = schema.get("type"), schema.get("enum"), schema.get("anyOf")
    if isinstance(kind, str):
        schema["type"] = [kind, "null"]
    if isinstance(choices, list) and None not in choices:
        schema["enum"] = [*cast("list[object]", choices), None]
    if isinstance(forms, list):
        schema["anyOf"] = [*cast("list[object]", forms), {"type": "null"}]
    return schema
