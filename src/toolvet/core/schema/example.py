"""`valid_example`: a value that satisfies a schema."""

import json
from collections.abc import Iterator, Mapping
from typing import cast

import jsonschema_rs

from toolvet.core.json_value import Path, at, elements, members, names, path_of
from toolvet.core.schema.compilation import Judge, Schema, compiled
from toolvet.core.schema.demands import Demands, Unmeetable
from toolvet.core.schema.document import Scope, Subschema, subschemas
from toolvet.core.schema.generator import Exhausted, Extent, Generator, ValueLocation
from toolvet.core.schema.violation import Violation
from toolvet.errors import Unsatisfiable


class NoExampleFound(Unsatisfiable):
    """No value was found, although one may exist."""


def valid_example(schema: object, *, required_only: bool = False) -> object:
    """Return a value that satisfies `schema`: always the same, realistic, and checked (formats included) beforehand.

    It has every declared property that the schema allows; with `required_only`, only those that are required. The
    schema's own `examples`, `default`, `const` and `enum` come first. Raises `Unsatisfiable` when nothing satisfies the
    schema, and its subclass `NoExampleFound` when nothing was found, or the schema is broken and judges nothing.

    Example:
        >>> valid_example({"type": "object", "properties": {"email": {"type": "string", "format": "email"}}})
        {'email': 'alice@example.com'}
    """
    return build_sketch(compiled(schema), "required" if required_only else "all").value


class Sketch:
    """A valid value, and the demands at each of its places."""

    __slots__ = ("places", "value")

    def __init__(self, value: object, places: dict[Path, Demands]) -> None:
        self.value = value
        self.places = places


def build_sketch(ready: Schema, extent: Extent) -> Sketch:
    """Return a valid value with its places. Raises as `valid_example`."""
    if ready.problem is not None:
        raise NoExampleFound(f"no example: the schema itself is broken ({ready.problem.message})")
    search = _Search(ready)
    quick = search.attempt(extent, None)
    if quick is not None and ready.is_valid(quick.value):
        return quick
    # What follows is for the few schemas whose parts work against each other: 2 of 100 on SchemaStore.
    judge = Judge(ready)
    found = [search.repair(quick, extent, None), search.repair(search.attempt(extent, judge), extent, judge)]
    valid = [sketch for sketch in found if sketch is not None]
    if valid:
        return (max if extent == "all" else min)(valid, key=lambda sketch: len(json.dumps(sketch.value)))
    for sketch in search.last_resorts(extent, judge):
        if ready.is_valid(sketch.value):
            return sketch
    form = canonical(ready)
    if ready.usable is False or (
        form is not None and form.satisfiability() == jsonschema_rs.canonical.Satisfiability.NO
    ):
        raise Unsatisfiable("no value satisfies this schema")
    raise NoExampleFound("no example was found for this schema, although it is not proven that there is none")


class _Search:
    """All attempts for one schema share their steps: a hostile schema costs well under a second in all."""

    def __init__(self, ready: Schema) -> None:
        self.ready = ready
        self.start = Subschema(ready.usable, Scope(ready.usable, ready.dialect))
        self.left = 24_000

    def attempt(
        self,
        extent: Extent,
        judge: Judge | None,
        *,
        barred: frozenset[Path] = frozenset(),
        start: Subschema | None = None,
    ) -> Sketch | None:
        """One attempt, or None if it came to nothing."""
        allowed = min(self.left, 10_000)
        generator = Generator(extent, judge, barred=barred, steps=allowed)
        try:
            value = generator.value([start or self.start], ValueLocation())
        except (Unmeetable, Exhausted, RecursionError):
            return None
        finally:
            self.left -= allowed - max(generator.steps, 0)
        return Sketch(value, generator.places)

    def repair(self, sketch: Sketch | None, extent: Extent, judge: Judge | None) -> Sketch | None:
        """Write `sketch` again without the optional members that take part in its violations, until it is valid."""
        barred: frozenset[Path] = frozenset()
        for _ in range(_REPAIRS):
            if sketch is None or self.ready.is_valid(sketch.value):
                return sketch
            more = barred | _optional_causes(self.ready.violations(sketch.value), sketch)
            if more == barred:
                return None
            barred = more
            sketch = self.attempt(extent, judge, barred=barred)
        return None

    def last_resorts(self, extent: Extent, judge: Judge) -> Iterator[Sketch]:
        """Fewer members, then the canonical form, in which contradictions are worked out, then plain guesses."""
        found = [self.attempt("required", checked) for checked in (None, judge)] if extent == "all" else []
        yield from (sketch for sketch in found if sketch is not None)
        plain = canonical(self.ready)
        if plain is not None:
            document = plain.to_json_schema()
            start = Subschema(document, Scope(document, self.ready.dialect))
            extents: tuple[Extent, ...] = ("all", "required") if extent == "all" else ("required",)
            for wanted in extents:
                for checked in (None, Judge(compiled(document))):
                    sketch = self.attempt(wanted, checked, start=start)
                    if sketch is not None:
                        yield sketch
        for value in _TRIVIAL:
            yield Sketch(value, {(): Demands()})


