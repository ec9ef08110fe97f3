"""Parameters that name a thing which exists or not, and values of the same shape that name nothing.

parameter   book_id, whose known value is "b-17"
absent      "q-063917": letters stay letters, digits digits, and no book has it
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from toolvet.core.json_value import elements, is_array, is_object, members, names
from toolvet.core.redact import word_segments

_NAMING: Final = frozenset({"id", "ids", "slug", "uuid", "guid", "isbn", "sku", "key", "keys", "identifier"})
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


def is_identifier(name: str, declared: object) -> bool:
    """Whether a parameter names one thing: by its name (`task_id`, `id`, `slug`, `isbn`) or by its format (uuid)."""
    words = word_segments(name)
    one = _of_one(declared)
    if one.get("format") == "uuid":
        return True
    if not words or words[-1] not in _NAMING:
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


def nested_names(declared: object) -> tuple[str, ...]:
    """The names of the members of a structure, or of the structures in a list."""
    return tuple(members(_of_one(declared).get("properties")))


def _of_one(declared: object) -> Mapping[str, object]:
    """The schema of one value: of the items of a list, of the branch of an `anyOf` that is not null."""
    schema = members(declared)
    for branch in _branches(schema):
        if branch.get("type") != "null":
            schema = branch
            break
    items = schema.get("items")
    return members(items) if schema.get("type") == "array" and is_object(items) else schema


def _branches(schema: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    for word in ("anyOf", "oneOf"):
        yield from (members(branch) for branch in elements(schema.get(word)))


def _is_plain(schema: Mapping[str, object]) -> bool:
    """Whether any string or whole number may be sent."""
    if "enum" in schema or "const" in schema:
        return False
    kind = schema.get("type")
    kinds = {kind} if isinstance(kind, str) else {*names(kind)}
    return kind is None or not kinds.isdisjoint({"string", "integer", "number"})
