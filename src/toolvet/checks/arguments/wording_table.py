"""The texts for each keyword, from `wording.toml`, and the formatting of values in them."""

import json
from collections.abc import Iterable, Mapping
from functools import cache

import msgspec
import orjson

from toolvet.discover.toml import read_toml


class KeywordWording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The templates of one keyword; `kind` names its suggestion."""

    kind: str
    problem: str
    expected: str
    fix: str
    constraint: str = ""
    phrase: str = ""


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `wording.toml`. Suggestions are given in the order of `suggestion`."""

    keyword: Mapping[str, KeywordWording]
    suggestion: Mapping[str, str]
    text: Mapping[str, str]
    neutral: Mapping[str, str]

    def of(self, keyword: str) -> KeywordWording:
        """The row of `keyword`; the row `other` for a keyword without one."""
        return self.keyword.get(keyword) or self.keyword["other"]


@cache
def wording() -> Wording:
    """The table, read once."""
    return read_toml("toolvet.checks.arguments", "wording.toml", Wording)


def as_json(value: object) -> str:
    """A value as JSON, as the texts quote it. Total."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, RecursionError):
        pass
    try:
        # Whole numbers beyond 64 bits.
        return json.dumps(value, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(type(value).__name__)


def count_of(limit: object, noun: str) -> str:
    """A number with its noun: `1 item`, `3 items`."""
    return f"{as_json(limit)} {noun}" if limit == 1 else f"{as_json(limit)} {noun}s"


def join_values(values: Iterable[object], most: int = 40) -> str:
    """The values as JSON, separated by commas: the first `most` of them, and how many more there are."""
    items = list(values)
    shown = ", ".join(cut(as_json(value), 200) for value in items[:most])
    return shown if len(items) <= most else f"{shown}, … ({len(items) - most} more)"


def cut(text: str, most: int) -> str:
    """`text`, or its beginning and an ellipsis: at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…" if most > 0 else ""
