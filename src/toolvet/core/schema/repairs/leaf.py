"""Answers for one value that is wrong in itself: the value that was meant in its place."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from toolvet.core.json_value import Path, elements, is_array, is_object, same, type_name, unique
from toolvet.core.schema.reference import Subschema
from toolvet.core.schema.repairs.confidence import Confidence, Guess, rank
from toolvet.core.schema.repairs.context import RepairPlace, View, wanted_types
from toolvet.core.schema.repairs.conversion import convert
from toolvet.core.schema.repairs.nearest import nearest
from toolvet.core.schema.repairs.operation import Operation, PathPatch
from toolvet.core.schema.repairs.variant import variants
from toolvet.core.schema.repairs.words import meant
from toolvet.core.schema.violation import Violation


def leaf_answer(view: View, path: Path, violations: Sequence[Violation]) -> PathPatch | None:
    """Return what answers the violations of the value at `path` itself, or None: bounds are never clamped."""
    value = view.at(path)
    place = view.place(path)
    parts = _parts_at(view, place, violations)
    says_null: Confidence | None = None
    if (value is None or value == [] or isinstance(value, str)) and view.is_optional(path):
        if value is None:
            return _remove(path, "it is null, and may be left out", "high")
        if value in ("", []):
            return _remove(path, "it is empty, and may be left out", "medium")
        says_null = meant(value, "null") if isinstance(value, str) else None
        if says_null == "high" and not _is_of_type(view, parts, value):
            return _remove(path, "it says null, and may be left out", "medium")
    schemas = place.schemas if parts is place.parts else [part.schema for part in parts if is_object(part.schema)]
    name = path[-1] if path else ""
    if not isinstance(name, str):
        name = next((step for step in reversed(path) if isinstance(step, str)), "")
    guess = _choose_guess(view, parts, _guesses(value, name, violations, schemas))
    if guess is not None:
        return PathPatch(
            path=path,
            operations=(Operation(op="replace", path=path, value=guess.value, old=value),),
            confidence=guess.confidence,
            cost=guess.cost,
        )
    if says_null:
        return _remove(path, "it says null, and may be left out", "medium")
    return None


def _remove(path: Path, why: str, confidence: Confidence) -> PathPatch:
    return PathPatch(path=path, operations=(Operation(op="remove", path=path, why=why),), confidence=confidence, cost=1)


def _parts_at(view: View, place: RepairPlace, violations: Sequence[Violation]) -> list[Subschema]:
    """All schemas at the place, and those that were broken: they may belong to an option that was not chosen."""
    parts = place.parts
    for violation in violations:
        part = view.context.holder(view.base, violation.schema_pointer)
        if part is None:
            continue
        for other in parts:
            if part.schema is other.schema:
                break
        else:
            parts = [*parts, part]
    return parts


def _guesses(
    value: object, name: str, violations: Sequence[Violation], schemas: Sequence[Mapping[str, object]]
) -> Iterator[Guess]:
    keywords = {violation.keyword: violation for violation in violations}
    options = _allowed_values(violations)
    if options:
        yield from match_options(value, options)
    broken = keywords.get("type")
    if broken is not None:
        for kind in wanted_types(broken):
            yield from convert(value, kind, name, schemas)
            if kind == "string" and not isinstance(value, str):
                yield from variants(value, schemas)
        return
    if isinstance(value, float) and value.is_integer():
        yield Guess(int(value), "high")
    if isinstance(value, str) and not keywords.keys().isdisjoint(_TEXTUAL):
        yield from variants(value, schemas)
    if "uniqueItems" in keywords and len(elements(value)) <= _MOST_COMPARED:
        yield Guess(unique(elements(value)), "medium")


_MOST_COMPARED = 300
_TEXTUAL = frozenset({"format", "pattern", "maxLength"})


def _allowed_values(violations: Sequence[Violation]) -> Sequence[object] | None:
    for violation in violations:
        if violation.keyword == "enum":
            return elements(violation.params.get("options"))
        if violation.keyword == "const":
            return [violation.params.get("expected_value")]
    return None


def match_options(value: object, options: Sequence[object]) -> Iterator[Guess]:
    """Guesses which of the allowed values `value` means."""
    if is_array(value) and len(value) == 1:
        for option in options:
            if same(option, value[0]):
                yield Guess(option, "high")
        value = value[0]
    texts = [option for option in options if isinstance(option, str)]
    if isinstance(value, str):
        found = nearest(value, texts)
        if found is not None:
            yield Guess(found.option, found.confidence)
    for option in options:
        if isinstance(option, str) == isinstance(value, str) or is_object(option) or is_array(option):
            continue
        # The same value as another type: `5` and `"5"`, `true` and `"True"`.
        for guess in convert(value, type_name(option), "", ()):
            if same(guess.value, option):
                yield Guess(option, guess.confidence, 1)
        if isinstance(option, str) and isinstance(value, bool | int | float) and not is_array(value):
            for guess in convert(option, type_name(value), "", ()):
                if same(guess.value, value):
                    yield Guess(option, guess.confidence, 1)


def _choose_guess(view: View, parts: list[Subschema], guesses: Iterator[Guess]) -> Guess | None:
    """The surest guess that fits; two that are equally sure refute each other."""
    fitting: list[Guess] = []
    opening: list[Guess] = []
    for guess in guesses:
        if view.context.accepts(parts, guess.value):
            fitting.append(guess)
        elif (is_object(guess.value) or is_array(guess.value)) and _is_of_type(view, parts, guess.value):
            opening.append(guess)
    if not fitting and opening:
        fitting = opening
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    ordered = sorted(fitting, key=lambda guess: (rank(guess.confidence), guess.cost))
    first = ordered[0]
    others = [guess for guess in ordered if not same(guess.value, first.value)]
    if any((guess.confidence, guess.cost) == (first.confidence, first.cost) for guess in others):
        return None
    if first.confidence == "high" and any(guess.confidence != "low" for guess in others):
        # Another reading fits as well: this one is only the likelier of the two.
        return msgspec.structs.replace(first, confidence="medium")
    return first


def _is_of_type(view: View, parts: list[Subschema], value: object) -> bool:
    """Whether `value` is of a type that the parts allow; what is wrong inside a container is answered next."""
    return type_name(value) in view.of(parts, value).types()
