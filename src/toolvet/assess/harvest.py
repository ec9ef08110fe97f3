"""Results of earlier calls → values for later ones: what a list tool returned feeds the parameter of the same name."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

import msgspec

from toolvet.rules import ObservedCall
from toolvet.schema.json_value import elements, is_array, is_object, members
from toolvet.schema.naming import words_of

_LISTING = {"list", "search", "find", "show", "all", "query"}
_NAMING = {"id", "name", "path", "key", "slug", "uri", "url", "title", "code", "number", "uuid"}
_LOOKING = {"list", "get", "search", "find", "read", "show", "all", "fetch", "query", "lookup"}
_MOST_CALLS = 3  # Of one tool: its later scenarios return more of the same.
_MOST_VALUES = 20  # Of one name: a later call needs a few, not a table.
_LONGEST_TEXT = 1_000_000  # Of a result that is read for values; longer ones are no listing.


class Harvest:
    """Values by name, in the order they were seen. Names are words in the singular: ("book", "id")."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, ...], list[object]] = {}

    def gather(self, calls: Iterable[ObservedCall]) -> None:
        """Take what the first successful calls of a tool returned; errors and error cases are left alone."""
        successful = (call for call in calls if call.accepted and call.breach is None)
        for call in islice(successful, _MOST_CALLS):
            named = _words(call.tool.name)
            nouns = tuple(word for word in named if word not in _LOOKING)
            subject = nouns[-1] if nouns else ""
            payloads = list(_payloads(call.result))
            if not _LISTING.isdisjoint(named):
                payloads.append(_lines(call.result))
            for value in payloads:
                for name, leaf in _leaves(value, subject, 0):
                    self._add(name, leaf)

    def value(self, parameter: str) -> object | None:
        """What an earlier result gave for a parameter of this name, or None. `book_id` is also an `id` of a book."""
        values = self._values.get(_words(parameter))
        return values[0] if values else None

    def __len__(self) -> int:
        return len(self._values)

    def _add(self, name: tuple[str, ...], leaf: object) -> None:
        values = self._values.setdefault(name, [])
        if len(values) < _MOST_VALUES and leaf not in values:
            values.append(leaf)


_words = lru_cache(maxsize=4096)(words_of)


def _payloads(result: object) -> Iterator[object]:
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


def _lines(result: object) -> list[object]:
    """The entries of a listing in plain text: lines of one word or path each; headings and prose give none."""
    texts = (members(block).get("text") for block in elements(members(result).get("content")))
    lines = [line.strip() for text in texts if isinstance(text, str) for line in text[:_LONGEST_TEXT].splitlines()]
    return [line for line in lines if re.fullmatch(r"(?:/[^\n:*?]{1,200}|[\w@.+-]{1,80})", line)]


def _leaves(value: object, subject: str, depth: int) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every scalar with the names it goes by: its key and, for naming keys, what it names (`id` of a book: book_id)."""
    if depth > 6:
        return
    if is_object(value):
        for key, entry in value.items():
            own = _words(key)
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
