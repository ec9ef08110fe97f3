"""What rules say of an entry of a list, whether it is a tool, a resource or a prompt."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from toolvet.assess.rules.quote import show
from toolvet.findings import Card, Finding

_JSON_TYPES: Final[Mapping[type, str]] = {str: "a string", dict: "an object", list: "an array"}


def judge_types(card: Card, entry: Mapping[str, object], types: Mapping[str, type]) -> Iterator[Finding]:
    """Yield a finding for each field with a value of another type; `null` is as good as absent."""
    for field, wanted in types.items():
        value = entry.get(field)
        if value is not None and not isinstance(value, wanted):
            yield card.finding(
                message=f"'{field}' must be {_JSON_TYPES[wanted]}.", pointer=f"/{field}", evidence=show(value)
            )


def repeated_entries(named: Iterable[tuple[str, int]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each name that comes more than once among (name, position), with the numbers of its entries.

    >>> list(repeated_entries([("plan", 0), ("review", 1), ("plan", 2), ("", 3), ("", 4)]))
    [('plan', ('1', '3'))]
    """
    places: dict[str, list[str]] = {}
    for name, position in named:
        if name:
            places.setdefault(name, []).append(str(position + 1))
    for name, entries in places.items():
        if len(entries) > 1:
            yield name, tuple(entries)
