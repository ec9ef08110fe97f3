"""Results of earlier calls → values for later ones: what a list tool returned feeds the parameter of the same name.

    result of list_books   {"books": [{"id": "b-17", "title": "Emma"}]}
    names it gives         ("id",), ("book", "id"), ("book",) → "b-17";  ("title",), ("book", "title") → "Emma"
    parameter              book_id (or bookIds, book-id) is the name ("book", "id")
    value for it           "b-17"

An `id`, `name` or `path` belongs to the noun it is found under: the key of the list (`books`), or else the noun in the
name of the tool.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from toolvet.assess.rules import ObservedCall
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.schema import words_of

Name: TypeAlias = tuple[str, ...]  # The words of a name in the singular: ("book", "id").

_LISTING: Final = frozenset({"list", "search", "find", "show", "all", "query"})
_NAMING: Final = frozenset({"id", "name", "path", "key", "slug", "uri", "url", "title", "code", "number", "uuid"})
_LOOKING: Final = frozenset({"list", "get", "search", "find", "read", "show", "all", "fetch", "query", "lookup"})
# Words that say what is to be done: what a result lists under them is a menu or a ban, and never an argument.
_DEEDS: Final = frozenset(
    {"action", "command", "cmd", "method", "mode", "op", "operation", "operator", "option", "program", "shell", "verb"}
)
# Listings in plain text: "- contract.docx (35.88 KB)", "• x", "1. x", "[FILE] x"; and "tables: a, b, c".
_BULLET: Final = re.compile(r"(?:[-*•]|\d{1,3}[.)]|\[(?P<kind>FILE|DIR)\])\s+(?P<entry>.+)")
_ENTRY: Final = re.compile(r"(?:\*\*|`|'|\")?(?P<entry>[\w./@+-]{1,120})(?:\*\*|`|'|\")?(?:\s*(?:\(.*|[:—|].*|- .*))?")
_COMMAS: Final = re.compile(r"[^:\n]{0,60}:\s*(?P<entries>[\w./@+-]{1,80}(?:,\s*[\w./@+-]{1,80})+)\.?")
_LINE: Final = re.compile(r"(?:/[^\n:*?]{1,200}|[\w@.+-]{1,80})")
_MOST_CALLS: Final = 3  # Of one tool: its later scenarios return more of the same.
_MOST_VALUES: Final = 20  # Of one name: a later call needs a few, not a table.
_LONGEST_TEXT: Final = 1_000_000  # Of a result that is read for values; longer ones are not listings.
_DEEPEST: Final = 6  # Levels of a result that are read for values.


class Harvest:
    """Values by name, in the order they were seen."""

    def __init__(self) -> None:
        self._values: dict[Name, list[object]] = {}
        self._made: dict[Name, list[object]] = {}
        self._names: list[Name] = []

    def gather(self, calls: Iterable[ObservedCall]) -> None:
        """Take what the first successful calls of a tool returned; errors and error cases are left alone."""
        successful = (call for call in calls if call.accepted and call.breach is None)
        for call in islice(successful, _MOST_CALLS):
            tool_words = name_of(call.tool.name)
            nouns = [word for word in tool_words if word not in _LOOKING]
            subject = nouns[-1] if nouns else ""
            payloads = list(_read_payloads(call.result))
            if not _LISTING.isdisjoint(tool_words):
                payloads.append(_read_lines(call.result))
            for value in payloads:
                for name, leaf in _leaves(value, subject, 0):
                    self._add(name, leaf)

    def value(self, parameter: str) -> object | None:
        """The first value from an earlier result for a parameter of this name, or None."""
        values = self._values.get(name_of(parameter))
        return values[0] if values else None

    def note_made(self, names: Iterable[Name], value: object) -> None:
        """Keep a value that names a thing which a call of this run has created, unless it was there before."""
        for name in names:
            if value not in self._values.get(name, ()) or value in self._made.get(name, ()):
                made = self._made.setdefault(name, [])
                if value not in made and len(made) < _MOST_VALUES:
                    made.append(value)

    def made(self, *names: Name) -> tuple[object, ...]:
        """The values under these names that name things made in this run, the last ones first."""
        return tuple(value for name in names for value in reversed(self._made.get(name, ())))

    def knows(self, parameter: str, value: object) -> bool:
        """Whether an earlier result held this value for a parameter of this name."""
        return value in self._values.get(name_of(parameter), ())

    @property
    def names(self) -> Sequence[Name]:
        """The names that there are values for, in the order they were first seen."""
        return self._names

    def __len__(self) -> int:
        return len(self._values)

    def _add(self, name: Name, leaf: object) -> None:
        if not name or name[-1] in _DEEDS:
            return
        if name not in self._values:
            self._values[name] = []
            self._names.append(name)
        values = self._values[name]
        if len(values) < _MOST_VALUES and leaf not in values:
            values.append(leaf)


@lru_cache(maxsize=4096)
def name_of(parameter: str) -> Name:
    """The name under which values for a parameter are kept: its words in the singular, `bookIds` as ("book", "id")."""
    return words_of(parameter)


def _read_payloads(result: object) -> Iterator[object]:
    """The structured content, or else every text block that holds JSON (or a Python literal, as some servers print)."""
    structured = members(result).get("structuredContent")
    if structured is not None:
        yield structured
        return
    for block in elements(members(result).get("content")):
        text = members(block).get("text")
        if isinstance(text, str) and len(text) <= _LONGEST_TEXT and text.lstrip()[:1] in {"{", "["}:
            try:
                yield msgspec.json.decode(text)
            except (msgspec.DecodeError, RecursionError):
                try:
                    yield ast.literal_eval(text.strip())
                except (ValueError, SyntaxError, RecursionError, MemoryError):
                    continue


def _read_lines(result: object) -> list[object]:
    """The entries of a listing in plain text; headings and prose give none.

    Lines of one word or path each, bullets ("- contract.docx (35.88 KB)", "1. x", "[FILE] x"), and what a colon lists
    with commas ("Tables: orders, users").
    """
    texts = (members(block).get("text") for block in elements(members(result).get("content")))
    lines = [line.strip() for text in texts if isinstance(text, str) for line in text[:_LONGEST_TEXT].splitlines()]
    found: list[object] = []
    for line in lines:
        if _LINE.fullmatch(line):
            found.append(line)
        elif bullet := _BULLET.fullmatch(line):
            # What "[FILE] report 1.txt" lists may hold blanks, what a bullet lists may be a sentence.
            entry = _ENTRY.fullmatch(bullet["entry"])
            if bullet["kind"] or entry:
                found.append(bullet["entry"].strip() if bullet["kind"] or not entry else entry["entry"])
        elif commas := _COMMAS.fullmatch(line):
            found.extend(entry.strip() for entry in commas["entries"].split(","))
    return found


def _leaves(value: object, subject: str, depth: int) -> Iterator[tuple[Name, object]]:
    """Every scalar with the names it goes by: its key and, for a key such as `id`, what it names (book_id).

    `subject` is the noun that the value was found under.
    """
    if depth > _DEEPEST:
        return
    if is_object(value):
        for key, entry in value.items():
            own = name_of(key)
            if isinstance(entry, str | int | float) and not isinstance(entry, bool) and entry != "" and own:
                yield own, entry
                if own[-1] in _NAMING and len(own) == 1 and subject:
                    yield (subject, own[-1]), entry
                    yield (subject,), entry
            else:
                yield from _leaves(entry, own[-1] if own else subject, depth + 1)
    elif is_array(value):
        for entry in value[:_MOST_VALUES]:
            if subject in _DEEDS and not (is_object(entry) or is_array(entry)):
                continue
            if isinstance(entry, str) and entry.startswith("/"):
                yield ("path",), entry
                yield (subject, "path"), entry
            if isinstance(entry, str | int) and not isinstance(entry, bool) and subject:
                yield (subject,), entry
                for naming in ("id", "name"):
                    yield (subject, naming), entry
            else:
                yield from _leaves(entry, subject, depth + 1)
