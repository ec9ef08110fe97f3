"""`invalid_examples`: instances in which exactly one keyword is broken."""

import math
from collections.abc import Container, Iterator, Mapping
from fractions import Fraction

import msgspec

from toolvet.core.json_value import (
    Path,
    at,
    count,
    elements,
    is_array,
    is_object,
    members,
    names,
    number,
    pointer,
    replaced,
    same,
    type_name,
    without,
)
from toolvet.core.schema.compilation import Schema, compiled
from toolvet.core.schema.demands import Demands, Unmeetable, fixed_items
from toolvet.core.schema.document import Subschema
from toolvet.core.schema.example import Sketch, build_sketch
from toolvet.core.schema.generator import Exhausted, Generator, ValueLocation, Variation
from toolvet.core.schema.numbers import exact, plain
from toolvet.core.schema.violation import describe_violation
from toolvet.errors import Unsatisfiable


class Breakage(msgspec.Struct, frozen=True):
    """A value to put at a place, the keyword that it is meant to break, and the member that is missing or too much."""

    keyword: str
    value: object
    place: str
    property: str | None = None

    def met_by(self, found: Container[tuple[str, str, str | None]]) -> bool:
        """Whether an example for this keyword and place is there already."""
        return (self.keyword, self.place, self.property if self.keyword == "required" else None) in found


Change = tuple[str, object, str | None]


def breakages(value: object, demands: Demands, path: Path) -> Iterator[Breakage]:
    """Yield changes to `value` that might break one keyword, the plainest first. The caller checks each."""
    place = pointer(path)
    if is_object(value):
        found = _break_object(members(value), demands)
    elif is_array(value):
        found = _break_array(list(elements(value)), demands)
    elif isinstance(value, str):
        found = _break_string(value, demands)
    elif (here := exact(value)) is not None:
        found = _break_number(here, demands)
    else:
        found = iter(())
    changes = [*found, *_break_list_of_values(value, demands), *_break_logic(demands)]
    if any("type" in schema for schema in demands.plain()) or demands.choices:
        own = type_name(value)
        said = f"not-{'an' if own[0] in 'aeiou' else 'a'}-{own}"
        others: tuple[object, ...] = (said, 12345, True, None, 1.5, [], {}, ["unexpected"], {"unexpected": True})
        changes.extend(("type", wrong, None) for wrong in others if type_name(wrong) != own)
    for keyword, changed, name in changes:
        yield Breakage(keyword, changed, place, name)


_JUNK: tuple[object, ...] = ("unexpected", 12345, {})
_ODD: tuple[object, ...] = ("unexpected", 12345, 1.5, True, None, {}, [])
# A longer text is not a better example of one that is too long.
_LONGEST = 20_000
_MOST_ITEMS = 1_000
_MOST_DISTINCT = 50


def _break_object(value: Mapping[str, object], demands: Demands) -> Iterator[Change]:
    for name in demands.required():
        if name in value:
            yield "required", without(value, name), name
    schemas = demands.plain()
    for keyword in ("dependentRequired", "dependencies"):
        for schema in schemas:
            for trigger, needed in members(schema.get(keyword)).items():
                for name in names(needed):
                    if trigger in value and name in value and name not in demands.required():
                        yield keyword, without(value, name), name
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if any(keyword in schema for schema in schemas):
            for unexpected in _JUNK:
                yield keyword, {**value, "unexpected": unexpected}, "unexpected"
    if any("propertyNames" in schema for schema in schemas):
        sample = next(iter(value.values()), "example")
        for name in ("not a name!", "", "Unexpected", "unexpected", "0", "x" * 300):
            yield "propertyNames", {**value, name: sample}, name
    for schema in schemas:
        least, most = count(schema.get("minProperties")), count(schema.get("maxProperties"))
        if least:
            kept = sorted(value, key=lambda name: name not in demands.required())[: least - 1]
            yield "minProperties", {name: value[name] for name in value if name in kept}, None
        if most is not None and most < _MOST_ITEMS:
            # More members: declared ones that were left out, else any.
            grown = dict(value)
            for name in (*demands.declared(), *(f"extra{index}" for index in range(most + 1))):
                if len(grown) <= most and name not in grown and (written := _try_to_write(demands.member(name))):
                    grown[name] = written[0]
            if len(grown) > most:
                yield "maxProperties", grown, None


