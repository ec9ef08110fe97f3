"""A value that satisfies a schema."""

from toolvet.errors import Unsatisfiable
from toolvet.schema.compiled import compiled
from toolvet.schema.json_value import elements, members, names


class NoExampleFound(Unsatisfiable):
    """No value was found, although none of our proofs says that there is none."""


def valid_example(schema: object, *, required_only: bool = False) -> object:
    """A value that satisfies `schema`, always the same one, checked (formats included) before it is returned.

    Raises `Unsatisfiable` when nothing satisfies the schema, `NoExampleFound` when nothing was found.
    """
    ready = compiled(schema)
    value = _value(ready.document, required_only)
    if ready.is_valid(value):
        return value
    raise NoExampleFound("no example found for this schema, although it is not proven that there is none")


def _value(schema: object, required_only: bool) -> object:  # noqa: FBT001
    here = members(schema)
    for keyword in ("examples", "enum"):
        if elements(here.get(keyword)):
            return elements(here.get(keyword))[0]
    for keyword in ("default", "const"):
        if keyword in here:
            return here[keyword]
    wanted = names(here.get("required"))
    properties = members(here.get("properties"))
    match here.get("type"):
        case "string":
            return "example"
        case "integer" | "number":
            return here.get("minimum", 1)
        case "boolean":
            return True
        case "null":
            return None
        case "array":
            return [_value(here.get("items", True), required_only)]
        case _:
            return {
                name: _value(properties.get(name, True), required_only)
                for name in (wanted if required_only else properties)
            }
