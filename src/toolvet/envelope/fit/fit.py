"""`fit_response`: a response that fits a budget, and says what it left out and where that can be had."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from toolvet.envelope.archive.memory import Archive
from toolvet.envelope.builders.responses import success_response
from toolvet.envelope.fit.attempt import Attempt, Task, fitted_response
from toolvet.envelope.fit.items import Items, Path, found_items, named_lists, outer_lists
from toolvet.envelope.fit.measure import Counter, Measure, Unit, checked_budget
from toolvet.envelope.fit.long_texts import longest_text, shortened
from toolvet.envelope.builders.arguments import text
from toolvet.envelope.json_copy import plain, written
from toolvet.envelope.response import Envelope
from toolvet.envelope.contract.vocabulary import ContentFidelity, ResponseContract
from toolvet.errors import EnvelopeError


def fit_response(
    data: Mapping[str, object] | Envelope,
    budget: int,
    *,
    counter: Unit | Counter = "characters",
    key: str | Callable[[Any], object] = "id",
    importance: str | Callable[[Any], float] | None = None,
    lists: Sequence[str] | None = None,
    summarise: Callable[[Any], object] | None = None,
    archive: Archive | None = None,
    reason: str = "size_limit_exceeded",
) -> Envelope:
    """The response with this payload (or this response), shortened until its JSON text takes at most `budget`.

    What is counted is the text of `Envelope.to_json()`, which enveloped tools send. `counter` says in what:
    "characters", "bytes" (UTF-8), or a function from text to a whole number, such as a tokeniser's; it should not give
    less for more text, else the response is still never too long, but may be shorter than it had to be.

    Items of lists are left out first, those that matter least by `importance` (the name of a member or a function;
    without it those at the end). `lists` are JSON Pointers into the payload; without them these are the outermost
    lists. With `summarise`, items are replaced by what it gives before they are left out. Where not even one item fits,
    long texts are cut, then only references (`key`, the name of the member with the id, or a function) stay. What was
    done stands in `meta`: the level, the ids of what was left out (as many as a fifth of the budget holds; the rest is
    counted), a CONTENT_TRUNCATED warning with the counts and `reason`, and with an `archive` the hash under which
    the originals are kept. An item without an id of its own is called by its JSON Pointer.

    A failure keeps its code. Raises EnvelopeError naming the argument; for a `budget` that is too small for any
    response it says which one would do.
    """
    limit = checked_budget(budget)
    measure = Measure(counter)
    whole = data if isinstance(data, Envelope) else success_response(data)
    size = measure(whole.to_json(ResponseContract.V2))
    if size <= limit:
        return whole
    task = Task(whole, limit, measure, archive, text(reason, "reason"), [size])
    payload = whole.data
    if lists is None:
        groups: Iterator[tuple[Path, ...]] = (outer_lists(payload, depth) for depth in range(1, _DEEPEST_LISTS + 1))
    else:
        groups = iter([named_lists(payload, lists)])
    # One after the other: the inner lists are looked for only where shortening the outer ones did not do.
    piles = (found_items(payload, group, key, importance) for group in groups)
    name = key if isinstance(key, str) else "id"
    for attempt in _attempts(whole, piles, summarise, name):
        fitted = fitted_response(task, attempt)
        if fitted is not None:
            return fitted
    raise EnvelopeError("budget", f"must be at least {min(task.seen)} for this response, not {limit}")


# Lists inside of the items of lists, and so on.
_DEEPEST_LISTS = 3
_SHORTEST_TEXT = 32


def _attempts(
    whole: Envelope, piles: Iterator[Items], summarise: Callable[[Any], object] | None, name: str
) -> Iterator[Attempt]:
    """From the gentlest to the last resort."""
    outer = next(piles)
    for items in chain([outer], piles):
        if not items.values:
            break
        if summarise is None:
            yield Attempt(ContentFidelity.PARTIAL, items, None)
        else:
            yield Attempt(ContentFidelity.SUMMARY, items, _summaries(items, summarise), restores=True)
    most = max(longest_text(whole.data), len(whole.error or "")) // 2
    while most >= _SHORTEST_TEXT:
        yield Attempt(ContentFidelity.SUMMARY, outer, _cut(outer, most), most)
        most //= 2
    if outer.values:
        yield Attempt(ContentFidelity.REFERENCE_ONLY, outer, _references(outer, name), _SHORTEST_TEXT)
    codes = ("error_code", "error_type")
    bare = {} if whole.success else {part: whole.data[part] for part in codes if part in whole.data}
    yield Attempt(ContentFidelity.REFERENCE_ONLY, outer, None, _SHORTEST_TEXT, bare=bare)


def _summaries(items: Items, summarise: Callable[[Any], object]) -> Callable[[int], Any]:
    def summary(number: int) -> object:
        item = items.values[number]
        found: object = plain(summarise(item), f"summarise/{items.ids[number]}")
        return found if len(written(found)) < len(written(item)) else item

    return summary


def _references(items: Items, name: str) -> Callable[[int], Any]:
    return lambda number: {name: items.ids[number]}


def _cut(items: Items, most: int) -> Callable[[int], Any]:
    return lambda number: shortened(items.values[number], most)
