"""Which form of a union was meant: by its discriminator first, then by the fewest and deepest errors."""

from collections.abc import Mapping, Sequence

import msgspec

from toolvet.checks.arguments.facts import Facts
from toolvet.checks.arguments.guide import Discriminators, Guide
from toolvet.checks.arguments.placeholders import required_of
from toolvet.schema.json_value import elements, is_object, members, same, unique
from toolvet.schema.violation import Violation

_LISTING = frozenset({"enum", "const"})


class Meant(msgspec.Struct, frozen=True):
    """How to tell a union.

    Either `violations` of the form that was meant (`whole` says that they are about the value itself, so that the other
    forms have to be told too), or one issue: the `row` of the wording, about the union or its field `member`, with the
    legal `values`.
    """

    violations: tuple[Violation, ...] = ()
    whole: bool = False
    row: str = ""
    member: str = ""
    values: tuple[object, ...] = ()


def meant(guide: Guide, union: Violation) -> Meant:
    """Read a violated `anyOf` or `oneOf`."""
    matched = [index for index in elements(union.params.get("matched")) if isinstance(index, int)]
    if matched:
        wanted = [required_of(guide, f"{union.schema_pointer}/{index}") for index in matched]
        exclusive = is_object(union.instance) and all(wanted) and len({tuple(each) for each in wanted}) > 1
        return Meant(row="requiredExclusive" if exclusive else "oneOfMultiple")
    branches = union.branches
    if not any(branches):
        return Meant(row="anyOf")
    here = union.pointer
    if is_object(union.instance):
        told = _discriminated(guide, union, union.instance)
        if told is not None:
            return told
    if len(branches) > 1 and all(all(_is(each, here, "required") for each in branch) for branch in branches):
        return Meant(row="requiredAlternatives")
    return _plain(guide, union)


def _is(violation: Violation, pointer: str, keyword: str) -> bool:
    return violation.keyword == keyword and violation.pointer == pointer


def _plain(guide: Guide, union: Violation) -> Meant:
    """Without a discriminator."""
    here = union.pointer
    wrong_type = [any(_is(each, here, "type") for each in branch) for branch in union.branches]
    listing = [any(each.keyword in _LISTING and each.pointer == here for each in branch) for branch in union.branches]
    if all(wrong or lists for wrong, lists in zip(wrong_type, listing, strict=True)):
        values = _values(union.branches, here)
        only_lists = all(lists for lists in listing)
        return Meant(row="enum", values=tuple(values)) if only_lists else Meant(row="type")
    best = closest(guide, union, range(len(union.branches)))
    return Meant(violations=union.branches[best], whole=all(each.pointer == here for each in union.branches[best]))


def _values(branches: Sequence[Sequence[Violation]], here: str) -> list[object]:
    found: list[object] = []
    for branch in branches:
        for each in branch:
            if each.pointer == here and each.keyword == "enum":
                found.extend(elements(each.params.get("options")))
            elif each.pointer == here and each.keyword == "const":
                found.append(each.params.get("expected_value"))
    return unique(found)


def closest(guide: Guide, union: Violation, choice: Sequence[int]) -> int:
    """The index of the branch that is the least wrong."""

    def wrongness(index: int) -> tuple[bool, int, int, int, int]:
        branch = union.branches[index]
        facts = guide.facts(f"{union.schema_pointer}/{index}")
        known = members(union.instance).keys() & set(facts.demands.declared())
        return (
            any(_is(each, union.pointer, "type") for each in branch),
            sum(_errors(each) for each in branch),
            -len(known),
            -max((each.pointer.count("/") for each in branch), default=0),
            index,
        )

    return min(choice, key=wrongness)


def _errors(violation: Violation) -> int:
    """How many things are wrong: in a union inside, those of its best branch."""
    if violation.branches:
        return min(sum(map(_errors, branch)) for branch in violation.branches)
    return max(1, len(elements(violation.params.get("unexpected"))))


def _discriminated(guide: Guide, union: Violation, value: Mapping[str, object]) -> Meant | None:
    """The form that a field with fixed values names; None if there is no such field."""
    table = _discriminators(guide, union.schema_pointer, len(union.branches))
    for name, legal in table.items():
        if name not in value:
            continue
        told = [index for index, values in enumerate(legal) if values is not None]
        named = [index for index in told if any(same(value[name], each) for each in legal[index] or ())]
        if named:
            best = closest(guide, union, named)
            return Meant(violations=union.branches[best])
        if len(told) == len(legal):
            values = unique(each for index in told for each in legal[index] or ())
            return Meant(row="enum", member=name, values=tuple(values))
    for name, legal in table.items():
        missing = all(any(_missing(each, union, name) for each in branch) for branch in union.branches)
        if name not in value and missing and all(values is not None for values in legal):
            # What else was sent may name the form; then its value of the field is known.
            fitting = [
                i for i, branch in enumerate(union.branches) if all(_missing(each, union, name) for each in branch)
            ]
            if len(fitting) == 1:
                return Meant(violations=union.branches[fitting[0]])
            chosen = [values for index, values in enumerate(legal) if index in fitting or not fitting]
            return Meant(row="required", member=name, values=tuple(unique(v for each in chosen for v in each or ())))
    return None


def _missing(violation: Violation, union: Violation, name: str) -> bool:
    return _is(violation, union.pointer, "required") and violation.params.get("property") == name


def _discriminators(guide: Guide, pointer: str, size: int) -> Discriminators:
    """The fields that tell the forms of a union apart: for each form the values that the field may have there."""
    known = guide.discriminators.get(pointer)
    if known is not None:
        return known
    forms = [guide.facts(f"{pointer}/{index}") for index in range(size)]
    found: dict[str, list[Sequence[object] | None]] = {}
    for index, form in enumerate(forms):
        for name in form.demands.declared():
            values = _fixed(form, name)
            if values is not None:
                found.setdefault(name, [None] * size)[index] = values
    telling = {
        name: legal
        for name, legal in found.items()
        if sum(values is not None for values in legal) > 1 and not all(legal[0] == values for values in legal)
    }
    # The field that most forms have comes first.
    ordered = dict(sorted(telling.items(), key=lambda pair: sum(values is None for values in pair[1])))
    guide.discriminators[pointer] = ordered
    return ordered


def _fixed(form: Facts, name: str) -> Sequence[object] | None:
    values = form.member(name).values
    return values if values is not None and 0 < len(values) <= 50 else None
