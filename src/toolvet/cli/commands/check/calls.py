"""The work of `toolvet check arguments`: calls in, reports out."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from toolvet.cli.commands.check.input import read_input
from toolvet.cli.commands.check.tables import read_rows_or_records
from toolvet.cli.commands.check.verdicts import encode
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.settings import load_settings
from toolvet.core.tools import read_tool
from toolvet.errors import ToolShapeError, UsageError

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
    """A call of a record: its id under the key `id` (or nothing), the name of its tool, if any."""

    identity: Mapping[str, object]
    tool: str | None
    arguments: object


def read_call(value: object) -> NamedCall:
    """Return the call that `value` is; a value that is not a call is taken as the arguments.

    Example:
        >>> read_call({"type": "tool_use", "id": "1", "name": "sail", "input": {"port": "Lisbon"}})
        NamedCall(identity={'id': '1'}, tool='sail', arguments={'port': 'Lisbon'})
        >>> read_call({"port": "Lisbon"}).arguments
        {'port': 'Lisbon'}
    """
    if not is_object(value):
        return NamedCall({}, None, value)
    # The part that names the tool, and the member in it with the arguments.
    inner, key = value, ""
    kind = value.get("type")
    if kind == "function" and is_object(value.get("function")):
        inner, key = members(value["function"]), "arguments"
    elif value.get("method") == "tools/call":
        inner, key = members(value.get("params")), "arguments"
    elif isinstance(kind, str) and kind in _ARGUMENTS:
        key = _ARGUMENTS[kind]
    elif len(value) == 1:
        (wrapper,) = value
        if wrapper in _WRAPPERS and is_object(value[wrapper]):
            inner, key = members(value[wrapper]), _WRAPPERS[wrapper]
    if key in inner and isinstance(inner.get("name"), str):
        return _named(value, inner, inner[key])
    if "arguments" in value and _CALL_KEYS.issuperset(value):
        return _named(value, value, value["arguments"])
    return NamedCall({}, None, value)


def _named(record: Mapping[str, object], call: Mapping[str, object], arguments: object) -> NamedCall:
    found = next((part[name] for part in (record, call) for name in _IDS if name in part), None)
    called = call.get("name", call.get("tool"))
    return NamedCall({} if found is None else {"id": found}, called if isinstance(called, str) else None, arguments)


_DECLARATIONS: Final = ("functionDeclarations", "function_declarations")
_UNCHECKED: Final = 2


class NamedTool(NamedTuple):
    """A definition of the file, and its name ("" without one)."""

    name: str
    definition: object


def check_calls(
    file: str,
    tool_file: str,
    name: str | None,
    *,
    settings: str | None,
    as_json: bool,
    max_chars: int | None,
    field: str | None = None,
) -> int:
    """Check every call; return 2 when one could not be checked, 1 when one is not valid, else 0."""
    check = load_settings(settings).argument_check()
    path = Path(tool_file)
    tools = read_tools(path)
    names = [tool.name for tool in tools]
    code = 0
    for record in read_rows_or_records(file, field, "arguments", ("id", "name", "tool")):
        identity, called, arguments = read_call(record.value)
        wanted = called or name
        if len(tools) == 1 and (wanted is None or not tools[0].name):
            tool = tools[0]
        elif wanted is None:
            has = ", ".join(names)
            raise UsageError(f"{record.place}: which tool? {path} has {has}: name one with --name, or in the record")
        elif wanted not in names:
            raise UsageError(f"{record.place}: {path} has no tool '{wanted}'; it has {', '.join(names)}")
        else:
            tool = tools[names.index(wanted)]
        report = check(tool.definition, arguments)
        code = max(code, int(not report.valid) if report.is_checked else _UNCHECKED)
        if as_json:
            sys.stdout.buffer.write(encode(report.to_dict(), identity))
        elif report.valid:
            sys.stdout.write(f"{record.place}: {f'not checked: {report.unchecked}' if report.unchecked else 'valid'}\n")
        else:
            sys.stdout.write(f"{record.place}:\n{report.to_text(max_chars)}\n\n")
    return code


def read_tools(path: Path, flag: str = "--tool ") -> list[NamedTool]:
    """Return the definitions in a file, of any API. Raises UsageError, with the `flag` that named it."""
    try:
        value: object = orjson.loads(read_input(str(path)))
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{flag}{path}: not JSON: {error}") from error
    result = members(members(value).get("result"))
    listed = result.get("tools", members(value).get("tools", value))
    tools: list[object] = []
    for entry in elements(listed) if is_array(listed) else [listed]:
        # Gemini has several in one.
        name = next((each for each in _DECLARATIONS if is_array(members(entry).get(each))), None)
        if name is None:
            tools.append(entry)
        else:
            tools += [{name: [each]} for each in elements(members(entry)[name]) if is_object(each)]
    if not tools:
        raise UsageError(f"{flag}{path}: must hold a tool definition (an object with name and inputSchema) or a list")
    try:
        return [NamedTool(read_tool(tool).name, tool) for tool in tools]
    except ToolShapeError as error:
        raise UsageError(f"{flag}{path}: {error}") from error
