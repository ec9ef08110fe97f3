"""What a field's name and description say about its values: realistic ones, as data in the TOML files beside this."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Literal

import msgspec

from toolvet.discover import data_file

ValueType = Literal["string", "integer", "number"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the tables: words of a name, or a phrase of a description (`match`), and values by JSON type."""

    words: tuple[str, ...] = ()
    match: str = ""
    string: tuple[str, ...] = ()
    integer: tuple[int, ...] = ()
    number: tuple[float, ...] = ()
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()

    def values(self, kind: ValueType) -> tuple[object, ...]:
        """The values of a JSON type; whole numbers are numbers as well."""
        if kind == "string":
            return self.string
        return self.integer if kind == "integer" else self.number or self.integer


def hints(name: str, description: str, kind: ValueType) -> Iterator[object]:
    """Values for a field, the most telling first: quoted in its description, meant by it, then told by the name."""
    if description:
        yield from quoted(description, kind)
        yield from listed(description, kind)
        for phrase, entry in _phrases():
            if entry.values(kind) and phrase.search(description, 0, _READ):
                yield from entry.values(kind)
                break
    yield from named(name, kind)


@lru_cache(maxsize=4096)
def named(name: str, kind: ValueType) -> tuple[object, ...]:
    """The values for a name: of the longest known phrase at its end, else at its start, else anywhere inside."""
    for entry in entries_for(name):
        if found := entry.values(kind):
            return found
    return ()


def entries_for(name: str) -> Iterator[Entry]:
    """The entries whose words stand in `name`, the most telling first."""
    words = words_of(name)
    known = _names()
    total = len(words)
    spans = sorted(
        ((start, end) for start in range(total) for end in range(start + 1, total + 1)),
        # At the end before at the start before inside; longer before shorter.
        key=lambda span: (0 if span[1] == total else 1 if span[0] == 0 else 2, span[0] - span[1]),
    )
    for start, end in spans:
        entry = known.get(words[start:end])
        if entry is not None:
            yield entry


def words_of(name: str) -> tuple[str, ...]:
    """The lower-case words of a snake, kebab or camel case name, the plural as singular; eight at most."""
    found = [word.lower() for word in _WORD.findall(_ACRONYMS.sub(lambda match: match[0].lower(), name[:120]))]
    return tuple(map(_singular, found[:8]))


_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_ACRONYMS = re.compile(r"\b[A-Z]{2,}s\b")
_SAME_IN_PLURAL = frozenset(
    {
        "address",
        "canvas",
        "class",
        "css",
        "ms",
        "access",
        "business",
        "status",
        "args",
        "bus",
        "gps",
        "radius",
        "basis",
        "analysis",
        "lens",
    }
)


def _singular(word: str) -> str:
    if (len(word) < 4 and word not in ("ids", "ips")) or word in _SAME_IN_PLURAL or word.endswith("ss"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("shes", "ches", "xes", "sses")):
        return word[:-2]
    return word.removesuffix("s")


_READ = 400
_EXAMPLE = re.compile(
    r"(?:\be\.?g\.|\bfor example\b|\bfor instance\b|\bsuch as\b|\blike\b(?= ['\"`])|\bexamples?:)[\s,:]*", re.IGNORECASE
)
_QUOTED = re.compile(r"""(?:'([^'\n]{1,80})'|"([^"\n]{1,80})"|`([^`\n]{1,80})`|“([^”\n]{1,80})”)""")
_BARE = re.compile(r"[^\s,;()\[\]'\"`]{1,80}")
_BETWEEN = re.compile(r"\s*(?:,|/|;|\bor\b|\band\b|, or|, and)\s*")


def quoted(description: str, kind: ValueType) -> Iterator[object]:
    """The values that a description gives as examples: `e.g. 'x', 'y'`, `for example "x"`, `(e.g. x)`."""
    text = description[:_READ]
    for opening in _EXAMPLE.finditer(text):
        at = opening.end()
        prose = opening[0].strip().lower().startswith(("such", "like", "for"))
        while at < len(text):
            item = _QUOTED.match(text, at)
            bare = None if item or prose else _BARE.match(text, at)
            found = item or bare
            if found is None:
                break
            value = next(group for group in (*found.groups(), found[0]) if group is not None)
            yield from _as(value.rstrip(".:") if bare else value, kind)
            between = _BETWEEN.match(text, found.end())
            if between is None:
                break
            at = between.end()


def listed(description: str, kind: ValueType) -> Iterator[object]:
    """The first of the values that a description lists: `'asc' or 'desc'`, `one of: day, week`, `(json or text)`."""
    text = description[:_READ]
    for form in _choices():
        found = form.search(text)
        if found:
            yield from _as(next(group for group in found.groups() if group is not None), kind)


def _as(value: str, kind: ValueType) -> Iterator[object]:
    if not value or "..." in value or "…" in value:
        return
    if kind == "string":
        yield value
    elif re.fullmatch(r"-?[0-9]{1,15}", value):
        yield int(value)
    elif kind == "number" and re.fullmatch(r"-?[0-9]{1,15}\.[0-9]{1,15}", value):
        yield float(value)


@lru_cache(maxsize=2)
def entries(table: Literal["name", "phrase"]) -> tuple[Entry, ...]:
    """Every entry of one table, in the order of the file."""
    rows = _table(f"{table}s.toml")[table]
    return msgspec.convert(rows, tuple[Entry, ...])


def formats() -> Mapping[str, tuple[str, ...]]:
    """The value templates of each `format`."""
    return msgspec.convert(_table("formats.toml")["format"], dict[str, tuple[str, ...]])


@cache
def _table(name: str) -> Mapping[str, object]:
    return tomllib.loads(data_file("toolvet.schema", name).decode())


@lru_cache(maxsize=1)
def _names() -> Mapping[tuple[str, ...], Entry]:
    known: dict[tuple[str, ...], Entry] = {}
    for entry in entries("name"):
        for phrase in entry.words:
            known.setdefault(words_of(phrase), entry)
    return known


class ListNotation(msgspec.Struct, frozen=True):
    """One way to list values. Its proof: hits are `description => value`, misses descriptions that list nothing."""

    match: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]


@lru_cache(maxsize=1)
def choices() -> tuple[ListNotation, ...]:
    """Every form, in the order of the file."""
    return msgspec.convert(_table("choices.toml")["choice"], tuple[ListNotation, ...])


@lru_cache(maxsize=1)
def _choices() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(choice.match, re.IGNORECASE) for choice in choices())


@lru_cache(maxsize=1)
def _phrases() -> tuple[tuple[re.Pattern[str], Entry], ...]:
    return tuple((re.compile(entry.match, re.IGNORECASE), entry) for entry in entries("phrase"))
