"""Long texts cut to a length, wherever they stand."""

import operator
from collections.abc import Iterator

from toolvet.envelope.json_copy import step
from toolvet.envelope.contract.shapes import is_array, is_members

ELLIPSIS = "…"


def shortened(value: object, most: int) -> object:
    """A copy in which no text has more than `most` characters; the very same value where none has."""
    if isinstance(value, str):
        return value if len(value) <= most else _cut(value, most)
    if is_array(value):
        items = [shortened(item, most) for item in value]
        return items if any(map(operator.is_not, items, value)) else value
    if is_members(value):
        members = {name: shortened(member, most) for name, member in value.items()}
        return members if any(members[name] is not member for name, member in value.items()) else value
    return value


def _cut(text: str, most: int) -> str:
    """The beginning, up to a word if one ends in the last fifth of it."""
    start = text[: most - 1]
    words, blank, rest = start.rpartition(" ")
    return (words if blank and len(rest) < most // 5 else start).rstrip() + ELLIPSIS


def long_texts(value: object, most: int, place: str = "") -> Iterator[str]:
    """The JSON Pointers of the texts that `shortened` cuts."""
    if isinstance(value, str):
        if len(value) > most:
            yield place
    elif is_array(value):
        for index, item in enumerate(value):
            yield from long_texts(item, most, f"{place}/{index}")
    elif is_members(value):
        for name, member in value.items():
            yield from long_texts(member, most, f"{place}/{step(name)}")


def longest_text(value: object) -> int:
    """The length of the longest one."""
    if isinstance(value, str):
        return len(value)
    inside = value if is_array(value) else value.values() if is_members(value) else ()
    return max(map(longest_text, inside), default=0)
