"""`/v1/verdicts`: put verdicts into the store, judged on arrival or given, and read them."""

from typing import Annotated, Any, Literal

import msgspec

from toolvet.core.envelope import not_found_error
from toolvet.server.access.role import Role
from toolvet.server.dashboard.api.endpoint import ApiBody, ApiRequest, Endpoint, Nothing
from toolvet.server.dashboard.api.fields import Limit, Name, Timestamp, TraceId
from toolvet.server.dashboard.api.given import AnyStored, stored_record
from toolvet.server.dashboard.api.stored import StoredVerdict, VerdictList, show_verdict
from toolvet.server.failures import ApiError
from toolvet.store import VerdictFilter
from toolvet.store.records import VerdictKind

_Score = Annotated[float, msgspec.Meta(ge=0, le=1)]


class VerdictQuery(ApiBody, frozen=True, kw_only=True):
    """Which verdicts are wanted: those for which all that is given holds, `limit` of them after the `cursor`."""

    limit: Limit = 100
    cursor: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000_000)] | None = None
    order: Literal["newest", "oldest", "lowest_score", "slowest"] = "newest"
    count: bool = True
    kind: VerdictKind | None = None
    server: Name | None = None
    tool: Name | None = None
    model: Name | None = None
    variant: Name | None = None
    signal: Name | None = None
    outcome: Name | None = None
    state: Name | None = None
    failed: bool | None = None
    escalated: bool | None = None
    blocked: bool | None = None
    min_score: _Score | None = None
    max_score: _Score | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None
    text: Name | None = None
    trace_id: TraceId | None = None
    conversation: Name | None = None


class StoredReply(msgspec.Struct, frozen=True, kw_only=True):
    """What was kept: its id, and the verdict in short."""

    id: str
    kind: str
    trace_id: str | None
    outcome: str
    failed: bool
    should_escalate: bool
    score: float | None
    reason: str | None


def _keep(asked: ApiRequest[Any]) -> StoredReply:
    record = stored_record(asked.body, asked.site.store)
    # Safe on disk when this returns; a StoreError is a 503, and nothing was kept.
    asked.site.store.add_records([record])
    return StoredReply(
        id=record.id,
        kind=record.kind,
        trace_id=record.trace,
        outcome=record.outcome,
        failed=record.failed,
        should_escalate=record.escalate,
        score=record.score,
        reason=record.reason,
    )


def verdict_filter(query: VerdictQuery) -> VerdictFilter:
    """Return the filter of a query."""
    given = {name: getattr(query, name) for name in VerdictFilter.__struct_fields__ if name != "trace"}
    return VerdictFilter(**given, trace=query.trace_id)


def _list(asked: ApiRequest[VerdictQuery]) -> VerdictList:
    query, store = asked.body, asked.site.store
    wanted = verdict_filter(query)
    by_place = query.order in {"newest", "oldest"}
    found = store.page(
        wanted,
        limit=query.limit,
        order=query.order,
        before=query.cursor if query.order == "newest" else None,
        after=query.cursor if query.order == "oldest" else None,
        offset=0 if by_place else query.cursor or 0,
    )
    said = asked.site.queue.labels_of([record.id for record in found.verdicts], reader=asked.person.name)
    cursor = found.verdicts[-1].seq if by_place and found.verdicts else (query.cursor or 0) + len(found.verdicts)
    return VerdictList(
        verdicts=[show_verdict(record, said) for record in found.verdicts],
        total=found.count if query.count else None,
        total_is_exact=found.is_whole if query.count else None,
        next=cursor if found.has_more else found.stopped,
    )


def _one(asked: ApiRequest[Nothing]) -> StoredVerdict:
    id_ = asked.path["id"]
    record = asked.site.store.verdict(id_) if "\x00" not in id_ else None
    if record is None:
        raise ApiError(404, not_found_error("Verdict", id_))
    return show_verdict(record, asked.site.queue.labels_of([id_], reader=asked.person.name))


ENDPOINTS = (
    Endpoint("GET", "/v1/verdicts", "List verdicts.", VerdictQuery, _list, reply=VerdictList, waits=True),
    Endpoint(
        "POST",
        "/v1/verdicts",
        "Keep a verdict, judged on arrival or given; 201 once it is safe on disk.",
        AnyStored,  # type: ignore[arg-type]
        _keep,
        status=201,
        reply=StoredReply,
        role=Role.REVIEWER,
        waits=True,
    ),
    Endpoint(
        "GET",
        "/v1/verdicts/{id}",
        "Read one verdict.",
        Nothing,
        _one,
        reply=StoredVerdict,
        failures=(404,),
        waits=True,
    ),
)
