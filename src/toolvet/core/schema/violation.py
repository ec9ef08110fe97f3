"""`Violation`: how an instance breaks a schema, and the words for it."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import cast

import jsonschema_rs
import msgspec
import orjson

from toolvet.core.json_value import (
    Path,
    elements,
    is_array,
    is_object,
    members,
    names,
    pointer,
    type_name,
)


class Violation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One keyword that one place of the instance breaks.

    `keyword` is the keyword as the schema spells it (`dependentRequired`, not the `required` it implies), `pointer` the
    place in the instance, and `schema_pointer` the keyword's place in the schema (after any `$ref`). `params` holds
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

    A regular expression that gave up proves nothing about the value: such an error is left out. Of more than 2,000
    errors the last violation, `unlisted`, says how many are not among them.
    """
    found = [error for error in errors if type(error.kind) not in ENGINE_FAILURES]
    if len(found) < 2:
        pass
    elif is_object(instance) and all([len(error.instance_path) < 2 for error in found]):  # noqa: C419 - half the time.
        # Members of the arguments themselves, as in nearly all calls: a third of the time that positions take.
        ranks: dict[str | int, int] = {name: rank for rank, name in enumerate(instance)}
        found.sort(key=lambda error: ranks.get(error.instance_path[0], -1) if error.instance_path else -2)
    else:
        known: dict[int, dict[str, int]] = {}
        found.sort(key=lambda error: _position(error.instance_path, instance, known))
    listed = [_violation_of(error) for error in found[:MOST_LISTED]]
    more = len(found) - len(listed)
    return tuple([*listed, unlisted(more)] if more else listed)


# More are not worked through by a reader, nor by a repair.
MOST_LISTED = 2_000


def unlisted(more: int | None) -> Violation:
    """Return the violation for those that are not listed: how many, or None if they were not counted."""
    said = "too large to list every violation" if more is None else f"{more} more are not listed"
    return Violation(keyword="unlisted", pointer="", schema_pointer="", message=said, params={"more": more})


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
        # The path leads into the schema of the names, but the violation is that of the object that holds the name.
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
# Keywords that the library reports under the name of a keyword that they imply.
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


def describe_violation(violation: Violation, path: Path, value: object) -> str:
    """Return the violation in words: `limit is 101, above the maximum of 100` or `missing 'query'`."""
    params = violation.params
    name = dotted_path(path)
    shown = quote_value(violation.instance)
    limit = params.get("limit")
    member = params.get("property")
    match violation.keyword:
        case "required":
            return f"missing '{member}'"
        case "dependentRequired" | "dependencies":
            return f"missing '{member}', which another member requires"
        case "additionalProperties" | "unevaluatedProperties":
            return f"unexpected member {_join_values(names(params.get('unexpected')))}"
        case "type":
            wanted = " or ".join(map(with_article, names(params.get("types"))))
            return f"{name} is {with_article(type_name(violation.instance))}, not {wanted}"
        case "enum":
            return f"{name} is {shown}, none of {_join_values(elements(params.get('options')))}"
        case "const":
            return f"{name} is {shown}, not {quote_value(params.get('expected_value'))}"
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
            return f"{name} is {shown}, {_OUTSIDE[violation.keyword]} {limit}"
        case "multipleOf":
            return f"{name} is {shown}, not a multiple of {params.get('multiple_of')}"
        case "minLength" | "maxLength":
            few = "fewer than the minimum" if violation.keyword == "minLength" else "more than the maximum"
            return f"{name} has {count_noun(len(str(violation.instance)), 'character')}, {few} of {limit}"
        case "pattern":
            return f"{name} is {shown}, which does not match the pattern {params.get('pattern')}"
        case "format":
            return f"{name} is {shown}, not in the format {params.get('format')}"
        case "minItems" | "maxItems":
            few = "fewer than the minimum" if violation.keyword == "minItems" else "more than the maximum"
            return f"{name} has {_count_inside(value, 'item')}, {few} of {limit}"
        case "minProperties" | "maxProperties":
            few = "fewer than the minimum" if violation.keyword == "minProperties" else "more than the maximum"
            return f"{name} has {_count_inside(value, 'member')}, {few} of {limit}"
        case "uniqueItems":
            return f"{name} holds the same item twice"
        case "items" | "additionalItems" | "unevaluatedItems":
            return f"{name} holds an item too many"
        case "contains" | "minContains" | "maxContains":
            much = "too many" if violation.keyword == "maxContains" else "too few"
            return f"{name} holds {much} items of the kind that it must contain"
        case "propertyNames":
            return f"the member name {quote_value(member)} is not allowed"
        case "anyOf" | "oneOf":
            several = bool(elements(params.get("matched")))
            fits = "several of the alternatives at once" if several else "none of the alternatives"
            return f"{name} is {shown}, which fits {fits}"
        case "not":
            return f"{name} is {shown}, which is ruled out"
        case _:
            return (
                f"{name}: {violation.message}" if len(violation.message) < 160 else f"{name} breaks {violation.keyword}"
            )


_OUTSIDE = {
    "minimum": "below the minimum of",
    "maximum": "above the maximum of",
    "exclusiveMinimum": "not above",
    "exclusiveMaximum": "not below",
}


def dotted_path(path: Path) -> str:
    """Return the path in dots: `items[0].id`, or `the value` for the empty path."""
    written = ""
    for step in path:
        written += f"[{step}]" if isinstance(step, int) else f".{step}" if written else step
    return written or "the value"


def quote_value(value: object) -> str:
    """Return the value as JSON, a string in single quotes, cut after 60 characters."""
    if isinstance(value, str):
        return f"'{value[:57]}...'" if len(value) > 60 else f"'{value}'"
    try:
        written = orjson.dumps(value).decode()
    except (TypeError, ValueError):
        written = str(value)
    return f"{written[:57]}..." if len(written) > 60 else written


def with_article(name: str) -> str:
    """Return `an integer`, `a string`, and just `null`."""
    return name if name == "null" else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _join_values(values: Sequence[object]) -> str:
    shown = ", ".join(map(quote_value, values[:5]))
    return f"{shown}, …" if len(values) > 5 else shown


def _count_inside(value: object, noun: str) -> str:
    return count_noun(len(value) if is_object(value) or is_array(value) else 0, noun)


def count_noun(size: int, noun: str) -> str:
    """Return `1 item`, `2 items`."""
    return f"{size} {noun}" if size == 1 else f"{size} {noun}s"
