"""Minimal arguments first, which show whether the tool answers at all; then one optional parameter more at a time.

minimal             refused: "format must be one of: html, docx"
after the refusal   {"format": "html"}
with title          accepted, and kept for the calls that follow
with style          refused, and left out from now on
"""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.plan import PlannedCall, SeededChoice
from toolvet.assess.values import Sample, Values

ORDER: Final = 1
CATEGORY: Final = "progressive"
MOST: Final = 6  # Optional parameters that are added one at a time; more follow together.


def scenarios(values: Values, _choose: SeededChoice) -> Iterator[PlannedCall]:
    """The minimal call, what its refusals ask for, and the optional parameters but the last."""
    yield from _attempts(values, "minimal", values.required_only())
    if values.is_refused:
        return
    for name in values.optional()[:-1][:MOST]:
        sample = values.widen([name])
        if sample is not None:
            yield from _attempts(values, f"with {name}", sample)


def _attempts(values: Values, name: str, sample: Sample) -> Iterator[PlannedCall]:
    """A call and, as long as it is refused with words that say what was wanted, the next one that obeys."""
    values.expect(sample.arguments)
    yield PlannedCall(name=name, category=CATEGORY, arguments=sample.arguments, origin=sample.origin)
    while (lesson := values.retry()) is not None:
        values.expect(lesson.arguments)
        yield PlannedCall(
            name=f"{name}, as the refusal asked", category=CATEGORY, arguments=lesson.arguments, origin="refusal"
        )
