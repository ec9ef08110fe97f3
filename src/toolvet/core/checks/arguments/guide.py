"""`Guide`: everything in a report that depends on the schema alone. One guide for each schema, kept."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Final

import msgspec

from toolvet.core.checks.arguments.wording import Wording, as_json, count_of, cut, join_values, phrase, wording
from toolvet.core.json_form import JsonForm
from toolvet.core.json_value import (
    Path,
    elements,
    is_array,
    is_object,
    members,
    names,
    pointer_steps,
    replaced,
    type_name,
    unique,
    whole,
)
from toolvet.core.schema import Schema
from toolvet.core.schema.compilation import Judge
from toolvet.core.schema.demands import Demands, Unmeetable, fixed_items
from toolvet.core.schema.document import Scope, Subschema, subschemas
from toolvet.core.schema.example import Sketch, build_sketch
from toolvet.core.schema.generator import Exhausted, Generator, ValueLocation
from toolvet.core.schema.numbers import interval, plain
from toolvet.errors import Unsatisfiable

_DEEPEST_FACT: Final = 4
_TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_MOST_FORMS: Final = 8
_MOST_NAMES: Final = 30
_BY_KEYWORD: Final = {
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "multipleOf": "number",
    "minLength": "string",
    "maxLength": "string",
    "pattern": "string",
    "format": "string",
    "minItems": "array",
    "maxItems": "array",
    "uniqueItems": "array",
    "items": "array",
    "prefixItems": "array",
    "contains": "array",
    "properties": "object",
    "required": "object",
    "minProperties": "object",
    "maxProperties": "object",
    "additionalProperties": "object",
}


class Facts:
    """The demands of all schemas at one place, with references followed and `allOf` joined.

    `impossible` is true if no value can meet them. `forms` are the alternatives of a union.
    """

    def __init__(self, parts: Sequence[Subschema], depth: int = 0) -> None:
        self.depth = depth
        demands = Demands()
        self.impossible = False
        try:
            for part in parts:
                demands.add(part)
        except (Unmeetable, RecursionError):
            self.impossible = True
        self.demands = demands
        self.schemas: Sequence[Mapping[str, object]] = demands.plain()
        self.values: Sequence[object] | None = demands.listed()
        self.types = self._types()

    def _types(self) -> tuple[str, ...]:
        """The types in the order of the schema, or else the type that its keywords imply."""
        found: list[str] | None = None
        for schema in self.schemas:
            if "type" in schema:
                own = schema["type"]
                here = [own] if isinstance(own, str) else list(names(own))
                if found is None:
                    found = here
                else:
                    # `integer` is the narrower of two.
                    found = [
                        "integer" if {name, other} == {"integer", "number"} else name
                        for name in found
                        for other in here
                        if name == other or {name, other} == {"integer", "number"}
                    ]
        if found is None and self.values is not None:
            found = [type_name(value) for value in self.values]
        if found is None and not self.demands.choices:
            found = [kind for schema in self.schemas for word, kind in _BY_KEYWORD.items() if word in schema][:1]
        return tuple(dict.fromkeys(found or ()))

    def forms(self) -> list["Facts"]:
        """The alternatives of the first union (`anyOf`, `oneOf`), each joined with the demands outside of the union."""
        for choice in self.demands.choices:
            if self.depth >= _DEEPEST_FACT or any(option.excluded for option in choice):
                continue
            return [Facts(option.parts, self.depth + 1) for option in choice]
        return []

    def member(self, name: str) -> "Facts":
        """The facts of the member `name`."""
        return Facts(self.demands.member(name), self.depth + 1)

    def item(self, index: int) -> "Facts":
        """The facts of the item at `index`."""
        return Facts(self.demands.item(index), self.depth + 1)


def type_of_keyword(keyword: str) -> str:
    """The type that a keyword applies to, such as `string` for `minLength`; empty for other keywords."""
    return _BY_KEYWORD.get(keyword, "")


def name_types(facts: Facts) -> str:
    """The types as the schema help names them: `string`, `string | null`; empty for any type."""
    if facts.types:
        return " | ".join(facts.types)
    kinds = [kind for form in facts.forms() for kind in (name_types(form) or "any").split(" | ")]
    return " | ".join(dict.fromkeys(kinds))


def describe_briefly(facts: Facts) -> str:
    """The valid values or types in a few words."""
    if facts.values is not None:
        return as_alternatives(facts.values)
    if facts.types:
        return phrase("or").join(facts.types)
    forms = dict.fromkeys(describe_briefly(form) for form in facts.forms()[:_MOST_FORMS])
    return phrase("or").join(forms) or phrase("any_value")


def as_alternatives(values: Sequence[object]) -> str:
    """Values as alternatives: `'admin' | 'user'`."""
    shown = [
        f"'{value}'" if isinstance(value, str) and value.isprintable() else as_json(value)
        for value in values[:_MOST_NAMES]
    ]
    return " | ".join([*(cut(text, 200) for text in shown), *(["…"] if len(values) > _MOST_NAMES else [])])


def describe_fix(facts: Facts, name: str) -> str:
    """The sentence about what to send at the place `name`, such as `Provide an integer >= 18.`."""
    if facts.values is not None and not facts.impossible:
        return phrase("use", what=_describe_values(facts.values)) + ("." if len(facts.values) == 1 else "")
    if len(facts.types) > 1 and not any(map(list, (describe_limits(facts, kind) for kind in facts.types))):
        return phrase("provide_type", types=phrase("or").join(facts.types), name=name)
    return phrase("provide", what=describe(facts))


def describe(facts: Facts) -> str:
    """Return the valid values at the place as a noun phrase: `an integer >= 18 and <= 120`."""
    if facts.values is not None:
        return _describe_values(facts.values)
    forms = facts.forms()
    if forms and not _describes_itself(facts):
        phrases = list(dict.fromkeys(map(describe, forms[:_MOST_FORMS])))
        more = len(forms) - _MOST_FORMS
        return phrase("or").join([*phrases, *([phrase("other_forms", count=more)] if more > 0 else [])])
    if not facts.types:
        return phrase("any_value")
    return phrase("or").join(_describe_type(facts, kind) for kind in facts.types)


def _describes_itself(facts: Facts) -> bool:
    """Whether the place has types of its own, which the alternatives of its union only restrict."""
    return bool(facts.types) and all(not form.types or form.types == facts.types for form in facts.forms())


def _describe_values(values: Sequence[object]) -> str:
    if len(values) == 1:
        return phrase("one_value", value=as_json(values[0]))
    return phrase("values", values=join_values(values)) if values else phrase("no_value")


def _describe_type(facts: Facts, kind: str) -> str:
    base = phrase(kind) if kind in _TYPES else kind
    if kind == "boolean":
        return base
    if kind == "array":
        base += _describe_items(facts)
    limit_phrases = list(_name_limits(facts, kind))
    said = [words for _, words in limit_phrases]
    if kind == "object":
        fields = facts.demands.required() or facts.demands.declared()
        return phrase("with_fields", object=base, fields=join_names(fields)) if fields else base
    if kind in ("integer", "number"):
        return f"{base} {phrase('and').join(said)}".strip()
    # The format and a lone pattern read best without "with".
    formats = [words for keyword, words in limit_phrases if keyword == "format"]
    others = [words for keyword, words in limit_phrases if keyword != "format"]
    base = " ".join([base, phrase("and").join(formats)]).strip()
    if not others:
        return base
    joined = phrase("and").join(others)
    begins_with_pattern = next(keyword for keyword, _ in limit_phrases if keyword != "format") == "pattern"
    return f"{base} {joined}" if begins_with_pattern else phrase("with_limits", type=base, limits=joined)


def _describe_items(facts: Facts) -> str:
    front = max((fixed_items(schema) for schema in facts.schemas), key=len, default=())
    if facts.depth >= _DEEPEST_FACT:
        return ""
    if front:
        places = [describe(facts.item(index)) for index in range(min(len(front), 10))]
        return phrase("of_items", items=", ".join(places))
    item = facts.item(0)
    kinds = phrase("or").join(item.types)
    if item.values is not None:
        return phrase("each_item", items=kinds, values=_describe_values(item.values))
    return phrase("of_items", items=kinds) if kinds else ""


def describe_limits(facts: Facts, kind: str) -> Iterator[str]:
    """The limits of a value of type `kind` as phrases of a sentence, lower bounds first."""
    return (words for _, words in _name_limits(facts, kind))


def _name_limits(facts: Facts, kind: str) -> Iterator[tuple[str, str]]:
    """The same, each with its keyword."""
    rows = wording().keyword
    for keyword, limit in find_limits(facts, kind):
        template = rows[keyword].phrase
        if template:
            yield keyword, _fill(template, limit)


def list_constraints(facts: Facts) -> list[str]:
    """The limits of the place as the schema help lists them: `Minimum: 18`."""
    rows = wording().keyword
    found: list[str] = []
    for kind in facts.types or ("object",):
        found.extend(_fill(rows[keyword].constraint, limit) for keyword, limit in find_limits(facts, kind))
    if facts.values is not None:
        found = [describe_value_constraint(facts.values)]
    elif facts.forms() and not _describes_itself(facts) and len(set(map(describe, facts.forms()))) > 1:
        found.append(rows["anyOf"].constraint.format(noun=describe(facts)))
    return list(dict.fromkeys(found))


def describe_value_constraint(values: Sequence[object]) -> str:
    """The valid values as the schema help lists them: `Must be one of: "a", "b"`."""
    return _fill(wording().keyword["const" if len(values) == 1 else "enum"].constraint, list(values))


def find_limits(facts: Facts, kind: str) -> Iterator[tuple[str, object]]:
    """The keywords that limit a value of type `kind`, each with its strictest limit."""
    match kind:
        case "string":
            yield from _extremes(facts, "minLength", "maxLength")
            for keyword in ("pattern", "format"):
                found = (schema[keyword] for schema in facts.schemas if isinstance(schema.get(keyword), str))
                yield from ((keyword, value) for value in dict.fromkeys(map(str, found)))
        case "integer" | "number":
            span = interval(facts.schemas)
            if span.low is not None:
                yield "exclusiveMinimum" if span.low_open else "minimum", plain(span.low)
            if span.high is not None:
                yield "exclusiveMaximum" if span.high_open else "maximum", plain(span.high)
            if span.step is not None:
                yield "multipleOf", plain(span.step)
        case "array":
            yield from _extremes(facts, "minItems", "maxItems")
            if any(schema.get("uniqueItems") is True for schema in facts.schemas):
                yield "uniqueItems", True
        case "object":
            yield from _extremes(facts, "minProperties", "maxProperties")
        case _:
            return


def _extremes(facts: Facts, least: str, most: str) -> Iterator[tuple[str, object]]:
    for keyword, strictest in ((least, max), (most, min)):
        found = [limit for schema in facts.schemas if isinstance(limit := schema.get(keyword), int | float)]
        if found:
            yield keyword, strictest(found)


def _fill(template: str, limit: object) -> str:
    return template.format(
        limit=as_json(limit),
        characters=count_of(limit, "character"),
        items=count_of(limit, "item"),
        fields=count_of(limit, "field"),
        pattern=limit,
        format=limit,
        values=join_values(elements(limit)) if not isinstance(limit, str) else "",
        value=as_json(elements(limit)[0]) if elements(limit) else "",
    )


def join_names(fields: Sequence[str]) -> str:
    """Names separated by commas: the first 30, and how many more there are."""
    shown = ", ".join(islice(fields, _MOST_NAMES))
    more = len(fields) - _MOST_NAMES
    return shown if more <= 0 else f"{shown}, {phrase('more_values', count=more)}"


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


# For each field that distinguishes the forms of a union: its values in each form, None if it may be any.
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
        if pointer in self._parts:
            return self._parts[pointer]
        steps = pointer_steps(pointer)
        found = _part_at(self.root, steps)
        if found is None:
            # The validator's pointers may start at a schema resource: a part of the document with its own `$id`.
            if self._resources is None:
                inner = ((self.root.scope.inside(schema), schema) for _, schema in subschemas(self.ready.usable))
                self._resources = [Subschema(schema, scope) for scope, schema in inner if scope is not self.root.scope]
            found = next((part for each in self._resources if (part := _part_at(each, steps)) is not None), None)
        self._parts[pointer] = found
        return found

    def facts(self, pointer: str) -> Facts:
        """The facts of the schema at `pointer`."""
        known = self._facts.get(pointer)
        if known is None:
            part = self.part(pointer)
            known = self._facts[pointer] = Facts([part] if part is not None else [])
        return known

    def facts_at(self, place: str) -> Facts | None:
        """The facts of the value at `place`, a JSON Pointer into a call; None if a union leaves them open."""
        here = self.facts("")
        for step in pointer_steps(place):
            if here.demands.choices:
                return None
            index = whole(step) if here.types == ("array",) else None
            here = here.member(step) if index is None else here.item(index)
        return here

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
            candidates.append(Generator("required", steps=400).value(parts, ValueLocation(name=name)))
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
            entered = frozenset(member.demands.entered)
            if entered & trail:
                continue
            self.add_members(member, f"{own}.", (*path, name), depth=depth + 1, trail=trail | entered)
            if "array" in member.types:
                item = member.item(0)
                within = frozenset(item.demands.entered)
                if not within & trail:
                    inner = trail | entered | within
                    self.add_members(item, f"{own}.*.", (*path, name, 0), depth=depth + 1, trail=inner)
        forms = [form for form in facts.forms() if trail.isdisjoint(form.demands.entered)]
        for form in forms:
            self.add_members(form, prefix, path, depth=depth + 1, trail=trail | set(form.demands.entered))
        # A field with fixed values in several forms, such as `kind`, may have any of these values.
        listed: dict[str, list[Sequence[object]]] = {}
        for form in forms:
            for name in form.demands.declared():
                values = form.member(name).values if f"{prefix}{name}" in self.properties else None
                if values is not None:
                    listed.setdefault(name, []).append(values)
        for name, found in listed.items():
            if len(found) > 1:
                own = f"{prefix}{name}"
                constraint = describe_value_constraint(unique(value for each in found for value in each))
                self.properties[own] = msgspec.structs.replace(self.properties[own], constraints=(constraint,))

    def _help(self, facts: Facts, parts: list[Subschema], path: Path) -> PropertyHelp:
        return PropertyHelp(
            name_types(facts) or "any",
            cut(" ".join(facts.demands.description().split()), _LONGEST_DESCRIPTION),
            tuple(list_constraints(facts)),
            self.guide.sample(facts, parts, path),
        )


def _part_at(start: Subschema, steps: Sequence[str]) -> Subschema | None:
    here, scope = start.schema, start.scope
    for step in steps:
        if is_array(here):
            index = whole(step)
            if index is None or index >= len(here):
                return None
            here = here[index]
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
            index = step if isinstance(step, int) else whole(step)
            if not value or index is None:
                return ()
            value = value[min(index, len(value) - 1)]
        elif isinstance(step, str) and step in members(value):
            value = members(value)[step]
        else:
            return ()
    return (value,)


def _neutralize(sketch: Sketch, ready: Schema) -> object:
    """The example with neutral names, and with numbers from the middle of their range, if that is valid, too."""
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
