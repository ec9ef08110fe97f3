"""Long texts anywhere in a value: cut to a length, found, measured."""

import operator
from collections.abc import Iterator
from typing import Final

from toolvet.core.envelope.contract.shapes import is_sequence
from toolvet.core.json_value import is_object, pointer

ELLIPSIS: Final = "…"


def cut_texts(value: object, most: int) -> object:
    """A copy in which no text has more than `most` characters; the very same value where no text is longer."""
    if isinstance(value, str):
        return value if len(value) <= most else _cut(value, most)
    if is_sequence(value):
        items = [cut_texts(item, most) for item in value]
        return items if any(map(operator.is_not, items, value)) else value
    if is_object(value):
        members = {name: cut_texts(member, most) for name, member in value.items()}
        return members if any(members[name] is not member for name, member in value.items()) else value
    return value


def _cut(text: str, most: int) -> str:
    """The first `most` characters with an ellipsis, up to the end of a word if one ends in their last fifth."""
    start = text[: most - 1]
    words, blank, rest = start.rpartition(" ")
    return (words if blank and len(rest) < most // 5 else start).rstrip() + ELLIPSIS


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
