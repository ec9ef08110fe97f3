"""A JSON value with fewer items and shorter texts. A trial ends as soon as it is too long, however large the value."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from toolvet.core.json_value import is_array, is_object
from toolvet.core.shorten.middle import without_middle

# Texts are cut to these lengths one after the other, where leaving out items is not enough.
_TEXT_LENGTHS: Final = (1 << 40, 4_000, 1_000, 300, 100, 40)
# With fewer items in each list, shorter texts are tried first.
_FEWEST: Final = 5
_MOST_KEPT: Final = 1 << 20
# So many items of a list are looked at for those that are unlike the others.
_MOST_COMPARED: Final = 20_000
_MOST_ODD: Final = 8
_PROBLEMS: Final = ("error", "errors", "exception", "failure")


class _TooLongError(Exception):
    """The value is longer than what is asked for."""


def shorten_value(value: object, most: int, *, marks: bool = True) -> object:
    """Return a copy of a JSON value whose text has about `most` characters at most; the value itself if that is short.

    Args:
        value: A decoded JSON value.
        most: So many characters its compact JSON may have; the caller measures what comes, and asks for less.
        marks: Whether a text in a list, or a member of an object, says what was left out there. Without marks the value
            keeps its types, so that it may still satisfy a schema.

    Returns:
        The copy. The shortest there is, where nothing is short enough.

    Example:
        >>> shorten_value({"ids": list(range(100))}, 100)
        {'ids': [0, 1, 2, 3, 4, 5, '… 91 of 100 items left out (6 to 96) …', 97, 98, 99]}
    """
    cutter = _Cutter(marks=marks)
    best: object = None
    for longest in _TEXT_LENGTHS:
        kept, found = _most_items(cutter, value, most, longest)
        if kept >= _FEWEST or (kept and longest == _TEXT_LENGTHS[-1]):
            return found
        best = found if kept else best
    return cutter.cut(value, _MOST_KEPT, 1, _TEXT_LENGTHS[-1]) if best is None else best


def _most_items(cutter: "_Cutter", value: object, most: int, longest: int) -> tuple[int, object]:
    """The most items in each list with which the value fits, and that value; 0 and None where not even one does."""
    low, high, found = 0, max(most, 2), None
    step = _FEWEST
    while low < high - 1:
        # Lists are mostly short or much too long: few items are tried first.
        middle = min(step, (low + high) // 2)
        step = high if middle < step else step * 2
        try:
            found = cutter.cut(value, most, middle, longest)
        except _TooLongError:
            high = middle
            step = high
        else:
            low = middle
    return low, found


class _Cutter:
    """Cuts one value, again and again."""

    def __init__(self, *, marks: bool) -> None:
        self._marks = marks
        self._odd: dict[int, list[int]] = {}
        self._room = 0

    def cut(self, value: object, most: int, items: int, longest: int) -> object:
        """Return the value with so many items in each list. Raises _TooLongError where it has more than `most`."""
        self._room = most
        return self._cut(value, items, longest)

    def _cut(self, value: object, items: int, longest: int) -> object:
        if isinstance(value, str):
            text = value if len(value) <= longest else without_middle(value, longest)
            self._take(len(text) + 2)
            return text
        if is_array(value):
            return list(self._list(value, items, longest))
        if is_object(value):
            return dict(self._members(value, items, longest))
        self._take(4)
        return value

    def _take(self, size: int) -> None:
        self._room -= size
        if self._room < 0:
            raise _TooLongError

    def _list(self, value: Sequence[object], items: int, longest: int) -> Iterator[object]:
        self._take(2)
        following = 0
        for index in self._chosen(value, items):
            yield from self._gap(value, following, index)
            self._take(1)
            yield self._cut(value[index], items, longest)
            following = index + 1
        yield from self._gap(value, following, len(value))

    def _gap(self, value: Sequence[object], start: int, end: int) -> Iterator[str]:
        if self._marks and end > start:
            places = f"{start} to {end - 1}" if end - start > 1 else str(start)
            mark = f"… {end - start:,} of {len(value):,} items left out ({places}) …"
            self._take(len(mark) + 3)
            yield mark

    def _chosen(self, value: Sequence[object], items: int) -> list[int]:
        """The places that stay: both ends, and some of what is unlike the rest."""
        size = len(value)
        if size <= items:
            return list(range(size))
        odd = self._odd_ones(value)[: max(items // 4, 0)]
        ends = items - len(odd)
        tail = ends // 3
        return sorted({*range(ends - tail), *range(size - tail, size), *odd})

    def _odd_ones(self, value: Sequence[object]) -> list[int]:
        found = self._odd.get(id(value))
        if found is None:
            found = self._odd[id(value)] = _unlike(value)
        return found

    def _members(self, value: Mapping[str, object], items: int, longest: int) -> Iterator[tuple[str, object]]:
        self._take(2)
        # An object with many members is a list by another name.
        most = max(items, 24)
        for number, (name, member) in enumerate(value.items()):
            if number >= most and len(value) > most + 1:
                if self._marks:
                    mark = f"{len(value) - most:,} of {len(value):,} members left out"
                    self._take(len(mark) + 8)
                    yield "…", mark
                return
            self._take(len(name) + 4)
            yield name, self._cut(member, items, longest)


def _unlike(value: Sequence[object]) -> list[int]:
    """The places of objects that tell of a problem, or have other members than most."""
    heads = [tuple(item) if is_object(item) else None for item in value[:_MOST_COMPARED]]
    counts = Counter(heads)
    rare: set[tuple[str, ...] | None] = (
        {head for head, count in counts.items() if count * 20 <= len(heads)} if len(counts) <= _MOST_ODD else set()
    )
    found = [
        index
        for index, (head, item) in enumerate(zip(heads, value, strict=False))
        if head in rare or (is_object(item) and any(item.get(name) for name in _PROBLEMS))
    ]
    return found[:_MOST_ODD]
