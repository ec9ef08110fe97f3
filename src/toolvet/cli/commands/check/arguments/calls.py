"""One record → a call: its id, the tool that it names, and its arguments, from the shapes of MCP and model APIs."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from toolvet.core.json_value import is_object, members

_CALL_KEYS: Final = frozenset({"id", "name", "tool", "arguments"})
# `type` of a call → the member with its arguments: OpenAI Responses, Anthropic, LangChain.
_ARGUMENTS: Final = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "tool_use": "input",
    "tool_call": "args",
}
# The member that holds a call → the member in it with the arguments: Bedrock, Gemini.
_WRAPPERS: Final = {"toolUse": "input", "functionCall": "args", "function_call": "args"}
_IDS: Final = ("id", "call_id", "toolUseId")


class NamedCall(NamedTuple):
    """A call of a record: its id under the key `id` (or nothing), the name of its tool where it has one."""

    identity: Mapping[str, object]
    tool: str | None
    arguments: object


def read_call(value: object) -> NamedCall:
    """Return the call that `value` is; a value that is no call is arguments as a whole.

    Example:
        >>> read_call({"type": "tool_use", "id": "1", "name": "sail", "input": {"port": "Lisbon"}})
        NamedCall(identity={'id': '1'}, tool='sail', arguments={'port': 'Lisbon'})
        >>> read_call({"port": "Lisbon"}).arguments
        {'port': 'Lisbon'}
    """
    if not is_object(value):
        return NamedCall({}, None, value)
    inner, key = _open(value)
    if key in inner and isinstance(inner.get("name"), str):
        return _named(value, inner, inner[key])
    if "arguments" in value and _CALL_KEYS.issuperset(value):
        return _named(value, value, value["arguments"])
    return NamedCall({}, None, value)


def _open(value: Mapping[str, object]) -> tuple[Mapping[str, object], str]:
    """The part of a record that names the tool, and the member in it with the arguments; "" for what is no call."""
    kind = value.get("type")
    if kind == "function" and is_object(value.get("function")):
        return members(value["function"]), "arguments"
    if value.get("method") == "tools/call":
        return members(value.get("params")), "arguments"
    if isinstance(kind, str) and kind in _ARGUMENTS:
        return value, _ARGUMENTS[kind]
    for name, key in _WRAPPERS.items():
        if len(value) == 1 and is_object(value.get(name)):
            return members(value[name]), key
    return value, ""


def _named(record: Mapping[str, object], call: Mapping[str, object], arguments: object) -> NamedCall:
    found = next((part[name] for part in (record, call) for name in _IDS if name in part), None)
    called = call.get("name", call.get("tool"))
    return NamedCall({} if found is None else {"id": found}, called if isinstance(called, str) else None, arguments)
