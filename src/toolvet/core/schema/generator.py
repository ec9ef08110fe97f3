"""`Generator`: writes a value for a schema, place by place. If a preferred value contradicts, it writes another one.

One schema, step by step:

    {"type": "object", "required": ["code"],
     "properties": {"code": {"anyOf": [{"type": "string", "pattern": "^[A-Z]{3}$"}, {"type": "null"}]},
                    "seats": {"type": "integer", "minimum": 1, "multipleOf": 2}}}

1. `value` is asked for a value at the root (`ValueLocation(path=())`). It collects the `Demands` of the schema: it
   follows references, joins `allOf`, and keeps alternatives as choices. Here there are none, and the type is object.
2. `_write_object` lists the members: the declared ones, of which `code` is needed (with the extent "required" only
   those). It asks `value` for each in turn, one step further in.
3. At `/code` there is one choice. `_decide` takes the options in the author's order, null last: the string. For a field
   named "code", `hints` suggests "print(1)", which does not match the pattern, so `texts` writes "ABC".
4. At `/seats` the name suggests 2, which is in the interval from 1 on and a multiple of 2.
5. The result is {"code": "ABC", "seats": 2}, and `places` has the demands at its three places: `invalid` and `boundary`
   change the value at one of them.

If a part cannot be met, `Unmeetable` leads back to the last choice, which takes its next option. With a `judge`, a
place whose parts may contradict each other is checked at once, and written again in other variations (`_OTHERS`). Every
value costs a step, and so does every further option or variation at a place, written or not. The steps are limited, so
a hostile schema ends in `Exhausted`.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, islice
from typing import Literal

import msgspec

from toolvet.core.json_value import Path, count, is_array, is_object, members, names, same, type_name
from toolvet.core.schema.compilation import Judge
from toolvet.core.schema.demands import Demands, Option, Unmeetable, fixed_items
from toolvet.core.schema.document import Subschema
from toolvet.core.schema.naming import ValueType, hints
from toolvet.core.schema.numbers import Interval, exact, interval, plain
from toolvet.core.schema.text import text_rules, texts

Extent = Literal["all", "required"]


class Exhausted(Exception):  # noqa: N818 - a state of the search, never an error that leaves the room.
    """The search took more steps than it may."""


class ValueLocation(msgspec.Struct, frozen=True):
    """A place in the value: its path, the last name on it, how much may be written there, and the references followed.

    `room` counts values; siblings share it. `trail` holds the ids of the schemas that references led to.
    """

    path: Path = ()
    name: str = ""
    room: float = 250.0
    trail: tuple[int, ...] = ()


class Variation(msgspec.Struct, frozen=True):
    """Another value for the same place: another branch, other content, or fewer optional members."""

    branch: int = 0
    content: int = 0
    extent: Extent | None = None


FIRST = Variation()
# More items or members than this make no example.
ITEMS = 5_000


def limits(demands: Demands, least: str, most: str) -> tuple[int, int | None]:
    """The size that two keywords leave: at least, at most."""
    lows = [size for schema in demands.plain() if (size := count(schema.get(least))) is not None]
    highs = [size for schema in demands.plain() if (size := count(schema.get(most))) is not None]
    return max(lows, default=0), min(highs, default=None)


_DEEPEST = 48
# The variations to try if the value written at a place turns out wrong.
_OTHERS = (
    Variation(extent="required"),
    Variation(branch=1),
    Variation(branch=1, extent="required"),
    Variation(content=1),
    Variation(branch=2),
    Variation(branch=2, extent="required"),
    Variation(branch=3),
    Variation(content=2),
    Variation(content=3),
    Variation(branch=4),
    Variation(branch=1, content=1),
    Variation(branch=5),
    Variation(branch=6),
)


class Generator:
    """Writes one value for a schema. With a `judge`, every intricate place is checked as soon as it is written.

    `extent` decides whether optional members are written, and `barred` has the paths of those that are left out in any
    case. `steps` is the number of values that may be written. `places` has the demands at each path of the value.
    """

    def __init__(
        self,
        extent: Extent,
        judge: Judge | None = None,
        *,
        barred: frozenset[Path] = frozenset(),
        steps: int = 10_000,
    ) -> None:
        self.extent: Extent = extent
        self.judge = judge
        self.barred = barred
        self.places: dict[Path, Demands] = {}
        self.steps = steps

    def value(self, parts: list[Subschema], location: ValueLocation, variation: Variation = FIRST) -> object:
        """Return a value that satisfies all `parts`, as far as this search sees. Raises `Unmeetable` or `Exhausted`."""
        self._spend()
        if len(location.path) > _DEEPEST:
            raise Unmeetable
        demands = Demands()
        for part in parts:
            demands.add(part)
        for target in demands.entered:
            if location.trail.count(target) > 3:
                raise Unmeetable
        if self.judge is None or not demands.intricate:
            return self._decide(demands, 0, location, variation)
        for other in (variation, *_OTHERS):
            try:
                value = self._decide(demands.copy(), 0, location, other)
                if all(self.judge.accepts(part, value) for part in parts):
                    return value
            except Unmeetable:
                pass
            self._spend()
        raise Unmeetable

    def _spend(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Exhausted

    def _decide(self, demands: Demands, made: int, location: ValueLocation, variation: Variation) -> object:
        """Make the choices that are left, one after the other, and write the value."""
        if made == len(demands.choices):
            return self._write(demands, location, variation)
        options = list(demands.choices[made])
        if len(options) == 2 and options[1].excluded and (variation.extent or self.extent) == "required":
            options.reverse()
        else:
            # The author's order, but null and references that lead back to an outer schema last.
            options.sort(key=lambda option: _reluctance(option, location))
        start = variation.branch % len(options)
        for option in (*options[start:], *options[:start]):
            branch = demands.copy()
            try:
                branch.take(option)
                if all(location.trail.count(target) <= 3 for target in branch.entered):
                    return self._decide(branch, made + 1, location, variation)
            except Unmeetable:
                pass
            self._spend()
        raise Unmeetable

    def _write(self, demands: Demands, location: ValueLocation, variation: Variation) -> object:
        self.places[location.path] = demands
        types = demands.types()
        if not types:
            raise Unmeetable
        listed = demands.listed()
        if listed is not None:
            fitting = [value for value in listed if self._fits(demands, types, value)]
            if not fitting:
                raise Unmeetable
            preferred = [value for value in demands.suggested() if any(same(value, other) for other in fitting)]
            fitting = [*preferred, *(value for value in fitting if not any(same(value, p) for p in preferred))]
            return fitting[variation.content % len(fitting)]
        kind = _choose_type(demands, types, location)
        suggested = [value for value in demands.suggested() if self._is_welcome(demands, types, kind, value)]
        if len(suggested) > variation.content:
            return suggested[variation.content]
        match kind:
            case "object":
                return self._write_object(demands, location, variation)
            case "array":
                return write_array(self, demands, location, variation)
            case "string":
                return self._write_string(demands, location, variation)
            case "integer" | "number":
                return self._write_number(demands, kind, location, variation)
            case "boolean":
                return self._choose_allowed(demands, (True, False), variation)
            case _:
                return self._choose_allowed(demands, (None,), variation)

    def _is_welcome(self, demands: Demands, types: set[str], kind: str, value: object) -> bool:
        """Whether a suggestion may be the value: it fits, and has at least the members that we would write."""
        if not self._fits(demands, types, value):
            return False
        if is_object(value):
            if kind != "object" or not value or self.extent == "required":
                return False
            declared = [name for name in demands.declared() if members(value).get(name) is None]
            return not declared and self._satisfies_all(demands, value)
        if is_array(value):
            return kind == "array" and bool(value) and self._satisfies_all(demands, value)
        return value is not None or kind == "null"

    def _satisfies_all(self, demands: Demands, value: object) -> bool:
        judge = self.judge or Judge()
        return all(judge.accepts(Subschema(located.schema, located.scope), value) for located in demands.schemas)

    def _fits(self, demands: Demands, types: set[str], value: object) -> bool:
        kind = type_name(value)
        if kind not in types or any(same(value, other) for other in demands.excluded_values):
            return False
        if isinstance(value, str):
            return text_rules(demands.plain()).accepts(value)
        found = exact(value)
        return found is None or interval(demands.plain()).holds(found)

    def _choose_allowed(self, demands: Demands, values: tuple[object, ...], variation: Variation) -> object:
        left = [value for value in values if not any(same(value, other) for other in demands.excluded_values)]
        if not left:
            raise Unmeetable
        return left[variation.content % len(left)]

    def _write_string(self, demands: Demands, location: ValueLocation, variation: Variation) -> str:
        rules = text_rules(demands.plain())
        wishes = () if rules.formats and not rules.patterns else hints(location.name, demands.description(), "string")
        found = rules.matching_texts(wishes, variation.content)
        for text in islice(found, variation.content, variation.content + 20):
            if text not in demands.excluded_values:
                return text
        for text in rules.matching_texts((), variation.content):
            if text not in demands.excluded_values:
                return text
        raise Unmeetable

    def _write_number(
        self, demands: Demands, kind: ValueType, location: ValueLocation, variation: Variation
    ) -> int | float:
        wanted = interval(demands.plain())
        if kind == "integer":
            wanted.step = Fraction(1) if wanted.step is None else Fraction(wanted.step.numerator)
        wishes = [exact(wish) for wish in hints(location.name, demands.description(), kind)]
        inside = [wish for wish in wishes if wish is not None and wanted.holds(wish)]
        # A wish that only misses the divisor is still a good place to look near.
        bounds = Interval(wanted.low, wanted.low_open, wanted.high, wanted.high_open)
        close = [wish for wish in wishes if wish is not None and bounds.holds(wish)]
        candidates = (plain(value) for value in chain(inside, wanted.nearest(close[0] if close else Fraction(1))))
        distinct: list[int | float] = []
        for value in candidates:
            if value is None or value in distinct or any(same(value, other) for other in demands.excluded_values):
                continue
            distinct.append(value)
            if len(distinct) > variation.content:
                return value
        if not distinct:
            raise Unmeetable
        return distinct[variation.content % len(distinct)]

    def _write_object(self, demands: Demands, location: ValueLocation, variation: Variation) -> dict[str, object]:
        extent = variation.extent or self.extent
        required = _with_dependents(demands, demands.required())
        needed = set(required)
        barred = {path[-1] for path in self.barred if path[:-1] == location.path}
        wanted = [
            name
            for name in demands.declared()
            if name in needed or (extent == "all" and name not in demands.avoid and name not in barred)
        ]
        if location.room < len(wanted):
            wanted = [name for name in wanted if name in needed]
        wanted = list(dict.fromkeys((*wanted, *required)))
        wanted = [name for name in _with_dependents(demands, wanted) if name in needed or name not in demands.avoid]
        waiting = self._dependent_schemas(demands, wanted)
        if waiting:
            # Members lead to further schemas, which may have choices of their own.
            made = len(demands.choices)
            branch = demands.copy()
            try:
                for part in waiting:
                    branch.add(part)
                value = self._decide(branch, made, location, variation)
                if is_object(value):
                    return dict(value)
            except Unmeetable:
                pass
            wanted = [name for name in wanted if name in needed]
            if self._dependent_schemas(demands, wanted):
                raise Unmeetable
        found: dict[str, object] = {}
        for name in wanted:
            if name not in needed and name in found:
                continue
            self._put_member(
                demands,
                found,
                name,
                location=location,
                siblings=len(wanted),
                variation=variation,
                is_needed=name in needed,
            )
        shows_others = any(
            members(schema.get("additionalProperties")) or members(schema.get("patternProperties"))
            for schema in demands.plain()
        )
        if not found and extent == "all" and shows_others and not demands.declared() and location.room >= 1:
            # One member for an object that only restricts the form of its members.
            self._grow(demands, found, location, 1)
        least, _ = limits(demands, "minProperties", "maxProperties")
        if len(found) < least <= ITEMS:
            self._grow(demands, found, location, least)
        if len(found) < least:
            raise Unmeetable
        return self._remove_surplus(demands, found, needed)

    def _put_member(
        self,
        demands: Demands,
        found: dict[str, object],
        name: str,
        *,
        location: ValueLocation,
        siblings: int,
        variation: Variation,
        is_needed: bool,
    ) -> None:
        """Write the member `name` into `found`. Raises `Unmeetable` if it is needed and cannot be written."""
        parts = demands.member(name)
        within = self.within(location, name, siblings)
        if not is_needed and _leads_back(parts, within):
            return
        judge = self.judge or Judge()
        is_allowed = all(
            judge.accepts(Subschema(located.schema["propertyNames"], located.scope), name)
            for located in demands.schemas
            if "propertyNames" in located.schema
        )
        if not is_allowed:
            if is_needed:
                raise Unmeetable
            return
        try:
            found[name] = self.value(parts, within, Variation(content=variation.content))
        except Unmeetable:
            if is_needed:
                raise

    def _grow(self, demands: Demands, found: dict[str, object], location: ValueLocation, size: int) -> None:
        for name in self._new_names(demands, size):
            if len(found) >= size:
                return
            if name in found or name in demands.avoid:
                continue
            try:
                other = Variation(content=len(found))
                self._put_member(
                    demands, found, name, location=location, siblings=size, variation=other, is_needed=True
                )
            except Unmeetable:
                continue

    def _new_names(self, demands: Demands, size: int) -> Iterator[str]:
        yield from demands.declared()
        for located in demands.schemas:
            for pattern in members(located.schema.get("patternProperties")):
                found = list(islice(texts(pattern), size + 8))
                yield from found
                # A pattern without an end says nothing about what follows.
                yield from (f"{text}{number}" for text in found[:2] for number in range(1, size + 1))
        for located in demands.schemas:
            if "propertyNames" in located.schema:
                part = Subschema(located.schema["propertyNames"], located.scope)
                for content in range(size + 8):
                    try:
                        name = Generator(self.extent).value(
                            [part], ValueLocation(name="key"), Variation(content=content)
                        )
                    except (Unmeetable, Exhausted):
                        break
                    if isinstance(name, str):
                        yield name
        yield "example"
        yield from (f"example{number}" for number in range(2, size + 8))
        yield from (chr(97 + number % 26) * (number // 26 + 1) for number in range(min(size + 26, 52)))

    def _remove_surplus(self, demands: Demands, found: dict[str, object], needed: set[str]) -> dict[str, object]:
        """At most `maxProperties` members: the last optional ones go first."""
        _, highest = limits(demands, "minProperties", "maxProperties")
        most = len(found) if highest is None else highest
        for name in reversed(list(found)):
            if len(found) <= most:
                return found
            if name not in needed:
                del found[name]
        if len(found) > most:
            raise Unmeetable
        return found

    def _dependent_schemas(self, demands: Demands, wanted: list[str]) -> list[Subschema]:
        """The schemas that the presence of these members calls for and that are not demanded yet."""
        found: list[Subschema] = []
        present = set(wanted)
        for located in demands.schemas:
            for keyword in ("dependentSchemas", "dependencies"):
                if keyword not in located.schema:
                    continue
                for name, sub in members(located.schema.get(keyword)).items():
                    if name in present and (sub is False or (sub and is_object(sub) and not demands.has_seen(sub))):
                        found.append(Subschema(sub, located.scope))
        return found

    def within(self, location: ValueLocation, step: str | int, siblings: int) -> ValueLocation:
        """The location one step further in; siblings share the room that is left."""
        name = step if isinstance(step, str) else location.name
        trail = (
            (*location.trail, *self.places[location.path].entered) if location.path in self.places else location.trail
        )
        return ValueLocation((*location.path, step), name, (location.room - siblings) / max(siblings, 1), trail)


def _with_dependents(demands: Demands, required: list[str]) -> list[str]:
    """The `required` members, and those that they require in turn."""
    lists = [
        members(schema[keyword])
        for schema in demands.plain()
        for keyword in ("dependentRequired", "dependencies")
        if keyword in schema
    ]
    if not lists:
        return required
    pending = list(required)
    found = dict.fromkeys(required)
    while pending:
        name = pending.pop()
        for wanted in lists:
            for other in names(wanted.get(name)):
                if other not in found:
                    found[other] = None
                    pending.append(other)
    return list(found)


def _leads_back(parts: list[Subschema], location: ValueLocation) -> bool:
    """Whether an optional member would begin another round of a recursive schema; one round is shown."""
    for part in parts:
        schema = members(part.schema)
        for sub in (part.schema, schema.get("items"), schema.get("additionalProperties")):
            reference = members(sub).get("$ref")
            target = part.scope.target(reference) if isinstance(reference, str) else None
            if target is not None and location.trail.count(id(target.schema)) >= 2:
                return True
    return len(location.path) > 12


def _reluctance(option: Option, location: ValueLocation) -> tuple[int, int]:
    schema = members(option.parts[0].schema)
    reference = schema.get("$ref")
    target = option.parts[0].scope.target(reference) if isinstance(reference, str) else None
    rounds = location.trail.count(id(target.schema)) if target is not None else 0
    return (rounds, int(schema.get("type") == "null" or option.parts[0].schema is False))


def _choose_type(demands: Demands, types: set[str], location: ValueLocation) -> str:
    """The type to write: what the other keywords speak of, the first that is listed, or what the name suggests."""
    if len(types) == 1:
        return next(iter(types))
    if types == {"integer", "number"}:
        return "number"
    for schema in demands.plain():
        for keyword, kind in _EVIDENCE.items():
            if keyword in schema and kind in types:
                return kind
    for schema in demands.plain():
        if "type" in schema:
            own = schema["type"]
            for kind in (own,) if isinstance(own, str) else names(own):
                if kind in types and kind != "null":
                    return kind
    if not location.path:
        order = ("object", "string", "array", "number", "integer", "boolean", "null")
    else:
        order = ("string", "object", "number", "integer", "array", "boolean", "null")
    return next(kind for kind in order if kind in types)


_EVIDENCE = {
    "properties": "object",
    "required": "object",
    "patternProperties": "object",
    "additionalProperties": "object",
    "unevaluatedProperties": "object",
    "minProperties": "object",
    "dependentRequired": "object",
    "dependentSchemas": "object",
    "propertyNames": "object",
    "items": "array",
    "prefixItems": "array",
    "contains": "array",
    "minItems": "array",
    "unevaluatedItems": "array",
    "pattern": "string",
    "format": "string",
    "minLength": "string",
    "maxLength": "string",
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "multipleOf": "number",
}


def write_array(writer: Generator, demands: Demands, location: ValueLocation, variation: Variation) -> list[object]:
    """Return an array for `demands`: one item if none is required, so that a reader sees one. Raises `Unmeetable`."""
    schemas = demands.plain()
    least, highest = limits(demands, "minItems", "maxItems")
    most = ITEMS if highest is None else highest
    if least > min(most, ITEMS):
        raise Unmeetable
    distinct = any(schema.get("uniqueItems") is True for schema in schemas)
    front = max((len(fixed_items(schema)) for schema in schemas), default=0)
    target = min(most, max(least, front or 1) if location.room >= 1 else least)
    items: list[object] = []
    while len(items) < target:
        within = writer.within(location, len(items), target)
        try:
            items.append(_write_item(writer, demands.item(len(items)), within, variation, items if distinct else []))
        except Unmeetable:
            if len(items) < least:
                raise
            break
    for schema, scope in ((located.schema, located.scope) for located in demands.schemas):
        if "contains" in schema and scope.dialect.number > 4:
            part = Subschema(schema["contains"], scope)
            _add_contained(writer, demands, part, schema=schema, items=items, most=most, location=location)
            _remove_surplus(writer, demands, part, schema=schema, items=items, location=location)
    return items


def _remove_surplus(
    writer: Generator,
    demands: Demands,
    part: Subschema,
    *,
    schema: object,
    items: list[object],
    location: ValueLocation,
) -> None:
    """Replace items that `contains` would count beyond `maxContains`."""
    highest = count(members(schema).get("maxContains"))
    if highest is None:
        return
    judge = writer.judge or Judge()
    matching = [index for index, item in enumerate(items) if judge.accepts(part, item)]
    other = Subschema({"not": part.schema}, part.scope)
    for index in matching[highest:]:
        within = writer.within(location, index, len(items))
        for content in range(6):
            value = writer.value([*demands.item(index), other], within, Variation(content=content))
            if not judge.accepts(part, value):
                items[index] = value
                break
        else:
            raise Unmeetable


def _write_item(
    writer: Generator, parts: list[Subschema], location: ValueLocation, variation: Variation, taken: list[object]
) -> object:
    """Return an item that is not among `taken`. Raises `Unmeetable`."""
    for turn in range(12):
        for other in (
            Variation(variation.branch, variation.content + len(taken) + turn, variation.extent),
            Variation(variation.branch + len(taken) + turn, variation.content, variation.extent),
        ):
            value = writer.value(parts, location, other)
            if not any(same(value, earlier) for earlier in taken):
                return value
    raise Unmeetable


def _add_contained(
    writer: Generator,
    demands: Demands,
    part: Subschema,
    *,
    schema: object,
    items: list[object],
    most: int,
    location: ValueLocation,
) -> None:
    """Make `items` hold as many values of `part` as it demands, after the others if there is room."""
    judge = writer.judge or Judge()
    wanted = count(members(schema).get("minContains"))
    missing = (1 if wanted is None else wanted) - sum(judge.accepts(part, item) for item in items)
    distinct = any(found.get("uniqueItems") is True for found in demands.plain())
    if missing > ITEMS:
        raise Unmeetable
    position = len(items) - 1
    while missing > 0:
        index = len(items) if len(items) < most else position
        if index < 0:
            raise Unmeetable
        others = [*items[:index], *items[index + 1 :]]
        try:
            value = _write_item(
                writer,
                [*demands.item(index, contained=True), part],
                writer.within(location, index, len(items) + 1),
                FIRST,
                others if distinct else [],
            )
        except Unmeetable:
            if index == len(items):
                most = len(items)
            else:
                position -= 1
            continue
        if index == len(items):
            items.append(value)
        else:
            items[index] = value
            position -= 1
        missing -= 1
