"""`repair`: the nearest value that validates, with every step described. It is offered, never applied in silence.

How likely a repair restores the intended value: measured, by the kind of its steps and by its confidence.

`certainty.toml` has the shares (`benchmarks/calibration` measures them again). Of several steps the least certain one
counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import cast

import msgspec
import orjson

from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import (
    Path,
    elements,
    is_endless,
    is_json,
    is_object,
    members,
    path_of,
    pointer,
    pointer_steps,
    same,
    type_name,
)
from toolvet.core.redact import is_secret_key, redact_text
from toolvet.core.schema.compilation import Schema, compiled
from toolvet.core.schema.repairs.context import (
    BudgetSpent,
    Confidence,
    Operation,
    PathPatch,
    RepairContext,
    View,
    apply,
    least,
    rank,
)
from toolvet.core.schema.repairs.leaf import leaf_answer
from toolvet.core.schema.repairs.members import OF_OBJECTS, members_answer
from toolvet.core.schema.violation import Violation


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """A value that validates, and how it comes from one that does not.

    `patch` holds JSON Patch operations (RFC 6902) that turn the original into `arguments`; `steps` describes each of
    them in a sentence, without secrets and long values. `confidence` says how sure it is that this was meant: `high`
    where only the notation was wrong, `medium` where a likely reading was chosen, `low` where something is lost or
    guessed. `certainty` (0 to 1) is how often such repairs restored the intended value, measured (`certainty`).
    """

    arguments: object
    patch: tuple[Mapping[str, object], ...]
    confidence: Confidence
    steps: tuple[str, ...]
    certainty: float


def repair(schema: object, value: object) -> Repair | None:
    """Return the nearest value that satisfies `schema`; None if `value` does, or if there is no honest repair.

    Bounds are not clamped, and a required value is not invented, unless the schema names the only one or a default.
    Where two repairs are equally near, none is returned; nor for a value that JSON cannot hold, such as NaN. Raises
    nothing, changes neither argument, and returns the same for the same arguments.

    Example:
        >>> schema = {"type": "object", "properties": {"limit": {"type": "integer"}}, "additionalProperties": False}
        >>> found = repair(schema, {"Limit": "10"})
        >>> found.arguments, found.confidence
        ({'limit': 10}, 'high')
        >>> found.steps[0]
        "Renamed '/Limit' to '/limit'."
    """
    return repair_by(compiled(schema), value)


def repair_by(ready: Schema, value: object, violations: Sequence[Violation] = ()) -> Repair | None:
    """The same for a schema that is compiled already; `violations` is what `value` breaks, if that is known."""
    if ready.problem is not None or is_endless(value) or not is_json(value):
        return None
    nested = nest_dotted(ready, value)
    if nested is not value:
        return _repair_nested(ready, nested)
    try:
        found = find_repair(RepairContext(ready), "", _copy(value), known=violations)
    except (BudgetSpent, RecursionError):
        return None
    except LookupError:
        # The value was changed since its violations were found: they are about places that it no longer has.
        return repair_by(ready, value) if violations else None
    if found is None or not found.operations:
        return None
    arguments = _copy(found.value)
    return Repair(
        arguments=arguments,
        patch=tuple(operation.as_patch() for operation in found.operations),
        confidence=found.confidence,
        steps=tuple(describe(operation) for operation in found.operations),
        certainty=certainty_of(kinds_of(found.operations), found.confidence),
    )


def nest_dotted(ready: Schema, value: object) -> object:
    """Return an object whose names with dots are paths into objects that the schema declares; else `value` itself.

    >>> from toolvet.core.schema import compiled
    >>> ready = compiled({"properties": {"filter": {"properties": {"name": {}}}}})
    >>> nest_dotted(ready, {"filter.name": "x"})
    {'filter': {'name': 'x'}}
    """
    if not is_object(value) or not any("." in name for name in value):
        return value
    declared = members(members(ready.document).get("properties"))
    found: dict[str, object] = {}
    is_nested = False
    for name, each in value.items():
        first, _, rest = name.partition(".")
        if not rest or name in declared or not _may_hold(declared.get(first), rest.partition(".")[0]):
            if name in found:
                return value
            found[name] = each
            continue
        place: dict[str, object] = found
        is_nested = True
        path = name.split(".")
        for part in path[:-1]:
            below = place.setdefault(part, {})
            if not isinstance(below, dict):
                return value
            place = cast("dict[str, object]", below)
        if path[-1] in place:
            return value
        place[path[-1]] = each
    return found if is_nested else value


def _may_hold(schema: object, name: str) -> bool:
    """Whether a schema declares an object with this member, or one of any members."""
    held = members(schema)
    if name in members(held.get("properties")):
        return True
    branches = (*elements(held.get("anyOf")), *elements(held.get("oneOf")))
    return (
        "$ref" in held
        or (held.get("type") == "object" and "properties" not in held)
        or any(name in members(members(each).get("properties")) for each in branches)
    )


def _repair_nested(ready: Schema, nested: object) -> Repair | None:
    found = None if ready.is_valid(nested) else repair_by(ready, nested)
    if found is None and not ready.is_valid(nested):
        return None
    value = nested if found is None else found.arguments
    confidence = least(("high", "high" if found is None else found.confidence))
    return Repair(
        arguments=_copy(value),
        patch=({"op": "replace", "path": "", "value": value},),
        confidence=confidence,
        steps=("Read names with dots as paths.", *(() if found is None else found.steps)),
        certainty=min(certainty_of({StepKind.MOVED}, confidence), 1.0 if found is None else found.certainty),
    )


def _copy(value: object) -> object:
    """A copy that shares nothing with the original, so that a change of one does not reach the other.

    A tuple is an array, as it is for the validator and in JSON.
    """
    if is_object(value):
        return {name: item if type(item) in _PLAIN else _copy(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(item) for item in cast("Sequence[object]", value)]
    return value


_PLAIN = frozenset((str, int, float, bool, type(None)))


class FoundRepair(msgspec.Struct, frozen=True, kw_only=True):
    """A value that breaks nothing, and the operations that led to it."""

    value: object
    operations: tuple[Operation, ...]
    confidence: Confidence
    cost: int


def find_repair(
    context: RepairContext, base: str, value: object, depth: int = 0, *, known: Sequence[Violation] = ()
) -> FoundRepair | None:
    """Change `value` until it satisfies the part of the schema at `base`; None if that fails.

    `depth` counts the unions that this call is nested in, `known` is what `value` breaks, if that is known already.
    Raises `BudgetSpent`.
    """
    operations: list[Operation] = []
    sure: list[Confidence] = []
    cost = 0
    for number in range(_ROUNDS):
        if known and not number:
            context.spend(value)
            violations = known
        else:
            violations = context.errors(base, value)
        if not violations:
            return FoundRepair(value=value, operations=tuple(operations), confidence=least(sure), cost=cost)
        if len(violations) > _MOST_VIOLATIONS:
            return None
        view = View(context, base, value)
        places: dict[str, list[Violation]] = {}
        for violation in violations:
            places.setdefault(violation.pointer, []).append(violation)
        # Whether only single members of the value are wrong, and none of them decides what another must be.
        are_independent = (not base and context.is_plain and is_object(value)) and not [
            each for each in violations if each.keyword in OF_OBJECTS or each.pointer.count("/") != 1
        ]
        answers: list[PathPatch] = []
        if are_independent:
            for where, found in places.items():
                answer = _answer_at(view, pointer_steps(where), found, depth)
                if answer is None:
                    # Nothing that is done to the others would make an answer for it: no round could be the last.
                    return None
                answers.append(answer)
        else:
            answers = _answers_for(view, places, depth)
        if not answers:
            return None
        for answer in answers:
            for operation in answer.operations:
                value = apply(value, operation)
            operations.extend(answer.operations)
            sure.append(answer.confidence)
            cost += answer.cost + 1
    return None


_ROUNDS = 12
_MOST_VIOLATIONS = 2_000
_DEEPEST = 6
_UNIONS = ("anyOf", "oneOf")


def _answers_for(view: View, places: Mapping[str, list[Violation]], depth: int) -> list[PathPatch]:
    """The answer for each place that has one; objects as a whole first, because they decide which value is where.

    Of answers whose places lie within one another the first is kept.
    """
    answers: list[PathPatch] = []
    later: list[tuple[Path, list[Violation]]] = []
    for where, found in places.items():
        path = path_of(view.value, where)
        of_object = [violation for violation in found if violation.keyword in OF_OBJECTS]
        if of_object and is_object(view.at(path)):
            answer = members_answer(view, path, of_object)
            if answer is not None:
                answers.append(answer)
                continue
            if len(of_object) == len(found):
                # Nothing else is wrong there: another value cannot replace an object with the wrong members.
                continue
        later.append((path, found))
    for path, found in later:
        answer = _answer_at(view, path, found, depth)
        if answer is not None:
            answers.append(answer)
    kept: list[PathPatch] = []
    touched: set[Path] = set()
    above: set[Path] = set()
    for answer in answers:
        path = answer.path
        if touched and (path in above or any(path[:length] in touched for length in range(len(path) + 1))):
            continue
        touched.add(path)
        above.update(path[:length] for length in range(len(path) + 1))
        kept.append(answer)
    return kept


def _answer_at(view: View, path: Path, violations: Sequence[Violation], depth: int) -> PathPatch | None:
    """The answer for a value that is wrong in itself; one that is empty is left out before a form is found for it."""
    for violation in violations:
        if violation.keyword in _UNIONS:
            break
    else:
        return leaf_answer(view, path, violations)
    if view.at(path) in ("", None, []):
        return leaf_answer(view, path, violations) or _union_answer(view, path, violation, depth)
    return _union_answer(view, path, violation, depth) or leaf_answer(view, path, violations)


def _union_answer(view: View, path: Path, union: Violation, depth: int) -> PathPatch | None:
    """The operations that satisfy one of the alternatives, the surest and cheapest; None if two are equal."""
    if depth >= _DEEPEST or elements(union.params.get("matched")):
        return None
    value = view.at(path)
    pointer = view.context.absolute(view.base, union.schema_pointer)
    whole = view.context.part(pointer.rpartition("/")[0])
    found: list[FoundRepair] = []
    for index in range(len(union.branches)):
        other = find_repair(view.context, f"{pointer}/{index}", value, depth + 1)
        if other is not None and (whole is None or view.context.accepts([whole], other.value)):
            found.append(other)
    if not found:
        return None
    found.sort(key=_price)
    first = found[0]
    rivals = [other for other in found[1:] if _price(other) == _price(first) and not same(other.value, first.value)]
    if rivals:
        return None
    doubted = any(other.confidence != "low" and not same(other.value, first.value) for other in found[1:])
    return PathPatch(
        path=path,
        operations=tuple(operation.below(path) for operation in first.operations),
        confidence="medium" if doubted and first.confidence == "high" else first.confidence,
        cost=first.cost,
    )


def _price(other: FoundRepair) -> tuple[int, int]:
    return rank(other.confidence), other.cost


class StepKind(StrEnum):
    """The kind of change that a step of a repair makes."""

    READ = "read"
    """Reads a text that is not quite JSON."""
    RENAMED = "renamed"
    """Gives a member another name."""
    MOVED = "moved"
    """Moves a member to another object, or takes the arguments out of a wrapping."""
    RETYPED = "retyped"
    """Reads a value as another type."""
    RESPELT = "respelt"
    """Writes a value in another way, within its type."""
    REMOVED = "removed"
    """Leaves a member out."""
    ADDED = "added"
    """Adds a member whose value the schema knows."""


def kinds_of(operations: Iterable[Operation]) -> frozenset[StepKind]:
    """The kinds of these steps; an object that is made or emptied by a move belongs to the move."""
    kinds = frozenset(map(_kind_of, operations))
    return kinds - {StepKind.ADDED, StepKind.REMOVED} if StepKind.MOVED in kinds else kinds


def certainty_of(kinds: Iterable[StepKind], confidence: Confidence) -> float:
    """Return how likely (0 to 1) a repair with such steps and confidence restores the intended value.

    Example:
        >>> certainty_of({StepKind.RENAMED}, "high") > certainty_of({StepKind.RENAMED, StepKind.REMOVED}, "medium")
        True
    """
    table = _certainties()
    return min((table[kind][confidence] for kind in kinds), default=1.0)


def _kind_of(operation: Operation) -> StepKind:
    if operation.op == "move":
        is_renamed = operation.path and operation.origin[:-1] == operation.path[:-1]
        return StepKind.RENAMED if is_renamed else StepKind.MOVED
    if operation.op == "replace":
        return StepKind.RESPELT if type_name(operation.old) == type_name(operation.value) else StepKind.RETYPED
    return StepKind.REMOVED if operation.op == "remove" else StepKind.ADDED


@cache
def _certainties() -> Mapping[StepKind, Mapping[Confidence, float]]:
    return read_toml("toolvet.core.schema.repairs", "certainty.toml", dict[StepKind, dict[Confidence, float]])


def describe(operation: Operation) -> str:
    """Return the operation as a sentence, such as `Changed '/limit' from the text "10" to the number 10.`."""
    here = name_place(operation.path)
    match operation.op:
        case "replace":
            old, new = describe_value(operation.old, operation.path), describe_value(operation.value, operation.path)
            if old == new:
                return f"Changed {here} to another {_name_kind(operation.value)}."
            return f"Changed {here} from {old} to {new}."
        case "remove":
            return f"Removed {here}: {operation.why}."
        case "add":
            return f"Added {here} with {describe_value(operation.value, operation.path)}, {operation.why}."
        case "move":
            origin = name_place(operation.origin)
            if not operation.path:
                return f"Took the arguments out of {origin}."
            if operation.origin[:-1] == operation.path[:-1]:
                return f"Renamed {origin} to {here}."
            return f"Moved {origin} to {here}."


_LONGEST_VALUE = 60
_LONGEST_PLACE = 120


def name_place(path: Path) -> str:
    """Return `'/limit'`, or `the arguments` for the empty path; an overlong name is cut."""
    if not path:
        return "the arguments"
    written = pointer(path)
    if len(written) > _LONGEST_PLACE:
        written = f"{written[:_LONGEST_PLACE]}…"
    if not written.isprintable():
        # A name comes from the caller: control characters and lone surrogates do not reach the reader.
        written = "".join(character if character.isprintable() else "�" for character in written)
    return f"'{written}'"


def describe_value(value: object, path: Path) -> str:
    """Return the value with its kind, `the text "10"`; a secret or long value or a container only by its kind."""
    word = _name_kind(value)
    if value is None or isinstance(value, bool):
        return word
    if isinstance(value, dict | list) or any(isinstance(step, str) and is_secret_key(step) for step in path):
        return f"an {word}" if word[0] in "aeiou" else f"a {word}"
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        # The text has member names of its own, which may mark secrets.
        return "a JSON text"
    try:
        written = orjson.dumps(value).decode()
    except (TypeError, ValueError):
        written = str(value) if isinstance(value, int) and value.bit_length() < 200 else ""
    if not written or len(written) > _LONGEST_VALUE or redact_text(written) != written:
        return f"a {word}"
    return f"the {word} {written}"


def _name_kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "text"
        case dict():
            return "object"
        case list():
            return "list"
        case _:
            return "number"
