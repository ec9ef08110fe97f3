"""The review queue as the command line, the API and the pages use it: settings and labels in, items as JSON out."""

from collections.abc import Mapping

import msgspec

from toolvet.core.settings import Settings
from toolvet.errors import UsageError
from toolvet.server.review import DEFAULT_RULES, QueueRule, check_label, chooser, kinds_of, review_signals
from toolvet.server.settings import ReviewSettings, ServeSettings
from toolvet.store import Store, VerdictRecord
from toolvet.store.queue import LEASE_SECONDS, ReviewQueue
from toolvet.store.queue_records import LabelChange, QueueItem, ReviewLabel
from toolvet.store.records import clean_text

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
    missed: Mapping[str, str] | None = None,
    final: bool = False,
    second_opinion: bool = False,
    address: str = "",
) -> QueueItem:
    """Keep a label. Raises UsageError for a word that is not in the vocabulary, and where others have the item.

    `missed` are faults that toolvet did not find, `final` decides where reviewers differ.
    """
    said = dict(signals or {})
    named = {type_: " ".join(words.split()) for type_, words in (missed or {}).items()}
    if item.verdict is not None:
        known = {signal.key: signal for signal in review_signals(item.verdict)}
        check_label(item.verdict.kind, value, said, known, note, missed=named, text=item.verdict.text or "")
    label = ReviewLabel(value=value, note=note.strip(), signals=said, missed=named, final=final)
    return queue.label(item.id, reviewer, label, second_opinion=second_opinion, address=address)


def assign_item(
    queue: ReviewQueue, id_: str, to: str | None, settings: Settings | None, *, who: str, address: str = ""
) -> QueueItem:
    """Keep an item for the person of this name, None for anybody. Raises UsageError for a name that cannot review."""
    name = None if to is None else clean_text(to.strip()) or None
    known = reviewers_of(settings)
    if name is not None and known and name not in known:
        raise UsageError(f"reviewer: {name!r} is not one of {', '.join(known)}")
    return queue.assign(id_, name, who=who, address=address)


def reviewers_of(settings: Settings | None) -> tuple[str, ...]:
    """Return the names of the people who can review; none if an identity provider names them, or no setting does."""
    serve = None if settings is None else settings[ServeSettings]
    if serve is None or serve.oidc is not None:
        return ()
    return tuple(person.name for person in serve.people if person.role != "viewer")


def reasons(verdict: VerdictRecord) -> tuple[str, ...]:
    """Return what speaks against a verdict, in a word or two each: `refusal`, `too short`. Empty for nothing."""
    if verdict.kind == "answer":
        # A group of phrases, such as `mild`, says less than its type.
        found = [each.type if each.source == "phrase" else each.label or each.type for each in review_signals(verdict)]
    else:
        found = [signal.type for signal in verdict.signals] or ([verdict.outcome] if verdict.failed else [])
    return tuple(dict.fromkeys(word.replace("_", " ") for word in found if word))


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
        "assigned": list(item.assigned),
        "leased_until": item.until,
        "disputed": item.is_disputed,
        "labels": [label_document(label) for label in item.labels],
        "final": None if item.final is None else label_document(item.final),
    }
    if verdict is not None:
        document["reasons"] = list(reasons(verdict))
        document["verdict"] = _verdict_document(verdict, whole=whole)
        if whole:
            signals = [msgspec.to_builtins(signal) for signal in review_signals(verdict)]
            document["signals"] = [
                {name: value for name, value in signal.items() if value not in (None, "")} for signal in signals
            ]
    return document


def label_document(label: ReviewLabel) -> dict[str, object]:
    """Return a label as JSON."""
    return {name: value for name, value in msgspec.structs.asdict(label).items() if name != "item"}


def label_words(label: ReviewLabel) -> str:
    """Return a label in one line: the value, its signals, what was missed, the note."""
    signals = [f"{key}={value}" for key, value in label.signals.items()]
    missed = [f'missed {type_} "{words}"' if words else f"missed {type_}" for type_, words in label.missed.items()]
    value = f"{label.value} (final)" if label.final else label.value
    return "; ".join(filter(None, (value, ", ".join(signals), *missed, label.note)))


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
