"""The parts of a payload that may be left out: items, by their ids and their importance, and the ends of long texts."""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, repeat
from typing import Any, Final, cast

import msgspec

from toolvet.core.envelope.contract.shapes import is_sequence
from toolvet.core.json_value import Path, is_object, pointer, pointer_steps, whole
from toolvet.errors import EnvelopeError, EnvelopeTypeError

PathTree = dict[str | int, Any]
"""Paths that share their beginnings; the leaf at the end of each path is the number of a list."""


class PayloadItems(msgspec.Struct, frozen=True):
    """All items of all lists that may be shortened, numbered from 0 across the lists.

    `homes` holds for each item the index of its list. `ids` are unique: the id of an item without one, or with the id
    of an earlier item, is its JSON Pointer. `order` holds the numbers, the most important item first.
    """

    lists: tuple[Path, ...]
    values: tuple[Any, ...]
    homes: tuple[int, ...]
    ids: tuple[str, ...]
    order: Sequence[int]

    def with_only(self, payload: Mapping[str, Any], chosen: Mapping[int, Any]) -> dict[str, Any]:
        """A copy of the payload with only the items numbered in `chosen`, in their old order, each as given there."""
        kept: list[list[Any]] = [[] for _ in self.lists]
        for number in sorted(chosen):
            kept[self.homes[number]].append(chosen[number])
        tree: PathTree = {}
        for index, path in enumerate(self.lists):
            branch = tree
            for part in path[:-1]:
                branch = branch.setdefault(part, {})
            branch[path[-1]] = index
        return cast("dict[str, Any]", _replace_lists(payload, tree, kept))


def _replace_lists(value: Any, tree: PathTree, kept: Sequence[list[Any]]) -> Any:
    copy: Any = [*value] if is_sequence(value) else {**value}
    for part, branch in tree.items():
        copy[part] = kept[branch] if isinstance(branch, int) else _replace_lists(copy[part], branch, kept)
    return copy


def find_items(
    payload: Mapping[str, Any],
    lists: Sequence[Path],
    key: str | Callable[[Any], object],
    importance: str | Callable[[Any], float] | None,
) -> PayloadItems:
    """The items of these lists. Raises EnvelopeTypeError for an importance that is not a number."""
    arrays = [cast("list[Any]", at(payload, path)) for path in lists]
    values = tuple(chain.from_iterable(arrays))
    homes = tuple(chain.from_iterable(repeat(index, len(array)) for index, array in enumerate(arrays)))
    starts = list(accumulate(map(len, arrays), initial=0))

    def place_of(number: int) -> str:
        return pointer((*lists[homes[number]], number - starts[homes[number]]))

    ids = _ids(values, key, place_of)
    if importance is None and len(arrays) < 2:
        return PayloadItems(lists=tuple(lists), values=values, homes=homes, ids=ids, order=range(len(values)))
    order = list(range(len(values)))
    if len(arrays) > 1:
        # By default the last items go first, and of several lists the same share each.
        shares = [(position + 1) / len(array) for array in arrays for position in range(len(array))]
        order.sort(key=shares.__getitem__)
    if importance is not None:
        weights: list[float] = []
        for number, value in enumerate(values):
            weight: Any = _member(value, importance) if isinstance(importance, str) else importance(value)
            is_number = isinstance(weight, int | float)
            if isinstance(importance, str):
                # An item without a weight is the least important.
                weights.append(weight if is_number and not isinstance(weight, bool) else -math.inf)
            elif is_number and not math.isnan(weight):
                weights.append(weight)
            else:
                place = place_of(number)
                raise EnvelopeTypeError("importance", f"must give a number, not {weight!r:.40} for data{place}")
        order.sort(key=weights.__getitem__, reverse=True)
    return PayloadItems(lists=tuple(lists), values=values, homes=homes, ids=ids, order=order)


