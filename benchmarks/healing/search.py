"""The healer of search: it knows no phrase, tries the change for which most speaks, and never the same call twice."""

from collections.abc import Collection
from typing import Any, Final

from benchmarks.healing.edits import Edit, edits
from benchmarks.healing.values import written

# The cost of a change before anything speaks for it: dropping a member loses more than converting one.
_COSTS: Final = {"copy": 0.4, "rewrite": 0.9, "choose": 0.6, "rename": 0.6, "unwrap": 0.7, "drop": 0.9, "nest": 1.6}


def score(edit: Edit) -> float:
    """How much speaks for it."""
    cost = _COSTS.get(edit.way, 1.2 if edit.way.startswith("add") else 0.5)
    return edit.near + edit.alike + 0.5 * edit.named - cost


def heal(call: Any, text: str, tried: Collection[str]) -> Any:
    """The call after the change with the highest score that was not tried before."""
    found = [edit for edit in edits(call, text) if written(edit.call) not in tried]
    return max(found, key=score).call if found else call
