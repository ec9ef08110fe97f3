"""Cuts JSON that is nested too deeply for a decoder, so that it can still be seen which message it is."""

import re
from collections.abc import Iterator
from typing import Final


def shallow(line: bytes, limit: int = 500) -> bytes:
    """Return the same JSON with null in place of each container within `limit` others. Linear in its length; total.

    >>> shallow(b'{"a": [[1], 2]}', limit=2)
    b'{"a": [null, 2]}'
    """
    depth, kept = 0, 0
    parts: list[bytes] = []
    for start, end in _brackets(line):
        byte = line[start]
        if byte in b"[{":
            if depth <= limit < depth + end - start:
                parts += (line[kept : start + limit - depth], b"null")
            depth += end - start
        elif byte in b"]}":
            if depth - (end - start) <= limit < depth:
                kept = start + depth - limit
            depth -= end - start
    return b"".join((*parts, line[kept:])) if depth <= limit else b"".join(parts)


# Brackets in runs: input that nests a hundred thousand of them has little in between. A string as far as it has no
# backslash: to go on after one inside the pattern, `re` would keep 57 bytes for every backslash.
_TOKEN: Final = re.compile(rb'"[^"\\]*"?|\[+|\{+|\]+|\}+')
_MARK: Final = ord('"')
_QUOTE: Final = re.compile(rb'(?<!\\)\\*"')


def _brackets(line: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each run of equal brackets outside of strings starts and ends.

    A quote without an end of its string is skipped, and so are all after it: each of them has a backslash before it.
    """
    at = 0
    is_closed = True
    while (token := _TOKEN.search(line, at)) is not None:
        start, at = token.span()
        if line[start] != _MARK:
            yield start, at
        elif line[at - 1] != _MARK or at - start == 1:
            end = _string_end(line, at) if is_closed else None
            is_closed = end is not None
            at = end or start + 1


def _string_end(line: bytes, at: int) -> int | None:
    """Return the position after the first quote from `at` on with an even number of backslashes before it."""
    while (quote := _QUOTE.search(line, at)) is not None:
        at = quote.end()
        if (at - quote.start()) % 2:
            return at
    return None
