"""`/v1/queue…`: the review queue. Labels carry the name of the person who sends them."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import msgspec

from toolvet.core.envelope import error_response, not_found_error, validation_error
from toolvet.errors import UsageError
from toolvet.server.access.role import Role
from toolvet.server.dashboard.api.endpoint import ApiBody, ApiRequest, Endpoint, Nothing
from toolvet.server.dashboard.api.fields import Name
from toolvet.server.failures import ApiError
from toolvet.server.review import measure_agreement, vocabulary
from toolvet.server.reviewing import assign_item, change_document, export_document, hand_in, item_document
from toolvet.store.queue_reading import ItemFilter
from toolvet.store.queue_records import QueueItem

_MOST: Final = 1000


class QueueQuery(ApiBody, frozen=True, kw_only=True):
    """Which items, and how many of them: those that you labelled (`mine`), those that wait for you (`assigned`)."""

    state: Literal["open", "done", "disputed", "all"] = "open"
    kind: Literal["call", "arguments", "result", "envelope", "answer"] | None = None
    rule: Name | None = None
    mine: bool = False
    assigned: bool = False
    limit: Annotated[int, msgspec.Meta(ge=1, le=_MOST)] = 50
    offset: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)] = 0


class ItemBody(ApiBody, frozen=True, kw_only=True):
    """A verdict to put into the queue, by its id."""

    id: Name
    priority: Annotated[int, msgspec.Meta(ge=-1000, le=1000)] = 0
    reviewers: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1


class LabelBody(ApiBody, frozen=True, kw_only=True):
    """A reviewer's labels: for the verdict, and for its signals by their keys (`0:refusal`).

    `missed` are faults that toolvet did not find: the words of the answer by the type of the fault. `final` decides
    where the reviewers of a done item differ.
    """

    value: str
    note: str = ""
    signals: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    missed: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    final: bool = False
    second_opinion: bool = False


class AssignBody(ApiBody, frozen=True, kw_only=True):
    """The person who should review an item; null for anyone."""

    reviewer: Name | None


class HistoryQuery(ApiBody, frozen=True, kw_only=True):
    """How many changes."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=_MOST)] = 100


