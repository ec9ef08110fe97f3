"""A violation in a few words of everyday English."""

from collections.abc import Sequence

import orjson

from toolvet.core.json_value import Path, elements, is_array, is_object, names, type_name
from toolvet.core.schema.violation import Violation


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
            wanted = _join_types(names(params.get("types")))
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


def _join_types(types: tuple[str, ...]) -> str:
    return " or ".join(map(with_article, types))


def _join_values(values: Sequence[object]) -> str:
    shown = ", ".join(map(quote_value, values[:5]))
    return f"{shown}, …" if len(values) > 5 else shown


def _count_inside(value: object, noun: str) -> str:
    return count_noun(len(value) if is_object(value) or is_array(value) else 0, noun)


def count_noun(size: int, noun: str) -> str:
    """Return `1 item`, `2 items`."""
    return f"{size} {noun}" if size == 1 else f"{size} {noun}s"
