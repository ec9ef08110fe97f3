"""`/queue` and `/queue/{id}`: what people should look at, and one item with all that its reviewer needs."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from toolvet.core.envelope import error_response, not_found_error, validation_error
from toolvet.core.json_value import elements, members
from toolvet.core.visible import one_line, shorten
from toolvet.errors import UsageError
from toolvet.server.access.role import Role
from toolvet.server.dashboard.page import Page, RequestContext
from toolvet.server.dashboard.view.entries import PayloadPart, result_parts
from toolvet.server.failures import ApiError
from toolvet.server.review import mark_evidence, measure_agreement, review_signals, vocabulary
from toolvet.server.reviewing import assign_item, hand_in, reasons, reviewers_of, verdict_words
from toolvet.store import VerdictRecord
from toolvet.store.queue import ReviewQueue
from toolvet.store.queue_reading import ItemFilter
from toolvet.store.queue_records import QueueItem

_SHOWN: Final = 50
_MOST_TEXT: Final = 200
_MOST_VALUE: Final = 20_000
_MOST_CALLS: Final = 50
_MOST_VERDICTS: Final = 500
_SIGNAL: Final = "signal-"
_MISSED: Final = "missed-type-"


class QueueCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of the turn as the page shows it: arguments as indented JSON, the parts of its result; None: not kept."""

    tool: str
    failed: bool
    arguments: str
    result: Sequence[PayloadPart] | None


def _fill_list(context: RequestContext) -> Mapping[str, object]:
    queue, name = context.server.queue, context.person.name
    state = context.query.get("state", "open")
    known: tuple[Literal["open", "done", "disputed"], ...] = ("open", "done", "disputed")
    wanted = ItemFilter(
        state=next((each for each in known if each == state), None),
        reviewer=name if state == "mine" else None,
        assigned=name if state == "assigned" else None,
    )
    items = queue.items(wanted, limit=_SHOWN, reader=name)
    rows: list[tuple[QueueItem, Sequence[str], str]] = []
    for item in items:
        verdict = item.verdict
        if verdict is None:
            rows.append((item, (), ""))
            continue
        text = verdict.text if verdict.text is not None else verdict.reason or verdict.tool or ""
        rows.append((item, reasons(verdict), shorten(one_line(text), _MOST_TEXT)))
    return {
        "state": state if state in {*known, "mine", "assigned"} else "all",
        "counts": {
            "assigned": queue.count(ItemFilter(assigned=name)),
            "disputed": queue.count(ItemFilter(state="disputed")),
        },
        "rows": rows,
        "total": queue.count(wanted),
        "progress": queue.progress(),
        "agreement": measure_agreement(queue.labels(at_least=2)),
        "notice": "You have seen everything that is in the queue for you." if "done" in context.query else "",
    }


def _start(context: RequestContext) -> str:
    if context.form.get("action") == "undo":
        item = context.server.queue.undo(context.person.name, address=context.address)
        return "/queue" if item is None else f"/queue/{item.id}?undone=1"
    return _next_path(context)


def _next_path(context: RequestContext) -> str:
    item = context.server.queue.next(context.person.name)
    return "/queue?done=1" if item is None else f"/queue/{item.id}"