_REPAIRS = 8
_TRIVIAL: tuple[object, ...] = ({}, [], "", 0, 1, 1.5, True, False, None, "example", [0], {"example": 1})


def _optional_causes(violations: tuple[Violation, ...], sketch: Sketch) -> frozenset[Path]:
    """The optional members that take part in the violations: the innermost one around each."""
    found: set[Path] = set()
    for violation in violations:
        path = path_of(sketch.value, violation.pointer)
        forbidden = names(members(violation.params.get("schema")).get("required"))
        if violation.keyword == "not" and forbidden:
            # Without one of its required members, the forbidden schema no longer matches.
            found.add((*path, forbidden[-1]))
            continue
        unexpected = names(violation.params.get("unexpected"))
        name = violation.params.get("property")
        found.update((*path, member) for member in (*unexpected, *((name,) if isinstance(name, str) else ())))
        for length in range(len(path), 0, -1):
            demands = sketch.places.get(path[: length - 1])
            step = path[length - 1]
            if isinstance(step, str) and (demands is None or step not in demands.required()):
                found.add(path[:length])
                break
        else:
            # Everything above is needed: the members that the object itself does not need may be the cause.
            demands = sketch.places.get(path)
            needed = demands.required() if demands is not None else []
            found.update((*path, member) for member in members(at(sketch.value, path)) if member not in needed)
    return frozenset(found)


def unsatisfiable_parts(schema: object) -> tuple[str, ...]:
    """Return JSON Pointers of the subschemas that provably admit no value, in the order of the document.

    A literal `false` is meant so and not listed, except at the root. Total. A schema that does not compile, or that is
    larger than the budget allows, reports nothing: silence does not prove that every part can be satisfied.
    """
    ready = compiled(schema)
    if ready.problem is not None or not _is_affordable(ready.usable):
        return ()
    try:
        found = jsonschema_rs.canonical.find_unsatisfiable(
            cast("dict[str, object] | bool", ready.usable),
            draft=ready.dialect.number,
            validate_formats=True,
            offline=True,
        )
    except (ValueError, RecursionError):
        return ()
    literal = jsonschema_rs.canonical.UnsatisfiableReason.Literal
    return tuple(place for place, reason in found.items() if place == "" or not isinstance(reason, literal))


def canonical(ready: Schema) -> jsonschema_rs.CanonicalSchema | None:
    """Return the canonical form of a schema, or None if it has none or computing it might take too long."""
    if ready.problem is not None or not _is_affordable(ready.usable):
        return None
    try:
        return jsonschema_rs.canonicalize(
            cast("dict[str, object] | bool", ready.usable),
            draft=ready.dialect.number,
            validate_formats=True,
            offline=True,
        )
    except (ValueError, RecursionError):
        return None


def _is_affordable(document: object) -> bool:
    """Canonicalising cannot be interrupted, so size decides beforehand: schemas, branches, and how they multiply."""
    schemas = branches = 0
    for _, found in subschemas(document):
        schemas += 1
        branches += sum(len(elements(found.get(keyword))) for keyword in ("anyOf", "oneOf"))
        branches += "not" in found or "if" in found
        # Joined alternatives are multiplied out.
        product = _count_ways(found)
        for part in elements(found.get("allOf")):
            product *= _count_ways(members(part))
        if product > _PRODUCT:
            return False
    return schemas <= _SCHEMAS and branches <= _BRANCHES


def _count_ways(schema: Mapping[str, object]) -> int:
    ways = 2 if "if" in schema else 1
    for keyword in ("anyOf", "oneOf"):
        ways *= max(1, len(elements(schema.get(keyword))))
    return ways


_SCHEMAS = 1500
_BRANCHES = 200
_PRODUCT = 20_000
