"""One way to shorten a response: keep as much as the budget holds, and report the rest in `meta`.

How many items a response keeps is a numbered state, from nothing to nearly all. With the items `a`, `b`, `c` in order
of importance, state 2 keeps `a` and `b`. Where shortened items may be kept whole again, states 4 and 5 keep all three,
the first one or two of them whole.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, cast

import msgspec

from toolvet.core.envelope.archive import PREFIX, Archive
from toolvet.core.envelope.builders.responses import success_response
from toolvet.core.envelope.contract.vocabulary import ContentFidelity, WarningCode
from toolvet.core.envelope.fit.items import PayloadItems, cut_texts, find_long_texts
from toolvet.core.envelope.json_copy import encode_json
from toolvet.core.envelope.response import Envelope
from toolvet.errors import ArchiveError, EnvelopeError, EnvelopeTypeError

# The ids of dropped items may take a fifth of the budget from the items that are kept.
_SHARE_OF_IDS: Final = 5
_LISTED: Final = b',"dropped_content_ids":[]'
_NO_HASH: Final = PREFIX + "0" * 64
# A shorter message would not explain anything.
_SHORTEST_ERROR: Final = 80
_ABSENT: Final = object()
_LEVELS: Final = tuple(ContentFidelity)


class FitAttempt(NamedTuple):
    """One way to shorten: replace each item by what `shorten` returns, and cut other texts at `most` characters.

    With `restores`, the most important items stay whole if there is room after all items have been shortened. With
    `bare`, that is the whole payload; then `most` is required.
    """

    level: ContentFidelity
    items: PayloadItems
    shorten: Callable[[int], Any] | None
    most: int | None = None
    restores: bool = False
    bare: Mapping[str, Any] | None = None

    @property
    def least(self) -> int:
        """The fewest items that make the attempt worthwhile: one, unless there are no items."""
        return 1 if self.items.values and self.bare is None else 0


Counter = Callable[[str], int]
Unit = Literal["characters", "bytes"]


class Measure:
    """Counts JSON text in characters, in bytes, or with a function of the caller.

    `additive` is true if the length of a text is the sum of the lengths of its parts, as for characters and bytes.

    Raises EnvelopeError for an unknown unit, EnvelopeTypeError for a counter that is not a function.
    """

    def __init__(self, counter: Unit | Counter) -> None:
        if isinstance(counter, str):
            if counter not in ("characters", "bytes"):
                raise EnvelopeError("counter", f'must be "characters", "bytes" or a function, not {counter!r:.40}')
        elif not callable(counter):
            kind = type(counter).__name__
            raise EnvelopeTypeError("counter", f'must be "characters", "bytes" or a function, not {kind}')
        self._counter = counter
        self.additive = isinstance(counter, str)

    def __call__(self, encoded: bytes) -> int:
        """The length of UTF-8 text. Raises EnvelopeError if the caller's counter returns no natural number."""
        if self._counter == "bytes" or (self._counter == "characters" and encoded.isascii()):
            return len(encoded)
        text = encoded.decode()
        if isinstance(self._counter, str):
            return len(text)
        found = cast("Callable[[str], object]", self._counter)(text)
        if isinstance(found, bool) or not isinstance(found, int):
            raise EnvelopeTypeError("counter", f"must give a whole number, not {type(found).__name__}")
        if found < 0:
            raise EnvelopeError("counter", f"must not give a negative number, such as {found}")
        return found


class FitTask(msgspec.Struct, frozen=True):
    """The response to shorten, its budget (`limit`), and the archive for the content that it leaves out.

    `seen` collects the lengths of the shortest responses tried, for the error that names a sufficient budget.
    """

    response: Envelope
    limit: int
    measure: Measure
    archive: Archive | None
    reason: str
    seen: list[int]


