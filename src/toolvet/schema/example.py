"""A value that satisfies a schema."""

from collections.abc import Iterator

import jsonschema_rs

from toolvet.errors import Unsatisfiable
from toolvet.schema.compiled import Schema, compiled
from toolvet.schema.generator import Generator
from toolvet.schema.json_value import Path, at, is_array, members, names
from toolvet.schema.judge import Judge
from toolvet.schema.place import Dead, Demands
from toolvet.schema.reference import Part, Scope
from toolvet.schema.search import Exhausted, Extent, Spot
from toolvet.schema.unsatisfiable import canonical
from toolvet.schema.violation import Violation


class NoExampleFound(Unsatisfiable):
    """No value was found, although it is not proven that there is none."""


def valid_example(schema: object, *, required_only: bool = False) -> object:
    """A value that satisfies `schema`: always the same, realistic, and checked (formats included) beforehand.

    It holds every declared property that the schema allows; with `required_only`, what is needed and no more. The
    schema's own `examples`, `default`, `const` and `enum` come first. Raises `Unsatisfiable` when nothing satisfies the
    schema, and its subclass `NoExampleFound` when nothing was found, or the schema is broken and judges nothing.
    """
    return sketched(compiled(schema), "required" if required_only else "all").value


class Sketch:
    """A valid value, and what was demanded at each of its places."""

    __slots__ = ("places", "value")

    def __init__(self, value: object, places: dict[Path, Demands]) -> None:
        self.value = value
        self.places = places


def sketched(ready: Schema, extent: Extent) -> Sketch:
    """A valid value with its places. Raises like `valid_example`."""
    if ready.problem is not None:
        raise NoExampleFound(f"no example: the schema itself is broken ({ready.problem.message})")
    for sketch in _attempts(ready, extent):
        if ready.is_valid(sketch.value):
            return sketch
    if _proven_empty(ready):
        raise Unsatisfiable("no value satisfies this schema")
    raise NoExampleFound("no example was found for this schema, although it is not proven that there is none")


def _attempts(ready: Schema, extent: Extent) -> Iterator[Sketch]:
    """One value after the other, from the quickest to the most laborious way to write one."""
    start = Part(ready.usable, Scope(ready.usable, ready.dialect))
    budget = _Budget()
    quick = budget.written(start, extent, None)
    if quick is not None:
        yield quick
    # The quick way is never wrong about much: what follows is for the few schemas whose parts work against each other.
    judge = Judge(ready)
    last = budget.written(start, extent, judge)
    if last is not None:
        yield last
    last = last or quick
    barred: frozenset[Path] = frozenset()
    for _ in range(_REPAIRS):
        if last is None:
            break
        more = barred | _optional_causes(ready.violations(last.value), last)
        if more == barred:
            break
        barred = more
        last = budget.written(start, extent, judge, barred)
        if last is not None:
            yield last
    if extent == "all":
        for checked in (None, judge):
            needed = budget.written(start, "required", checked)
            if needed is not None:
                yield needed
    yield from _from_canonical(ready, extent, budget)
    for value in _TRIVIAL:
        yield Sketch(value, {(): Demands()})


_REPAIRS = 8
_TRIVIAL: tuple[object, ...] = ({}, [], "", 0, 1, 1.5, True, False, None, "example", [0], {"example": 1})


class _Budget:
    """The steps that all attempts for one schema share: a hostile schema costs well under a second in all."""

    def __init__(self) -> None:
        self.left = 16_000

    def written(
        self, start: Part, extent: Extent, judge: Judge | None, barred: frozenset[Path] = frozenset()
    ) -> Sketch | None:
        """One attempt, or None if it came to nothing."""
        allowed = min(self.left, 4_000)
        generator = Generator(extent, judge, barred=barred, steps=allowed)
        try:
            value = generator.value([start], Spot())
        except (Dead, Exhausted, RecursionError):
            return None
        finally:
            self.left -= allowed - max(generator.steps, 0)
        return Sketch(value, generator.places)


def _optional_causes(violations: tuple[Violation, ...], sketch: Sketch) -> frozenset[Path]:
    """The optional members that take part in the violations: the innermost one around each."""
    found: set[Path] = set()
    for violation in violations:
        path = _path(sketch.value, violation.pointer)
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
            # Everything on the way is needed: what the object itself holds beyond its needs may be the cause.
            demands = sketch.places.get(path)
            needed = demands.required() if demands is not None else []
            found.update((*path, member) for member in members(at(sketch.value, path)) if member not in needed)
    return frozenset(found)


def _path(value: object, pointer: str) -> Path:
    """The path of a JSON Pointer into `value`: digits are an index only where an array stands."""
    path: list[str | int] = []
    for raw in pointer.split("/")[1:]:
        part = raw.replace("~1", "/").replace("~0", "~")
        step = int(part) if is_array(value) else part
        path.append(step)
        value = at(value, (step,))
    return tuple(path)


def _from_canonical(ready: Schema, extent: Extent, budget: "_Budget") -> Iterator[Sketch]:
    """The same search over the canonical form, in which contradictions and negations are worked out."""
    found = canonical(ready)
    if found is None:
        return
    document = found.to_json_schema()
    start = Part(document, Scope(document, ready.dialect))
    judge = Judge(compiled(document))
    extents: tuple[Extent, ...] = ("all", "required") if extent == "all" else ("required",)
    for wanted in extents:
        for checked in (None, judge):
            sketch = budget.written(start, wanted, checked)
            if sketch is not None:
                yield sketch


def _proven_empty(ready: Schema) -> bool:
    if ready.usable is False:
        return True
    found = canonical(ready)
    return found is not None and found.satisfiability() == jsonschema_rs.canonical.Satisfiability.NO