def _ids(values: Sequence[Any], key: str | Callable[[Any], object], place_of: Callable[[int], str]) -> tuple[str, ...]:
    if isinstance(key, str):
        usual = [value.get(key) if is_object(value) else None for value in values]
        if set(map(type, usual)) == {str}:
            # The fast path for nearly all lists.
            texts = cast("list[str]", usual)
            if len(set(texts)) == len(texts) and all(map(str.strip, texts)):
                return tuple(texts)
    ids: list[str] = []
    seen: set[str] = set()
    for number, value in enumerate(values):
        given: object = _member(value, key) if isinstance(key, str) else key(value)
        if isinstance(given, int) and not isinstance(given, bool):
            given = str(given)
        if not isinstance(given, str) or not given or given.isspace() or given in seen:
            given = place_of(number)
        seen.add(given)
        ids.append(given)
    return tuple(ids)


def _member(value: object, name: str) -> object:
    return value.get(name) if is_object(value) else None


def outer_lists(payload: Mapping[str, Any], depth: int) -> tuple[Path, ...]:
    """The arrays that are not empty: with a `depth` of 1 the outermost ones, with 2 those inside of their items."""
    return tuple(_arrays(payload, (), depth))


def _arrays(value: object, path: Path, depth: int) -> Iterator[Path]:
    if is_sequence(value):
        if not value:
            return
        if depth == 1:
            yield path
            return
        for index, item in enumerate(value):
            yield from _arrays(item, (*path, index), depth - 1)
    elif is_object(value):
        for name, member in value.items():
            yield from _arrays(member, (*path, name), depth)


def named_lists(payload: Mapping[str, Any], pointers: Sequence[object]) -> tuple[Path, ...]:
    """The arrays at these JSON Pointers. Raises EnvelopeError for a pointer to no array, or to one inside another."""
    found: list[Path] = []
    for place in pointers:
        if not isinstance(place, str):
            raise EnvelopeTypeError("lists", f"must be JSON Pointers, not {type(place).__name__}")
        path: Path = ()
        value: object = payload
        for name in pointer_steps(place):
            index = whole(name) if is_sequence(value) and name.isascii() else None
            part: str | int = name if index is None else index
            path = (*path, part)
            value = at(value, (part,))
        if not path or not place.startswith("/") or not isinstance(value, list):
            raise EnvelopeError("lists", f"must be JSON Pointers to arrays of data, which {place!r:.80} is not")
        for other in found:
            shorter = min(len(path), len(other))
            if path[:shorter] == other[:shorter]:
                raise EnvelopeError("lists", f"must not name an array inside another: {pointer(other)} and {place}")
        found.append(path)
    return tuple(path for path in found if at(payload, path))


def at(value: Any, path: Path) -> Any:
    """The value at `path`, or None. Unlike `json_value.at` it looks into tuples, too."""
    for part in path:
        if isinstance(part, int):
            value = value[part] if is_sequence(value) and part < len(value) else None
        else:
            value = value.get(part) if is_object(value) else None
    return value


ELLIPSIS: Final = "…"


def cut_texts(value: object, most: int) -> object:
    """A copy in which no text has more than `most` characters; the same value if no text is longer."""
    if isinstance(value, str):
        if len(value) <= most:
            return value
        # Up to the end of a word, if one ends in the last fifth.
        start = value[: most - 1]
        words, blank, rest = start.rpartition(" ")
        return (words if blank and len(rest) < most // 5 else start).rstrip() + ELLIPSIS
    if is_sequence(value):
        items = [cut_texts(item, most) for item in value]
        return items if any(map(operator.is_not, items, value)) else value
    if is_object(value):
        members = {name: cut_texts(member, most) for name, member in value.items()}
        return members if any(members[name] is not member for name, member in value.items()) else value
    return value


def find_long_texts(value: object, most: int, place: str = "") -> Iterator[str]:
    """The JSON Pointers of the texts that `cut_texts` cuts."""
    if isinstance(value, str):
        if len(value) > most:
            yield place
    elif is_sequence(value):
        for index, item in enumerate(value):
            yield from find_long_texts(item, most, f"{place}/{index}")
    elif is_object(value):
        for name, member in value.items():
            yield from find_long_texts(member, most, f"{place}{pointer((name,))}")


def longest_length(value: object) -> int:
    """The number of characters of the longest text; 0 without any."""
    if isinstance(value, str):
        return len(value)
    inside = value if is_sequence(value) else value.values() if is_object(value) else ()
    return max(map(longest_length, inside), default=0)
