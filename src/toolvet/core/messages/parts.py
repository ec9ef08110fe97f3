"""Foreign values, read without trusting them: mappings and objects of any framework → their parts."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Final, TypeAlias, cast

from toolvet.core.messages.call import UNKNOWN, ToolCall, Unknown

Parts: TypeAlias = Mapping[str, object]

_MOST_BLOCKS: Final = 2_000
# What objects without a `__dict__`, as those of protobuf, are asked for.
_ATTRIBUTES: Final = (
    "name", "tool", "tool_name", "arguments", "input", "args", "parameters", "result", "output", "content", "response",
    "failed", "is_error", "structured_content", "id", "type", "role", "tool_calls", "tool_call_id", "tool_use_id",
    "call_id", "function", "status", "text", "parts", "function_call", "function_response",
)  # fmt: skip
_NO_PARTS: Final = (str, bytes, bytearray, int, float, list, tuple, set, frozenset, type)
_EMPTY: Final[Parts] = {}


def parts_of(item: object) -> Parts | None:
    """Return the members of a mapping, or the attributes of an object; None for any other value.

    Passes on any exception that the object raises when it is read.
    """
    if type(item) is dict:
        return cast("Parts", item)
    if isinstance(item, Mapping):
        return dict(cast("Parts", item))
    if item is None or isinstance(item, _NO_PARTS):
        return None
    if is_dataclass(item):
        return {field.name: getattr(item, field.name, None) for field in fields(item)}
    names = getattr(item, "__struct_fields__", None)  # Structs of msgspec.
    if isinstance(names, tuple):
        return {name: getattr(item, name, None) for name in cast("tuple[str, ...]", names)}
    held = getattr(item, "__dict__", None)
    found = {name: value for name, value in dict_of(held).items() if not name.startswith("_")}
    # Fields that a model of pydantic does not know, as they come from newer versions of an API.
    found.update(dict_of(getattr(item, "__pydantic_extra__", None)))
    return found or {name: getattr(item, name) for name in _ATTRIBUTES if hasattr(item, name)} or None


def dict_of(value: object) -> Parts:
    """Return the dict that `value` is, else an empty one."""
    return cast("Parts", value) if isinstance(value, dict) else _EMPTY


def inner(value: object) -> Parts:
    """Return the parts of `value`; an empty mapping if it has none."""
    return parts_of(value) or _EMPTY


def blocks_of(value: object) -> Sequence[object]:
    """Return the list that `value` is, up to a limit; a single block is a list of one; empty for all else."""
    if isinstance(value, list | tuple):
        return cast("Sequence[object]", value)[:_MOST_BLOCKS]
    return () if value is None or isinstance(value, str) or parts_of(value) is None else (value,)


def text_in(parts: Parts, *keys: str) -> str:
    """Return the first text under `keys` that is not empty, else "".

    >>> text_in({"id": None, "call_id": "c1"}, "id", "call_id")
    'c1'
    """
    for key in keys:
        value = parts.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def first_of(value: object) -> Parts:
    """Return the parts of the first item of a list, an empty mapping without one."""
    blocks = blocks_of(value)
    return inner(blocks[0]) if blocks else _EMPTY


def first_in(parts: Parts, keys: Sequence[str], default: object = None) -> object:
    """Return the value of the first of `keys` that is there, whatever it is."""
    for key in keys:
        if key in parts:
            return parts[key]
    return default


def plain(value: object) -> object:
    """Return a list of objects as a list of mappings, without members that are None; anything else as it is."""
    if not isinstance(value, list | tuple):
        return value
    blocks = cast("Sequence[object]", value)
    if all(type(block) is dict for block in blocks):
        return blocks
    found: list[object] = []
    for block in blocks_of(blocks):
        held = None if isinstance(block, str) else parts_of(block)
        found.append(block if held is None else {name: item for name, item in held.items() if item is not None})
    return found


NAMES: Final = ("name", "tool", "tool_name", "toolName")
ARGUMENTS: Final = ("arguments", "input", "args", "parameters", "tool_input")
RESULTS: Final = ("result", "output", "content", "response", "tool_output", "observation")
IDS: Final = ("call_id", "id", "tool_call_id")


def call_in(parts: Parts) -> ToolCall | None:
    """Return the call that a mapping describes, or None. It needs a name, and arguments or a result."""
    function = inner(parts["function"]) if "function" in parts else None
    about = {**parts, **function} if function else parts
    name = text_in(about, *NAMES)
    arguments = first_in(about, ARGUMENTS, UNKNOWN)
    result = first_in(about, RESULTS, UNKNOWN)
    if isinstance(result, Unknown) and ("structuredContent" in parts or "structured_content" in parts):
        result = {key: value for key, value in parts.items() if key not in NAMES}
    if not name or (isinstance(arguments, Unknown) and isinstance(result, Unknown)):
        return None
    failed = about.get("failed")
    if not isinstance(failed, bool):
        failed = flag(about)
    return ToolCall(
        name, None if isinstance(arguments, Unknown) else arguments, result, failed, text_in(about, *IDS) or None
    )


def has_arguments(parts: Parts) -> bool:
    """Whether a mapping has the arguments of a call."""
    return any(key in parts for key in ARGUMENTS)


def flag(parts: Parts) -> bool | None:
    """Return True for a result that its flag calls an error. A flag that says "no error" is not believed: None."""
    flagged = parts.get("is_error") is True or parts.get("isError") is True or parts.get("status") == "error"
    return True if flagged else None
