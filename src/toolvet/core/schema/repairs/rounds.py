"""Rounds of answers until nothing is wrong: every round answers what it can, at places that do not touch."""

from collections.abc import Iterator, Sequence

import msgspec

from toolvet.core.json_value import Path, elements, is_object, path_of, pointer_steps, same
from toolvet.core.schema.repairs.confidence import Confidence, least, rank
from toolvet.core.schema.repairs.context import RepairContext, View
from toolvet.core.schema.repairs.leaf import leaf_answer
from toolvet.core.schema.repairs.members import OF_OBJECTS, members_answer
from toolvet.core.schema.repairs.operation import Operation, PathPatch, apply
from toolvet.core.schema.violation import Violation


class FoundRepair(msgspec.Struct, frozen=True, kw_only=True):
    """A value that breaks nothing, and the operations that led to it."""

    value: object
    operations: tuple[Operation, ...]
    confidence: Confidence
    cost: int


def find_repair(
    context: RepairContext, base: str, value: object, depth: int = 0, *, known: Sequence[Violation] = ()
) -> FoundRepair | None:
    """Change `value` until it satisfies the part of the schema at `base`; None where that fails.

    `depth` counts the unions that this call is nested in, `known` is what `value` breaks, where that is known already.
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
        answers = (
            _answers_for_members(view, violations, depth)
            if _are_independent(view, violations)
            else list(_disjoint(_answers_for(view, violations, depth)))
        )
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


def _are_independent(view: View, violations: Sequence[Violation]) -> bool:
    """Whether all that is wrong are single members of the value, and none of them says what another must be."""
    if view.base or not view.context.is_plain or not is_object(view.value):
        return False
    for violation in violations:  # noqa: SIM110 - a generator would cost three times as much, for each report.
        if violation.keyword in OF_OBJECTS or violation.pointer.count("/") != 1:
            return False
    return True


def _answers_for_members(view: View, violations: Sequence[Violation], depth: int) -> list[PathPatch]:
    """The answers for members that are wrong by themselves; none where one has no answer.

    Nothing that is done to the others would make an answer for that one, so no round could be the last.
    """
    places: dict[str, list[Violation]] = {}
    for violation in violations:
        places.setdefault(violation.pointer, []).append(violation)
    answers: list[PathPatch] = []
    for pointer, found in places.items():
        answer = _answer_at(view, pointer_steps(pointer), found, depth)
        if answer is None:
            return []
        answers.append(answer)
    return answers


def _answers_for(view: View, violations: Sequence[Violation], depth: int) -> Iterator[PathPatch]:
    """The answer for each place that has one; objects as a whole first, because they decide which value is where."""
    places: dict[str, list[Violation]] = {}
    for violation in violations:
        places.setdefault(violation.pointer, []).append(violation)
    later: list[tuple[Path, list[Violation]]] = []
    for pointer, found in places.items():
        path = path_of(view.value, pointer)
        of_object = [violation for violation in found if violation.keyword in OF_OBJECTS]
        if of_object and is_object(view.at(path)):
            answer = members_answer(view, path, of_object)
            if answer is not None:
                yield answer
                continue
            if len(of_object) == len(found):
                # Nothing else is wrong there: no other value stands in for an object with the wrong members.
                continue
        later.append((path, found))
    for path, found in later:
        answer = _answer_at(view, path, found, depth)
        if answer is not None:
            yield answer


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


def _disjoint(answers: Iterator[PathPatch]) -> Iterator[PathPatch]:
    """The answers whose places do not lie within one another; the first come first."""
    touched: set[Path] = set()
    above: set[Path] = set()
    for answer in answers:
        path = answer.path
        if touched and (path in above or any(path[:length] in touched for length in range(len(path) + 1))):
            continue
        touched.add(path)
        above.update(path[:length] for length in range(len(path) + 1))
        yield answer


def _union_answer(view: View, path: Path, union: Violation, depth: int) -> PathPatch | None:
    """The operations that satisfy one of the alternatives, the surest and cheapest; None where two are equal."""
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
