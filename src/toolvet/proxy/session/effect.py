"""What a tool does to the world: an entry of `tools/list`, and the list that it is on → an `Effect`."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from toolvet.core.json_value import members
from toolvet.core.tool_rules import habits_of, tool_definition, why_not_called
from toolvet.proxy.session.repeats import Effect

# Whether a server annotates its tools shows early.
_MOST_LOOKED_AT: Final = 1_000


def effect_of(definition: Mapping[str, object], listed: Iterable[Mapping[str, object]]) -> Effect:
    """Return the effect of the tool of this definition, on the list `listed`.

    >>> effect_of({"name": "search_books"}, [{"name": "search_books"}, {"name": "add_book"}])
    'reads'
    >>> effect_of({"name": "set_title", "annotations": {"idempotentHint": True}}, [])
    'sets'
    """
    habits = habits_of([tool_definition(each) for each in islice(listed, _MOST_LOOKED_AT)])
    if why_not_called(tool_definition(definition), habits) is None:
        return "reads"
    # MCP 2025-06-18, ToolAnnotations: calling it again with the same arguments has no additional effect.
    return "sets" if members(definition.get("annotations")).get("idempotentHint") is True else "changes"
