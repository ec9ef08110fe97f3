"""`Violation`: one keyword that an instance breaks, in words of JSON Schema and plain data."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import cast

import jsonschema_rs
import msgspec

from toolvet.core.json_value import elements, is_object, members, pointer


class Violation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One keyword that one place of the instance breaks.

    `keyword` is the keyword as the schema spells it (`dependentRequired`, not the `required` it implies), `pointer` the
    place in the instance, and `schema_pointer` the keyword's place in the schema (behind any `$ref`). `params` holds
    what the keyword demands as JSON: `limit`, `pattern`, `options`, `property`, `unexpected`, `types`, `format`, …
    `branches` holds, for `anyOf` and `oneOf`, what each branch found wrong (an empty tuple for one that matched).
    `instance` is the offending value: for `required` and `additionalProperties` that is the whole object.
    """

    keyword: str
    pointer: str
    schema_pointer: str
    message: str
    params: Mapping[str, object]
    branches: "tuple[tuple[Violation, ...], ...]" = ()
    instance: object = None


ENGINE_FAILURES = frozenset(
    {
        jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded,
        jsonschema_rs.ValidationErrorKind.RegexEngineFailure,
    }
)


def violations_of(errors: Iterable[jsonschema_rs.ValidationError], instance: object) -> tuple[Violation, ...]:
    """Return the errors as violations, in the order in which the instance names the places (parents before children).

    A regular expression that gave up proves nothing about the value: such an error is left out.
    """
    found = [error for error in errors if type(error.kind) not in ENGINE_FAILURES]
    if len(found) > 1:
        _put_in_order(found, instance)
    return tuple([_violation_of(error) for error in found])


def _put_in_order(errors: list[jsonschema_rs.ValidationError], instance: object) -> None:
    """Sort errors by their places, in the order in which the instance names them."""
    if is_object(instance) and all([len(error.instance_path) < 2 for error in errors]):  # noqa: C419 - half the time.
        # Members of the arguments themselves, as in nearly all calls: a third of the time that positions take.
        ranks: dict[str | int, int] = {name: rank for rank, name in enumerate(instance)}
        errors.sort(key=lambda error: ranks.get(error.instance_path[0], -1) if error.instance_path else -2)
        return
    known: dict[int, dict[str, int]] = {}
    errors.sort(key=lambda error: _position(error.instance_path, instance, known))


def unexplained(instance: object, message: str) -> Violation:
    """Return the violation of a value that JSON cannot express, or that is too deep or too broken to report on."""
    return Violation(
        keyword="unexplained", pointer="", schema_pointer="", message=message, params={}, instance=instance
    )


def _violation_of(error: jsonschema_rs.ValidationError) -> Violation:
    kind = error.kind
    path = error.schema_path
    instance = error.instance
    branches: tuple[tuple[Violation, ...], ...] = ()
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Type):
        # This and the next one are nearly all: what `as_dict` builds is at hand.
        keyword = "type"
        params: dict[str, object] = {"types": kind.types}
    elif isinstance(kind, jsonschema_rs.ValidationErrorKind.Required):
        keyword = str(path[-1]) if path and path[-1] in _OWN_NAMES else "required"
        params = {"property": kind.property}
    elif isinstance(kind, _UNIONS):
        keyword = kind.name
        branches = tuple(violations_of(branch, instance) for branch in kind.context)
        params = {"matched": [index for index, branch in enumerate(kind.context) if not branch]}
    elif isinstance(kind, jsonschema_rs.ValidationErrorKind.PropertyNames):
        # The path leads into the schema of the names; what is broken is the object that holds the name.
        keyword = kind.name
        inner = kind.error
        params = {"property": inner.instance, "keyword": inner.kind.name, **_plain_params(inner.kind.as_dict())}
        path = path[: len(path) - path[::-1].index("propertyNames")] if "propertyNames" in path else path
    else:
        keyword = str(path[-1]) if path and path[-1] in _OWN_NAMES else kind.name
        params = _plain_params(kind.as_dict())
    return Violation(
        keyword=keyword,
        pointer=pointer(error.instance_path),
        schema_pointer=pointer(path),
        message=error.message,
        params=params,
        branches=branches,
        instance=instance,
    )


_UNIONS = (
    jsonschema_rs.ValidationErrorKind.AnyOf,
    jsonschema_rs.ValidationErrorKind.OneOfNotValid,
    jsonschema_rs.ValidationErrorKind.OneOfMultipleValid,
)
# Keywords that the library reports under the name of what they imply.
_OWN_NAMES = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "dependencies",
        "dependentRequired",
        "items",
        "maxContains",
        "minContains",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)


def _plain_params(params: Mapping[str, object]) -> dict[str, object]:
    """The parameters as JSON: without nested error objects, numbers as int or float."""
    return {
        key: value if type(value) is str else _plain_value(value)
        for key, value in params.items()
        if key not in ("context", "error")
    }


def _plain_value(value: object) -> object:
    if isinstance(value, int | str):
        return value
    if type(value) is list:
        # Mostly names or values as text: types, options, unexpected members.
        return [item if type(item) is str else _plain_value(item) for item in cast("list[object]", value)]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if is_object(value):
        return {key: _plain_value(item) for key, item in members(value).items()}
    return value


def _position(path: Iterable[str | int], instance: object, ranks: dict[int, dict[str, int]]) -> tuple[int, ...]:
    """The place of a path in the instance, as numbers that sort in the order of the document."""
    position: list[int] = []
    for part in path:
        if isinstance(part, int):
            position.append(part)
            items = elements(instance)
            instance = items[part] if part < len(items) else None
        else:
            here = members(instance)
            rank = ranks.get(id(here))
            if rank is None:
                rank = ranks[id(here)] = {name: index for index, name in enumerate(here)}
            position.append(rank.get(part, -1))
            instance = here.get(part)
    return tuple(position)
