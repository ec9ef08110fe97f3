"""Names that equal a documented name but for case, separators or a slip of the keyboard in one of the words."""

import re
from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 64
_LONG_ENOUGH: Final = 5
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN: Final = re.compile(r"[\s_.-]+")


def intended_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` probably misspells, or None; None also for a known name itself.

    Compared word by word, because a server's own names resemble ours: TAG_NOT_FOUND is not a misspelt TASK_NOT_FOUND.
    """
    if len(name) > _LONGEST:
        return None
    words = _split_words(name)
    for other in known:
        if other == name:
            return None
    for other in known:
        wanted = _split_words(other)
        if "".join(words) == "".join(wanted) or _are_alike(words, wanted):
            return other
    return None


def _split_words(name: str) -> list[str]:
    return [word.casefold() for word in _BETWEEN.split(_CAMEL.sub("_", name)) if word]


def _are_alike(words: list[str], wanted: list[str]) -> bool:
    return len(words) == len(wanted) and all(
        left == right or _is_slip(left, right) for left, right in zip(words, wanted, strict=True)
    )


def _is_slip(left: str, right: str) -> bool:
    """Whether one letter was added, left out or changed, or two were swapped, in a word of at least five letters."""
    longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
    if len(longer) < _LONG_ENOUGH or len(longer) - len(shorter) > 1:
        return False
    start = 0
    while start < len(shorter) and longer[start] == shorter[start]:
        start += 1
    if len(longer) > len(shorter):
        return longer[start + 1 :] == shorter[start:]
    swapped = longer[start + 1 : start + 2] + longer[start : start + 1]
    return longer[start + 1 :] == shorter[start + 1 :] or (
        swapped == shorter[start : start + 2] and longer[start + 2 :] == shorter[start + 2 :]
    )
