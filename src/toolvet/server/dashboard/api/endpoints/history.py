"""What happened: turns, sums, trends, events."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import msgspec

from toolvet.core.envelope import not_found_error
from toolvet.errors import UsageError
from toolvet.server.dashboard.api.endpoint import ApiBody, ApiRequest, Endpoint, Nothing
from toolvet.server.dashboard.api.fields import Limit, Name, Timestamp
from toolvet.server.dashboard.api.stored import (
    EventList,
    GroupList,
    OverviewReply,
    StoredTurn,
    TrendReply,
    TurnList,
    show_event,
    show_group,
    show_overview,
    show_point,
    show_turn,
)
from toolvet.server.failures import ApiError
from toolvet.store import FigureFilter, RecordedTurn

if TYPE_CHECKING:
    from toolvet.store.overview import GroupKey


class LimitQuery(ApiBody, frozen=True, kw_only=True):
    """How many at most."""

    limit: Limit = 100


class FigureQuery(ApiBody, frozen=True, kw_only=True):
    """Which verdicts are summed: those that match every given condition. `until` is excluded."""

    since: Timestamp | None = None
    until: Timestamp | None = None
    kind: Name | None = None
    server: Name | None = None
    tool: Name | None = None
    model: Name | None = None
    variant: Name | None = None


class OverviewQuery(FigureQuery, frozen=True, kw_only=True):
    """The same, with at most `most` tools and issues."""

    most: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 50


class GroupQuery(OverviewQuery, frozen=True, kw_only=True):
    """The same; `by` are one or several of kind, server, tool, model and variant, with commas between them."""

    by: Annotated[str, msgspec.Meta(pattern="^(kind|server|tool|model|variant)(,(kind|server|tool|model|variant))*$")]


class TrendQuery(FigureQuery, frozen=True, kw_only=True):
    """The same, in intervals of `seconds`; without it, of a length that fits."""

    seconds: Literal[60, 3600, 86400] | None = None


def _figures(query: FigureQuery) -> FigureFilter:
    return FigureFilter(**{name: getattr(query, name) for name in FigureFilter.__struct_fields__})


def _shown(asked: ApiRequest[Any], turns: Sequence[RecordedTurn]) -> list[StoredTurn]:
    ids = [verdict.id for turn in turns for verdict in turn.verdicts]
    said = asked.site.queue.labels_of(ids, reader=asked.person.name)
    return [show_turn(turn, said) for turn in turns]


def _turn(asked: ApiRequest[Nothing]) -> StoredTurn:
    trace = asked.path["trace"]
    if trace.isascii() and trace.isprintable():
        try:
            return _shown(asked, [asked.site.store.turn(trace)])[0]
        except UsageError:
            # None, or several that begin so.
            pass
    raise ApiError(404, not_found_error("Turn", trace))


def _groups(asked: ApiRequest[GroupQuery]) -> GroupList:
    by = cast("list[GroupKey]", list(dict.fromkeys(asked.body.by.split(","))))
    found = asked.site.store.groups(by, _figures(asked.body), most=asked.body.most)
    return GroupList(groups=[show_group(group) for group in found])


def _get(
    path: str,
    summary: str,
    takes: type[Any],
    run: Callable[[ApiRequest[Any]], object],
    reply: type[Any],
    *failures: int,
) -> Endpoint[Any]:
    return Endpoint("GET", path, summary, takes, run, reply=reply, failures=failures, waits=True)


ENDPOINTS = (
    _get(
        "/v1/turns",
        "List the turns that something was added to last.",
        LimitQuery,
        lambda asked: TurnList(turns=_shown(asked, asked.site.store.latest_turns(asked.body.limit))),
        TurnList,
    ),
    _get("/v1/turns/{trace}", "Read one turn, by its id or its beginning.", Nothing, _turn, StoredTurn, 404),
    _get(
        "/v1/overview",
        "Sums: in all, by kind, by tool, by issue.",
        OverviewQuery,
        lambda asked: show_overview(asked.site.store.overview(_figures(asked.body), most=asked.body.most)),
        OverviewReply,
    ),
    _get("/v1/groups", "Sums for each server, tool, model, variant or kind.", GroupQuery, _groups, GroupList),
    _get(
        "/v1/trend",
        "Sums over time.",
        TrendQuery,
        lambda asked: TrendReply(
            points=[
                show_point(point) for point in asked.site.store.trend(_figures(asked.body), seconds=asked.body.seconds)
            ]
        ),
        TrendReply,
    ),
    _get(
        "/v1/events",
        "List the latest other events.",
        LimitQuery,
        lambda asked: EventList(events=[show_event(event) for event in asked.site.store.events(asked.body.limit)]),
        EventList,
    ),
)
