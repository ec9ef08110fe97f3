"""The filter of a list of verdicts, as its URL says it: `?kind=call&server=shop&failed=1&q=timeout`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

import msgspec

from toolvet.core.envelope import validation_error
from toolvet.server.dashboard.view.period import Period, read_period
from toolvet.server.failures import ApiError
from toolvet.store import VerdictFilter
from toolvet.store.reading import VerdictOrder
from toolvet.store.records import VerdictKind

KINDS: Final[Sequence[str]] = get_args(VerdictKind)
ORDERS: Final[Sequence[str]] = get_args(VerdictOrder)
_TEXTS: Final = ("kind", "server", "tool", "model", "variant", "signal", "outcome", "state", "conversation")
_SWITCHES: Final = ("failed", "escalated", "blocked")
_SCORES: Final = ("min_score", "max_score")
_YES_NO: Final = {"1": True, "0": False, "yes": True, "no": False, "true": True, "false": False}
_NAMES: Final = (*_TEXTS, *_SWITCHES, *_SCORES, "q", "period", "since", "until", "order")


@dataclass(frozen=True)
class ChosenFilter:
    """What the URL of a list chooses.

    Attributes:
        wanted: The filter.
        query: The members of the URL that say so, for links to the same list.
        order: How the list is sorted.
        period: The period; None for all times.
    """

    wanted: VerdictFilter
    query: Mapping[str, str]
    order: VerdictOrder
    period: Period | None


def read_chosen(query: Mapping[str, str], now: float) -> ChosenFilter:
    """Return the filter of a URL. Raises ApiError with 422 for a value that cannot be, naming its member."""
    given = {name: value for name in _NAMES if (value := query.get(name, "").strip())}
    members: dict[str, Any] = {name: given[name] for name in _TEXTS if name in given}
    _check(given, "kind", KINDS)
    _check(given, "order", ORDERS)
    for name in _SWITCHES:
        if name in given:
            _check(given, name, tuple(_YES_NO))
            members[name] = _YES_NO[given[name]]
    for name in _SCORES:
        if name in given:
            members[name] = _score(name, given[name])
    period = None
    if given.keys() & {"period", "since", "until"} and given.get("period") != "all":
        period = read_period(given, now)
        members |= {"since": period.since, "until": period.until}
    if "q" in given:
        members["text"] = given["q"]
    order: Any = given.get("order", "newest")
    return ChosenFilter(msgspec.convert(members, VerdictFilter), given, order, period)


def _check(given: Mapping[str, str], name: str, values: Sequence[str]) -> None:
    if name in given and given[name] not in values:
        raise ApiError(422, validation_error(f"{name} must be one of {', '.join(values)}", field=name))


def _score(name: str, written: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ApiError(422, validation_error(f"{name} must be a number from 0 to 1", field=name))
    return value
