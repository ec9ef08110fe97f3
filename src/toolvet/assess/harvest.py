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

from toolvet.rules import ObservedCall
from toolvet.schema.json_value import elements, is_array, is_object, members
from toolvet.schema.naming import words_of

Name: TypeAlias = tuple[str, ...]  # The words of a name in the singular: ("book", "id").

_LISTING: Final = frozenset({"list", "search", "find", "show", "all", "query"})
_NAMING: Final = frozenset({"id", "name", "path", "key", "slug", "uri", "url", "title", "code", "number", "uuid"})
_LOOKING: Final = frozenset({"list", "get", "search", "find", "read", "show", "all", "fetch", "query", "lookup"})
_MOST_CALLS: Final = 3  # Of one tool: its later scenarios return more of the same.
_MOST_VALUES: Final = 20  # Of one name: a later call needs a few, not a table.
_LONGEST_TEXT: Final = 1_000_000  # Of a result that is read for values; longer ones are not listings.
_DEEPEST: Final = 6  # Levels of a result that are read for values.


class Harvest:
    """Values by name, in the order they were seen."""

    def __init__(self) -> None:
        self._values: dict[Name, list[object]] = {}
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

    @property
    def names(self) -> Sequence[Name]:
        """The names that there are values for, in the order they were first seen."""
        return self._names

    def __len__(self) -> int:
        return len(self._values)

    def _add(self, name: Name, leaf: object) -> None:
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
    """The entries of a listing in plain text: lines of one word or path each; headings and prose give none."""
    texts = (members(block).get("text") for block in elements(members(result).get("content")))
    lines = [line.strip() for text in texts if isinstance(text, str) for line in text[:_LONGEST_TEXT].splitlines()]
    return [line for line in lines if re.fullmatch(r"(?:/[^\n:*?]{1,200}|[\w@.+-]{1,80})", line)]


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
            if isinstance(entry, str) and entry.startswith("/"):
                yield ("path",), entry
                yield (subject, "path"), entry
            if isinstance(entry, str | int) and not isinstance(entry, bool) and subject:
                yield (subject,), entry
                for naming in ("id", "name"):
                    yield (subject, naming), entry
            else:
                yield from _leaves(entry, subject, depth + 1)