class LabelsQuery(ApiBody, frozen=True, kw_only=True):
    """The labels of how many items, from which place on."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=_MOST)] = 100
    after: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)] = 0


def _list(asked: ApiRequest[QueueQuery]) -> object:
    queue, query, name = asked.site.queue, asked.body, asked.person.name
    wanted = ItemFilter(
        state=None if query.state == "all" else query.state,
        kind=query.kind,
        rule=query.rule,
        reviewer=name if query.mine else None,
        assigned=name if query.assigned else None,
    )
    items = queue.items(wanted, limit=query.limit, offset=query.offset, reader=name)
    progress = queue.progress()
    return {
        "items": [item_document(item, whole=False) for item in items],
        "total": queue.count(wanted),
        "progress": {
            "items": progress.items,
            "open": progress.open,
            "done": progress.done,
            "leased": progress.leased,
            "labels": progress.labels,
            "by_reviewer": progress.by_reviewer,
        },
    }


def _add(asked: ApiRequest[ItemBody]) -> object:
    body = asked.body
    try:
        item = asked.site.queue.add(
            body.id,
            rule="by hand",
            priority=body.priority,
            reviewers=body.reviewers,
            who=asked.person.name,
            address=asked.address,
        )
    except UsageError:
        raise ApiError(404, not_found_error("verdict", body.id)) from None
    return item_document(asked.site.queue.item(item.id, asked.person.name))


def _show(asked: ApiRequest[Nothing]) -> object:
    item = _item(asked)
    kind = "answer" if item.verdict is None else item.verdict.kind
    words = vocabulary(kind)
    return {
        **item_document(item),
        "vocabulary": {
            "values": [each.value for each in words.values],
            "signals": [each.value for each in words.signals],
            "missed": words.missed,
        },
    }


def _history(asked: ApiRequest[HistoryQuery]) -> object:
    item, name = _item(asked), asked.person.name
    may_see_all = item.state == "done" or any(label.reviewer == name for label in item.labels)
    changes = asked.site.queue.history(item.id, reviewer=None if may_see_all else name, limit=asked.body.limit)
    return {"changes": [change_document(change) for change in changes]}


def _label(asked: ApiRequest[LabelBody]) -> object:
    item, body = _item(asked), asked.body
    try:
        labelled = hand_in(
            asked.site.queue,
            item,
            asked.person.name,
            value=body.value,
            note=body.note,
            signals=body.signals,
            missed=body.missed,
            final=body.final,
            second_opinion=body.second_opinion,
            address=asked.address,
        )
    except UsageError as error:
        field = f"{error}".partition(":")[0]
        if field.partition(".")[0] in {"value", "note", "signals", "missed"}:
            raise ApiError(422, validation_error(f"{error}", field=field)) from error
        raise ApiError(409, error_response(f"{error}")) from error
    return item_document(labelled)


def _assign(asked: ApiRequest[AssignBody]) -> object:
    item, site = _item(asked), asked.site
    try:
        assigned = assign_item(
            site.queue, item.id, asked.body.reviewer, site.settings, who=asked.person.name, address=asked.address
        )
    except UsageError as error:
        raise ApiError(422, validation_error(f"{error}", field="reviewer")) from error
    return item_document(assigned)


def _lease(asked: ApiRequest[Nothing]) -> object:
    item = _item(asked)
    try:
        return item_document(asked.site.queue.lease(item.id, asked.person.name))
    except UsageError as error:
        raise ApiError(409, error_response(f"{error}")) from error


def _skip(asked: ApiRequest[Nothing]) -> object:
    asked.site.queue.skip(_item(asked).id, asked.person.name, address=asked.address)
    return {"skipped": True}


def _second(asked: ApiRequest[Nothing]) -> object:
    asked.site.queue.want_another(_item(asked).id, who=asked.person.name, address=asked.address)
    return item_document(_item(asked))


def _labels(asked: ApiRequest[LabelsQuery]) -> object:
    body = asked.body
    if not body.after:
        asked.note("export", "labels")
    labels, last = asked.site.queue.labels_after(body.after, limit=body.limit, reader=asked.person.name)
    return {
        "labels": [export_document(label, asked.site.store.verdict(label.item)) for label in labels],
        "next": None if last == body.after else last,
    }


def _given(item: QueueItem | None) -> object:
    return {"item": None if item is None else item_document(item)}


def _item(asked: ApiRequest[Any]) -> QueueItem:
    id_ = asked.path["id"]
    try:
        return asked.site.queue.item(id_, asked.person.name)
    except UsageError:
        raise ApiError(404, not_found_error("queue item", id_)) from None


def _endpoint(
    method: Literal["GET", "POST"],
    path: str,
    summary: str,
    run: Callable[[ApiRequest[Any]], object],
    *,
    takes: type[Any] = Nothing,
    failures: tuple[int, ...] = (),
) -> Endpoint[Any]:
    return Endpoint(method, f"/v1/queue{path}", summary, takes, run, role=Role.REVIEWER, failures=failures, waits=True)


ENDPOINTS = (
    _endpoint("GET", "", "List the review queue, what comes first on top.", _list, takes=QueueQuery),
    _endpoint("POST", "", "Put a verdict into the queue.", _add, takes=ItemBody, failures=(404,)),
    _endpoint(
        "POST",
        "/next",
        "Lease the next item; the same one until it is labelled, skipped or released.",
        lambda asked: _given(asked.site.queue.next(asked.person.name)),
    ),
    _endpoint(
        "POST",
        "/undo",
        "Take your last label or skip back.",
        lambda asked: _given(asked.site.queue.undo(asked.person.name, address=asked.address)),
    ),
    _endpoint(
        "GET",
        "/agreement",
        "Say how far reviewers agree: in percent, and Cohen's kappa.",
        lambda asked: measure_agreement(asked.site.queue.labels(at_least=2)),
    ),
    _endpoint(
        "GET",
        "/labels",
        "Export the labels that you may see, each with its verdict and text.",
        _labels,
        takes=LabelsQuery,
    ),
    _endpoint("GET", "/{id}", "Show an item; others' labels once yours is there.", _show, failures=(404,)),
    _endpoint(
        "GET", "/{id}/history", "List every change of an item's labels.", _history, takes=HistoryQuery, failures=(404,)
    ),
    _endpoint(
        "POST",
        "/{id}/label",
        "Say whether a verdict is right, and its signals.",
        _label,
        takes=LabelBody,
        failures=(404, 409),
    ),
    _endpoint(
        "POST",
        "/{id}/assign",
        "Assign an item to a person: it is offered only to them.",
        _assign,
        takes=AssignBody,
        failures=(404,),
    ),
    _endpoint("POST", "/{id}/lease", "Lease this item.", _lease, failures=(404, 409)),
    _endpoint(
        "POST",
        "/{id}/release",
        "Give a lease back.",
        lambda asked: {"released": asked.site.queue.release(_item(asked).id, asked.person.name, address=asked.address)},
        failures=(404,),
    ),
    _endpoint("POST", "/{id}/skip", "Leave an item to others.", _skip, failures=(404,)),
    _endpoint("POST", "/{id}/second-opinion", "Ask one more reviewer.", _second, failures=(404,)),
)
