"""`boundary_examples`: valid instances that meet a declared bound exactly, or just inside."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

import msgspec

from toolvet.core.json_value import Path, at, count, elements, is_array, is_object, number, pointer, replaced, unique
from toolvet.core.schema.compilation import compiled
from toolvet.core.schema.demands import Demands, Unmeetable
from toolvet.core.schema.document import Subschema
from toolvet.core.schema.example import build_sketch
from toolvet.core.schema.generator import Exhausted, Generator, ValueLocation
from toolvet.core.schema.invalid import places_of
from toolvet.core.schema.numbers import exact, interval, plain
from toolvet.core.schema.violation import count_noun, dotted_path, quote_value
from toolvet.errors import Unsatisfiable


class BoundaryExample(msgspec.Struct, frozen=True, kw_only=True):
    """A valid instance: the value at `pointer` meets the bound `keyword` exactly or just inside, as `detail` says."""

    keyword: str
    pointer: str
    instance: object
    detail: str


MOST = 60
# Beyond these a bound is left out: a text of ten million characters tests no more than one of twenty thousand.
LONGEST_TEXT = 20_000
MOST_ITEMS = 1_000


def boundary_examples(schema: object) -> tuple[BoundaryExample, ...]:
    """Return valid instances that meet each declared bound exactly and just inside, and each value of an `enum`.

    Each is the schema's `valid_example` with another value at one place, and is validated. In a fixed order, nearest to
    the root first, at most 60. Bounds beyond 20,000 characters, 1,000 items or 1,000 members are left out. Empty where
    there is no valid example to start from.

    Example:
        >>> [found.detail for found in boundary_examples({"type": "integer", "minimum": 1})]
        ['the value is 1, the minimum', 'the value is 2, just inside the minimum of 1']
    """
    ready = compiled(schema)
    try:
        sketch = build_sketch(ready, "all")
    except Unsatisfiable:
        return ()
    found: list[BoundaryExample] = []
    writer = _BoundWriter()
    for path, demands in places_of(sketch):
        value = at(sketch.value, path)
        for keyword, detail, narrowed in _bounds(value, demands, path):
            for wanted in writer.write(demands, narrowed, path):
                instance = replaced(sketch.value, path, wanted)
                if ready.is_valid(instance):
                    found.append(
                        BoundaryExample(keyword=keyword, pointer=pointer(path), instance=instance, detail=detail)
                    )
            if len(found) >= MOST:
                return tuple(found)
    return tuple(found)


Bound = tuple[str, str, Mapping[str, object]]


def _bounds(value: object, demands: Demands, path: Path) -> Iterator[Bound]:
    """Each bound at a place: its keyword, its description, and a schema that only a value at the bound satisfies."""
    listed = unique(item for schema in demands.plain() for item in elements(schema.get("enum"))[:MOST])
    if listed:
        if len(listed) > 1:
            yield from (
                ("enum", f"{dotted_path(path)} is {quote_value(item)}", {"enum": [item]}) for item in listed[:MOST]
            )
        return
    if isinstance(value, str):
        yield from _size_bounds(demands, path, ("minLength", "maxLength"), "character", LONGEST_TEXT)
    elif is_array(value):
        yield from _size_bounds(demands, path, ("minItems", "maxItems"), "item", MOST_ITEMS)
    elif is_object(value):
        yield from _size_bounds(demands, path, ("minProperties", "maxProperties"), "member", MOST_ITEMS)
    elif number(value) is not None:
        yield from _number_bounds(demands, path, whole="number" not in demands.types())


def _size_bounds(demands: Demands, path: Path, keywords: tuple[str, str], noun: str, largest: int) -> Iterator[Bound]:
    low_name, high_name = keywords
    schemas = demands.plain()
    low = max((size for schema in schemas if (size := count(schema.get(low_name))) is not None), default=None)
    high = min((size for schema in schemas if (size := count(schema.get(high_name))) is not None), default=None)
    for keyword, size, inward, word in ((low_name, low, 1, "minimum"), (high_name, high, -1, "maximum")):
        if size is None or size > largest:
            continue
        yield (
            keyword,
            f"{dotted_path(path)} has {count_noun(size, noun)}, the {word}",
            {low_name: size, high_name: size},
        )
        inside = size + inward
        if inside >= (low or 0) and (high is None or inside <= high):
            detail = f"{dotted_path(path)} has {count_noun(inside, noun)}, just inside the {word} of {size}"
            yield keyword, detail, {low_name: inside, high_name: inside}


def _number_bounds(demands: Demands, path: Path, *, whole: bool) -> Iterator[Bound]:
    wanted = interval(demands.plain())
    if whole:
        wanted.step = Fraction(1) if wanted.step is None else Fraction(wanted.step.numerator)
    step = wanted.step
    if step is None:
        # "Just inside" a bound is a hundredth of the range for numbers with a fraction, at most 0.1.
        step = Fraction(1, 10)
        if wanted.low is not None and wanted.high is not None and wanted.low < wanted.high:
            step = min(step, (wanted.high - wanted.low) / 100)
    for keyword, bound, is_open, inward in (
        ("minimum", wanted.low, wanted.low_open, 1),
        ("maximum", wanted.high, wanted.high_open, -1),
    ):
        if bound is None:
            continue
        said = f"exclusive{keyword.title()}" if is_open else keyword
        if not is_open and wanted.holds(bound):
            yield said, f"{dotted_path(path)} is {plain(bound)}, the {keyword}", {"enum": [plain(bound)]}
        inside = next((near for near in wanted.nearest(bound + inward * step) if near != bound), None)
        if inside is not None:
            detail = f"{dotted_path(path)} is {plain(inside)}, just inside the {keyword} of {plain(bound)}"
            yield said, detail, {"enum": [plain(inside)]}
    divisors = [divisor for schema in demands.plain() if (divisor := exact(schema.get("multipleOf")))]
    if divisors and wanted.step is not None:
        for near in wanted.nearest((wanted.low or Fraction(0)) + 3 * wanted.step):
            yield (
                "multipleOf",
                f"{dotted_path(path)} is {plain(near)}, a multiple of {plain(divisors[0])}",
                {"enum": [plain(near)]},
            )
            break


class _BoundWriter:
    """Writes the values at the bounds; all of them for one schema share their steps."""

    def __init__(self) -> None:
        self.left = 12_000

    def write(self, demands: Demands, narrowed: Mapping[str, object], path: Path) -> tuple[object, ...]:
        """A value that meets the demands and the narrowed schema, if one is found."""
        if "enum" in narrowed:
            return tuple(elements(narrowed["enum"]))
        parts = [Subschema(located.schema, located.scope) for located in demands.schemas]
        if not parts:
            return ()
        parts.append(Subschema(narrowed, parts[0].scope))
        name = next((step for step in reversed(path) if isinstance(step, str)), "")
        allowed = min(self.left, 2 * MOST_ITEMS)
        generator = Generator("all", steps=allowed)
        try:
            return (generator.value(parts, ValueLocation(path[-1:], name)),)
        except (Unmeetable, Exhausted, RecursionError):
            return ()
        finally:
            self.left -= allowed - max(generator.steps, 0)
