"""Normal use, with everything the schema declares that the tool has not refused."""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.exchange import PlannedCall, SeededChoice
from toolvet.assess.scenarios.progressive import attempts
from toolvet.assess.values import Values

ORDER: Final = 2
CATEGORY: Final = "happy_path"


def scenarios(values: Values, _choose: SeededChoice) -> Iterator[PlannedCall]:
    """One call with all properties; those that were refused one by one are left out."""
    sample = values.all_properties()
    if values.has_success:
        untried = [name for name in values.optional() if name not in values.tried]
        sample = values.widen(untried) or sample
    yield from attempts(values, "all properties", sample, CATEGORY)
