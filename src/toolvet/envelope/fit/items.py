"""The items of a payload that may be left out: where they stand, what they are called, how much they matter."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, repeat
from typing import Any, cast

import msgspec

from toolvet.envelope.json_copy import step
from toolvet.envelope.contract.shapes import is_array, is_members
from toolvet.errors import EnvelopeError, EnvelopeTypeError

Step = str | int
Path = tuple[Step, ...]
Tree = dict[Step, Any]
"""Paths that share their beginnings; at the end of each stands the number of a list."""


class Items(msgspec.Struct, frozen=True):
    """All items of all lists that may be shortened, numbered through.

    `ids` are unique: an item without an id, or with that of an earlier one, is called by its JSON Pointer. `order` has
    the numbers, those that matter most first.
    """

    lists: tuple[Path, ...]
    values: tuple[Any, ...]
    homes: tuple[int, ...]
    ids: tuple[str, ...]
    order: Sequence[int]

    def placed(self, payload: Mapping[str, Any], chosen: Mapping[int, Any]) -> dict[str, Any]:
        """The payload with only the items whose numbers are in `chosen`, in their old order, as they stand there."""
        kept: list[list[Any]] = [[] for _ in self.lists]
        for number in sorted(chosen):
            kept[self.homes[number]].append(chosen[number])
        tree: Tree = {}
        for index, path in enumerate(self.lists):
            branch = tree
            for part in path[:-1]:
                branch = branch.setdefault(part, {})
            branch[path[-1]] = index
        return cast("dict[str, Any]", _grafted(payload, tree, kept))


def _grafted(value: Any, tree: Tree, kept: Sequence[list[Any]]) -> Any:
    copy: Any = [*value] if is_array(value) else {**value}
    for part, branch in tree.items():
        copy[part] = kept[branch] if isinstance(branch, int) else _grafted(copy[part], branch, kept)
    return copy


def found_items(
    payload: Mapping[str, Any],
    lists: Sequence[Path],
    key: str | Callable[[Any], object],
    importance: str | Callable[[Any], float] | None,
) -> Items:
    """The items of these lists. Raises EnvelopeTypeError for an importance that is no number."""
    arrays = [cast("list[Any]", at(payload, path)) for path in lists]
    values = tuple(chain.from_iterable(arrays))
    homes = tuple(chain.from_iterable(repeat(index, len(array)) for index, array in enumerate(arrays)))
    starts = list(accumulate(map(len, arrays), initial=0))

    def named(number: int) -> str:
        return pointer((*lists[homes[number]], number - starts[homes[number]]))

    ids = _ids(values, key, named)
    if importance is None and len(arrays) < 2:
        return Items(tuple(lists), values, homes, ids, range(len(values)))
    order = list(range(len(values)))
    if len(arrays) > 1:
        # Where nothing says otherwise the end goes first, and of several lists each the same share.
        shares = [(position + 1) / len(array) for array in arrays for position in range(len(array))]
        order.sort(key=shares.__getitem__)
    if importance is not None:
        weights = [_weight(value, importance, number, named) for number, value in enumerate(values)]
        order.sort(key=weights.__getitem__, reverse=True)
    return Items(tuple(lists), values, homes, ids, order)


def _ids(values: Sequence[Any], key: str | Callable[[Any], object], named: Callable[[int], str]) -> tuple[str, ...]:
    if isinstance(key, str):
        usual = [value.get(key) if is_members(value) else None for value in values]
        if set(map(type, usual)) == {str}:
            # The way of nearly all lists, and much faster.
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
            given = named(number)
        seen.add(given)
        ids.append(given)
    return tuple(ids)


def _weight(value: Any, importance: str | Callable[[Any], float], number: int, named: Callable[[int], str]) -> float:
    if isinstance(importance, str):
        given = _member(value, importance)
        # An item that does not say matters least.
        return -math.inf if isinstance(given, bool) or not isinstance(given, int | float) else given
    found: Any = cast("Callable[[Any], Any]", importance)(value)
    if not isinstance(found, int | float) or math.isnan(found):
        raise EnvelopeTypeError("importance", f"must give a number, not {found!r:.40} for data{named(number)}")
    return found


def _member(value: object, name: str) -> object:
    return value.get(name) if is_members(value) else None


def outer_lists(payload: Mapping[str, Any], depth: int) -> tuple[Path, ...]:
    """The arrays that hold something; with a `depth` of 1 the outermost, with 2 those inside of their items."""
    return tuple(_arrays(payload, (), depth))


def _arrays(value: object, path: Path, depth: int) -> Iterator[Path]:
    if is_array(value):
        if not value:
            return
        if depth == 1:
            yield path
            return
        for index, item in enumerate(value):
            yield from _arrays(item, (*path, index), depth - 1)
    elif is_members(value):
        for name, member in value.items():
            yield from _arrays(member, (*path, name), depth)


def named_lists(payload: Mapping[str, Any], pointers: Sequence[str]) -> tuple[Path, ...]:
    """The arrays that JSON Pointers name. Raises EnvelopeError for one that names none, or is inside another."""
    found: list[Path] = []
    for place in pointers:
        path = _path(payload, place)
        if not path or not isinstance(at(payload, path), list):
            raise EnvelopeError("lists", f"must be JSON Pointers to arrays of data, which {place!r:.80} is not")
        for other in found:
            shorter = min(len(path), len(other))
            if path[:shorter] == other[:shorter]:
                raise EnvelopeError("lists", f"must not name an array inside another: {pointer(other)} and {place}")
        found.append(path)
    return tuple(path for path in found if at(payload, path))


def _path(payload: object, place: object) -> Path:
    if not isinstance(place, str):
        raise EnvelopeTypeError("lists", f"must be JSON Pointers, not {type(place).__name__}")
    path: list[Step] = []
    value: object = payload
    for token in place.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        part: Step = int(name) if is_array(value) and name.isdecimal() and name.isascii() else name
        path.append(part)
        value = at(value, (part,))
    return tuple(path) if place.startswith("/") else ()


def at(value: Any, path: Path) -> Any:
    """What stands there, or None."""
    for part in path:
        if isinstance(part, int):
            value = value[part] if is_array(value) and part < len(value) else None
        else:
            value = value.get(part) if is_members(value) else None
    return value


def pointer(path: Path) -> str:
    """A path as a JSON Pointer."""
    return "".join(f"/{part}" if isinstance(part, int) else "/" + step(part) for part in path)