def _fill_item(context: RequestContext) -> Mapping[str, object]:
    queue, name = context.server.queue, context.person.name
    item = _item(context)
    verdict = item.verdict
    if verdict is None:
        raise ApiError(404, not_found_error("queue item", item.id))
    signals = review_signals(verdict)
    own = next((label for label in item.labels if label.reviewer == name), None)
    words = vocabulary(verdict.kind)
    is_settled_here = item.state == "done" and (item.is_disputed or item.final is not None)
    # An adjudicator changes the final label, everybody else their own.
    shown = item.final if is_settled_here and item.final is not None else own
    question = verdict.detail.get("question")
    # What others did with the item would say what they think.
    sees_all = own is not None or item.state == "done"
    changes = queue.history(item.id, reviewer=None if sees_all else name, limit=_SHOWN)
    return {
        "item": item,
        "verdict": verdict,
        "at": _time(verdict.at),
        "before_question": words.question.partition("{verdict}")[0],
        "after_question": words.question.partition("{verdict}")[2],
        "verdict_words": verdict_words(verdict),
        "vocabulary": words,
        "signals": signals,
        "numbers": {signal.key: index for index, signal in enumerate(signals, start=1)},
        "parts": mark_evidence(verdict.text or "", signals),
        "asked": question if isinstance(question, str) else None,
        "calls": _calls(queue, verdict),
        "own": own,
        "changes": [(_time(change.at), change) for change in changes],
        "others": [label for label in item.labels if label.reviewer != name],
        "hidden": item.labelled - len(item.labels) if not item.labels else 0,
        "shown": shown,
        "is_settled_here": is_settled_here,
        "assignees": reviewers_of(context.server.settings),
        "may_label": is_settled_here or item.may_be_taken_by(name),
        "progress": queue.progress(),
        "undone": "undone" in context.query,
    }


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _calls(queue: ReviewQueue, verdict: VerdictRecord) -> list[QueueCall]:
    given = [members(call) for call in elements(verdict.detail.get("calls"))]
    if not given and verdict.trace is not None:
        turn = queue.store.turn(verdict.trace, limit=_MOST_VERDICTS)
        given = [{"tool": call.tool, "failed": call.failed, **call.detail} for call in turn.calls]
    calls: list[QueueCall] = []
    for call in given[:_MOST_CALLS]:
        value = call.get("arguments")
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
        calls.append(
            QueueCall(
                tool=str(call.get("tool") or ""),
                failed=bool(call.get("failed")),
                arguments=shorten(text, _MOST_VALUE),
                result=result_parts(call["result"]) if "result" in call else None,
            )
        )
    return calls


def _item(context: RequestContext) -> QueueItem:
    id_ = context.path["id"]
    try:
        return context.server.queue.item(id_, context.person.name)
    except UsageError:
        raise ApiError(404, not_found_error("queue item", id_)) from None


def _post_item(context: RequestContext) -> str:
    queue, name, form = context.server.queue, context.person.name, context.form
    action = form.get("action", "")
    if action == "undo":
        item = queue.undo(name, address=context.address)
        return f"/queue/{context.path['id']}" if item is None else f"/queue/{item.id}?undone=1"
    item = _item(context)
    if action == "skip":
        queue.skip(item.id, name, address=context.address)
    elif action == "assign":
        try:
            to = form.get("assignee", "")
            assign_item(queue, item.id, to, context.server.settings, who=name, address=context.address)
        except UsageError as error:
            raise ApiError(422, validation_error(f"{error}", field="reviewer")) from error
        return f"/queue/{item.id}"
    elif action == "release":
        queue.release(item.id, name, address=context.address)
        return "/queue"
    else:
        _label(context, item)
        if "final" in form:
            more = queue.items(ItemFilter(state="disputed"), limit=1)
            return f"/queue/{more[0].id}" if more else "/queue?state=disputed"
    return _next_path(context)


def _label(context: RequestContext, item: QueueItem) -> None:
    form = context.form
    said = {key.removeprefix(_SIGNAL): value for key, value in form.items() if key.startswith(_SIGNAL) and value}
    # Words without a fault are refused like a fault that does not exist, and not lost.
    missed = {
        type_: words
        for key, type_ in form.items()
        if key.startswith(_MISSED)
        and ((words := form.get(f"missed-words-{key.removeprefix(_MISSED)}", "").strip()) or type_)
    }
    try:
        hand_in(
            context.server.queue,
            item,
            context.person.name,
            value=form.get("value", ""),
            note=form.get("note", ""),
            signals=said,
            missed=missed,
            final="final" in form,
            second_opinion="second" in form,
            address=context.address,
        )
    except UsageError as error:
        field = f"{error}".partition(":")[0]
        is_field = field.partition(".")[0] in {"value", "note", "signals", "missed"}
        envelope = validation_error(f"{error}", field=field) if is_field else error_response(f"{error}")
        raise ApiError(422 if is_field else 409, envelope) from error


PAGES = (
    Page("/queue", "Review queue", "queue.html.jinja", _fill_list, menu=(2, "Queue"), role=Role.REVIEWER, post=_start),
    Page(
        "/queue/{id}",
        "Review",
        "queue_item.html.jinja",
        _fill_item,
        role=Role.REVIEWER,
        post=_post_item,
        section="/queue",
    ),
)
