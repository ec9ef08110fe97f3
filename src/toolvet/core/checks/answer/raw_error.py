"""A raw error as the whole answer: a traceback, a status line, an error page, or a JSON object that is an error.

`raw_error.toml` says how they begin. Only short answers, and those that begin with `{`, `<` or a traceback, are looked
at, so a usual answer pays nothing.
"""

import re
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Final, cast

import msgspec

from toolvet.core.checks.answer.quality import FailureSignal, SignalType
from toolvet.core.discover.toml import read_toml

RAW_ERROR: Final = "raw_error"
_LONGEST_JSON: Final = 20_000
_SHORT: Final = 600
_BEGINNING: Final = 1_000
_SHOWN: Final = 80
_OPENS: Final = ("<", "Traceback (")
_BLANKS: Final = " \t\r\n"


class RawErrorPattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one kind of raw error begins; `hits` and `misses` are its proofs."""

    match: str
    hits: list[str]
    misses: list[str]
    at_most: int | None = None


class JsonErrorKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys by which a JSON object is known as an error; `hits` and `misses` are their proofs."""

    errors: frozenset[str]
    states: frozenset[str]
    failed: str
    not_failed: str
    false: frozenset[str]
    true: frozenset[str]
    codes: frozenset[str]
    own: str
    hits: list[str]
    misses: list[str]


class RawErrorTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`raw_error.toml` as it is written."""

    explains: str
    error: list[RawErrorPattern]
    json: JsonErrorKeys


class RawErrors:
    """The table, ready to be asked. What only a few answers need is compiled for the first of them."""

    def __init__(self, table: RawErrorTable) -> None:
        self._table = table
        self.keys = table.json

    @cached_property
    def begins(self) -> list[tuple[re.Pattern[str], int]]:
        """How errors begin, and how long an answer may be that is one."""
        return [(re.compile(each.match), each.at_most or _LONGEST_JSON) for each in self._table.error]

    @cached_property
    def explains(self) -> re.Pattern[str]:
        """Words of an answer that explains an error."""
        return re.compile(self._table.explains, re.IGNORECASE)

    @cached_property
    def failed(self) -> re.Pattern[str]:
        """States that are failures."""
        return re.compile(self.keys.failed, re.IGNORECASE)

    @cached_property
    def not_failed(self) -> re.Pattern[str]:
        """States that are none, whatever words they have."""
        return re.compile(self.keys.not_failed, re.IGNORECASE)

    @cached_property
    def own(self) -> re.Pattern[str]:
        """Keys of what the assistant did itself."""
        return re.compile(self.keys.own, re.IGNORECASE)


def raw_error_table() -> RawErrorTable:
    """Read the table with its proofs."""
    return read_toml("toolvet.core.checks.answer", "raw_error.toml", RawErrorTable)


@cache
def _known() -> RawErrors:
    return RawErrors(raw_error_table())


def raw_error(text: str) -> FailureSignal | None:
    """Return the signal of an answer that is nothing but an error, None for any other."""
    if len(text) > _SHORT and text[0] not in "{<T \n\t":
        return None
    start = len(text) - len(text.lstrip(_BLANKS))
    opening = text[start : start + 12]
    if opening.startswith("{"):
        return _signal(text, start) if _is_json_error(text) else None
    if (len(text) > _SHORT and not opening.startswith(_OPENS)) or not opening[:1].isascii():
        return None
    beginning = text[start : start + _BEGINNING]
    known = _known()
    for pattern, at_most in known.begins:
        if len(text) <= at_most and pattern.match(beginning) is not None:
            return None if known.explains.search(beginning) is not None else _signal(text, start)
    return None


def _signal(text: str, start: int) -> FailureSignal:
    return FailureSignal(
        type=SignalType.TOOL_FAILURE,
        evidence=text[start : start + _SHOWN].rstrip(),
        weight=SignalType.TOOL_FAILURE.weight,
        position=start,
        context=text[start : start + 2 * _SHOWN],
        label=RAW_ERROR,
        source="shape",
    )


def _is_json_error(text: str) -> bool:
    if len(text) > _LONGEST_JSON:
        return False
    try:
        found: object = msgspec.json.decode(text.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    answer = _object(found)
    own = _known().own
    return _is_error(answer) or any(own.search(key) and _is_error(_object(value)) for key, value in answer.items())


def _is_error(found: Mapping[str, object]) -> bool:
    return any(_says_error(name.lower(), value) for name, value in found.items())


def _says_error(key: str, value: object) -> bool:
    known = _known()
    keys = known.keys
    if key in keys.errors and _is_filled(value):
        return True
    if key in keys.states and isinstance(value, str):
        return known.failed.search(value) is not None and known.not_failed.search(value) is None
    if (key in keys.false and value is False) or (key in keys.true and value is True):
        return True
    return key in keys.codes and isinstance(value, int) and 400 <= value <= 599


def _is_filled(value: object) -> bool:
    """Whether the value under an error's key is an error: not null, false, 0 or "none"."""
    return bool(value) and not (isinstance(value, str) and value.strip().lower() in ("", "none", "null", "no", "false"))


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