def _break_array(value: list[object], demands: Demands) -> Iterator[Change]:
    schemas = demands.plain()
    for schema in schemas:
        least, most = count(schema.get("minItems")), count(schema.get("maxItems"))
        if least:
            yield "minItems", value[: least - 1], None
        if most is not None and most < _MOST_ITEMS:
            yield from (("maxItems", longer, None) for longer in _lengthen(value, demands, most + 1))
        if schema.get("uniqueItems") is True:
            yield from (("uniqueItems", [*value, item], None) for item in value[:1])
            if len(value) > 1:
                yield "uniqueItems", [value[0], *value[:1], *value[2:]], None
        if "contains" in schema:
            yield "contains", [], None
            for other in (*_JUNK, None):
                yield "contains", [other for _ in value], None
                yield "contains", [other, *value[1:]], None
                yield "contains", [*value[:-1], other], None
            if (wanted := count(schema.get("minContains"))) is not None:
                yield "minContains", value[: max(0, wanted - 1)], None
            if (limit := count(schema.get("maxContains"))) is not None and limit < _MOST_ITEMS:
                yield from (("maxContains", [*value, *([item] * limit)], None) for item in value)
        for keyword in ("items", "additionalItems", "unevaluatedItems"):
            if keyword in schema:
                yield from ((keyword, [*value, extra], None) for extra in _JUNK)
                front = list(value[: len(fixed_items(schema))])
                yield keyword, [*front, "unexpected"], None


def _lengthen(value: list[object], demands: Demands, size: int) -> Iterator[list[object]]:
    if value and not any(schema.get("uniqueItems") is True for schema in demands.plain()):
        yield [*value, *([value[-1]] * (size - len(value)))]
        return
    longer = list(value)
    while len(longer) < min(size, _MOST_DISTINCT):
        for content in range(len(longer) + 3):
            written = _try_to_write(demands.item(len(longer)), Variation(content=content, branch=content))
            if written and not any(same(written[0], item) for item in longer):
                longer.append(written[0])
                break
        else:
            return
    if len(longer) == size:
        yield longer


def _break_string(value: str, demands: Demands) -> Iterator[Change]:
    least = most = None
    for schema in demands.plain():
        low, high = count(schema.get("minLength")), count(schema.get("maxLength"))
        if low:
            least = max(least or 0, low)
            yield from (("minLength", cut, None) for cut in (value[: low - 1], value[-low + 1 :] if low > 1 else ""))
        if high is not None:
            most = high if most is None else min(most, high)
            if high < _LONGEST:
                longer = high + 1 - len(value)
                yield "maxLength", value + (value[-1:] or "x") * longer, None
                yield "maxLength", (value[:1] or "x") * longer + value, None
                middle = len(value) // 2
                yield "maxLength", value[:middle] + (value[middle : middle + 1] or "x") * longer + value[middle:], None
    for schema in demands.plain():
        if "pattern" in schema:
            yield from (("pattern", wrong, None) for wrong in _wrong_texts(value, least or 0, most))
        if "format" in schema:
            said = f"not {'an' if str(schema['format'])[:1] in 'aeiu' else 'a'} {schema['format']}"
            for wrong in (said[:most], *_wrong_texts(value, least or 0, most)):
                yield "format", wrong, None


def _wrong_texts(value: str, least: int, most: int | None) -> Iterator[str]:
    """Texts of an allowed length that hardly any pattern or format accepts."""
    for text in ("not matching!", value, f"!{value}", f"{value}!", "!", "###", "   ", "12345", "x", ""):
        fitted = text + "!" * (least - len(text))
        yield fitted if most is None else fitted[:most]
    for index in range(min(len(value), 8)):
        yield f"{value[:index]}!{value[index + 1 :]}"


