"""Whether a text announces what its author does next: "Let me fetch the data:"."""

import re
from functools import cache
from typing import Final

import msgspec

from toolvet.core.discover.toml import read_toml

_LAST_SENTENCE: Final = re.compile(r"(?:[.!?。！？][\s*_]+|\n)(?=\S)")  # noqa: RUF001 - full-width marks
_END_MARKS: Final = ".!…:：。！ *_"  # noqa: RUF001 - full-width marks
_OPENING_MARKS: Final = " \t\n*_>#-•"
_LONGEST: Final = 300


class Announcing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one language announces what its speaker does next; `hits` and `misses` are its proofs."""

    match: str
    hits: list[str]
    misses: list[str]


def announces(text: str) -> bool:
    """Whether the last sentence of a text announces what its author does next ("Let me check the log:").

    Example:
        >>> announces("The order is not there. Let me search for it by name:")
        True
        >>> announces("The order is not there. Let me explain:")
        False
    """
    end = text.rstrip()
    # What ends the sentence itself is no start of another one.
    tail = end[-_LONGEST:].rstrip(_END_MARKS)
    starts = [match.end() for match in _LAST_SENTENCE.finditer(tail)]
    if not starts and len(end) > _LONGEST:
        return False
    last = tail[starts[-1] if starts else 0 :].lstrip(_OPENING_MARKS)
    return any(pattern.match(last) for pattern in _patterns())


@cache
def announcements() -> dict[str, Announcing]:
    """How each language announces, from `announcing.toml`."""
    return read_toml("toolvet.core.turn", "announcing.toml", dict[str, Announcing])


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(each.match, re.IGNORECASE) for each in announcements().values())
