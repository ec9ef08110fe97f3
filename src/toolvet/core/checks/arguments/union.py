"""The form of a union that a value was probably intended to have.

For `oneOf` with the forms circle (`kind` "circle", `radius`) and square (`kind` "square", `side`):

    {"kind": "square"}                the discriminator `kind` names the form: report what is wrong with a square
    {"kind": "sqare", "side": 1}      no form has this value: one issue about `kind`, with both values as valid ones
    {"side": 1}                       only the square fits but for its `kind`: report what is wrong with a square

Without a field like `kind`, the intended form is the one with the fewest errors, and of several the deepest ones.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from toolvet.core.checks.arguments.facts import Facts
from toolvet.core.checks.arguments.guide import Discriminators, Guide
from toolvet.core.checks.arguments.placeholders import required_of
from toolvet.core.json_value import elements, is_object, members, same, unique
from toolvet.core.schema.violation import Violation

_LISTING: Final = frozenset({"enum", "const"})


class IntendedForm(msgspec.Struct, frozen=True):
    """How to report a violated union: by the `violations` of the intended form, or as one issue.

    With `whole`, the violations are about the value itself, and the other forms must be reported, too. The one issue
    has a `row` of `wording.toml`, and is about the union or about its field `member`, with the valid `values`.
    """

    violations: tuple[Violation, ...] = ()
    whole: bool = False
    row: str = ""
    member: str = ""
    values: tuple[object, ...] = ()


def intended_form(guide: Guide, union: Violation) -> IntendedForm:
    """How to report a violated `anyOf` or `oneOf`."""
    matched = [index for index in elements(union.params.get("matched")) if isinstance(index, int)]
    if matched:
        wanted = [required_of(guide, f"{union.schema_pointer}/{index}") for index in matched]
        exclusive = is_object(union.instance) and all(wanted) and len({tuple(each) for each in wanted}) > 1
        return IntendedForm(row="requiredExclusive" if exclusive else "oneOfMultiple")
    branches = union.branches
    if not any(branches):
        return IntendedForm(row="anyOf")
    here = union.pointer
    if is_object(union.instance):
        form = _form_by_discriminator(guide, union, union.instance)
        if form is not None:
            return form
    if len(branches) > 1 and all(all(_is_at(each, here, "required") for each in branch) for branch in branches):
        return IntendedForm(row="requiredAlternatives")
    return _form_by_errors(guide, union)


def _is_at(violation: Violation, pointer: str, keyword: str) -> bool:
    return violation.keyword == keyword and violation.pointer == pointer


def _form_by_errors(guide: Guide, union: Violation) -> IntendedForm:
    """The form with the fewest errors, for a union without a discriminator."""
    here = union.pointer
    wrong_type = [any(_is_at(each, here, "type") for each in branch) for branch in union.branches]
    listing = [any(each.keyword in _LISTING and each.pointer == here for each in branch) for branch in union.branches]
    if all(wrong or lists for wrong, lists in zip(wrong_type, listing, strict=True)):
        values = _listed_values(union.branches, here)
        only_lists = all(lists for lists in listing)
        return IntendedForm(row="enum", values=tuple(values)) if only_lists else IntendedForm(row="type")
    best = closest_form(guide, union, range(len(union.branches)))
    return IntendedForm(
        violations=union.branches[best], whole=all(each.pointer == here for each in union.branches[best])
    )


def _listed_values(branches: Sequence[Sequence[Violation]], here: str) -> list[object]:
    found: list[object] = []
    for branch in branches:
        for each in branch:
            if each.pointer == here and each.keyword == "enum":
                found.extend(elements(each.params.get("options")))
            elif each.pointer == here and each.keyword == "const":
                found.append(each.params.get("expected_value"))
    return unique(found)


def closest_form(guide: Guide, union: Violation, choice: Sequence[int]) -> int:
    """The index of the branch with the fewest errors, and with the deepest of several."""

    def wrongness(index: int) -> tuple[bool, int, int, int, int]:
        branch = union.branches[index]
        facts = guide.facts(f"{union.schema_pointer}/{index}")
        known = members(union.instance).keys() & set(facts.demands.declared())
        return (
            any(_is_at(each, union.pointer, "type") for each in branch),
            sum(_count_errors(each) for each in branch),
            -len(known),
            -max((each.pointer.count("/") for each in branch), default=0),
            index,
        )

    return min(choice, key=wrongness)


def _count_errors(violation: Violation) -> int:
    """The number of errors; for a nested union that of its best branch."""
    if violation.branches:
        return min(sum(map(_count_errors, branch)) for branch in violation.branches)
    return max(1, len(elements(violation.params.get("unexpected"))))


def _form_by_discriminator(guide: Guide, union: Violation, value: Mapping[str, object]) -> IntendedForm | None:
    """The form that a field with fixed values names; None without such a field."""
    table = _discriminators(guide, union.schema_pointer, len(union.branches))
    for name, legal in table.items():
        if name not in value:
            continue
        fixed = [index for index, values in enumerate(legal) if values is not None]
        named = [index for index in fixed if any(same(value[name], each) for each in legal[index] or ())]
        if named:
            best = closest_form(guide, union, named)
            return IntendedForm(violations=union.branches[best])
        if len(fixed) == len(legal):
            values = unique(each for index in fixed for each in legal[index] or ())
            return IntendedForm(row="enum", member=name, values=tuple(values))
    for name, legal in table.items():
        missing = all(any(_is_missing(each, union, name) for each in branch) for branch in union.branches)
        if name not in value and missing and all(values is not None for values in legal):
            # The other members may identify the form; then the value of its field is known.
            fitting = [
                i for i, branch in enumerate(union.branches) if all(_is_missing(each, union, name) for each in branch)
            ]
            if len(fitting) == 1:
                return IntendedForm(violations=union.branches[fitting[0]])
            chosen = [values for index, values in enumerate(legal) if index in fitting or not fitting]
            return IntendedForm(
                row="required", member=name, values=tuple(unique(v for each in chosen for v in each or ()))
            )
    return None


def _is_missing(violation: Violation, union: Violation, name: str) -> bool:
    return _is_at(violation, union.pointer, "required") and violation.params.get("property") == name


def _discriminators(guide: Guide, pointer: str, size: int) -> Discriminators:
    """The fields that distinguish the forms of a union, each with its values in each form."""
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
    discriminators = {
        name: legal
        for name, legal in found.items()
        if sum(values is not None for values in legal) > 1 and not all(legal[0] == values for values in legal)
    }
    # The field that most forms have comes first.
    ordered = dict(sorted(discriminators.items(), key=lambda pair: sum(values is None for values in pair[1])))
    guide.discriminators[pointer] = ordered
    return ordered


def _fixed(form: Facts, name: str) -> Sequence[object] | None:
    values = form.member(name).values
    return values if values is not None and 0 < len(values) <= 50 else None
