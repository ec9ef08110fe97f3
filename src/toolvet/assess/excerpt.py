"""A very large answer → an excerpt of it, which rules, masks and the report read in its place.

    48 MB of text    {"content": [{"type": "text", "text": "not found … (48,000,000 characters in all; BLAKE2 9c4e…)"}]}

Judging takes time in proportion to what is judged, and a run has a deadline: of what is larger than a bound only the
excerpt is kept. What the whole alone can show is taken from it once, before: its size, its verdict, and whether
structured content satisfies the outputSchema. An excerpt has the types of the whole, and the first of its entries.
"""

import gc
import re
from hashlib import blake2b
from itertools import islice
from typing import Final

from toolvet.core.json_value import is_array, is_object

# Bytes of an answer, and of an entry of a list, that is judged as it is.
MOST_WHOLE: Final = 1 << 20
# Values of an answer whose verdict is made of the whole.
MOST_VALUES: Final = 1_200_000
# Characters of an excerpt, and the fewest that an entry of it gets.
_ROOM: Final = 256 * 1024
_LEAST: Final = 64
_MOST_ENTRIES: Final = 200
# Around the places where it was cut, secrets are looked for: half of one would not be seen in the excerpt.
_AROUND: Final = 4_096
_MOST_CUTS: Final = 32
# What one value weighs beside its characters.
_VALUE_BYTES: Final = 8
CUT_MARK: Final = re.compile(r"… \([\d,]{1,20} characters in all; BLAKE2 [0-9a-f]{16}\)\Z")


class LargeExcerpt:
    """The excerpt of `whole`: its `value`, and in `borders` the texts around the places where strings were cut."""

    def __init__(self, whole: object, room: int = _ROOM) -> None:
        self.borders: list[str] = []
        self.value = self._part(whole, room)

    def _part(self, value: object, room: int) -> object:
        if isinstance(value, str):
            return value if len(value) <= max(room, _LEAST) else self._cut(value, max(room, _LEAST))
        if is_object(value):
            kept = list(islice(value.items(), _entries(len(value), room)))
            each = room // max(len(kept), 1)
            return {self._name(name): self._part(entry, each) for name, entry in kept}
        if is_array(value):
            items = value[: _entries(len(value), room)]
            return [self._part(item, room // max(len(items), 1)) for item in items]
        return value

    def _name(self, name: str) -> str:
        return name if len(name) <= 4 * _LEAST else self._cut(name, 4 * _LEAST)

    def _cut(self, text: str, room: int) -> str:
        """The beginning of a text, its length, and its digest: two texts differ where their excerpts do."""
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        if len(self.borders) == _MOST_CUTS:
            room = 0
        else:
            self.borders.append(text[max(0, room - _AROUND) : room + _AROUND])
        return f"{text[:room]}… ({len(text):,} characters in all; BLAKE2 {digest})"


def is_heavy(value: object, most: int) -> bool:
    """Whether a JSON value weighs more than `most` bytes, about. Reads no more of it than that.

    >>> is_heavy({"a": ["b" * 2_000]}, 1_000), is_heavy({"a": ["b"]}, 1_000)
    (True, False)
    """
    level: list[object] = [value]
    weight = 0
    while level:
        weight += _VALUE_BYTES * len(level)
        # The texts are not even looked at where there are too many of them.
        if weight <= most:
            weight += sum(len(each) for each in level if isinstance(each, str))
            weight += sum(len(name) for each in level if is_object(each) for name in each)
        if weight > most:
            return True
        level = gc.get_referents(*(each for each in level if isinstance(each, dict | list)))
    return False


def light(entry: object) -> tuple[object, bool]:
    """An entry of a list as it is, and False; of one that is too heavy to be judged an excerpt, and True."""
    if not is_heavy(entry, MOST_WHOLE):
        return entry, False
    return LargeExcerpt(entry).value, True


def _entries(count: int, room: int) -> int:
    """How many of so many entries an excerpt has: each gets some room."""
    return min(count, _MOST_ENTRIES, max(1, room // _LEAST))
