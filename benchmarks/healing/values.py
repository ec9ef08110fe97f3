"""Changes of a call that every healer may make: they know JSON, and nothing of schemas or of error texts."""

import ast
import datetime as dt
import difflib
import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

Path = tuple[str | int, ...]


class _Nothing:
    """Marks a place without a value: None is a value."""

    def __bool__(self) -> bool:
        return False


NOTHING: Final = _Nothing()
EXAMPLES: Final[dict[str, Any]] = {
    "integer": 1,
    "number": 1,
    "boolean": True,
    "string": "example",
    "array": [],
    "object": {},
    "null": None,
}
_NAMES: Final = {
    "integer": ["integer", "int"],
    "number": ["number", "float", "decimal"],
    "boolean": ["boolean", "bool"],
    "string": ["string", "str"],
    "array": ["array", "list"],
    "object": ["object", "dictionary", "dict", "record"],
    "null": ["null", "none"],
}
# The types of JSON by the names that libraries give them.
TYPES: Final = {name: wanted for wanted, names in _NAMES.items() for name in names}


def written(value: Any) -> str:
    """The value as JSON, by which values compare: in Python, 1 and True are equal."""
    return json.dumps(value, sort_keys=True)


def at(value: Any, path: Path) -> Any:
    """The value at the path, or NOTHING."""
    for step in path:
        in_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if in_list or (isinstance(value, dict) and step in value):
            value = value[step]
        else:
            return NOTHING
    return value


def put(value: Any, path: Path, other: Any) -> Any:
    """The value with the other at the path; objects on the way are made."""
    if not path:
        return other
    if isinstance(value, list) and isinstance(path[0], int) and path[0] < len(value):
        return [put(item, path[1:], other) if index == path[0] else item for index, item in enumerate(value)]
    value = value if isinstance(value, dict) else {}
    return {**value, path[0]: put(value.get(path[0], {}), path[1:], other)}


def drop(value: Any, path: Path) -> Any:
    """The value without what is at the path."""
    if len(path) > 1:
        inner = at(value, path[:1])
        return value if inner is NOTHING else put(value, path[:1], drop(inner, path[1:]))
    if isinstance(value, list):
        return [item for index, item in enumerate(value) if index != path[0]]
    return {name: item for name, item in value.items() if name != path[0]} if isinstance(value, dict) else value


def rename(value: Any, path: Path, name: str) -> Any:
    """The value with a member under another name."""
    holder = at(value, path[:-1])
    if not isinstance(holder, dict):
        return value
    return put(value, path[:-1], {name if key == path[-1] else key: item for key, item in holder.items()})


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place with what is there, the whole first."""
    yield path, value
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in pairs:
        yield from places(item, (*path, step))


def read(text: str) -> Any:
    """A text as JSON, or as Python writes it, or NOTHING."""
    try:
        return json.loads(text)
    except ValueError:
        try:
            return json.loads(json.dumps(ast.literal_eval(text)))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return NOTHING


def unpacked(value: Any) -> Any:
    """The value with each text that is an object of JSON read."""
    if isinstance(value, dict):
        return {name: unpacked(item) for name, item in value.items()}
    found = read(value) if isinstance(value, str) and value.startswith("{") else NOTHING
    return found if isinstance(found, dict) else value


def kind(value: Any) -> str:
    """The type in the words of JSON Schema."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


_WORDS: Final = {
    "yes": True,
    "on": True,
    "true": True,
    "1": True,
    "no": False,
    "off": False,
    "false": False,
    "0": False,
}


def as_type(value: Any, wanted: str) -> Any:
    """The same value as this type, or NOTHING if there is no plain way."""
    have = kind(value)
    if have == wanted or (have == "integer" and wanted == "number"):
        return value
    if isinstance(value, str):
        text = value.strip().strip("'\"").strip()
        if wanted == "boolean":
            return _WORDS.get(text.lower(), NOTHING)
        if wanted == "array" and not text.startswith("["):
            return [piece.strip() for piece in re.split("[,;]", text)] if re.search("[,;]", text) else [value]
        found = read(text)
        return found if found is not NOTHING and kind(found) in (wanted, {"number": "integer"}.get(wanted)) else NOTHING
    if isinstance(value, list):
        return as_type(value[0], wanted) if len(value) == 1 else NOTHING
    if isinstance(value, dict):
        if wanted == "array" and value and all(key.isdecimal() for key in value):
            return list(value.values())
        if wanted == "array":
            return [value]
        return as_type(next(iter(value.values())), wanted) if len(value) == 1 else NOTHING
    if wanted == "array":
        return [value]
    if wanted == "string":
        return json.dumps(value) if value is not None else NOTHING
    if wanted == "boolean" and value in (0, 1):
        return bool(value)
    return int(value) if wanted == "integer" and have == "number" and value == int(value) else NOTHING


def plain(word: object) -> str:
    """The letters and digits of a word, for comparing."""
    return re.sub(r"[^a-z0-9]+", "", str(word).lower())


def likeness(one: object, other: object) -> float:
    """How alike two words are, from 0 to 1; one that is the start or the end of the other is quite alike."""
    return _likeness(plain(one), plain(other))


@lru_cache(maxsize=100_000)
def _likeness(left: str, right: str) -> float:
    if not left or not right:
        return 0.0
    ratio = difflib.SequenceMatcher(None, left, right).ratio()
    contained = min(len(left), len(right)) > 2 and (left in right or right in left)
    return max(ratio, 0.75) if contained else ratio


def closest(word: object, among: Sequence[Any]) -> tuple[Any, float]:
    """The most alike, and how alike it is."""
    scored = [(likeness(word, other), -place, other) for place, other in enumerate(among)]
    best = max(scored, key=lambda each: each[:2], default=(0.0, 0, NOTHING))
    return best[2], best[0]


_DAYS: Final = [
    *("%Y-%m-%d", "%Y/%m/%d", "%d %B %Y", "%B %d, %Y", "%b %d %Y", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d"),
]
_TIMES: Final = ["%H:%M:%S", "%H:%M", "%I:%M %p", "%I:%M%p"]


def instants(text: str) -> Iterator[str]:
    """A text that means a day, an instant or a time of day, as RFC 3339 writes it."""
    text = re.sub(r"\s*(?:UTC|GMT|Z|\+0000)$", "", text.strip())
    for form in _DAYS:
        for clock in ("", *(f"{gap}{each}" for each in _TIMES for gap in (" ", "T"))):
            try:
                found = dt.datetime.strptime(text, form + clock)  # noqa: DTZ007 - only the digits are of interest
            except ValueError:
                continue
            yield f"{found.isoformat()}Z" if clock else found.date().isoformat()
            yield found.date().isoformat()
    for clock in _TIMES:
        try:
            yield f"{dt.datetime.strptime(text, clock).time().isoformat()}Z"  # noqa: DTZ007
        except ValueError:
            continue


def notations(text: str) -> list[str]:
    """Other ways of writing the same text."""
    trimmed = text.strip().strip("'\"").strip()
    found = [trimmed, *instants(text), trimmed.lower(), trimmed.upper()]
    found += [trimmed.replace("_", "-"), trimmed.replace(" ", "-")]
    return [other for place, other in enumerate(found) if other != text and other not in found[:place]]
