"""Instances in which exactly one keyword is broken."""

import msgspec

from toolvet.errors import Unsatisfiable
from toolvet.schema.compiled import compiled
from toolvet.schema.example import valid_example
from toolvet.schema.json_value import members, names


class InvalidExample(msgspec.Struct, frozen=True, kw_only=True):
    """An instance that breaks exactly one keyword of the schema, at one place.

    `keyword` is the keyword, `pointer` the place in the instance (for `required` and `additionalProperties` the object,
    not the member), `detail` says it in a few words, and `property` names the missing or unexpected member, if any.
    """

    keyword: str
    pointer: str
    instance: object
    detail: str
    property: str | None = None


def invalid_examples(schema: object) -> tuple[InvalidExample, ...]:
    """One instance for every kind of violation that the schema can express, each checked to break only that."""
    ready = compiled(schema)
    try:
        base = members(valid_example(schema))
    except Unsatisfiable:
        return ()
    found: list[InvalidExample] = []
    for name in names(members(ready.document).get("required")):
        instance = {key: value for key, value in base.items() if key != name}
        if [v.keyword for v in ready.violations(instance)] == ["required"]:
            found.append(
                InvalidExample(
                    keyword="required", pointer="", instance=instance, detail=f"missing '{name}'", property=name
                )
            )
    return tuple(found)
