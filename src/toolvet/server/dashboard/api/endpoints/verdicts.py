"""`/v1/verdicts`: put verdicts into the store, judged on arrival or given, and read them."""

import time
from typing import Annotated, Any, Literal

import msgspec

from toolvet.core.envelope import not_found_error
from toolvet.errors import StoreError
from toolvet.server.access.role import Role
from toolvet.server.dashboard.api.bodies import note_fault
from toolvet.server.dashboard.api.endpoint import ApiBody, ApiRequest, Endpoint, Nothing
from toolvet.server.dashboard.api.fields import Limit, Name, Timestamp, TraceId
from toolvet.server.dashboard.api.given import AnyStored, stored_record
from toolvet.server.dashboard.api.stored import StoredVerdict, VerdictList, show_verdict
from toolvet.server.failures import ApiError
from toolvet.store import VerdictFilter
from toolvet.store.records import EventRecord, VerdictKind, new_id

_Score = Annotated[float, msgspec.Meta(ge=0, le=1)]


class VerdictQuery(ApiBody, frozen=True, kw_only=True):
    """Which verdicts are wanted: those that match every given condition, `limit` of them after the `cursor`."""

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
    """The stored verdict: its id, and the verdict in short.

    If the check raised, `outcome` is `unchecked`, `reason` says why, and `id` is that of the event that was stored.
    """

    id: str
    kind: str
    trace_id: str | None
    outcome: str
    failed: bool
    should_escalate: bool
    score: float | None
    reason: str | None


def _keep(asked: ApiRequest[Any]) -> StoredReply:
    body = asked.body
    try:
        record = stored_record(body, asked.site.store)
    except (ApiError, StoreError):
        raise
    except Exception as error:  # noqa: BLE001 - a bug of ours is not the fault of this request
        words, now = note_fault(error), time.time()
        event = EventRecord(id=new_id(now), at=now, kind="check_failed", message=words, server=body.server)
        asked.site.store.add_records([event])
        return StoredReply(
            id=event.id,
            kind="event",
            trace_id=body.trace_id,
            outcome="unchecked",
            failed=False,
            should_escalate=False,
            score=None,
            reason=words,
        )
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
