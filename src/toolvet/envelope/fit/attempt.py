"""One way to shorten a response, carried out: as much is kept as the budget holds, and the rest is told."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from toolvet.envelope.archive.memory import PREFIX, Archive
from toolvet.envelope.builders.responses import success_response
from toolvet.envelope.fit.items import Items
from toolvet.envelope.fit.measure import Measure
from toolvet.envelope.fit.states import States, richest
from toolvet.envelope.fit.long_texts import long_texts, shortened
from toolvet.envelope.json_copy import written
from toolvet.envelope.response import Envelope
from toolvet.envelope.contract.vocabulary import ContentFidelity, ResponseContract, WarningCode
from toolvet.errors import ArchiveError


class Attempt(NamedTuple):
    """These items of this payload, each replaced by what `shorten` gives; texts elsewhere cut at `most` characters.

    With `restores`, items that matter most are left whole when there is room after all have been shortened. With `bare`
    that is all the payload there will be.
    """

    level: ContentFidelity
    items: Items
    shorten: Callable[[int], Any] | None
    most: int | None = None
    restores: bool = False
    bare: Mapping[str, Any] | None = None

    @property
    def least(self) -> int:
        """How many items have to be kept, if only one, for the attempt to be worth it."""
        return 1 if self.items.values and self.bare is None else 0


class Task(msgspec.Struct, frozen=True):
    """What is to be shortened, to what, and who keeps the rest.

    `seen` are the lengths of the shortest responses tried: for the error that says which budget would do.
    """

    whole: Envelope
    limit: int
    measure: Measure
    archive: Archive | None
    reason: str
    seen: list[int]


def fitted_response(task: Task, attempt: Attempt) -> Envelope | None:
    """The richest response of this attempt that fits, or None. What it leaves out is in the archive then."""
    states = States(attempt.items, task.measure, attempt.shorten, restores=attempt.restores)
    if attempt.bare is not None:
        states.top = 0
    if states.top < attempt.least:
        return None
    for share in (task.limit // _SHARE_OF_IDS, 0):
        state = _chosen_state(task, attempt, states, share)
        if state >= attempt.least:
            return _finished(task, attempt, states, state)
    return None


# The part of the budget that the ids of what is missing may take from what is not.
_SHARE_OF_IDS = 5
_LISTED = b',"dropped_content_ids":[]'
_NO_HASH = PREFIX + "0" * 64


def _chosen_state(task: Task, attempt: Attempt, states: States, share: int) -> int:
    """How much can be kept if ids may take `share`; -1 for nothing at all."""
    measure, limit = task.measure, task.limit
    empty = measure(_text(_response(task, attempt, _draft(task, attempt, states, 0), 0)))
    if attempt.bare is not None:
        task.seen.append(empty)
    listed = _costs_of_ids(attempt.items, measure, share)
    guess = states.fitting(lambda state: limit - empty - listed(state))
    if measure.additive:
        return guess

    def fits(state: int) -> bool:
        response = _response(task, attempt, _draft(task, attempt, states, state), 0)
        return measure(_text(response)) + listed(state) <= limit

    return richest(fits, guess, states.top)


def _costs_of_ids(items: Items, measure: Measure, share: int) -> Callable[[int], int]:
    """What the ids that a state leaves out cost, up to `share`."""
    count = len(items.values)
    # An id takes at least so much, with quotes and comma: so the ids of more items than this are never all listed.
    window = max(0, count - share // (3 if measure.additive else 1) - 1)
    total = measure(_LISTED)
    totals = [0]
    for number in reversed(items.order[window:]):
        total += measure(written(items.ids[number])) + 1
        totals.append(total)
        if total > share:
            break

    def cost(state: int) -> int:
        missing = max(0, count - state)
        return min(share, totals[missing]) if missing < len(totals) else share

    return cost


class _Draft(NamedTuple):
    """A response before its metadata: what it holds, the ids of what it misses, and how many of what there are."""

    data: Mapping[str, Any]
    error: str | None
    dropped: Sequence[str]
    counts: Mapping[str, int]
    content_hash: str | None


def _draft(task: Task, attempt: Attempt, states: States, state: int) -> _Draft:
    items, error = attempt.items, task.whole.error
    kept = states.chosen(state)
    counts: dict[str, int] = {}
    if items.values:
        missing = len(items.values) - len(kept)
        counts = {"total_count": len(items.values), "kept_count": len(kept), "dropped_count": missing}
        reduced = sum(1 for number, value in kept.items() if value is not items.values[number])
        if reduced and attempt.level != ContentFidelity.REFERENCE_ONLY:
            counts["shortened_count"] = reduced
    if attempt.bare is not None:
        data = attempt.bare
    elif attempt.most is None:
        data = items.placed(task.whole.data, kept)
    else:
        skeleton = items.placed(task.whole.data, {})
        texts = sum(1 for _ in long_texts(skeleton, attempt.most))
        if texts:
            counts["shortened_texts"] = texts
        data = items.placed(cast("dict[str, Any]", shortened(skeleton, attempt.most)), kept)
    if error is not None and attempt.most is not None:
        error = str(shortened(error, max(attempt.most, _SHORTEST_ERROR)))
    dropped = [items.ids[number] for number in items.order[min(state, len(items.values)) :]]
    return _Draft(data, error, dropped, counts, None if task.archive is None else _NO_HASH)


# A message that was cut shorter than this would say nothing.
_SHORTEST_ERROR = 80


def _finished(task: Task, attempt: Attempt, states: States, state: int) -> Envelope | None:
    """The response of this state, or of the next poorer one that fits with all that is told; None if none does."""
    stride = 1
    while state >= attempt.least:
        draft = _draft(task, attempt, states, state)
        listed = _listed(task, attempt, draft)
        if listed >= 0 and task.archive is None:
            return _response(task, attempt, draft, listed)
        if listed >= 0 and task.archive is not None:
            try:
                content_hash = task.archive.put(_left_out(task, attempt, states.chosen(state)))
            except ArchiveError:
                # One that is full or broken is no reason to answer nothing; and the response gets shorter without it.
                return fitted_response(msgspec.structs.replace(task, archive=None), attempt)
            response = _response(task, attempt, draft._replace(content_hash=content_hash), listed)
            # All hashes are of one length, but a tokeniser may see that otherwise.
            if task.measure(_text(response)) <= task.limit:
                return response
        state, stride = state - stride, stride * 2
    return None


def _left_out(task: Task, attempt: Attempt, kept: Mapping[int, Any]) -> dict[str, Any]:
    """What the archive keeps: each item that is not there whole, by its id, and the rest if it is not there whole."""
    items = attempt.items
    missing = {
        name: value
        for number, (name, value) in enumerate(zip(items.ids, items.values, strict=True))
        if kept.get(number, _ABSENT) is not value
    }
    content: dict[str, Any] = {"items": missing}
    if attempt.most is not None or attempt.bare is not None:
        content["data"] = items.placed(task.whole.data, {})
        if task.whole.error is not None:
            content["error"] = task.whole.error
    return content


_ABSENT = object()


def _listed(task: Task, attempt: Attempt, draft: _Draft) -> int:
    """How many of the ids of what is missing the response has room to name; -1 if it does not even fit without."""

    def fits(count: int) -> bool:
        return task.measure(_text(_response(task, attempt, draft, count))) <= task.limit

    bare = task.measure(_text(_response(task, attempt, draft, 0)))
    if bare > task.limit:
        return -1
    if not draft.dropped:
        return 0
    room, guess = task.limit - bare - task.measure(_LISTED), 0
    for name in draft.dropped:
        room -= task.measure(written(name)) + 1
        if room < 0:
            break
        guess += 1
    # All of them leave out how many are not named, so they may fit where the sums say that they do not.
    if guess >= len(draft.dropped) - 2 and fits(len(draft.dropped)):
        return len(draft.dropped)
    # Where sums are exact there is nothing to search.
    top = guess if task.measure.additive else len(draft.dropped) - 1
    return max(0, richest(fits, min(guess, top), top))


def _response(task: Task, attempt: Attempt, draft: _Draft, listed: int) -> Envelope:
    """The draft with its metadata, naming `listed` of what it misses."""
    whole = task.whole.meta
    context: dict[str, object] = {**draft.counts, "reason": task.reason}
    if listed < len(draft.dropped):
        context["unlisted_count"] = len(draft.dropped) - listed
    warning = {"code": WarningCode.CONTENT_TRUNCATED, "message": _message(attempt, draft), "context": context}
    hashes = dict(whole.get("content_archive_hashes", {}))
    if draft.content_hash is not None and task.archive is not None:
        hashes[task.archive.name] = draft.content_hash
    level = max(attempt.level, whole.get("content_fidelity", ContentFidelity.FULL), key=_LEVELS.index)
    about = success_response(
        meta={name: value for name, value in whole.items() if name != "dropped_content_ids"},
        warning_details=[*whole.get("warning_details", ()), warning],
        content_fidelity=level,
        dropped_content_ids=[*whole.get("dropped_content_ids", ()), *draft.dropped[:listed]],
        content_archive_hashes=hashes,
    )
    return Envelope(success=task.whole.success, data=draft.data, error=draft.error, meta=about.meta)


def _text(response: Envelope) -> bytes:
    # Whatever the caller asked for: a bare payload is shorter.
    return response.to_json(ResponseContract.V2)


_LEVELS = tuple(ContentFidelity)


def _message(attempt: Attempt, draft: _Draft) -> str:
    counts = draft.counts
    parts: list[str] = []
    if counts.get("dropped_count"):
        parts.append(f"{counts['dropped_count']} of {counts['total_count']} items omitted")
    elif attempt.bare is not None:
        parts.append("All content omitted")
    if attempt.level == ContentFidelity.REFERENCE_ONLY and counts.get("kept_count"):
        parts.append(f"{counts['kept_count']} items reduced to references")
    if counts.get("shortened_count"):
        parts.append(f"{counts['shortened_count']} items shortened")
    if counts.get("shortened_texts"):
        parts.append("long texts cut")
    told = ", ".join(parts) or "Content shortened"
    return f"{told[0].upper()}{told[1:]} to fit the size limit"
