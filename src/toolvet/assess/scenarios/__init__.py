"""Values of a tool → the calls to make. Each category is one file of this folder, and the folder is the list.

A category has an `ORDER` (calls are made from low to high), a `CATEGORY` and a function
`scenarios(values: Values, choose: SeededChoice) -> Iterable[PlannedCall]`.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from toolvet.assess.exchange import PlannedCall, SeededChoice
from toolvet.assess.values import Values
from toolvet.core.discover import modules

# The categories whose calls show what a tool takes: `Values.learn` receives their outcome before the next is planned.
FORMATIVE: Final = frozenset({"progressive", "happy_path"})
# The categories that have a scenario of their own in the report, even where an earlier call had the same arguments.
SHOWN_TWICE: Final = frozenset({"happy_path"})


def plan_calls(values: Values, seed: int) -> Iterator[PlannedCall]:
    """Yield every call to make for one tool, in order; the same arguments are not sent twice as valid ones.

    The happy path is yielded in any case, as `made`.

    Args:
        values: Gives the arguments. Its `learn` receives what each call showed, and this shapes those that follow;
            without that, every call is taken for a success.
        seed: Chooses if there are more calls than are worth making.
    """
    plans: list[PlannedCall] = []
    for category in sorted(modules("toolvet.assess.scenarios"), key=lambda module: (module.ORDER, module.__name__)):
        # Seeded per tool and category, so that leaving one out does not change the others.
        choose = SeededChoice(seed, f"{values.tool.name}/{category.CATEGORY}")
        for plan in category.scenarios(values, choose):
            known = not plan.first and any(
                plan.arguments == other.arguments and plan.intended is None for other in plans
            )
            if known:
                if plan.category in SHOWN_TWICE:
                    yield replace(plan, made=True)
            elif values.permits(plan.arguments):
                plans.append(plan)
                yield plan
