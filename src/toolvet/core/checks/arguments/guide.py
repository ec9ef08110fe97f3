"""`Guide`: everything in a report that depends on the schema alone. One guide for each schema, kept."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final

import msgspec

from toolvet.core.checks.arguments.facts import Facts, describe_value_constraint, list_constraints, name_types
from toolvet.core.checks.arguments.wording_table import Wording, as_json, cut, wording
from toolvet.core.json_value import Path, is_array, is_object, members, pointer_steps, replaced, unique
from toolvet.core.schema import Schema
from toolvet.core.schema.document import JsonForm
from toolvet.core.schema.example import Sketch, build_sketch
from toolvet.core.schema.generator import Generator
from toolvet.core.schema.judge import Judge
from toolvet.core.schema.numbers import interval, plain
from toolvet.core.schema.place import Unmeetable
from toolvet.core.schema.reference import Scope, Subschema
from toolvet.core.schema.search import Exhausted, Spot
from toolvet.core.schema.walk import subschemas
from toolvet.errors import Unsatisfiable

_MOST_PROPERTIES: Final = 150
_DEEPEST: Final = 6
_LARGE: Final = 2_000
_LONGEST_EXAMPLE: Final = 300
_LONGEST_DESCRIPTION: Final = 400


class PropertyHelp(JsonForm, msgspec.Struct, frozen=True):
    """One property of a tool's arguments: types (`string | null`), description, constraints, and valid values."""

    type: str
    description: str
    constraints: tuple[str, ...]
    examples: tuple[object, ...]


class SchemaHelp(JsonForm, msgspec.Struct, frozen=True):
    """The arguments of a tool: its description, its properties, the required ones, and valid examples.

    `properties` holds nested properties under their paths (`user.email`, `items.*.id`). `omitted` counts the properties
    that were left out of an enormous schema.
    """

    _hides = ("omitted",)

    description: str
    properties: Mapping[str, PropertyHelp]
    required: tuple[str, ...]
    examples: tuple[object, ...]
    omitted: int = 0


def guide_of(ready: Schema) -> "Guide":
    """The guide of a compiled schema in the current wording; built once and kept."""
    return _guide(ready, wording())


@lru_cache(maxsize=512)
def _guide(ready: Schema, _table: Wording) -> "Guide":
    return Guide(ready)


# For each field that distinguishes the forms of a union: its values in each form, None where it may be any.
Discriminators = Mapping[str, Sequence[Sequence[object] | None]]


class KeywordText(msgspec.Struct, frozen=True):
    """The texts for one keyword at one place of the schema, independent of the call.

    `examples` holds at most one value. With `names`, the texts contain a placeholder for the name of the place.
    """

    kind: str
    problem: str
    expected: str
    fix: str
    examples: tuple[object, ...]
    names: bool


class Guide:
    """The facts, texts, help and example of one schema. It keeps nothing that comes from a call."""

    def __init__(self, ready: Schema) -> None:
        self.ready = ready
        self.root = Subschema(ready.usable, Scope(ready.usable, ready.dialect))
        self.words: dict[tuple[str, ...], KeywordText] = {}
        self.discriminators: dict[str, Discriminators] = {}
        self.texts: dict[str, str] = {}
        self._parts: dict[str, Subschema | None] = {}
        self._facts: dict[str, Facts] = {}
        self._resources: list[Subschema] | None = None
        self._judge: Judge | None = None
        self._example: tuple[object, ...] | None = None
        self._help: SchemaHelp | None = None

    def part(self, pointer: str) -> Subschema | None:
        """The part of the schema at `pointer`, with its scope; None without one."""
        if pointer not in self._parts:
            self._parts[pointer] = self._find(pointer)
        return self._parts[pointer]

    def facts(self, pointer: str) -> Facts:
        """The facts of the schema at `pointer`."""
        known = self._facts.get(pointer)
        if known is None:
            part = self.part(pointer)
            known = self._facts[pointer] = Facts([part] if part is not None else [])
        return known

    def facts_at(self, place: str) -> Facts | None:
        """The facts of the value at `place`, a JSON Pointer into a call; None where a union leaves them open."""
        here = self.facts("")
        for step in pointer_steps(place):
            if here.demands.choices:
                return None
            here = here.item(int(step)) if here.types == ("array",) and step.isdecimal() else here.member(step)
        return here

    def _find(self, pointer: str) -> Subschema | None:
        steps = pointer_steps(pointer)
        found = _part_at(self.root, steps)
        if found is not None:
            return found
        # The validator's pointers may start at a schema resource: a part of the document with its own `$id`.
        if self._resources is None:
            inner = ((self.root.scope.inside(schema), schema) for _, schema in subschemas(self.ready.usable))
            self._resources = [Subschema(schema, scope) for scope, schema in inner if scope is not self.root.scope]
        return next((part for each in self._resources if (part := _part_at(each, steps)) is not None), None)

    @property
    def judge(self) -> Judge:
        """Judges values by parts of the document. An enormous document is not compiled again for it."""
        if self._judge is None:
            small = sum(1 for _ in zip(range(_LARGE), subschemas(self.ready.usable), strict=False)) < _LARGE
            self._judge = Judge(self.ready) if small else Judge()
        return self._judge

    def sample(self, facts: Facts, parts: list[Subschema], path: Path) -> tuple[object, ...]:
        """At most one value that is valid at a place and short enough to show."""
        examples = self.example
        candidates: list[object] = []
        if examples:
            found = _value_like(examples[0], path)
            candidates.extend(found)
        name = next((step for step in reversed(path) if isinstance(step, str)), "")
        with suppress(Unmeetable, Exhausted, RecursionError):
            candidates.append(Generator("required", steps=400).value(parts, Spot(name=name)))
        for value in candidates:
            fits = not facts.impossible and all(self.judge.accepts(part, value) for part in parts)
            if fits and len(as_json(value)) <= _LONGEST_EXAMPLE:
                return (value,)
        return ()

    @property
    def example(self) -> tuple[object, ...]:
        """At most one valid value for the whole schema."""
        if self._example is None:
            try:
                self._example = (_neutralize(build_sketch(self.ready, "all"), self.ready),)
            except Unsatisfiable:
                self._example = ()
        return self._example

    @property
    def help(self) -> SchemaHelp:
        """The schema help, without the description of the tool."""
        if self._help is None:
            walk = _PropertyWalk(self)
            facts = self.facts("")
            walk.add_members(facts, "", (), depth=0, trail=frozenset())
            self._help = SchemaHelp(
                description="",
                properties=walk.properties,
                required=tuple(facts.demands.required()),
                examples=self.example,
                omitted=walk.omitted,
            )
        return self._help


