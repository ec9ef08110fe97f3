"""Calls that differ from one that succeeded in one argument, whose value says what the answer must be."""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.exchange import PlannedCall, SeededChoice
from toolvet.assess.rules import IntendedViolation
from toolvet.assess.rules.contrast import EXCLUSIVE, exclusive_parameters, role_of, values_to_send
from toolvet.assess.values import Values
from toolvet.core.schema import compiled

ORDER: Final = 2.7
CATEGORY: Final = "edge_case"
MOST: Final = 3  # Parameters per tool.


def scenarios(values: Values, _choose: SeededChoice) -> Iterator[PlannedCall]:
    """The call without the parameter and with each value; and what its descriptions forbid together. Readers only."""
    if values.is_guarded or (values.is_refused and not values.has_success):
        return
    tool, base = values.tool, values.best()
    schema, known = compiled(tool.input_schema), {*base, *values.optional()}
    for name in [name for name in tool.properties if values_to_send(tool, name)][:MOST]:
        rest = {key: value for key, value in base.items() if key != name}
        # Another filter may have left nothing that this one could leave out.
        alone = {key: value for key, value in rest.items() if role_of(tool, key) != "narrows"}
        for others in (rest, alone) if alone != rest else (rest,):
            calls = [{**others, name: value} for value in values_to_send(tool, name)]
            for arguments in calls if name in tool.required else [others, *calls]:
                if schema.is_valid(arguments):
                    what = f"another {name}" if name in arguments else f"without {name}"
                    yield PlannedCall(name=what, category=CATEGORY, arguments=arguments, origin="generator")
    for names, is_needed in exclusive_parameters(tool):
        wrong: list[tuple[str, dict[str, object]]] = []
        if known.issuperset(names) and (both := values.widen(names)) is not None:
            wrong.append((" and ".join(names), both.arguments))
        if is_needed:
            wrong.append((f"none of {', '.join(names)}", {key: base[key] for key in base if key not in names}))
        for detail, arguments in wrong:
            if schema.is_valid(arguments):
                intended = IntendedViolation(keyword=EXCLUSIVE, detail=detail, declared=False)
                yield PlannedCall(
                    name=f"one of: {detail}",
                    category="error_case",
                    arguments=arguments,
                    origin="generator",
                    intended=intended,
                )