def _break_number(value: Fraction, demands: Demands) -> Iterator[Change]:
    for schema in demands.plain():
        step = exact(schema.get("multipleOf")) or Fraction(1)
        for keyword, direction in _BOUNDS:
            bound = exact(schema.get(keyword))
            if bound is None:
                continue
            # The nearest number outside first; a multiple of the divisor, if there is one.
            outside = (
                [bound] if keyword.startswith("exclusive") or schema.get(f"exclusive{keyword.title()}") is True else []
            )
            lattice = Fraction(math.floor(bound / step) if direction < 0 else math.ceil(bound / step))
            outside.extend((bound + direction * step, (lattice + direction) * step))
            outside.extend((bound + direction, bound + Fraction(direction, 2)))
            outside.append(bound + direction * (abs(bound) + 1))
            for wrong in outside:
                yield keyword, plain(wrong), None
                if schema.get(f"exclusive{keyword.title()}") is True:
                    yield f"exclusive{keyword.title()}", plain(wrong), None
        if "multipleOf" in schema:
            for part in (1, Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)):
                yield "multipleOf", plain(value + part * (step if part != 1 else 1)), None
                yield "multipleOf", plain(value - part * (step if part != 1 else 1)), None


_LARGEST_WITH_A_HALF = 2**52
_BOUNDS = (("minimum", -1), ("maximum", 1), ("exclusiveMinimum", -1), ("exclusiveMaximum", 1))


def _break_list_of_values(value: object, demands: Demands) -> Iterator[Change]:
    """Values of the same type that the list of an `enum`, or `const`, does not hold."""
    for keyword, schema in ((keyword, schema) for schema in demands.plain() for keyword in ("enum", "const")):
        if keyword not in schema:
            continue
        listed = elements(schema["enum"]) if keyword == "enum" else (schema["const"],)
        if isinstance(value, bool):
            wrong: tuple[object, ...] = (not value,)
        elif (here := number(value)) is not None:
            top = max((found for item in listed if (found := number(item)) is not None), default=here)
            # A half more, if a float can hold that.
            half = here + 0.5 if abs(here) < _LARGEST_WITH_A_HALF else here + 2
            wrong = (top + 1, here + 1, -1, half)
        elif isinstance(value, str):
            wrong = ("not-one-of-these", f"{value}-", f"{value}x", "x", "")
        elif is_array(value):
            wrong = ([*value, "unexpected"], [])
        else:
            wrong = ({**members(value), "unexpected": 1}, {}) if is_object(value) else ("not-one-of-these", 12345)
        yield from ((keyword, other, None) for other in wrong if not any(same(other, item) for item in listed))


def _break_logic(demands: Demands) -> Iterator[Change]:
    """Values that are what `not` forbids, or two things of a `oneOf` at once."""
    for located in demands.schemas:
        here, scope = located.schema, located.scope
        if "not" in here:
            rest = Subschema(_without_keyword(here, "not"), scope)
            for written in (
                _try_to_write([rest, Subschema(here["not"], scope)]),
                _try_to_write([Subschema(here["not"], scope)]),
            ):
                yield from (("not", value, None) for value in written)
        options = elements(here.get("oneOf"))
        for index, first in enumerate(options[:6]):
            for second in options[index + 1 : 6]:
                rest = Subschema(_without_keyword(here, "oneOf"), scope)
                both = _try_to_write([rest, Subschema(first, scope), Subschema(second, scope)])
                yield from (("oneOf", value, None) for value in both)
        for keyword in ("anyOf", "oneOf"):
            if keyword in here:
                yield from ((keyword, value, None) for value in _ODD)


def _without_keyword(schema: Mapping[str, object], keyword: str) -> dict[str, object]:
    return {key: value for key, value in schema.items() if key not in (keyword, "$id", "id", "examples", "default")}


