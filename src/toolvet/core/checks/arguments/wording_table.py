"""The texts of a report, from `wording.toml` or a table of the user's own, and the formatting of values in them."""

import json
from collections.abc import Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Final

import msgspec
import orjson

from toolvet.core.discover.toml import read_toml


class KeywordWording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The templates of one keyword; `kind` names its suggestion."""

    kind: str
    problem: str
    expected: str
    fix: str
    constraint: str = ""
    phrase: str = ""


class Wording(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """The content of `wording.toml`, or the texts of the user; suggestions are given in the order of `suggestion`.

    `read_wording` reads one from a text, `load_wording` from a file.
    """

    keyword: Mapping[str, KeywordWording]
    suggestion: Mapping[str, str]
    text: Mapping[str, str]
    phrase: Mapping[str, str]
    neutral: Mapping[str, str]

    def of(self, keyword: str) -> KeywordWording:
        """The row of `keyword`; the row `other` for a keyword without one."""
        return self.keyword.get(keyword) or self.keyword["other"]


@cache
def builtin_wording() -> Wording:
    """The table of toolvet, read once."""
    return read_toml("toolvet.core.checks.arguments", "wording.toml", Wording)


# Set only while one report is made: the parts of a text ask for it from many places, and none of them is asynchronous.
_CURRENT: Final[ContextVar[Wording | None]] = ContextVar("toolvet_arguments_wording", default=None)


def wording() -> Wording:
    """The table of the report that is being made."""
    return _CURRENT.get() or builtin_wording()


def worded(table: Wording | None) -> AbstractContextManager[None]:
    """Make the texts in this block by `table`; None leaves them as they are, by that of toolvet."""
    return _UNCHANGED if table is None else _by(table)


_UNCHANGED: Final = nullcontext()


@contextmanager
def _by(table: Wording) -> Generator[None]:
    token = _CURRENT.set(table)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def text(name: str, /, **values: object) -> str:
    """A text of the table, with the values in its placeholders."""
    template = wording().text[name]
    # Most are read without a placeholder, several for each report.
    return template.format(**values) if "{" in template or "}" in template else template


def phrase(name: str, /, **values: object) -> str:
    """A part of a sentence, with the values in its placeholders."""
    template = wording().phrase[name]
    return template.format(**values) if "{" in template or "}" in template else template


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
    return f"{as_json(limit)} {phrase(noun if limit == 1 else f'{noun}s')}"


def join_values(values: Iterable[object], most: int = 40) -> str:
    """The values as JSON, separated by commas: the first `most` of them, and how many more there are."""
    items = list(values)
    shown = ", ".join(cut(as_json(value), 200) for value in items[:most])
    return shown if len(items) <= most else f"{shown}, {phrase('more_values', count=len(items) - most)}"


def cut(text: str, most: int) -> str:
    """`text`, or its beginning and an ellipsis: at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…" if most > 0 else ""
