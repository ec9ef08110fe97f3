"""`may_be_raw_error`: which texts of a column may begin as raw errors do.

`raw_error.toml` says how they begin, for `re`. Here the same patterns are read more loosely for RE2, which looks at a
whole column: each class of characters has all that are not ASCII in it, and what asks for a border asks for nothing.
"""

import re
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from toolvet.batch.arrow import compute
from toolvet.batch.kernel.texts import Flags, Texts
from toolvet.core.checks import raw_error_table

_SHORT: Final = 600  # As in `checks.answer.raw_error`: longer texts are looked at only if they begin like this.
_OPENS: Final = b"{< \n\t"
_TRACEBACK: Final = b"Traceback"
_BEYOND: Final = r"\x{80}-\x{10ffff}"
_LOOSER: Final = {
    r"\W": "[^A-Za-z0-9_]",
    r"\w": f"[A-Za-z0-9_{_BEYOND}]",
    r"\d": f"[0-9{_BEYOND}]",
    r"\D": "[^0-9]",
    r"\s": rf"[\t-\r\x1c-\x20{_BEYOND}]",
    r"\S": r"[^\t-\r\x1c-\x20]",
    r"\b": "",
    r"\B": "",
    r"\Z": r"\z",
}
_ESCAPE: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
# Counting makes automata that RE2 gives up on, and then it takes 3 µs for a text in place of 0.2.
_COUNTED: Final = re.compile(r"\{(\d+),\d*\}")
_FLAGS: Final = re.compile(r"\A\(\?([a-z]+)\)")


def may_be_raw_error(texts: Texts, data: NDArray[np.uint8], wide: Flags) -> Flags:
    """Return which texts may be raw errors; the others are not."""
    size = texts.ends - texts.starts
    # A text of this many bytes may have so few characters that it counts as short.
    short = size <= np.where(wide, 4 * _SHORT, _SHORT)
    first = data[np.minimum(texts.starts, len(data) - 1)]
    found = np.isin(first, np.frombuffer(_OPENS, np.uint8))
    for row in np.flatnonzero((first == _TRACEBACK[0]) & ~short).tolist():
        found[row] = texts.buffer.startswith(_TRACEBACK, int(texts.starts[row]))
    rows = np.flatnonzero(short & ~found)
    if len(rows):
        begun = compute.match_substring_regex(texts.array.take(rows), _loose_starts())
        found[rows] = np.asarray(compute.fill_null(begun, True))  # noqa: FBT003 - what a null becomes
    return found


@cache
def _loose_starts() -> str:
    starts = "|".join(loosened(each.match) for each in raw_error_table().error)
    return rf"\A[ \t\r\n]*(?:\{{|{starts})"


def loosened(pattern: str) -> str:
    """Return a pattern of RE2 that finds all that this pattern of `re` finds, and perhaps more."""
    flags = _FLAGS.match(pattern)
    body = pattern if flags is None else pattern[flags.end() :]
    looser = _ESCAPE.sub(lambda found: _LOOSER.get(found.group(), found.group()), body)
    looser = _COUNTED.sub(lambda count: "*" if count[1] == "0" else "+", looser)
    return f"(?{'' if flags is None else flags[1]}:{looser})"
