"""Realistic values for a field, from its name and its description; the tables are the TOML files beside this."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Literal

import msgspec

from toolvet.core.discover.toml import read_toml

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
    """Yield values for a field: those that its description quotes, lists or suggests, then those of its name."""
    if description:
        yield from quoted_values(description, kind)
        yield from listed_values(description, kind)
        for phrase, entry in _phrase_expressions():
            if entry.values(kind) and phrase.search(description, 0, _READ):
                yield from entry.values(kind)
                break
    yield from values_for_name(name, kind)


@lru_cache(maxsize=4096)
def values_for_name(name: str, kind: ValueType) -> tuple[object, ...]:
    """Return the values for a name: of the longest known phrase at its end, else at its start, else anywhere in it.

    A name that says how many there are (`max_dates`) has no moment as a number, but a small one.
    """
    counts = kind != "string" and words_of(name)[:1] and words_of(name)[0] in _COUNTING
    for start, entry in _matches_in(name):
        found = entry.values(kind)
        if found and not (counts and start and any(isinstance(v, int) and v >= _LARGEST_COUNT for v in found)):
            return found
    return ()


_COUNTING = frozenset({"max", "maximum", "min", "minimum", "most", "n", "num", "number"})
_LARGEST_COUNT = 10_000_000


def entries_for(name: str) -> Iterator[Entry]:
    """Yield the entries whose words are in `name`, those at its end first."""
    for _, entry in _matches_in(name):
        yield entry


def _matches_in(name: str) -> Iterator[tuple[int, Entry]]:
    """Yield the entries whose words are in `name`, each with the index of its first word."""
    words = words_of(name)
    known = _entries_by_words()
    total = len(words)
    spans = sorted(
        ((start, end) for start in range(total) for end in range(start + 1, total + 1)),
        # At the end before at the start before inside; longer before shorter.
        key=lambda span: (0 if span[1] == total else 1 if span[0] == 0 else 2, span[0] - span[1]),
    )
    for start, end in spans:
        entry = known.get(words[start:end])
        if entry is not None:
            yield start, entry


def words_of(name: str) -> tuple[str, ...]:
    """Return the lower-case words of a snake, kebab or camel case name, the plural as singular; eight at most."""
    return _words_of(name[:120])


@lru_cache(maxsize=4096)
def _words_of(name: str) -> tuple[str, ...]:
    found = [word.lower() for word in _WORD.findall(_ACRONYMS.sub(lambda match: match[0].lower(), name))]
    words: list[str] = []
    for word in found[:8]:
        if (len(word) < 4 and word not in ("ids", "ips")) or word in _SAME_IN_PLURAL or word.endswith("ss"):
            words.append(word)
        elif word.endswith("ies") and len(word) > 4:
            words.append(word[:-3] + "y")
        else:
            words.append(word[:-2] if word.endswith(("shes", "ches", "xes", "sses")) else word.removesuffix("s"))
    return tuple(words)


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


_READ = 400
_EXAMPLE = re.compile(
    r"(?:\be\.?g\.|\bfor example\b|\bfor instance\b|\bsuch as\b|\blike\b(?= ['\"`])|\bexamples?:)[\s,:]*", re.IGNORECASE
)
_QUOTED = re.compile(r"""(?:'([^'\n]{1,80})'|"([^"\n]{1,80})"|`([^`\n]{1,80})`|“([^”\n]{1,80})”)""")
_BARE = re.compile(r"(?!(?:an?|any|some|the|this|your) (?!and\b|or\b)[a-z])[^\s,;()\[\]'\"`]{1,80}")
_BETWEEN = re.compile(r"\s*(?:,|/|;|\bor\b|\band\b|, or|, and)\s*")


def quoted_values(description: str, kind: ValueType) -> Iterator[object]:
    """Yield the values that a description gives as examples: `e.g. 'x', 'y'`, `for example "x"`, `(e.g. x)`."""
    text = description[:_READ]
    for opening in _EXAMPLE.finditer(text):
        at = opening.end()
        prose = opening[0].strip().lower().startswith(("such", "like", "for"))
        while at < len(text):
            if text[at] in "{[":
                try:
                    _, end = json.JSONDecoder().raw_decode(text, at)
                except (ValueError, RecursionError):
                    end = at
                if end > at:
                    yield from _convert(text[at:end], kind)
                    break
            item = _QUOTED.match(text, at)
            bare = None if item or prose else _BARE.match(text, at)
            found = item or bare
            if found is None or found[0] in "{[":
                break
            value = next(group for group in (*found.groups(), found[0]) if group is not None)
            yield from _convert(value.rstrip(".:") if bare else value, kind)
            between = _BETWEEN.match(text, found.end())
            if between is None:
                break
            at = between.end()


def listed_values(description: str, kind: ValueType) -> Iterator[object]:
    """Yield the first value of each list in a description: `'asc' or 'desc'`, `one of: day, week`, `(json or text)`."""
    text = description[:_READ]
    for form in _choice_expressions():
        found = form.search(text)
        if found:
            yield from _convert(next(group for group in found.groups() if group is not None), kind)


def _convert(value: str, kind: ValueType) -> Iterator[object]:
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
    """Return the entries of one table, in the order of the file."""
    return read_toml("toolvet.core.schema", f"{table}s.toml", dict[str, tuple[Entry, ...]])[table]


@cache
def formats() -> Mapping[str, tuple[str, ...]]:
    """Return the value templates of each `format`."""
    return read_toml("toolvet.core.schema", "formats.toml", dict[str, dict[str, tuple[str, ...]]])["format"]


@lru_cache(maxsize=1)
def _entries_by_words() -> Mapping[tuple[str, ...], Entry]:
    known: dict[tuple[str, ...], Entry] = {}
    for entry in entries("name"):
        for phrase in entry.words:
            known.setdefault(words_of(phrase), entry)
    return known


class ListNotation(msgspec.Struct, frozen=True):
    """One notation of a list of values. Its proof: `hits` are `description => value`, `misses` list nothing."""

    match: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]


@lru_cache(maxsize=1)
def choices() -> tuple[ListNotation, ...]:
    """Return the notations of lists, in the order of the file."""
    return read_toml("toolvet.core.schema", "choices.toml", dict[str, tuple[ListNotation, ...]])["choice"]


@lru_cache(maxsize=1)
def _choice_expressions() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(choice.match, re.IGNORECASE) for choice in choices())


@lru_cache(maxsize=1)
def _phrase_expressions() -> tuple[tuple[re.Pattern[str], Entry], ...]:
    return tuple((re.compile(entry.match, re.IGNORECASE), entry) for entry in entries("phrase"))
