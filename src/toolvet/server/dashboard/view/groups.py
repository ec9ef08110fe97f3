"""Servers and tools sorted by what is worst about them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from toolvet.core.envelope import validation_error
from toolvet.server.failures import ApiError
from toolvet.store.overview import GroupFigures

_SLOW: Final = 0.95


def worst(groups: Iterable[GroupFigures]) -> Sequence[GroupFigures]:
    """Return the groups with failures, those with the most failed calls for each call first."""
    found = [group for group in groups if group.figures.failed]
    return sorted(
        found, key=lambda group: (-group.figures.failure_rate, -group.figures.failed, group.server, group.tool)
    )


def slowest(groups: Iterable[GroupFigures]) -> Sequence[GroupFigures]:
    """Return the groups whose durations are known, the slowest first."""
    found = [group for group in groups if group.figures.duration_count]
    return sorted(found, key=lambda group: (-(group.figures.percentile(_SLOW) or 0), group.server, group.tool))


def _score(group: GroupFigures) -> float:
    known = group.figures.average_score
    return 2.0 if known is None else known


SORTS: Final[Mapping[str, Callable[[GroupFigures], float]]] = {
    "calls": lambda group: -group.figures.verdicts,
    "failed": lambda group: -group.figures.failed,
    "failure_rate": lambda group: -group.figures.failure_rate,
    "slow": lambda group: -(group.figures.percentile(_SLOW) or 0),
    "score": _score,
}
"""How lists of tools and servers can be sorted, by the word in the URL."""


def sort_groups(groups: Iterable[GroupFigures], word: str) -> Sequence[GroupFigures]:
    """Return the groups sorted. Raises ApiError with 422 for a word that does not exist."""
    if word not in SORTS:
        raise ApiError(422, validation_error(f"sort must be one of {', '.join(SORTS)}", field="sort"))
    return sorted(groups, key=lambda group: (SORTS[word](group), group.server, group.tool))
