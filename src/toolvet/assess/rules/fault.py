"""The fault of a bad call: the argument, its value, and the demand of the schema."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from toolvet.core.json_value import elements, members, pointer, pointer_steps
from toolvet.core.schema import Violation
from toolvet.core.tool_rules import ObservedCall

_LIMITS: Final = frozenset(
    {
        "exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum",
        "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf",
    }
)  # fmt: skip
_ABSENT: Final = frozenset({"required", "dependentRequired", "dependencies"})
_UNKNOWN: Final = frozenset({"additionalProperties", "unevaluatedProperties", "propertyNames"})
_STRICT: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_HUGE: Final = 10**18  # From here on messages write numbers in other ways.


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """The fault of a call.

    `field` is the argument's name ("" when the fault is not about one), `received` says whether there is a value to
    speak of and `value` which, `allowed` the words that a list of allowed values or a limit would contain, `nonempty`
    that "not empty" says the limit as well.
    """

    keyword: str = ""
    field: str = ""
    pointer: str = ""
    received: bool = False
    value: object = None
    allowed: tuple[str, ...] = ()
    nonempty: bool = False


def fault_of(call: ObservedCall) -> Fault:
    """The fault of a call. Total: a call without a known fault has one with empty fields."""
    violation = intended_violation(call)
    intended = call.intended
    keyword = intended.keyword if intended is not None else violation.keyword if violation is not None else ""
    place = intended.pointer if intended is not None else violation.pointer if violation is not None else ""
    named = intended.property if intended is not None else None
    if named is None and violation is not None:
        unexpected = elements(violation.params.get("unexpected"))
        names = [violation.params.get("property"), *unexpected]
        named = next((name for name in names if isinstance(name, str)), None)
    absent, unknown = keyword in _ABSENT, keyword in _UNKNOWN
    if not absent and not unknown:
        named = None
    demand = at_pointer(call.tool.input_schema, violation.schema_pointer) if violation is not None else None
    # The last part of the JSON Pointer that is not an index: `items` for `/items/0`.
    last = next((part for part in reversed(pointer_steps(place)) if part and not part.isdigit()), "")
    allowed: Iterable[str] = ()
    if keyword == "enum":
        allowed = _render_values(elements(demand))
    elif keyword == "const" or keyword in _LIMITS or keyword == "pattern":
        allowed = _render_values([demand])
    elif keyword in _UNKNOWN:
        allowed = list(call.tool.properties)[:50]
    return Fault(
        keyword=keyword,
        field=named or last,
        pointer=place + pointer((named,)) if named else place,
        received=bool(keyword) and not absent and not unknown,
        value=at_pointer(call.arguments, place),
        allowed=tuple(allowed),
        nonempty=keyword in {"minItems", "minLength", "minProperties"} and demand == 1,
    )


def intended_violation(call: ObservedCall) -> Violation | None:
    """The violation that the scenario meant to cause, or else the first."""
    if call.intended is not None:
        for violation in call.violations:
            if violation.keyword == call.intended.keyword and violation.pointer == call.intended.pointer:
                return violation
    return call.violations[0] if call.violations else None


def is_only_unknown(call: ObservedCall) -> bool:
    """Whether unknown arguments are the only fault of a call, forbidden by its schema or not.

    SDKs drop them before the tool sees the call, so an author cannot refuse them.
    """
    if call.intended is not None and call.intended.keyword not in _STRICT:
        return False
    return all(violation.keyword in _STRICT for violation in call.violations) and (
        bool(call.violations) or call.intended is not None
    )


def _render_values(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        match value:
            case bool():
                yield "true" if value else "false"
            case str() if value:
                yield value[:200]
            case int() | float() if abs(value) < _HUGE:
                yield str(int(value)) if value == value // 1 else str(value)
            case _:
                continue


def at_pointer(value: object, place: str) -> object:
    """The value at a JSON Pointer (`place`), or None."""
    for name in pointer_steps(place):
        items = elements(value)
        is_index = name.isascii() and name.isdigit() and len(name) < 10
        value = items[int(name)] if is_index and int(name) < len(items) else members(value).get(name)
    return value
