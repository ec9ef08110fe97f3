"""`/verdicts`: the verdicts that a filter finds, page by page; `/search`: the same by words; `/verdict/{id}`: one."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, get_args

import msgspec

from toolvet.core.decodable import decodable
from toolvet.core.envelope import not_found_error, validation_error
from toolvet.errors import UsageError
from toolvet.server.dashboard.page import Page, RequestContext
from toolvet.server.dashboard.view.entries import entry_view
from toolvet.server.dashboard.view.formats import queried, turn_path
from toolvet.server.dashboard.view.period import Period, read_period
from toolvet.server.failures import ApiError
from toolvet.store import Store, VerdictFilter
from toolvet.store.overview import FigureFilter
from toolvet.store.reading import VerdictOrder
from toolvet.store.records import VerdictKind
from toolvet.store.verdict_page import VerdictPage

KINDS: Final[Sequence[str]] = get_args(VerdictKind)
ORDERS: Final[Sequence[str]] = get_args(VerdictOrder)
_TEXTS: Final = ("kind", "server", "tool", "model", "variant", "signal", "outcome", "state", "conversation")
_SWITCHES: Final = ("failed", "escalated", "blocked")
_SCORES: Final = ("min_score", "max_score")
_YES_NO: Final = {"1": True, "0": False, "yes": True, "no": False, "true": True, "false": False}
_NAMES: Final = (*_TEXTS, *_SWITCHES, *_SCORES, "q", "period", "since", "until", "order")


@dataclass(frozen=True)
class ChosenFilter:
    """The choices in the URL of a list.

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
        if name not in given:
            continue
        try:
            score = float(given[name])
        except ValueError:
            score = -1.0
        if not 0 <= score <= 1:
            raise ApiError(422, validation_error(f"{name} must be a number from 0 to 1", field=name))
        members[name] = score
    period = None
    if given.keys() & {"period", "since", "until"} and given.get("period") != "all":
        period = read_period(given, now)
        members |= {"since": period.since, "until": period.until}
    if "q" in given:
        members["text"] = given["q"]
    order: Any = given.get("order", "newest")
    return ChosenFilter(msgspec.convert(members, decodable(VerdictFilter)), given, order, period)


def _check(given: Mapping[str, str], name: str, values: Sequence[str]) -> None:
    if name in given and given[name] not in values:
        raise ApiError(422, validation_error(f"{name} must be one of {', '.join(values)}", field=name))


_PER_PAGE: Final = 50
_MOST_PAGE: Final = 1_000
# A trace id or its beginning, as pages and `toolvet trace` show it.
_SHORTEST_TRACE: Final = 6


def _fill_list(context: RequestContext) -> Mapping[str, object]:
    chosen = read_chosen(context.query, time.time())
    return {**_listed(context, chosen, "/verdicts"), "words": None, "turn": None}


def _fill_search(context: RequestContext) -> Mapping[str, object]:
    chosen = read_chosen(context.query, time.time())
    words = chosen.query.get("q", "")
    # The path of the turn whose id is searched for, or begins with these words.
    turn = None
    if len(words) >= _SHORTEST_TRACE and " " not in words and words.isascii() and words.isprintable():
        with suppress(UsageError):
            turn = turn_path(context.server.store.turn(words, limit=1).trace)
    return {**_listed(context, chosen, "/search"), "words": words, "turn": turn}


def _listed(context: RequestContext, chosen: ChosenFilter, path: str) -> Mapping[str, object]:
    store = context.server.store
    part, newer, older, further = _page_of(context, store, chosen, path)
    groups = store.groups(("server", "tool", "model", "variant"), FigureFilter())
    return {
        "chosen": chosen,
        "path": path,
        "verdicts": part.verdicts,
        "part": part,
        "newer": newer,
        "older": older,
        "further": further,
        "kinds": KINDS,
        "orders": ORDERS,
        "options": {
            name: sorted({getattr(group, name) for group in groups} - {""})[:500]
            for name in ("server", "tool", "model", "variant")
        },
        "signals": sorted(issue.type for issue in store.overview(FigureFilter(), most=200).issues),
        "outcomes": _OUTCOMES,
    }


_OUTCOMES: Final = (
    "success",
    "tool_error",
    "protocol_error",
    "refused",
    "input_required",
    "task",
    "validated",
    "retrieved",
    "cancelled",
    "unreadable",
    "lost",
    "valid",
    "invalid",
    "use",
    "retry",
    "clarify",
    "route",
)


def _page_of(
    context: RequestContext, store: Store, chosen: ChosenFilter, path: str
) -> tuple[VerdictPage, str | None, str | None, str | None]:
    wanted, query = chosen.wanted, chosen.query
    if chosen.order in ("lowest_score", "slowest"):
        page = _number(context, "page", 1, _MOST_PAGE)
        part = store.page(wanted, limit=_PER_PAGE, order=chosen.order, offset=(page - 1) * _PER_PAGE)
        newer = queried(path, query, page=page - 1 if page > 2 else None) if page > 1 else None
        return part, newer, queried(path, query, page=page + 1) if part.has_more and page < _MOST_PAGE else None, None
    is_newest = chosen.order == "newest"
    # In the order of the list, `after` leads back to what is before this page, and `before` on.
    back, on = ("after", "before") if is_newest else ("before", "after")
    came_back, came_on = _number(context, back, 0), _number(context, on, 0)
    if came_back:
        turned: VerdictOrder = "oldest" if is_newest else "newest"
        part = store.page(wanted, limit=_PER_PAGE, order=turned, **_cursor(turned, came_back))
        found = part.verdicts[::-1]
        older = queried(path, query, **{on: found[-1].seq}) if found else None
        newer = queried(path, query, **{back: found[0].seq}) if part.has_more else None
        further = None if part.stopped is None else queried(path, query, **{back: part.stopped})
        return msgspec.structs.replace(part, verdicts=found), newer, older, further
    part = store.page(wanted, limit=_PER_PAGE, order=chosen.order, **_cursor(chosen.order, came_on))
    newer = None
    if came_on:
        newer = queried(path, query, **{back: part.verdicts[0].seq}) if part.verdicts else queried(path, query)
    older = queried(path, query, **{on: part.verdicts[-1].seq}) if part.has_more else None
    further = None if part.stopped is None else queried(path, query, **{on: part.stopped})
    return part, newer, older, further


def _cursor(order: VerdictOrder, place: int) -> dict[str, int]:
    return {"before" if order == "newest" else "after": place} if place else {}


def _number(context: RequestContext, name: str, usual: int, most: int = 2**62) -> int:
    given = context.query.get(name, "")
    if not given:
        return usual
    if not (given.isascii() and given.isdigit() and len(given) < 20 and 0 < int(given) <= most):
        raise ApiError(422, validation_error(f"{name} must be a whole number from 1 to {most}", field=name))
    return int(given)


def _fill_one(context: RequestContext) -> Mapping[str, object]:
    record = context.server.store.verdict(context.path["id"])
    if record is None:
        raise ApiError(404, not_found_error("verdict", context.path["id"]))
    labels = context.server.queue.labels_of([record.id], reader=context.person.name)
    return {"entries": [entry_view(record)], "record": record, "labels": labels}


PAGES = (
    Page("/verdicts", "Verdicts", "verdicts.html.jinja", _fill_list, menu=(3, "Verdicts")),
    Page("/search", "Search", "verdicts.html.jinja", _fill_search, section="/verdicts"),
    Page("/verdict/{id}", "Verdict", "verdict.html.jinja", _fill_one, section="/verdicts"),
)
