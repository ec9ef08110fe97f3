"""The example of a refusal, with the call's own values wherever they are right.

An example made from the schema alone says `"ticket": 1` beside a call for ticket 12, and a model may copy it.
"""

from collections.abc import Sequence
from typing import Final

from toolvet.core.checks.arguments.correction import mask_arguments
from toolvet.core.checks.arguments.issue import Issue
from toolvet.core.json_value import is_object, members, pointer_steps
from toolvet.core.schema import Repair, Schema

# A call with more members than that is no example for anybody.
_MOST_MEMBERS: Final = 64


def with_own_values(
    example: object, arguments: object, issues: Sequence[Issue], repair: Repair | None, ready: Schema
) -> object:
    """Return the example with the values of the call, or of its repair, that are valid; secrets are not taken over.

    Args:
        example: A valid call, made from the schema.
        arguments: The arguments as sent.
        issues: What is wrong with them.
        repair: The nearest valid call, where there is one: an example must not say something else.
        ready: The schema.

    Returns:
        A valid call; the very same `example` where nothing can be taken over.
    """
    own = arguments if repair is None else repair.arguments
    if not is_object(example) or not is_object(own) or not own or len(own) > _MOST_MEMBERS:
        return example
    wrong = set[str]() if repair is not None else {step for each in issues for step in pointer_steps(each.pointer)[:1]}
    # Of the tool's own arguments alone: a member that the schema only lets pass may be one of them under a wrong name.
    kept = {
        name: value for name, value in own.items() if name in example and name not in wrong and example[name] != value
    }
    if not kept:
        return example
    shown = mask_arguments(kept)
    if shown is not kept:
        masked = members(shown)
        kept = {name: value for name, value in kept.items() if masked.get(name) == value}
    merged = {**example, **kept}
    return merged if ready.is_valid(merged) else example
