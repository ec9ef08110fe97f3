"""Values at each declared bound, and just inside of it."""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.exchange import PlannedCall, SeededChoice
from toolvet.assess.values import Values
from toolvet.core.schema import boundary_examples, compiled

ORDER: Final = 4
CATEGORY: Final = "boundary"
MOST: Final = 24  # Calls per tool: a schema may declare hundreds of bounds.


def scenarios(values: Values, choose: SeededChoice) -> Iterator[PlannedCall]:
    """One call per value at a bound; of more than `MOST`, the seed chooses some."""
    base = values.all_properties().arguments
    schema = compiled(values.tool.input_schema)
    plans: list[PlannedCall] = []
    for example in boundary_examples(values.tool.input_schema):
        arguments = values.transplant(example.instance, base)
        if arguments is not None and arguments != base and schema.is_valid(arguments):
            plans.append(PlannedCall(name=example.detail, category=CATEGORY, arguments=arguments, origin="generator"))
    yield from choose.some(plans, MOST)
