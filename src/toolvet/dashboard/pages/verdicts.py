"""`/verdicts`: the verdicts that a filter finds, page by page; `/search`: the same by words; `/verdict/{id}`: one."""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from toolvet.dashboard.failures import ApiError
from toolvet.dashboard.page import Page, Visit
from toolvet.dashboard.view.chosen import KINDS, ORDERS, ChosenFilter, read_chosen
from toolvet.dashboard.view.entries import shown_entry
from toolvet.dashboard.view.paths import queried, turn_path
from toolvet.envelope import not_found_error, validation_error
from toolvet.errors import UsageError
from toolvet.store import Store, VerdictRecord
from toolvet.store.browsing import count_up_to
from toolvet.store.overview import FigureFilter

_PER_PAGE: Final = 50
_MOST_COUNTED: Final = 10_000
_MOST_PAGE: Final = 1_000
# A trace id or its beginning, as pages and `toolvet trace` show it.
_SHORTEST_TRACE: Final = 6


def _fill_list(visit: Visit) -> Mapping[str, object]:
    chosen = read_chosen(visit.query, time.time())
    return {**_listed(visit, chosen, "/verdicts"), "words": None, "turn": None}


def _fill_search(visit: Visit) -> Mapping[str, object]:
    chosen = read_chosen(visit.query, time.time())
    words = chosen.query.get("q", "")
    if not words:
        return {**_listed(visit, chosen, "/search"), "words": "", "turn": None}
    return {**_listed(visit, chosen, "/search"), "words": words, "turn": _turn_of(visit.site.store, words)}


def _listed(visit: Visit, chosen: ChosenFilter, path: str) -> Mapping[str, object]:
    store = visit.site.store
    found, newer, older = _page_of(visit, store, chosen, path)
    with store.reading() as connection:
        count = count_up_to(connection, chosen.wanted, _MOST_COUNTED + 1)
    groups = store.groups(("server", "tool", "model", "variant"), FigureFilter())
    return {
        "chosen": chosen,
        "path": path,
        "verdicts": found,
        "count": count,
        "most_counted": _MOST_COUNTED,
        "newer": newer,
        "older": older,
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
    visit: Visit, store: Store, chosen: ChosenFilter, path: str
) -> tuple[Sequence[VerdictRecord], str | None, str | None]:
    """Return the verdicts of the page that the URL asks for, and the links to the pages before and after it."""
    if chosen.order != "newest":
        page = _number(visit, "page", 1, _MOST_PAGE)
        found = store.verdicts(chosen.wanted, limit=_PER_PAGE + 1, order=chosen.order, offset=(page - 1) * _PER_PAGE)
        newer = queried(path, chosen.query, page=page - 1 if page > 2 else None) if page > 1 else None
        older = queried(path, chosen.query, page=page + 1) if len(found) > _PER_PAGE and page < _MOST_PAGE else None
        return found[:_PER_PAGE], newer, older
    after = _number(visit, "after", 0)
    before = _number(visit, "before", 0)
    if after:
        upwards = store.verdicts(chosen.wanted, limit=_PER_PAGE + 1, order="oldest", after=after)
        has_newer, found, has_older = len(upwards) > _PER_PAGE, upwards[:_PER_PAGE][::-1], True
    else:
        found = store.verdicts(chosen.wanted, limit=_PER_PAGE + 1, before=before or None)
        has_newer, has_older, found = bool(before), len(found) > _PER_PAGE, found[:_PER_PAGE]
    newer = queried(path, chosen.query, after=found[0].seq) if has_newer and found else None
    if has_newer and not found:
        newer = queried(path, chosen.query)
    return found, newer, queried(path, chosen.query, before=found[-1].seq) if has_older and found else None


def _number(visit: Visit, name: str, usual: int, most: int = 2**62) -> int:
    given = visit.query.get(name, "")
    if not given:
        return usual
    if not (given.isascii() and given.isdigit() and len(given) < 20 and 0 < int(given) <= most):
        raise ApiError(422, validation_error(f"{name} must be a whole number from 1 to {most}", field=name))
    return int(given)


def _turn_of(store: Store, words: str) -> str | None:
    """Return the path of the turn whose id is searched for, or begins with these words."""
    if len(words) < _SHORTEST_TRACE or " " in words or not words.isascii() or not words.isprintable():
        return None
    try:
        return turn_path(store.turn(words).trace)
    except UsageError:
        return None


def _fill_one(visit: Visit) -> Mapping[str, object]:
    record = visit.site.store.verdict(visit.path["id"])
    if record is None:
        raise ApiError(404, not_found_error("verdict", visit.path["id"]))
    return {"entries": [shown_entry(record)], "record": record}


PAGES = (
    Page("/verdicts", "Verdicts", "verdicts.html.jinja", _fill_list, menu=(3, "Verdicts")),
    Page("/search", "Search", "verdicts.html.jinja", _fill_search, section="/verdicts"),
    Page("/verdict/{id}", "Verdict", "verdict.html.jinja", _fill_one, section="/verdicts"),
)
