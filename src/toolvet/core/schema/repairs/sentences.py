"""The sentences that describe a repair: plain, and without secrets or long values."""

import orjson

from toolvet.core.json_value import Path, pointer
from toolvet.core.redact import is_secret_key, redact_text
from toolvet.core.schema.repairs.operation import Operation


def describe(operation: Operation) -> str:
    """Return the operation as a sentence, such as `Changed '/limit' from the text "10" to the number 10.`."""
    here = name_place(operation.path)
    match operation.op:
        case "replace":
            old, new = describe_value(operation.old, operation.path), describe_value(operation.value, operation.path)
            if old == new:
                return f"Changed {here} to another {_name_kind(operation.value)}."
            return f"Changed {here} from {old} to {new}."
        case "remove":
            return f"Removed {here}: {operation.why}."
        case "add":
            return f"Added {here} with {describe_value(operation.value, operation.path)}, {operation.why}."
        case "move":
            origin = name_place(operation.origin)
            if not operation.path:
                return f"Took the arguments out of {origin}."
            if operation.origin[:-1] == operation.path[:-1]:
                return f"Renamed {origin} to {here}."
            return f"Moved {origin} to {here}."


_LONGEST_VALUE = 60
_LONGEST_PLACE = 120


def name_place(path: Path) -> str:
    """Return `'/limit'`, or `the arguments` for the empty path; an overlong name is cut."""
    if not path:
        return "the arguments"
    written = pointer(path)
    if len(written) > _LONGEST_PLACE:
        written = f"{written[:_LONGEST_PLACE]}…"
    return f"'{_keep_printable(written)}'"


def describe_value(value: object, path: Path) -> str:
    """Return the value with its kind, `the text "10"`; a secret or long value or a container only by its kind."""
    word = _name_kind(value)
    if value is None or isinstance(value, bool):
        return word
    if isinstance(value, dict | list) or any(isinstance(step, str) and is_secret_key(step) for step in path):
        return f"an {word}" if word[0] in "aeiou" else f"a {word}"
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        # What is inside has names of its own, and may be secret by them.
        return "a JSON text"
    try:
        written = orjson.dumps(value).decode()
    except (TypeError, ValueError):
        written = str(value) if isinstance(value, int) and value.bit_length() < 200 else ""
    if not written or len(written) > _LONGEST_VALUE or redact_text(written) != written:
        return f"a {word}"
    return f"the {word} {written}"


def _name_kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "text"
        case dict():
            return "object"
        case list():
            return "list"
        case _:
            return "number"


def _keep_printable(text: str) -> str:
    """A name comes from the caller: control characters and lone surrogates do not reach the reader."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "�" for character in text)
