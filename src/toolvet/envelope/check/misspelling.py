"""Did you mean: a name that is a known one but for case, separators or a slip of the keyboard in one of its words."""

import re
from collections.abc import Iterable

_LONGEST = 64
_LONG_ENOUGH = 5
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN = re.compile(r"[\s_.-]+")


def meant(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` stands for, or None; None also for a known name itself.

    Compared word by word, because names of one's own look like ours: TAG_NOT_FOUND is not TASK_NOT_FOUND misspelt.
    """
    if len(name) > _LONGEST:
        return None
    words = _words(name)
    for other in known:
        if other == name:
            return None
    for other in known:
        wanted = _words(other)
        if "".join(words) == "".join(wanted) or _alike(words, wanted):
            return other
    return None


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _BETWEEN.split(_CAMEL.sub("_", name)) if word]


def _alike(words: list[str], wanted: list[str]) -> bool:
    return len(words) == len(wanted) and all(
        left == right or _slip(left, right) for left, right in zip(words, wanted, strict=True)
    )


def _slip(left: str, right: str) -> bool:
    """One letter too many, too few, changed, or two swapped; with fewer than five letters that is another word."""
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
