"""What is said of each keyword, from `wording.toml`."""

import json
from collections.abc import Iterable, Mapping
from functools import cache

import msgspec
import orjson

from toolvet.discover import data_file


class KeywordWording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One keyword: which suggestion belongs to it, and the templates."""

    kind: str
    problem: str
    expected: str
    fix: str
    constraint: str = ""
    phrase: str = ""


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of `wording.toml`. `suggestion` is in the order in which suggestions are told."""

    keyword: Mapping[str, KeywordWording]
    suggestion: Mapping[str, str]
    text: Mapping[str, str]
    neutral: Mapping[str, str]

    def of(self, keyword: str) -> KeywordWording:
        """The row of `keyword`; the row `other` for one that has none."""
        return self.keyword.get(keyword) or self.keyword["other"]


@cache
def wording() -> Wording:
    """The table, read once."""
    return msgspec.toml.decode(data_file("toolvet.checks.arguments", "wording.toml"), type=Wording)


def as_json(value: object) -> str:
    """A value of a schema as JSON, the way the texts quote it. Total."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, RecursionError):
        pass
    try:
        # Whole numbers beyond 64 bits.
        return json.dumps(value, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(type(value).__name__)


def sized(limit: object, noun: str) -> str:
    """`1 item`, `3 items`."""
    return f"{as_json(limit)} {noun}" if limit == 1 else f"{as_json(limit)} {noun}s"


def listed(values: Iterable[object], most: int = 40) -> str:
    """The values as JSON behind commas; the first `most` of them, and how many more there are."""
    told = list(values)
    shown = ", ".join(cut(as_json(value), 200) for value in told[:most])
    return shown if len(told) <= most else f"{shown}, … ({len(told) - most} more)"


def cut(text: str, most: int) -> str:
    """`text`, or its first characters and an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…" if most > 0 else ""
