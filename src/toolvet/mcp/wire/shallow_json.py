"""Cuts JSON that a decoder does not take, so that it can still be seen which messages it holds."""

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


def cut_items(array: bytes) -> list[bytes]:
    """Return the items of a JSON array as they are written, without decoding them. Linear in its length; total.

    >>> cut_items(b'[{"a": [1, 2]}, NaN,"x,y"]')
    [b'{"a": [1, 2]}', b'NaN', b'"x,y"']
    """
    depth, kept = 0, 0
    items: list[bytes] = []
    for start, end in _brackets(array, _ITEM_TOKEN):
        byte = array[start]
        before = depth
        if byte in b"[{":
            depth += end - start
            kept = start + 1 if before == 0 else kept
        elif byte in b"]}":
            depth -= end - start
        if (byte in b"," and depth == 1) or (before > 0 and depth <= 0):
            # The bracket that ends the array is the last of its run.
            items.append(array[kept : end - 1].strip())
            kept = end
    return [item for item in items if item]


# Brackets in runs: input that nests a hundred thousand of them has little in between. A string as far as it has no
# backslash: to go on after one inside the pattern, `re` would keep 57 bytes for every backslash.
_TOKEN: Final = re.compile(rb'"[^"\\]*"?|\[+|\{+|\]+|\}+')
_ITEM_TOKEN: Final = re.compile(rb'"[^"\\]*"?|\[+|\{+|\]+|\}+|,')
_MARK: Final = ord('"')
_QUOTE: Final = re.compile(rb'(?<!\\)\\*"')


def _brackets(line: bytes, pattern: re.Pattern[bytes] = _TOKEN) -> Iterator[tuple[int, int]]:
    """Yield where each token outside of strings (a run of equal brackets, for one) starts and ends.

    A quote without an end of its string is skipped, and so are all after it: each of them has a backslash before it.
    """
    at = 0
    is_closed = True
    while (token := pattern.search(line, at)) is not None:
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