def fit_by(task: FitTask, attempt: FitAttempt) -> Envelope | None:
    """Return the largest response of this attempt that fits, or None, and archive everything that it leaves out."""
    states = FitStates(attempt.items, task.measure, attempt.shorten, restores=attempt.restores)
    if attempt.bare is not None:
        states.top = 0
    if states.top < attempt.least:
        return None
    for share in (task.limit // _SHARE_OF_IDS, 0):
        state = _chosen_state(task, attempt, states, share)
        if state >= attempt.least:
            return _finish(task, attempt, states, state)
    return None


Shorten = Callable[[int], Any]
"""Return the replacement of each item by its number; the item itself if no replacement is shorter."""


class FitStates:
    """State `n` keeps the `n` most important items, each as `shorten` returns it.

    With `restores`, states beyond the number of items keep all items, and more and more of them whole. The length of an
    item is counted when a state that keeps it is needed, so items that cannot fit are never measured. `top` is the
    largest state.
    """

    def __init__(self, items: PayloadItems, measure: Measure, shorten: Shorten | None, *, restores: bool) -> None:
        self._items = items
        self._measure = measure
        self._shorten = shorten
        self._short: list[Any] = []
        self._totals = [0]
        count = len(items.values)
        # One state more would be the response that did not fit.
        self.top = 2 * count - 1 if restores and count else count - (shorten is None)

    def total_length(self, state: int) -> int:
        """The length that the items of a state add to a response with empty lists, commas included."""
        while len(self._totals) <= state:
            index, count = len(self._totals) - 1, len(self._items.values)
            if index < count:
                number = self._items.order[index]
                item = self._items.values[number]
                self._short.append(item if self._shorten is None else self._shorten(number))
                cost = self._cost(self._short[-1]) + 1
            else:
                number = self._items.order[index - count]
                cost = self._cost(self._items.values[number]) - self._cost(self._short[index - count])
            self._totals.append(self._totals[-1] + cost)
        return self._totals[state]

    def _cost(self, value: Any) -> int:
        return self._measure(encode_json(value))

    def kept_items(self, state: int) -> dict[int, Any]:
        """The items that a state keeps, by number, each as it is sent."""
        self.total_length(state)
        count = len(self._items.values)
        kept = dict(zip(self._items.order[: min(state, count)], self._short, strict=False))
        for number in self._items.order[: max(0, state - count)]:
            kept[number] = self._items.values[number]
        return kept

    def largest_by_sums(self, room: Callable[[int], int]) -> int:
        """The largest state, by the sums alone, whose items are not longer than `room` of that state; -1 for none."""
        state = 0
        while state < self.top and self.total_length(state + 1) <= room(state + 1):
            state += 1
        return state if self.total_length(state) <= room(state) else -1


def _chosen_state(task: FitTask, attempt: FitAttempt, states: FitStates, share: int) -> int:
    measure, limit = task.measure, task.limit
    empty = measure(_encode(_build_response(task, attempt, _build_draft(task, attempt, states, 0), 0)))
    if attempt.bare is not None:
        task.seen.append(empty)
    listed = _costs_of_ids(attempt.items, measure, share)
    guess = states.largest_by_sums(lambda state: limit - empty - listed(state))
    if measure.additive:
        return guess

    def fits(state: int) -> bool:
        response = _build_response(task, attempt, _build_draft(task, attempt, states, state), 0)
        return measure(_encode(response)) + listed(state) <= limit

    return largest_fitting(fits, guess, states.top)


def _costs_of_ids(items: PayloadItems, measure: Measure, share: int) -> Callable[[int], int]:
    count = len(items.values)
    # An id takes at least three characters, with quotes and comma: the ids of more items than this never all fit.
    window = max(0, count - share // (3 if measure.additive else 1) - 1)
    total = measure(_LISTED)
    totals = [0]
    for number in reversed(items.order[window:]):
        total += measure(encode_json(items.ids[number])) + 1
        totals.append(total)
        if total > share:
            break

    def cost(state: int) -> int:
        missing = max(0, count - state)
        return min(share, totals[missing]) if missing < len(totals) else share

    return cost


class _Draft(NamedTuple):
    """A response before its metadata: its payload, the ids of the dropped items, and the counts for the warning."""

    data: Mapping[str, Any]
    error: str | None
    dropped: Sequence[str]
    counts: Mapping[str, int]
    content_hash: str | None


def _build_draft(task: FitTask, attempt: FitAttempt, states: FitStates, state: int) -> _Draft:
    items, error = attempt.items, task.response.error
    kept = states.kept_items(state)
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
        data = items.with_only(task.response.data, kept)
    else:
        skeleton = items.with_only(task.response.data, {})
        texts = sum(1 for _ in find_long_texts(skeleton, attempt.most))
        if texts:
            counts["shortened_texts"] = texts
        data = items.with_only(cast("dict[str, Any]", cut_texts(skeleton, attempt.most)), kept)
    if error is not None and attempt.most is not None:
        error = str(cut_texts(error, max(attempt.most, _SHORTEST_ERROR)))
    dropped = [items.ids[number] for number in items.order[min(state, len(items.values)) :]]
    content_hash = None if task.archive is None else _NO_HASH
    return _Draft(data=data, error=error, dropped=dropped, counts=counts, content_hash=content_hash)


def _finish(task: FitTask, attempt: FitAttempt, states: FitStates, state: int) -> Envelope | None:
    stride = 1
    while state >= attempt.least:
        draft = _build_draft(task, attempt, states, state)
        listed = _count_listed(task, attempt, draft)
        if listed >= 0 and task.archive is None:
            return _build_response(task, attempt, draft, listed)
        if listed >= 0 and task.archive is not None:
            # Each item that was dropped or shortened, by its id, and the rest if that was cut.
            items, kept = attempt.items, states.kept_items(state)
            missing = {
                name: value
                for number, (name, value) in enumerate(zip(items.ids, items.values, strict=True))
                if kept.get(number, _ABSENT) is not value
            }
            content: dict[str, Any] = {"items": missing}
            if attempt.most is not None:
                content["data"] = items.with_only(task.response.data, {})
                if task.response.error is not None:
                    content["error"] = task.response.error
            try:
                content_hash = task.archive.put(content)
            except ArchiveError:
                # A full or broken archive must not prevent the answer, which gets shorter without the hash.
                return fit_by(msgspec.structs.replace(task, archive=None), attempt)
            response = _build_response(task, attempt, draft._replace(content_hash=content_hash), listed)
            # All hashes have the same number of characters, but not the same number of a tokeniser's tokens.
            if task.measure(_encode(response)) <= task.limit:
                return response
        state, stride = state - stride, stride * 2
    return None


def _count_listed(task: FitTask, attempt: FitAttempt, draft: _Draft) -> int:
    def fits(count: int) -> bool:
        return task.measure(_encode(_build_response(task, attempt, draft, count))) <= task.limit

    bare = task.measure(_encode(_build_response(task, attempt, draft, 0)))
    if bare > task.limit:
        return -1
    if not draft.dropped:
        return 0
    room, guess = task.limit - bare - task.measure(_LISTED), 0
    for name in draft.dropped:
        room -= task.measure(encode_json(name)) + 1
        if room < 0:
            break
        guess += 1
    # With all ids, the count of unlisted ones is left out, so they may fit where the sums say that they do not.
    if guess >= len(draft.dropped) - 2 and fits(len(draft.dropped)):
        return len(draft.dropped)
    # Where sums are exact, no search is needed.
    top = guess if task.measure.additive else len(draft.dropped) - 1
    return max(0, largest_fitting(fits, min(guess, top), top))


def _build_response(task: FitTask, attempt: FitAttempt, draft: _Draft, listed: int) -> Envelope:
    meta = task.response.meta
    context: dict[str, object] = {**draft.counts, "reason": task.reason}
    if listed < len(draft.dropped):
        context["unlisted_count"] = len(draft.dropped) - listed
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
    summary = ", ".join(parts) or "Content shortened"
    message = f"{summary[0].upper()}{summary[1:]} to fit the size limit"
    warning = {"code": WarningCode.CONTENT_TRUNCATED, "message": message, "context": context}
    hashes = dict(meta.get("content_archive_hashes", {}))
    if draft.content_hash is not None and task.archive is not None:
        hashes[task.archive.name] = draft.content_hash
    level = max(attempt.level, meta.get("content_fidelity", ContentFidelity.FULL), key=_LEVELS.index)
    about = success_response(
        meta={name: value for name, value in meta.items() if name != "dropped_content_ids"},
        warning_details=[*meta.get("warning_details", ()), warning],
        content_fidelity=level,
        dropped_content_ids=[*meta.get("dropped_content_ids", ()), *draft.dropped[:listed]],
        content_archive_hashes=hashes,
    )
    return Envelope(success=task.response.success, data=draft.data, error=draft.error, meta=about.meta)


def _encode(response: Envelope) -> bytes:
    # Always the envelope, which is longer than the bare payload of v1.
    return encode_json(msgspec.structs.asdict(response))


def largest_fitting(fits: Callable[[int], bool], start: int, top: int) -> int:
    """The largest state from 0 to `top` that fits, searched from `start` in growing steps; -1 for none.

    The state that it returns was tested. No larger one fits, provided that every state below a fitting one fits, too.
    """
    start = min(max(start, 0), top)
    good, bad, stride = -1, top + 1, 1
    if fits(start):
        good = start
        while good + stride < bad:
            if not fits(good + stride):
                bad = good + stride
                break
            good += stride
            stride *= 2
    else:
        bad = start
        while bad > 0:
            lower = max(0, bad - stride)
            if fits(lower):
                good = lower
                break
            bad, stride = lower, stride * 2
    while good >= 0 and bad - good > 1:
        middle = (good + bad) // 2
        if fits(middle):
            good = middle
        else:
            bad = middle
    return good


def check_budget(budget: object) -> int:
    """`budget` if it is a positive whole number; raises EnvelopeError for any other."""
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise EnvelopeTypeError("budget", f"must be a whole number, not {type(budget).__name__}")
    if budget < 1:
        raise EnvelopeError("budget", f"must be at least 1, not {budget}")
    return budget
