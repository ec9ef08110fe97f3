"""Valid arguments that name a thing which does not exist: the commonest call that goes wrong in real use."""

import re
from collections.abc import Iterator
from typing import Final

from toolvet.assess.exchange import PlannedCall, SeededChoice
from toolvet.assess.folder import path_kind
from toolvet.assess.harvest import absent_values, is_fed, is_identifier
from toolvet.assess.values import Values
from toolvet.core.schema import compiled

ORDER: Final = 2.5
CATEGORY: Final = "edge_case"
MOST: Final = 6  # Parameters per tool.
_PROSE: Final = re.compile(r"\n|(?:\S+ ){8}")


def scenarios(values: Values, _choose: SeededChoice) -> Iterator[PlannedCall]:
    """One call per parameter that names a thing, with everything else as in a call that succeeded, if there is one."""
    base, schema = values.best(), compiled(values.tool.input_schema)
    widest = values.all_properties().arguments
    asked = 0
    for name, declared in values.tool.properties.items():
        fed = values.seen(name)
        # Code and prose that another tool returned are matter to work on, and no names.
        names_thing = fed is not None and not (isinstance(fed, str) and _PROSE.search(fed))
        is_named = is_identifier(name, declared) or (names_thing and is_fed(name, declared, values.tool.name))
        paths = values.folder is not None and (path_kind(values.tool, name) or values.folder.listed(values.tool, name))
        if not is_named and not paths:
            continue
        known = base.get(name, widest.get(name))
        known = fed if type(fed) is type(known) and path_kind(values.tool, name) is None else known
        if values.folder is not None and known == values.folder.path:
            known = values.folder.join("example")  # A sibling of the folder would be refused for its place.
        candidates = absent_values(
            known,
            lambda value, name=name: (  # type: ignore[misc] # mypy cannot infer a lambda with a default
                schema.is_valid({**base, name: value}) and not values.knows(name, value)
            ),
        )
        absent = next(candidates, None)
        if absent is not None and asked < MOST:
            asked += 1
            yield PlannedCall(
                name=f"a {name} that does not exist",
                category=CATEGORY,
                arguments={**base, name: absent},
                origin="generator",
                absent=name,
                present=fed,
            )
