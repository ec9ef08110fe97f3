"""Results of earlier calls → values for later ones: what a list tool returned feeds the parameter of the same name.

    result of list_books   {"books": [{"id": "b-17", "title": "Emma"}]}
    names it gives         ("id",), ("book", "id"), ("book",) → "b-17";  ("title",), ("book", "title") → "Emma"
    parameter              book_id (or bookIds, book-id) is the name ("book", "id")
    value for it           "b-17"
    absent value for it    "q-063917": letters stay letters, digits digits, and no book has it

An `id`, `name` or `path` belongs to the noun it is found under: the key of the list (`books`), or else the noun in the
name of the tool.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec

from toolvet.assess.rules import ObservedCall
from toolvet.core.json_value import elements, is_array, is_object, members, names
from toolvet.core.redact import REDACTED, redact_text, word_segments
from toolvet.core.schema import words_of

Name: TypeAlias = tuple[str, ...]  # The words of a name in the singular: ("book", "id").
# Words of a tool that lists things.
LISTING: Final = frozenset({"list", "search", "find", "show", "all", "query"})
_NAMING: Final = frozenset(
    {"id", "name", "path", "key", "slug", "uri", "url", "title", "code", "number", "uuid", "file", "filename"}
)
_LOOKING: Final = frozenset({"list", "get", "search", "find", "read", "show", "all", "fetch", "query", "lookup"})
# Words that say what is to be done: what a result lists under them is a menu or a ban, and never an argument.
_DEEDS: Final = frozenset(
    {"action", "command", "cmd", "method", "mode", "op", "operation", "operator", "option", "program", "shell", "verb"}
)
# Listings in plain text: "- contract.docx (35.88 KB)", "• x", "1. x", "[FILE] x"; and "tables: a, b, c".
_BULLET: Final = re.compile(r"(?:[-*•]|\d{1,3}[.)]|\[(?P<kind>FILE|DIR)\])\s+(?P<entry>.+)")
_ENTRY: Final = re.compile(r"(?:\*\*|`|'|\")?(?P<entry>[\w./@+-]{1,120})(?:\*\*|`|'|\")?(?:\s*(?:\(.*|[:—|].*|- .*))?")
_COMMAS: Final = re.compile(
    r"(?:[^:\n]{0,60}:\s*(?=[^,]+,)|(?=[^,]+,[^,]+,))(?P<entries>[\w./@+-]{1,80}(?:,\s*[\w./@+-]{1,80})+)\.?"
)
_PAIR: Final = re.compile(r"(?P<entries>[\w.-]{1,80}, [\w.-]{1,80})")  # The whole answer.
# Keys that say nothing of what is under them: {"items": [{"name": "button"}]} of `list_components` names a component.
_WRAPPING: Final = frozenset(
    {"content", "data", "element", "entry", "hit", "item", "match", "record", "response", "result", "row", "value"}
)
# "from_unit" and "to_unit" want what a listing of units has.
_DIRECTIONS: Final = frozenset({"base", "first", "from", "input", "output", "second", "source", "target", "to"})
# "Found 2 books: [{…}]"
_BEFORE_JSON: Final = re.compile(r"\A[^\n{}\[\]]{1,80}[:\uff1a]\s*(?=[\[{])")
_LINE: Final = re.compile(r"(?:/[^\n:*?]{1,200}|[\w@.+-]{1,80})")
_MOST_CALLS: Final = 3  # Of one tool: its later scenarios return more of the same.
_MOST_VALUES: Final = 20  # Of one name: a later call needs a few, not a table.
_LONGEST_TEXT: Final = 1_000_000  # Of a result that is read for values; longer ones are not listings.
_DEEPEST: Final = 6  # Levels of a result that are read for values.
_IDENTIFYING: Final = frozenset({"id", "ids", "slug", "uuid", "guid", "isbn", "sku", "key", "keys", "identifier"})
# A key of these kinds orders, opens or groups things, and does not name one.
_OTHER_KEYS: Final = frozenset(
    {"api", "sort", "order", "access", "secret", "private", "public", "encryption", "license", "cache", "group", "ssh"}
)
# What names a thing when a listing of the same server returned it.
_FED: Final = frozenset({"name", "names", "path", "code", "number", "uri", "url", "filename", "table", "branch"})
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX: Final = re.compile(r"(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F]{12,}")
_NUMBERS: Final = (987_654_321, 98_765_432, 987_654, 9_876, 987, 98)
_DIGITS: Final = "8406391725"
_LETTERS: Final = "qxzjvkwq"
_SHORTEST: Final = 8  # Characters: "b-17" with other digits may name another book, "q-063917" does not.


class Harvest:
    """Values by name, in the order they were seen."""

    def __init__(self) -> None:
        self._values: dict[Name, list[object]] = {}
        self._made: dict[Name, list[object]] = {}
        self._names: list[Name] = []

    def gather(self, calls: Iterable[ObservedCall]) -> None:
        """Take what the first successful calls of a tool returned; errors and error cases are left alone."""
        useful = 0  # A search for nothing that is there says nothing; one for "" may list all.
        for call in calls:
            if useful == _MOST_CALLS or not call.accepted or call.intended is not None:
                continue
            before = sum(map(len, self._values.values()))
            tool_words = name_of(call.tool.name)
            nouns = [word for word in tool_words if word not in _LOOKING]
            subject = nouns[-1] if nouns else ""
            payloads = list(_read_payloads(call.result))
            if not LISTING.isdisjoint(tool_words):
                payloads.append(_read_lines(call.result))
            # What `list_query_fields` returns is a field, and a query field.
            narrow = tool_words[: tool_words.index(subject)][-1:] if subject else ()
            for name, leaf in (found for value in payloads for found in _leaves(value, subject, 0)):
                if name and name[-1] not in _DEEDS:
                    self.note(name, leaf)
                    if narrow and name[0] == subject:
                        self.note((*narrow, *name), leaf)
            useful += sum(map(len, self._values.values())) > before

    def note(self, name: Name, leaf: object) -> None:
        """Keep a value under a name, after those that it has already."""
        if name not in self._values:
            self._values[name] = []
            self._names.append(name)
        values = self._values[name]
        if len(values) < _MOST_VALUES and leaf not in values:
            values.append(leaf)

    def value(self, parameter: str, tool: str = "") -> object | None:
        """The first value from an earlier result for a parameter of this name, or None.

        The `name` that `tool` wants is one of its own noun, if there is one: `get_component(name)` a component's, and
        the `field_name` of `get_query_field` a query field's.
        """
        own, words = name_of(parameter), name_of(tool)
        nouns = reversed(words) if len(own) == 1 and own[0] in _NAMING else ()
        narrow = words[: words.index(own[0])][-1:] if own and own[0] in words else ()
        wide = own[1:] if own and own[0] in _DIRECTIONS else ()
        for name in (*((noun, *own) for noun in nouns if noun not in _LOOKING), (*narrow, *own), own, wide):
            if values := self._values.get(name):
                return values[0]
        return None

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
        if isinstance(text, str):
            yield from _decoded(text)


def _decoded(text: str) -> Iterator[object]:
    text = _BEFORE_JSON.sub("", text, count=1)
    if len(text) <= _LONGEST_TEXT and text.lstrip()[:1] in {"{", "["}:
        try:
            yield msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                yield ast.literal_eval(text.strip())


def _read_lines(result: object) -> list[object]:
    """The entries of a listing in plain text: one word or path a line, bullets, or after a colon ("Tables: a, b")."""
    texts = (members(block).get("text") for block in elements(members(result).get("content")))
    # A secret is known by the lines around it, which a single line does not have any more.
    safe = (redact_text(text[:_LONGEST_TEXT]) for text in texts if isinstance(text, str))
    lines = [line.strip() for text in safe for line in text.splitlines() if REDACTED not in line]
    found: list[object] = []
    for line in lines:
        if _LINE.fullmatch(line):
            found.append(line)
        elif bullet := _BULLET.fullmatch(line):
            # What "[FILE] report 1.txt" lists may hold blanks, what a bullet lists may be a sentence.
            entry = _ENTRY.fullmatch(bullet["entry"])
            if bullet["kind"] or entry:
                found.append(bullet["entry"].strip() if bullet["kind"] or not entry else entry["entry"])
        elif commas := _COMMAS.fullmatch(line) or (_PAIR.fullmatch(line) if len(lines) == 1 else None):
            found.extend(entry.strip() for entry in commas["entries"].split(","))
    return found


def _leaves(value: object, subject: str, depth: int) -> Iterator[tuple[Name, object]]:
    """Every scalar with its names: its key and, for a key such as `id` under the noun `subject`, book_id."""
    if depth > _DEEPEST:
        return
    if is_object(value):
        if (
            subject
            and len(value) > 1
            and all(isinstance(next(iter(elements(each)), 0), str) for each in value.values())
        ):
            # Units by what they measure: {"volume": ["m3"], "rate": ["m3/day"]}.
            yield from (((subject,), leaf) for each in value.values() for leaf in elements(each))
        for key, entry in value.items():
            own = name_of(key)
            if isinstance(entry, str) and entry.lstrip()[:1] in {"{", "["}:
                # FastMCP sends a text as {"result": "…"}, and the text may be JSON.
                for inner in _decoded(entry):
                    yield from _leaves(inner, subject, depth + 1)
            elif isinstance(entry, str | int | float) and not isinstance(entry, bool) and entry != "" and own:
                yield own, entry
                if own[-1] in _NAMING and len(own) == 1 and subject:
                    yield (subject, own[-1]), entry
                    yield (subject,), entry
            else:
                is_wrapping = not own or (own[-1] in _WRAPPING and subject != "")
                yield from _leaves(entry, subject if is_wrapping else own[-1], depth + 1)
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


def is_identifier(name: str, declared: object) -> bool:
    """Whether a parameter names one thing: by its name (`task_id`, `id`, `slug`, `isbn`) or by its format (uuid)."""
    words = word_segments(name)
    one = _of_one(declared)
    if one.get("format") == "uuid":
        return True
    if not words or words[-1] not in _IDENTIFYING:
        return False
    if words[-1] in {"key", "keys"} and _OTHER_KEYS.intersection(words):
        return False
    return _is_plain(one)


def is_fed(name: str, declared: object, tool: str) -> bool:
    """Whether a parameter that a listing feeds names a thing: `table_name`, or `branch` of a tool `get_branch`."""
    words = word_segments(name)
    if not words or not _is_plain(_of_one(declared)):
        return False
    return words[-1] in _FED or (len(words) == 1 and words[0] in word_segments(tool)[1:])


def absent_values(known: object, accepts: Callable[[object], bool]) -> Iterator[object]:
    """Values of the type and shape of `known` that name nothing, the likeliest first, if `accepts` takes them."""
    one = known if not is_array(known) else known[0] if known else "example"
    for value in _absent(one):
        candidate = [value] if is_array(known) else value
        if candidate != known and accepts(candidate):
            yield candidate


def _absent(known: object) -> Iterator[object]:
    if isinstance(known, bool) or not isinstance(known, int | str):
        return
    if isinstance(known, int):
        yield from _NUMBERS
        return
    if _UUID.fullmatch(known):
        yield "8406391d-2517-4cbe-9f0a-84063917dead"
        return
    if known.isdecimal():
        yield "9" + "84063917"
        yield _replace(known, known)
        return
    folder, slash, last = known.rpartition("/")
    stem, dot, extension = last.rpartition(".") if slash or re.search(r"\.[A-Za-z]{2,5}$", last) else (last, "", "")
    if not stem:
        stem, dot, extension = last, "", ""
    longer = stem
    if len(stem) < _SHORTEST and stem[-1:].isalnum():
        longer = stem + stem[-1] * (_SHORTEST - len(stem))
    for shape in dict.fromkeys((longer, stem)):
        yield f"{folder}{slash}{_replace(shape, known)}{dot}{extension}"


def _replace(shape: str, known: str) -> str:
    """Letters for letters and digits for digits; what is all hexadecimal stays so, and a prefix in capitals is kept."""
    letters = "dbfacedf" if _HEX.fullmatch(known) else _LETTERS
    result: list[str] = []
    for place, character in enumerate(shape):
        if character.isdecimal():
            result.append(_DIGITS[place % len(_DIGITS)])
        elif character.isascii() and character.isalpha():
            letter = letters[place % len(letters)]
            result.append(letter.upper() if character.isupper() else letter)
        else:
            result.append(character if character.isascii() else "q")
    return "".join(result)


def _of_one(declared: object) -> Mapping[str, object]:
    schema = members(declared)
    branches = (members(branch) for word in ("anyOf", "oneOf") for branch in elements(schema.get(word)))
    schema = next((branch for branch in branches if branch.get("type") != "null"), schema)
    items = schema.get("items")
    return members(items) if schema.get("type") == "array" and is_object(items) else schema


def _is_plain(schema: Mapping[str, object]) -> bool:
    if "enum" in schema or "const" in schema:
        return False
    kind = schema.get("type")
    kinds = {kind} if isinstance(kind, str) else {*names(kind)}
    return kind is None or not kinds.isdisjoint({"string", "integer", "number"})