class _PropertyWalk:
    """Collects the properties of a schema, outer ones first; each reference is followed once on a path."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.properties: dict[str, PropertyHelp] = {}
        self.omitted = 0

    def add_members(self, facts: Facts, prefix: str, path: Path, *, depth: int, trail: frozenset[int]) -> None:
        """Add the members of an object and of its alternatives, then nested ones."""
        if depth > _DEEPEST:
            return
        for name in facts.demands.declared():
            own = f"{prefix}{name}"
            if own in self.properties:
                continue
            if len(self.properties) >= _MOST_PROPERTIES:
                self.omitted += 1
                continue
            parts = facts.demands.member(name)
            member = Facts(parts)
            if member.impossible:
                continue
            self.properties[own] = self._help(member, parts, (*path, name))
            self._add_nested(member, own, (*path, name), depth=depth, trail=trail)
        forms = [form for form in facts.forms() if trail.isdisjoint(form.demands.entered)]
        for form in forms:
            self.add_members(form, prefix, path, depth=depth + 1, trail=trail | set(form.demands.entered))
        self._join_values(forms, prefix)

    def _join_values(self, forms: list[Facts], prefix: str) -> None:
        """A field with fixed values in several forms, such as `kind`, may have any of these values."""
        listed: dict[str, list[Sequence[object]]] = {}
        for form in forms:
            for name in form.demands.declared():
                values = form.member(name).values if f"{prefix}{name}" in self.properties else None
                if values is not None:
                    listed.setdefault(name, []).append(values)
        for name, found in listed.items():
            if len(found) > 1:
                values = unique(value for each in found for value in each)
                own = f"{prefix}{name}"
                self.properties[own] = msgspec.structs.replace(
                    self.properties[own], constraints=(describe_value_constraint(values),)
                )

    def _add_nested(self, facts: Facts, own: str, path: Path, *, depth: int, trail: frozenset[int]) -> None:
        entered = frozenset(facts.demands.entered)
        if entered & trail:
            return
        self.add_members(facts, f"{own}.", path, depth=depth + 1, trail=trail | entered)
        if "array" in facts.types:
            item = facts.item(0)
            within = frozenset(item.demands.entered)
            if not within & trail:
                self.add_members(item, f"{own}.*.", (*path, 0), depth=depth + 1, trail=trail | entered | within)

    def _help(self, facts: Facts, parts: list[Subschema], path: Path) -> PropertyHelp:
        return PropertyHelp(
            name_types(facts) or "any",
            _one_line(facts.demands.description()),
            tuple(list_constraints(facts)),
            self.guide.sample(facts, parts, path),
        )


def _one_line(text: str) -> str:
    return cut(" ".join(text.split()), _LONGEST_DESCRIPTION)


def _part_at(start: Subschema, steps: Sequence[str]) -> Subschema | None:
    here, scope = start.schema, start.scope
    for step in steps:
        if is_array(here):
            if not step.isdecimal() or int(step) >= len(here):
                return None
            here = here[int(step)]
        else:
            if step not in members(here):
                return None
            here = members(here)[step]
        if is_object(here):
            scope = scope.inside(here)
    return Subschema(here, scope)


def _value_like(value: object, path: Path) -> tuple[object, ...]:
    """The value at `path` in a value of the same shape: none or one. The last item replaces a missing one."""
    for step in path:
        if is_array(value):
            if not value or not (isinstance(step, int) or step.isdecimal()):
                return ()
            value = value[min(int(step), len(value) - 1)]
        elif isinstance(step, str) and step in members(value):
            value = members(value)[step]
        else:
            return ()
    return (value,)


def _neutralize(sketch: Sketch, ready: Schema) -> object:
    """The example with neutral names, and with numbers from the middle of their range, where that is valid, too."""
    value = sketch.value
    for path, demands in sketch.places.items():
        if demands.listed() is not None or demands.suggested():
            continue
        (old,) = _value_like(sketch.value, path) or (None,)
        new = old
        if isinstance(old, str):
            new = wording().neutral.get(old, old)
        elif isinstance(old, int | float) and not isinstance(old, bool):
            span = interval(demands.plain())
            if span.low is not None and span.high is not None:
                middle = (span.low + span.high) / 2
                if "number" not in demands.types():
                    middle = middle - middle % 1
                new = next((plain(found) for found in span.nearest(middle)), old)
        if new is not old and new is not None and new != old:
            value = replaced(value, path, new)
    return value if ready.is_valid(value) else sketch.value
