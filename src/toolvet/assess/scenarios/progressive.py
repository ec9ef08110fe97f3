"""Minimal, then simple arguments: the first calls show whether the tool answers at all."""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.plan import PlannedCall, SeededChoice
from toolvet.assess.values import Values

ORDER: Final = 1
CATEGORY: Final = "progressive"


def scenarios(values: Values, _choose: SeededChoice) -> Iterator[PlannedCall]:
    """A call with what is required, then one with the plain optional properties as well."""
    minimal, simple = values.required_only(), values.simple()
    yield PlannedCall(name="minimal", category=CATEGORY, arguments=minimal.arguments, origin=minimal.origin)
    yield PlannedCall(name="simple", category=CATEGORY, arguments=simple.arguments, origin=simple.origin)
