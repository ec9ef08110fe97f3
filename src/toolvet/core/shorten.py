"""Shortens texts for a reader with little room, such as a model: JSON stays JSON, a table keeps its header.

Both ends stay, and so do lines that report a problem and items unlike the others. A mark in the place
of a gap says what was left out.

    >>> shorten_text("a b c d " * 100, 60).text
    'a b c d a b c d a b … 771 characters left out … d a b c d '
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from toolvet.core.json_value import is_array, is_object

TextForm: TypeAlias = Literal["json", "table", "lines", "text"]
_TRIALS: Final = 6
_FEW_LINES: Final = 4


class ShortText(NamedTuple):
    """A shortened text, and the kind of text it was taken for."""

    text: str
    form: TextForm


def shorten_text(text: str, most: int) -> ShortText:
    """Shorten a text to at most `most` characters.

    JSON stays JSON, and is written without white space. Total: any text, and any `most` from 0 up.

    Example:
        >>> shorten_text('{"ships": ["Aurora", "Bounty", "Calypso", "Dorothea", "Endeavour", "Fram"]}', 65).text
        '{"ships":["Aurora","… 5 of 6 items left out (1 to 5) …"]}'
    """
    if len(text) <= most:
        return ShortText(text, "text")
    if text.lstrip()[:1] in ("{", "["):
        short = _as_json(text, most)
        if short is not None:
            return ShortText(short, "json")
    if text.count("\n", 0, 100_000) >= _FEW_LINES:
        return ShortText(*shorten_lines(text, most))
    return ShortText(without_middle(text, most), "text")


def _as_json(text: str, most: int) -> str | None:
    try:
        value: object = msgspec.json.decode(text)
        if not is_object(value) and not is_array(value):
            return None
        compact = msgspec.json.encode(value).decode()
        if len(compact) <= most:
            return compact
        # Escapes make a text longer than its letters: a text that is too long is cut once more, with less room.
        room = most
        for _ in range(_TRIALS):
            short = msgspec.json.encode(shorten_value(value, room)).decode()
            if len(short) <= most:
                return short
            room = math.floor(room * most / len(short) * 0.95)
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError):
        pass
    return None


LineForm: TypeAlias = Literal["table", "lines"]

_PROBLEM: Final = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|FAIL(?:ED|URE)?|WARN(?:ING)?|Exception|Traceback|panic|error|failed)\b"
)
_RULE: Final = re.compile(r"\s*\|?[\s:|+-]*-{3,}[\s:|+-]*\Z")
_SEPARATORS: Final = ("\t", ";", ",", "|")
_MOST_MARK: Final = 64
# The number of lines that show whether the text is a table.
_SAMPLE: Final = 20
_MOST_LOOKED_AT: Final = 200_000


def shorten_lines(text: str, most: int) -> tuple[str, LineForm]:
    """Return the lines with which the text has at most `most` characters, with marks in place of the others."""
    lines = text.split("\n")
    header = header_of(lines)
    longest = max(most // 4, 40)
    kept = _LineSelection(lines, most, longest)
    kept.take_all(range(header))
    kept.share = 0.45
    kept.take_all(range(header, len(lines)))
    kept.share = 0.7
    kept.take_all(range(len(lines) - 1, header, -1))
    if not header:
        kept.share = 0.95
        problems = [index for index, line in enumerate(lines[:_MOST_LOOKED_AT]) if _PROBLEM.search(line[:2_000])]
        half = (len(problems) + 1) // 2
        # From both ends, because the first problem causes the others and the last one ends the run.
        pairs = zip(problems[:half], reversed(problems), strict=False)
        kept.take_all([place for pair in pairs for place in pair], whole_row=False)
    kept.share = 1.0
    kept.take_all(range(header, len(lines)))
    return kept.render(most), "table" if header else "lines"


def header_of(lines: list[str]) -> int:
    """Return how many lines form the header of a table; 0 if the text is not a table."""
    if len(lines) > 2 and "|" in lines[0] and _RULE.match(lines[1]):
        return 2
    sample = [line for line in lines[:_SAMPLE] if line.strip()]
    if len(sample) < 4:
        return 0
    for separator in _SEPARATORS:
        counts = [line.count(separator) for line in sample]
        if counts[0] >= 2 and sum(count == counts[0] for count in counts) * 10 >= len(counts) * 9:
            return 1
    return 0


class _LineSelection:
    """The lines that stay, and the room that they take."""

    def __init__(self, lines: list[str], most: int, longest: int) -> None:
        self._lines = lines
        self._longest = longest
        self._most = most - _MOST_MARK
        self._shown: dict[int, str] = {}
        self._size = 0
        self.share = 1.0

    def take_all(self, places: "range | list[int]", *, whole_row: bool = True) -> None:
        """Take these lines until the share of the room is used. A line out of a row costs a mark as well."""
        for place in places:
            if place in self._shown:
                continue
            shown = self._lines[place]
            shown = shown if len(shown) <= self._longest else without_middle(shown, self._longest)
            size = len(shown) + 1 + (0 if whole_row else _MOST_MARK)
            if self._size + size > self._most * self.share:
                return
            self._shown[place] = shown
            self._size += size

    def render(self, most: int) -> str:
        """The lines with the marks, as a text of at most `most` characters."""
        parts: list[str] = []
        following = 0
        for place in sorted(self._shown):
            parts += self._mark(following, place)
            parts.append(self._shown[place])
            following = place + 1
        parts += self._mark(following, len(self._lines))
        return without_middle("\n".join(parts), most)

    def _mark(self, start: int, end: int) -> list[str]:
        if end == start:
            return []
        if end - start == 1:
            return [f"… 1 line left out (line {start + 1}) …"]
        return [f"… {end - start:,} lines left out (lines {start + 1} to {end}) …"]


# Texts are cut to these lengths one after the other, where leaving out items is not enough.
_TEXT_LENGTHS: Final = (1 << 40, 4_000, 1_000, 300, 100, 40)
# With fewer items in each list, shorter texts are tried first.
_FEWEST: Final = 5
_MOST_KEPT: Final = 1 << 20
# The number of items of a list that are searched for those unlike the others.
_MOST_COMPARED: Final = 20_000
_MOST_ODD: Final = 8
_PROBLEMS: Final = ("error", "errors", "exception", "failure")


class _TooLongError(Exception):
    """The value is longer than requested."""


def shorten_value(value: object, most: int, *, marks: bool = True) -> object:
    """Return a copy of a JSON value whose text has about `most` characters at most; the value itself if that is short.

    Args:
        value: A decoded JSON value.
        most: The most characters of its compact JSON. The caller measures the result, and calls again with less.
        marks: Whether a text in a list, or a member of an object, says what was left out there. Without marks the value
            keeps its types, so that it may still satisfy a schema.

    Returns:
        The copy; the shortest one if none is short enough.

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
    """The most items in each list with which the value fits, and that value; 0 and None if not even one does."""
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
        """Return the value with at most `items` items in each list. Raise _TooLongError if it is longer than `most`."""
        self._room = most
        return self._cut(value, items, longest)

    def _cut(self, value: object, items: int, longest: int) -> object:
        if isinstance(value, str):
            text = value if len(value) <= longest else without_middle(value, longest)
            self._take(len(text) + 2)
            return text
        if is_array(value):
            self._take(2)
            parts: list[object] = []
            following = 0
            for index in self._chosen(value, items):
                parts += self._gap(value, following, index)
                self._take(1)
                parts.append(self._cut(value[index], items, longest))
                following = index + 1
            parts += self._gap(value, following, len(value))
            return parts
        if is_object(value):
            self._take(2)
            # An object with many members is a list by another name.
            most = max(items, 24)
            members: dict[str, object] = {}
            for number, (name, member) in enumerate(value.items()):
                if number >= most and len(value) > most + 1:
                    if self._marks:
                        mark = f"{len(value) - most:,} of {len(value):,} members left out"
                        self._take(len(mark) + 8)
                        members["…"] = mark
                    break
                self._take(len(name) + 4)
                members[name] = self._cut(member, items, longest)
            return members
        self._take(4)
        return value

    def _take(self, size: int) -> None:
        self._room -= size
        if self._room < 0:
            raise _TooLongError

    def _gap(self, value: Sequence[object], start: int, end: int) -> Iterator[str]:
        if self._marks and end > start:
            places = f"{start} to {end - 1}" if end - start > 1 else str(start)
            mark = f"… {end - start:,} of {len(value):,} items left out ({places}) …"
            self._take(len(mark) + 3)
            yield mark

    def _chosen(self, value: Sequence[object], items: int) -> list[int]:
        """Return the places that stay: both ends, and some of those unlike the rest."""
        size = len(value)
        if size <= items:
            return list(range(size))
        if id(value) not in self._odd:
            # Objects that report a problem, or have other members than most.
            heads = [tuple(item) if is_object(item) else None for item in value[:_MOST_COMPARED]]
            counts = Counter(heads)
            rare: set[tuple[str, ...] | None] = set()
            if len(counts) <= _MOST_ODD:
                rare = {head for head, count in counts.items() if count * 20 <= len(heads)}
            found = [
                index
                for index, (head, item) in enumerate(zip(heads, value, strict=False))
                if head in rare or (is_object(item) and any(item.get(name) for name in _PROBLEMS))
            ]
            self._odd[id(value)] = found[:_MOST_ODD]
        odd = self._odd[id(value)][: items // 4]
        ends = items - len(odd)
        tail = ends // 3
        return sorted({*range(ends - tail), *range(size - tail, size), *odd})


def without_middle(text: str, most: int) -> str:
    """Return a text of at most `most` characters: its beginning and its end, and how much was between them.

    >>> without_middle("0123456789" * 10, 50)
    '01234567890123 … 79 characters left out … 3456789'
    """
    if len(text) <= most:
        return text
    room = most - len(f" … {len(text):,} characters left out … ")
    if room < 8:
        return text[: max(most - 1, 0)] + "…" if most else ""
    tail = room // 3
    head = text[: room - tail]
    # Up to the end of a word, if one ends nearby.
    words, blank, rest = head.rpartition(" ")
    head = words if blank and len(rest) < len(head) // 8 else head
    left = len(text) - len(head) - tail
    return f"{head} … {left:,} characters left out … {text[len(text) - tail :]}"
