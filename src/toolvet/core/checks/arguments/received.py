"""Values of a call as a report may show them: without secrets, and never longer than a line."""

import math
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import Final, cast

from toolvet.core.checks.arguments.wording_table import as_json, cut
from toolvet.core.redact import REDACTED, is_secret_key, redact, redact_text

MISSING: Final = "(missing)"
_LONGEST_TEXT: Final = 200
_SHOWN_TEXT: Final = 80
_MOST_NODES: Final = 40
_LONGEST_NAME: Final = 80
_SHORTEST_SECRET: Final = 12
# A tuple: `int | float` would make a union anew for each value.
_NUMBERS: Final = (int, float)


def show_value(value: object, *, secret: bool) -> tuple[object, str]:
    """The value for the JSON form and for the text. A `secret` is masked, long values are cut or described."""
    if value is None or isinstance(value, bool):
        return value, "null" if value is None else str(value).lower()
    if secret:
        return REDACTED, REDACTED
    if isinstance(value, str):
        return _show_text(value)
    if isinstance(value, _NUMBERS):
        return _show_number(value)
    size = _measure(value)
    if size is not _Size.LARGE:
        safe = value if size is _Size.HARMLESS else redact(value)
        written = as_json(safe)
        if len(written) <= _LONGEST_TEXT and written.isprintable():
            return safe, written
    described = _describe(value)
    return described, described


def _show_text(value: str) -> tuple[object, str]:
    if len(value) > _LONGEST_TEXT:
        value = f"{redact_text(value[:_LONGEST_TEXT])[:_SHOWN_TEXT]}… ({len(value)} characters)"
    elif len(value) >= _SHORTEST_SECRET:
        value = redact_text(value)
    value = escape_surrogates(value)
    return value, as_json(value)


def _show_number(value: float) -> tuple[object, str]:
    if isinstance(value, int):
        if -(10**30) < value < 10**30:
            return value, str(value)
        description = f"a whole number of about {value.bit_length() * 3 // 10} digits"
        return description, description
    if math.isfinite(value):
        return value, as_json(value)
    name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return name, name


class _Size(Enum):
    """Whether a container can be shown: not at all, without secrets, or unchanged (no names, no long texts)."""

    LARGE = 0
    SMALL = 1
    HARMLESS = 2


def _measure(value: object) -> _Size:
    """The size of a container: JSON of a few members and items is small, a cycle is large."""
    pending, seen, size = [value], 0, _Size.HARMLESS
    while pending:
        seen += 1
        if seen > _MOST_NODES:
            return _Size.LARGE
        here = pending.pop()
        if isinstance(here, dict):
            found = cast("dict[object, object]", here)
            if len(found) > _MOST_NODES or not all(isinstance(key, str) for key in found):
                return _Size.LARGE
            size = _Size.SMALL
            pending.extend(found.values())
        elif isinstance(here, list):
            items = cast("list[object]", here)
            if len(items) > _MOST_NODES:
                return _Size.LARGE
            pending.extend(items)
        elif isinstance(here, str):
            if len(here) > _LONGEST_TEXT:
                return _Size.LARGE
            if len(here) >= _SHORTEST_SECRET:
                size = _Size.SMALL
        elif not (here is None or isinstance(here, bool | int | float)):
            return _Size.LARGE
    return size


def _describe(value: object) -> str:
    if isinstance(value, dict):
        found = cast("dict[object, object]", value)
        keys = [show_name(key) for key in islice(found, 10) if isinstance(key, str)]
        more = f", … ({len(found)} fields)" if len(found) > len(keys) else ""
        return cut(f"an object with the fields {', '.join(keys)}", _LONGEST_TEXT) + more
    if isinstance(value, list):
        return f"an array of {len(cast('list[object]', value))} items"
    return f"a Python {type(value).__name__}"


def show_name(name: str) -> str:
    """The name of a field in a call: cut, on one line, and without secrets."""
    if len(name) < _SHORTEST_SECRET and name.isascii() and name.isprintable():
        return name
    # The names of tools and fields come again with every call; to look for secrets in one takes a microsecond.
    return _show_cut(f"{name[:_LONGEST_NAME]}…" if len(name) > _LONGEST_NAME else name)


@lru_cache(maxsize=4096)
def _show_cut(name: str) -> str:
    name = redact_text(name)
    return escape_surrogates(name if name.isprintable() else "".join(c if c.isprintable() else " " for c in name))


def escape_surrogates(text: str) -> str:
    """`text` with lone surrogates written as escapes, so that it can be encoded."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def holds_secret(path: tuple[str | int, ...]) -> bool:
    """Whether a name in the path, such as `password`, says that the value is secret."""
    for step in path:  # noqa: SIM110 - a generator would cost three times as much, for each issue.
        if isinstance(step, str) and is_secret_key(step):
            return True
    return False
