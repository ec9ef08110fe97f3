"""Normal use, with everything the schema declares."""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.choice import Choice
from toolvet.assess.plan import Plan
from toolvet.assess.values import Values

ORDER = 2
CATEGORY: Final = "happy_path"


def scenarios(values: Values, _choose: Choice) -> Iterator[Plan]:
    """All properties."""
    sample = values.all_properties()
    yield Plan(name="all properties", category=CATEGORY, arguments=sample.arguments, origin=sample.origin)
