"""Values of a tool → the calls to make. Each category is one file of this folder, and the folder is the list.

A category has an `ORDER` (calls are made from low to high), a `CATEGORY` and a function
`scenarios(values: Values, choose: SeededChoice) -> Iterable[PlannedCall]`.
"""

from toolvet.assess.plan import PlannedCall, SeededChoice
from toolvet.assess.values import Values
from toolvet.discover import modules


def plan_calls(values: Values, seed: int) -> tuple[PlannedCall, ...]:
    """Every call to make for one tool, in order; the same arguments are not sent twice as valid ones.

    `values` gives the arguments; `seed` chooses where there are more calls than are worth making.
    """
    plans: list[PlannedCall] = []
    for category in sorted(modules("toolvet.assess.scenarios"), key=lambda module: (module.ORDER, module.__name__)):
        # Seeded per tool and category, so that leaving one out does not change the others.
        choose = SeededChoice(seed, f"{values.tool.name}/{category.CATEGORY}")
        for plan in category.scenarios(values, choose):
            if not any(plan.arguments == other.arguments and plan.breach is None for other in plans):
                plans.append(plan)
    return tuple(plans)
