"""Minimal arguments first, which show whether the tool answers at all; then one optional parameter more at a time.

minimal             refused: "format must be one of: html, docx"
after the refusal   {"format": "html"}
with title          accepted, and kept for the calls that follow
with style          refused, and left out from now on
"""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.exchange import PlannedCall, SeededChoice
from toolvet.assess.values import Sample, Values
from toolvet.core.tool_rules import Category

ORDER: Final = 1
CATEGORY: Final[Category] = "progressive"
MOST_FIRST: Final = 3  # Optional parameters of which one may be enough.
MOST: Final = 6  # Optional parameters that are added one at a time; more follow together.


def scenarios(values: Values, _choose: SeededChoice) -> Iterator[PlannedCall]:
    """The minimal call, what its refusals ask for, and the optional parameters but the last."""
    yield from attempts(values, "minimal", values.required_only())
    if values.is_refused and not values.required_only().arguments:
        # Nothing is required, and yet nothing is not enough: one of the optional parameters may be.
        for name in values.optional()[:MOST_FIRST]:
            sample = values.widen([name])
            if sample is not None:
                yield from attempts(values, f"only {name}", sample)
            if not values.is_refused:
                break
    if values.is_refused:
        return
    for name in values.optional()[:-1][:MOST]:
        sample = values.widen([name])
        if sample is not None:
            yield from attempts(values, f"with {name}", sample)


def attempts(values: Values, name: str, sample: Sample, category: Category = CATEGORY) -> Iterator[PlannedCall]:
    """A call and, while a refusal explains what was wanted, the next one that obeys."""
    values.expect(sample.arguments)
    yield PlannedCall(name=name, category=category, arguments=sample.arguments, origin=sample.origin)
    while (lesson := values.retry()) is not None:
        values.expect(lesson.arguments)
        after = f"after {lesson.first}, " if lesson.first else ""
        yield PlannedCall(
            name=f"{name}, {after}as the refusal asked",
            category=category,
            arguments=lesson.arguments,
            origin="refusal",
            first=lesson.first,
        )
