"""`fit_response`: shorten a response to a budget. The package's docstring has a worked example."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from toolvet.core.envelope.archive import Archive
from toolvet.core.envelope.builders.arguments import copy_text
from toolvet.core.envelope.builders.responses import success_response
from toolvet.core.envelope.contract.vocabulary import ContentFidelity
from toolvet.core.envelope.fit.attempt import Counter, FitAttempt, FitTask, Measure, Unit, check_budget, fit_by
from toolvet.core.envelope.fit.items import (
    PayloadItems,
    cut_texts,
    find_items,
    longest_length,
    named_lists,
    outer_lists,
)
from toolvet.core.envelope.json_copy import copy_as_json, encode_json
from toolvet.core.envelope.response import Envelope
from toolvet.errors import EnvelopeError

# Lists, lists inside of their items, and once more.
_DEEPEST_LISTS: Final = 3
_SHORTEST_TEXT: Final = 32


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
    """Shorten a response until its JSON text, that of `Envelope.to_json()`, is not longer than `budget`.

    Items of lists are left out first, then long texts are cut, then only references to the items stay. `meta` reports
    what was done: the level of fidelity, the ids of what was left out (as many as a fifth of the budget holds; the rest
    is counted), a CONTENT_TRUNCATED warning with the counts, and with an `archive` the hash of what was left out. A
    failure keeps its code.

    Args:
        data: the payload of a success, or a response.
        budget: the largest length, in the unit of `counter`.
        counter: "characters", "bytes" (of UTF-8), or a function from text to a whole number, such as a tokeniser's.
            Longer text should not count less: then the response still fits, but may be shorter than necessary.
        key: the member that holds the id of an item, or a function from an item to its id. Without an id of its own,
            the id of an item is its JSON Pointer.
        importance: the member with the weight of an item, or a function from an item to its weight; the lowest weights
            are left out first. Without it the last items are.
        lists: JSON Pointers into the payload to the lists whose items may be left out; by default the outermost lists.
        summarise: a function from an item to a shorter one; items are replaced by it before any is left out.
        archive: where the originals of everything left out or shortened are kept.
        reason: the `reason` in the context of the warning.

    Returns:
        The response that fits; the given response itself if it already fits.

    Raises:
        EnvelopeError: for a budget that is too small for any response (the message names a sufficient one), and for
            arguments that make no sense; EnvelopeTypeError for arguments of the wrong type.

    Example:
        >>> ships = [{"id": name, "log": "calm sea " * 20} for name in ("Aurora", "Bounty", "Calypso")]
        >>> response = fit_response({"ships": ships}, budget=650)
        >>> [ship["id"] for ship in response.data["ships"]], response.meta["dropped_content_ids"]
        (['Aurora'], ['Bounty', 'Calypso'])
    """
    limit = check_budget(budget)
    measure = Measure(counter)
    response = data if isinstance(data, Envelope) else success_response(data)
    size = measure(encode_json(msgspec.structs.asdict(response)))
    if size <= limit:
        return response
    task = FitTask(
        response=response,
        limit=limit,
        measure=measure,
        archive=archive,
        reason=copy_text(reason, "reason"),
        seen=[size],
    )
    payload = response.data
    # Generators: the inner lists are looked for only where shortening the outer ones was not enough.
    groups = (
        (outer_lists(payload, depth) for depth in range(1, _DEEPEST_LISTS + 1))
        if lists is None
        else iter([named_lists(payload, lists)])
    )
    batches = (find_items(payload, paths, key, importance) for paths in groups)
    name = key if isinstance(key, str) else "id"
    for attempt in _attempts(response, batches, summarise, name):
        fitted = fit_by(task, attempt)
        if fitted is not None:
            return fitted
    raise EnvelopeError("budget", f"must be at least {min(task.seen)} for this response, not {limit}")


def _attempts(
    response: Envelope, batches: Iterator[PayloadItems], summarise: Callable[[Any], object] | None, name: str
) -> Iterator[FitAttempt]:
    outer = next(batches)
    for items in chain([outer], batches):
        if not items.values:
            break
        if summarise is None:
            yield FitAttempt(ContentFidelity.PARTIAL, items, None)
        else:
            yield FitAttempt(ContentFidelity.SUMMARY, items, _summarise_with(items, summarise), restores=True)
    most = max(longest_length(response.data), len(response.error or "")) // 2
    while most >= _SHORTEST_TEXT:
        yield FitAttempt(ContentFidelity.SUMMARY, outer, _cut_with(outer, most), most)
        most //= 2
    if outer.values:
        yield FitAttempt(ContentFidelity.REFERENCE_ONLY, outer, _refer_with(outer, name), _SHORTEST_TEXT)
    codes = ("error_code", "error_type")
    bare = {} if response.success else {part: response.data[part] for part in codes if part in response.data}
    yield FitAttempt(ContentFidelity.REFERENCE_ONLY, outer, None, _SHORTEST_TEXT, bare=bare)


def _summarise_with(items: PayloadItems, summarise: Callable[[Any], object]) -> Callable[[int], Any]:
    def summary(number: int) -> object:
        item = items.values[number]
        found: object = copy_as_json(summarise(item), f"summarise/{items.ids[number]}")
        return found if len(encode_json(found)) < len(encode_json(item)) else item

    return summary


def _refer_with(items: PayloadItems, name: str) -> Callable[[int], Any]:
    return lambda number: {name: items.ids[number]}


def _cut_with(items: PayloadItems, most: int) -> Callable[[int], Any]:
    return lambda number: cut_texts(items.values[number], most)
