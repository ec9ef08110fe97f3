"""The review queue as the command line, the API and the pages use it: settings and labels in, items as JSON out."""

from collections.abc import Mapping

import msgspec

from toolvet.errors import UsageError
from toolvet.server.review import DEFAULT_RULES, QueueRule, check_label, chooser, kinds_of, review_signals
from toolvet.server.settings import ReviewSettings
from toolvet.store import Store, VerdictRecord
from toolvet.store.queue import LEASE_SECONDS, ReviewQueue
from toolvet.store.queue_records import LabelChange, QueueItem, ReviewLabel

_SECONDS = 60


def open_queue(store: Store, settings: ReviewSettings) -> ReviewQueue:
    """Return the review queue of a store, which these settings fill; without rules, ours do. Raises UsageError."""
    rules = queue_rules(settings)
    lease = settings.lease_minutes
    if lease is not None and lease <= 0:
        raise UsageError("review.lease_minutes must be more than 0")
    return ReviewQueue(
        store,
        chooser(rules),
        kinds=kinds_of(rules),
        lease_seconds=LEASE_SECONDS if lease is None else lease * _SECONDS,
    )


def queue_rules(settings: ReviewSettings) -> tuple[QueueRule, ...]:
    """Return the rules by which the queue fills. Raises UsageError for one that no verdict could follow."""
    if settings.queue is None:
        return DEFAULT_RULES
    rules = tuple(QueueRule(**msgspec.structs.asdict(each)) for each in settings.queue)
    for rule in rules:
        if not 0 <= rule.share <= 1:
            raise UsageError(f"review.queue: share of {rule.name} is {rule.share:g}, and must be from 0 to 1")
        if not 1 <= rule.reviewers <= 100:
            raise UsageError(f"review.queue: reviewers of {rule.name} must be from 1 to 100")
    names = [rule.name for rule in rules]
    if len(set(names)) != len(names):
        raise UsageError("review.queue: two rules have the same name")
    return rules


def hand_in(
    queue: ReviewQueue,
    item: QueueItem,
    reviewer: str,
    *,
    value: str,
    note: str = "",
    signals: Mapping[str, str] | None = None,
    second_opinion: bool = False,
    address: str = "",
) -> QueueItem:
    """Keep a label. Raises UsageError for a word that is not in the vocabulary, and where others have the item."""
    said = dict(signals or {})
    if item.verdict is not None:
        known = {signal.key: signal for signal in review_signals(item.verdict)}
        check_label(item.verdict.kind, value, said, known, note)
    label = ReviewLabel(value=value, note=note.strip(), signals=said)
    return queue.label(item.id, reviewer, label, second_opinion=second_opinion, address=address)


def verdict_words(verdict: VerdictRecord) -> str:
    """Return a verdict in a few words, for the question that a reviewer answers."""
    if verdict.kind == "answer":
        score = "" if verdict.score is None else f" (score {verdict.score:g})"
        return ("a person should see this answer" if verdict.escalate else "this answer is good enough") + score
    if verdict.kind in {"call", "result"}:
        words = " ".join(word.replace("_", " ") for word in (verdict.classification or "", verdict.outcome) if word)
        state = f", {verdict.state.replace('_', ' ')}" if verdict.state else ""
        return f"{words}{state}" or "nothing"
    return verdict.outcome or "nothing"


def item_document(item: QueueItem, *, whole: bool = True) -> dict[str, object]:
    """Return an item as JSON. A `whole` one has its verdict's text and details, and its signals."""
    verdict = item.verdict
    document: dict[str, object] = {
        "id": item.id,
        "state": item.state,
        "rule": item.rule,
        "priority": item.priority,
        "at": item.at,
        "wanted": item.wanted,
        "labelled": item.labelled,
        "leased_to": list(item.leased_to),
        "leased_until": item.until,
        "labels": [label_document(label) for label in item.labels],
    }
    if verdict is not None:
        document["verdict"] = _verdict_document(verdict, whole=whole)
        if whole:
            signals = [msgspec.to_builtins(signal) for signal in review_signals(verdict)]
            document["signals"] = [
                {name: value for name, value in signal.items() if value not in (None, "")} for signal in signals
            ]
    return document


def label_document(label: ReviewLabel) -> dict[str, object]:
    """Return a label as JSON."""
    document: dict[str, object] = {
        "reviewer": label.reviewer,
        "value": label.value,
        "signals": dict(label.signals),
        "note": label.note,
        "at": label.at,
    }
    return document


def change_document(change: LabelChange) -> dict[str, object]:
    """Return a change as JSON."""
    return {
        "seq": change.seq,
        "id": change.item,
        "reviewer": change.reviewer,
        "at": change.at,
        "action": change.action,
        "before": label_document(change.before) if change.before.value else None,
        "after": label_document(change.after) if change.after.value else None,
        "undoes": change.undoes,
    }


def export_document(label: ReviewLabel, verdict: VerdictRecord | None) -> dict[str, object]:
    """Return a label with what it is about as JSON: a line of an export."""
    document: dict[str, object] = {"id": label.item, **label_document(label)}
    if verdict is not None:
        document["verdict"] = _verdict_document(verdict, whole=True)
    return document


def _verdict_document(verdict: VerdictRecord, *, whole: bool) -> dict[str, object]:
    fields: dict[str, object] = {
        name: getattr(verdict, name)
        for name in ("kind", "at", "trace", "conversation", "server", "tool", "model", "variant", "outcome")
    }
    fields |= {
        "classification": verdict.classification,
        "state": verdict.state,
        "score": verdict.score,
        "escalate": verdict.escalate,
        "failed": verdict.failed,
        "reason": verdict.reason,
    }
    if whole:
        fields |= {"text": verdict.text, "detail": dict(verdict.detail)}
    return {name: value for name, value in fields.items() if value is not None and value != ""}
