"""Foreign words and values, made fit to stand in a sentence: short, on one line, without secrets."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import cast

from toolvet.redact import redact, redact_text
from toolvet.schema.json_value import members

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]{0,20}[ -/]{0,5}[@-~]?)?")


def quoted(text: str, limit: int = 200) -> str:
    """The words of `text` on one line, cut behind a word with an ellipsis; no control characters, no secrets. Total."""
    # White space folds, so more than is shown must be looked at; 20 times is plenty, and keeps huge texts cheap.
    words = " ".join(redact_text(_ESCAPE.sub("", text[: 20 * limit])).split())
    clean = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words[: limit + 1])
    if len(words) <= limit:
        return clean
    kept = clean[: limit - 1]
    space = kept.rfind(" ")
    return (kept[:space] if space > limit * 2 // 3 else kept) + "…"


def shown(value: object, limit: int = 80) -> str:
    """A JSON value as JSON, cut to `limit` characters, without secrets. Total: depth and size are no danger."""
    return quoted(_text(redact(value), _DEPTH, limit), limit)


def answer_shown(result: object, limit: int = 160) -> str:
    """A tool result as JSON, without what says nothing about the answer (`_meta`, `resultType`). Total."""
    kept = {name: value for name, value in members(result).items() if name not in {"_meta", "resultType"}}
    return shown(kept or result, limit)


_DEPTH = 3
_ITEMS = 5


def _text(value: object, depth: int, limit: int) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value[:limit]}{"…" if len(value) > limit else ""}"'
        case float():
            return repr(value)
        case int():
            # Python refuses to print integers of thousands of digits.
            return str(value) if abs(value) < _HUGE else "a huge integer"
        case Mapping():
            members = cast("Mapping[object, object]", value)
            first = list(islice(members.items(), _ITEMS if depth > 0 else 0))
            return _joined(
                "{}", [f"{_text(k, 0, limit)}: {_text(v, depth - 1, limit)}" for k, v in first], len(members)
            )
        case list() | tuple():
            items = cast("list[object] | tuple[object, ...]", value)
            return _joined(
                "[]", [_text(item, depth - 1, limit) for item in items[: _ITEMS if depth > 0 else 0]], len(items)
            )
        case _:
            return f"<{type(value).__name__}>"


_HUGE = 10**40


def _joined(brackets: str, parts: list[str], count: int) -> str:
    return f"{brackets[0]}{', '.join([*parts, '…'] if count > len(parts) else parts)}{brackets[1]}"


def listed(names: list[str] | tuple[str, ...], most: int = 8) -> str:
    """Names for a sentence: 'a', 'b' and 3 more."""
    shown_names = [f"'{quoted(name, 60)}'" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown_names)} and {len(names) - most} more"
    return " and ".join(part for part in (", ".join(shown_names[:-1]), shown_names[-1] if shown_names else "") if part)
