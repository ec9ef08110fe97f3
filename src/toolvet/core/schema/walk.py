"""`subschemas`: every schema inside a schema. Which members hold schemas, and which only look like them."""

from collections.abc import Iterator, Mapping

from toolvet.core.json_value import Path, elements, is_array, is_object, members

# keyword -> how it holds schemas: one, an array of them, or an object whose values are schemas.
ONE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
NAMED = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"},
)


def children(schema: Mapping[str, object]) -> Iterator[tuple[Path, object]]:
    """The schemas directly inside `schema`, with the path to each; the value of `const` is not a schema."""
    for keyword, value in schema.items():
        if keyword in ONE:
            yield (keyword,), value
        elif keyword in MANY or (keyword == "items" and is_array(value)):
            for index, item in enumerate(elements(value)):
                yield (keyword, index), item
        elif keyword == "items":
            yield (keyword,), value
        elif keyword in NAMED:
            for name, item in members(value).items():
                # An array under `dependencies` names required properties.
                if not is_array(item):
                    yield (keyword, name), item


def subschemas(schema: object) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """`schema` and every object schema inside it, parents first, with the path to each; any depth."""
    pending: list[tuple[Path, object]] = [((), schema)]
    while pending:
        path, here = pending.pop()
        if not is_object(here):
            continue
        found = members(here)
        yield path, found
        pending.extend((path + step, child) for step, child in reversed(list(children(found))))
