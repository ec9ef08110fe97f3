"""The content of the store, as the API shows it: one spelling, derived figures, no internals."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from toolvet.store import (
    AssessmentRecord,
    EventRecord,
    Overview,
    RecordedTurn,
    TrendPoint,
    VerdictFigures,
    VerdictRecord,
)
from toolvet.store.overview import GroupFigures
from toolvet.store.queue_records import ReviewLabel


class StoredSignal(msgspec.Struct, frozen=True, kw_only=True):
    """One reason for a stored verdict."""

    type: str
    level: str
    certainty: float | None


class StoredVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict of the store. Times are in seconds since the epoch, durations in seconds, `size` is in bytes.

    `detail` is the rest of the verdict, whose members depend on its kind. `labels` are what reviewers said of it: all
    labels once the item is done or yours is there.
    """

    id: str
    at: float
    kind: str
    trace_id: str | None
    conversation: str | None
    server: str
    tool: str | None
    model: str | None
    variant: str | None
    outcome: str
    failed: bool
    classification: str | None
    state: str | None
    blocked: str | None
    score: float | None
    should_escalate: bool
    confidence: float | None
    reason: str | None
    duration: float | None
    size: int
    text: str | None
    signals: list[StoredSignal]
    labels: list[ReviewLabel]
    detail: dict[str, Any]
    version: str


_SAME = (
    *("id", "at", "kind", "conversation", "server", "tool", "model", "variant", "outcome", "failed", "classification"),
    *("state", "blocked", "score", "confidence", "reason", "duration", "size", "text", "version"),
)


def show_verdict(record: VerdictRecord, said: Mapping[str, Sequence[ReviewLabel]] = {}) -> StoredVerdict:
    """Return a verdict of the store for the API, with what people said of it (`ReviewQueue.labels_of`)."""
    return StoredVerdict(
        **{name: getattr(record, name) for name in _SAME},
        trace_id=record.trace,
        should_escalate=record.escalate,
        signals=[
            StoredSignal(type=signal.type, level=signal.level, certainty=signal.certainty) for signal in record.signals
        ],
        labels=list(said.get(record.id, ())),
        detail=dict(record.detail),
    )


class VerdictList(msgspec.Struct, frozen=True, kw_only=True):
    """Verdicts of a filter: `total` of them, null if it was not requested; `next` is the cursor of the next page.

    If `total_is_exact` is false, there are at least `total`. A page may have fewer verdicts than its limit, or none,
    and a `next`: a part of a large store was searched, and the next page goes on from there.
    """

    verdicts: list[StoredVerdict]
    total: int | None
    total_is_exact: bool | None
    next: int | None


class StoredTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts under one trace id, in the order in which they happened."""

    trace_id: str
    began: float
    verdicts: list[StoredVerdict]


class TurnList(msgspec.Struct, frozen=True, kw_only=True):
    """The turns that something was added to last."""

    turns: list[StoredTurn]


def show_turn(turn: RecordedTurn, said: Mapping[str, Sequence[ReviewLabel]]) -> StoredTurn:
    """Return a turn of the store for the API."""
    return StoredTurn(
        trace_id=turn.trace, began=turn.began, verdicts=[show_verdict(verdict, said) for verdict in turn.verdicts]
    )


class FiguresReply(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over verdicts. Rates and scores are 0 to 1, durations in seconds; null where nothing was measured."""

    verdicts: int
    failed: int
    escalated: int
    blocked: int
    failure_rate: float
    escalation_rate: float
    average_score: float | None
    average_duration: float | None
    duration_p50: float | None
    duration_p95: float | None
    duration_p99: float | None
    longest_duration: float | None


def show_figures(figures: VerdictFigures) -> FiguresReply:
    """Return sums for the API."""
    return FiguresReply(
        verdicts=figures.verdicts,
        failed=figures.failed,
        escalated=figures.escalated,
        blocked=figures.blocked,
        failure_rate=figures.failure_rate,
        escalation_rate=figures.escalation_rate,
        average_score=figures.average_score,
        average_duration=figures.average_duration,
        duration_p50=figures.percentile(0.5),
        duration_p95=figures.percentile(0.95),
        duration_p99=figures.percentile(0.99),
        longest_duration=figures.duration_max if figures.duration_count else None,
    )


class GroupReply(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of one group; members that it was not grouped by are empty."""

    kind: str
    server: str
    tool: str
    model: str
    variant: str
    figures: FiguresReply


class IssueReply(msgspec.Struct, frozen=True, kw_only=True):
    """How many verdicts have a signal of this type."""

    type: str
    verdicts: int


class OverviewReply(msgspec.Struct, frozen=True, kw_only=True):
    """What happened: in all, by kind, by tool (the most used first), and the most common issues."""

    total: FiguresReply
    kinds: dict[str, FiguresReply]
    tools: list[GroupReply]
    issues: list[IssueReply]


class GroupList(msgspec.Struct, frozen=True, kw_only=True):
    """Sums for each group, the largest first."""

    groups: list[GroupReply]


def show_group(group: GroupFigures) -> GroupReply:
    """Return the sums of a group for the API."""
    return GroupReply(
        kind=group.kind,
        server=group.server,
        tool=group.tool,
        model=group.model,
        variant=group.variant,
        figures=show_figures(group.figures),
    )


def show_overview(overview: Overview) -> OverviewReply:
    """Return the overview for the API."""
    return OverviewReply(
        total=show_figures(overview.total),
        kinds={kind: show_figures(figures) for kind, figures in overview.kinds.items()},
        tools=[show_group(group) for group in overview.tools],
        issues=[IssueReply(type=issue.type, verdicts=issue.verdicts) for issue in overview.issues],
    )


class TrendPointReply(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of the stretch of time that begins at `at` and lasts `seconds`."""

    at: float
    seconds: int
    figures: FiguresReply


class TrendReply(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over time."""

    points: list[TrendPointReply]


def show_point(point: TrendPoint) -> TrendPointReply:
    """Return one point of a trend for the API."""
    return TrendPointReply(at=point.at, seconds=point.seconds, figures=show_figures(point.figures))


class StoredEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Another event: a schema that does not compile, records that were dropped."""

    id: str
    at: float
    kind: str
    message: str
    server: str
    tool: str | None


class EventList(msgspec.Struct, frozen=True, kw_only=True):
    """The latest events, the newest first."""

    events: list[StoredEvent]


def show_event(event: EventRecord) -> StoredEvent:
    """Return an event for the API."""
    return StoredEvent(
        id=event.id, at=event.at, kind=event.kind, message=event.message, server=event.server, tool=event.tool
    )


class StoredAssessment(msgspec.Struct, frozen=True, kw_only=True):
    """An assessment of a server. `score` is 0 to 100, `counts` are its findings by severity.

    `report` is the whole report (`toolvet-report/1`); null in lists.
    """

    id: str
    at: float
    server: str
    target: str
    score: float | None
    status: str
    counts: dict[str, int]
    version: str
    report: dict[str, Any] | None


class AssessmentList(msgspec.Struct, frozen=True, kw_only=True):
    """The latest assessments, the newest first."""

    assessments: list[StoredAssessment]


def show_assessment(record: AssessmentRecord, *, with_report: bool) -> StoredAssessment:
    """Return an assessment for the API."""
    return StoredAssessment(
        id=record.id,
        at=record.at,
        server=record.server,
        target=record.target,
        score=record.score,
        status=record.status,
        counts=dict(record.counts),
        version=record.version,
        report=dict(record.detail) if with_report else None,
    )
