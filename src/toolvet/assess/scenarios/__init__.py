"""Values of a tool → the calls to make: one category a file, found because it is there.

A category has an `ORDER` (calls are made from low to high), a `CATEGORY` and a function
`scenarios(values: Values, choose: Choice) -> Iterable[Plan]`.
"""

from toolvet.assess.choice import SeededChoice
from toolvet.assess.plan import PlannedCall
from toolvet.assess.values import Values
from toolvet.discover import modules


def planned(values: Values, seed: int) -> tuple[PlannedCall, ...]:
    """Every call to make for one tool, in order; the same arguments are not sent twice as valid ones."""
    plans: list[PlannedCall] = []
    for category in sorted(modules("toolvet.assess.scenarios"), key=lambda module: (module.ORDER, module.__name__)):
        # Seeded per tool and category, so that leaving one out does not change the others.
        choose = SeededChoice(seed, f"{values.tool.name}/{category.CATEGORY}")
        for plan in category.scenarios(values, choose):
            if not any(plan.arguments == other.arguments and plan.breach is None for other in plans):
                plans.append(plan)
    return tuple(plans)