def _try_to_write(parts: list[Subschema], variation: Variation | None = None) -> tuple[object, ...]:
    """A value for these schemas, if one is found quickly."""
    try:
        return (Generator("all", steps=300).value(parts, ValueLocation(("",)), variation or Variation()),)
    except (Unmeetable, Exhausted, RecursionError):
        return ()


class InvalidExample(msgspec.Struct, frozen=True, kw_only=True):
    """An instance that breaks exactly one keyword of the schema, at one place.

    `keyword` is the broken one as the schema spells it; where the place is a union, that is `anyOf` or `oneOf`,
    whatever its branches say. `pointer` is the place in the instance (for `required` and `additionalProperties` the
    object, not the member), `detail` describes it in a few words, and `property` names the missing or unexpected
    member.
    """

    keyword: str
    pointer: str
    instance: object
    detail: str
    property: str | None = None


MOST = 40
# Validations; a large schema is left with fewer examples rather than waited for.
_TRIES = 2_000


def invalid_examples(schema: object) -> tuple[InvalidExample, ...]:
    """Return one instance for every kind of violation that the schema can express, each checked to break only that.

    Each is the schema's `valid_example` with one change. In a fixed order, nearest to the root first, at most 40; one
    for each keyword and place (of `required`, for each member). Empty if there is no valid example to start from.

    Example:
        >>> [found.detail for found in invalid_examples({"type": "string", "minLength": 1})]
        ['the value has 0 characters, fewer than the minimum of 1', 'the value is an integer, not a string']
    """
    ready = compiled(schema)
    try:
        sketch = build_sketch(ready, "all")
    except Unsatisfiable:
        return ()
    found: dict[tuple[str, str, str | None], InvalidExample] = {}
    # An explanation costs more than in proportion where alternatives multiply.
    price = 1 + (ready.effort(sketch.value) // 500) ** 2
    tries = _TRIES
    for path, demands in places_of(sketch):
        for breakage in breakages(at(sketch.value, path), demands, path):
            if breakage.met_by(found):
                continue
            example = _check(ready, sketch, path, breakage)
            if example is not None:
                key = (example.keyword, example.pointer, example.property if example.keyword == "required" else None)
                found.setdefault(key, example)
            tries -= price
            if len(found) >= MOST or tries <= 0:
                return tuple(found.values())
    return tuple(found.values())


def places_of(sketch: Sketch) -> Iterator[tuple[Path, Demands]]:
    """The places of a value, nearest to the root first, in the order of the value; of like items only the first."""
    for path, demands in sorted(sketch.places.items(), key=lambda entry: len(entry[0])):
        for depth, step in enumerate(path):
            container = at(sketch.value, path[:depth])
            if is_object(container) and step in container:
                continue
            if not is_array(container) or not isinstance(step, int) or step >= len(container):
                break
            around = sketch.places.get(path[:depth])
            if step and around is not None and all(step >= len(fixed_items(schema)) for schema in around.plain()):
                # Just one more of many like items.
                break
        else:
            yield path, demands


def _check(ready: Schema, sketch: Sketch, path: Path, breakage: Breakage) -> InvalidExample | None:
    instance = replaced(sketch.value, path, breakage.value)
    violations = ready.violations(instance)
    if len(violations) != 1:
        return None
    violation = violations[0]
    place = pointer(path)
    # A break further inside has its own place; only a surplus item is reported at the place of its own.
    if violation.pointer != place and violation.keyword not in _SURPLUS:
        return None
    # The missing or unexpected member that the violation is about.
    member = violation.params.get("property")
    if not isinstance(member, str):
        unexpected = names(violation.params.get("unexpected"))
        own = breakage.property if violation.keyword == breakage.keyword else None
        member = unexpected[0] if unexpected else own
    return InvalidExample(
        keyword=violation.keyword,
        pointer=place,
        instance=instance,
        detail=describe_violation(violation, path, breakage.value),
        property=member,
    )


_SURPLUS = frozenset({"items", "additionalItems", "unevaluatedItems"})
