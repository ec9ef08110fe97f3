"""The texts of a report, from `wording.toml` or a table of the user's own, and the formatting of values in them.

`read_wording` reads the user's own texts for reports, in another language or another voice:

inherit = true                      # texts missing in this file come from toolvet's English

[text]
summary_invalid = "Acme: '{tool}' cannot be called like this, {count} problem(s)."

[keyword.minimum]
problem = "Too small: at least {limit}"
"""

import json
import math
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from enum import Enum
from functools import cache, lru_cache
from itertools import islice
from string import Formatter
from typing import Final, cast

import msgspec
import orjson

from toolvet.core.discover.toml import decode_toml, read_toml
from toolvet.core.redact import REDACTED, is_secret_key, redact, redact_text
from toolvet.errors import ConfigError


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


_TABLES: Final = ("suggestion", "text", "phrase")
_MISSING: Final = "is missing: add it, or set inherit = true to take toolvet's own text"
_FIELDS: Final = ("problem", "expected", "fix", "constraint", "phrase")


class OwnRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The user's own templates for one keyword; None: not given."""

    kind: str | None = None
    problem: str | None = None
    expected: str | None = None
    fix: str | None = None
    constraint: str | None = None
    phrase: str | None = None

    def given(self) -> Mapping[str, str]:
        """The parts that are given, by name."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


class OwnWording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file with texts of the user's own: the tables of `Wording`, and whether the missing texts are toolvet's own."""

    inherit: bool = False
    keyword: Mapping[str, OwnRow] = {}
    suggestion: Mapping[str, str] = {}
    text: Mapping[str, str] = {}
    phrase: Mapping[str, str] = {}
    neutral: Mapping[str, str] = {}


def read_wording(content: str, file: str = "wording") -> Wording:
    r"""Return the wording in a TOML text: every key of `wording.toml`, or some of them and `inherit = true`.

    Args:
        content: the text.
        file: its name for error messages.

    Raises:
        ConfigError: the text is not TOML, a key is missing or unknown, or a template has a placeholder that its text
            does not have; the message names the key.

    Example:
        >>> from toolvet import check_arguments
        >>> voice = read_wording("inherit = true\ntext.summary_invalid = 'Oh no, {tool}! ({count})'")
        >>> tool = {"name": "sail", "inputSchema": {"type": "object", "required": ["port"]}}
        >>> check_arguments(tool, {}, wording=voice).summary
        'Oh no, sail! (1)'
    """
    try:
        given = decode_toml(content, OwnWording)
    except msgspec.DecodeError as error:
        raise ConfigError(str(error), file=file) from error
    for key, problem in _problems(given, builtin_wording()):
        raise ConfigError(problem, file=file, key=key)
    own = builtin_wording()
    rows = {name: msgspec.structs.replace(own.keyword[name], **row.given()) for name, row in given.keyword.items()}
    return Wording(
        keyword={**own.keyword, **rows},
        suggestion={**own.suggestion, **given.suggestion},
        text={**own.text, **given.text},
        phrase={**own.phrase, **given.phrase},
        neutral={**own.neutral, **given.neutral},
    )


def _problems(given: OwnWording, own: Wording) -> Iterator[tuple[str, str]]:
    """The messages about what is wrong, each with its key."""
    for table in ("keyword", *_TABLES):
        here = cast("Mapping[str, object]", getattr(given, table))
        known = cast("Mapping[str, object]", getattr(own, table))
        for name in here:
            if name not in known:
                yield f"{table}.{name}", f"there is no such text; there are {', '.join(known)}"
        for name in known:
            if name not in here and not given.inherit:
                yield f"{table}.{name}", _MISSING
    for table in _TABLES:
        templates = cast("Mapping[str, str]", getattr(own, table))
        for name, template in cast("Mapping[str, str]", getattr(given, table)).items():
            yield from _check_template(f"{table}.{name}", template, _placeholders(templates[name]))
    for name, row in given.keyword.items():
        yield from _check_row(f"keyword.{name}", row.given(), own.keyword[name], inherit=given.inherit)


def _check_row(
    place: str, row: Mapping[str, str], model: KeywordWording, *, inherit: bool
) -> Iterator[tuple[str, str]]:
    if row.get("kind", model.kind) != model.kind:
        yield f"{place}.kind", f"must be '{model.kind}': it names the suggestion, and readers do not see it"
    about_call = _placeholders(model.problem) | _placeholders(model.expected) | _placeholders(model.fix)
    for field in _FIELDS:
        own = cast("str", getattr(model, field))
        if field not in row:
            if own and not inherit:
                yield f"{place}.{field}", _MISSING
            continue
        usable = _placeholders(own) if field in ("constraint", "phrase") else about_call
        # The name of a member is filled in later, but not in the text about the expected value.
        yield from _check_template(f"{place}.{field}", row[field], usable - {"name"} if field == "expected" else usable)


def _check_template(key: str, template: str, usable: set[str]) -> Iterator[tuple[str, str]]:
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        yield key, f"is not a template: {error}; write {{{{ and }}}} for braces"
        return
    for _, name, form, conversion in parts:
        if name is not None and (name not in usable or form or conversion):
            shown = ", ".join(f"{{{each}}}" for each in sorted(usable)) or "none"
            yield key, f"has no placeholder {{{name}}}; its placeholders are: {shown}"


def _placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


MISSING: Final = "(missing)"
_LONGEST_TEXT: Final = 200
_SHOWN_TEXT: Final = 80
_MOST_NODES: Final = 40
_LONGEST_NAME: Final = 80
_SHORTEST_SECRET: Final = 12


def show_value(value: object, *, secret: bool) -> tuple[object, str]:
    """The value for the JSON form and for the text. A `secret` is masked, long values are cut or described."""
    if value is None or isinstance(value, bool):
        return value, "null" if value is None else str(value).lower()
    if secret:
        return REDACTED, REDACTED
    if isinstance(value, str):
        if len(value) > _LONGEST_TEXT:
            value = f"{redact_text(value[:_LONGEST_TEXT])[:_SHOWN_TEXT]}… ({len(value)} characters)"
        elif len(value) >= _SHORTEST_SECRET:
            value = redact_text(value)
        value = escape_surrogates(value)
        return value, as_json(value)
    if isinstance(value, int):
        if -(10**30) < value < 10**30:
            return value, str(value)
        described = f"a whole number of about {value.bit_length() * 3 // 10} digits"
        return described, described
    if isinstance(value, float):
        if math.isfinite(value):
            return value, as_json(value)
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return name, name
    size = _measure(value)
    if size is not _Size.LARGE:
        safe = value if size is _Size.HARMLESS else redact(value)
        written = as_json(safe)
        if len(written) <= _LONGEST_TEXT and written.isprintable():
            return safe, written
    if isinstance(value, dict):
        found = cast("dict[object, object]", value)
        keys = [show_name(key) for key in islice(found, 10) if isinstance(key, str)]
        more = f", … ({len(found)} fields)" if len(found) > len(keys) else ""
        described = cut(f"an object with the fields {', '.join(keys)}", _LONGEST_TEXT) + more
    elif isinstance(value, list):
        described = f"an array of {len(cast('list[object]', value))} items"
    else:
        described = f"a Python {type(value).__name__}"
    return described, described


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
