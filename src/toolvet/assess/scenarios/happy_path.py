"""Normal use, with everything the schema declares."""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.plan import PlannedCall, SeededChoice
from toolvet.assess.values import Values

ORDER: Final = 2
CATEGORY: Final = "happy_path"


def scenarios(values: Values, _choose: SeededChoice) -> Iterator[PlannedCall]:
    """One call with all properties."""
    sample = values.all_properties()
    yield PlannedCall(name="all properties", category=CATEGORY, arguments=sample.arguments, origin=sample.origin)
