"""The work of `toolvet check arguments`: calls in, reports out."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import orjson

from toolvet.checks.arguments import check_arguments
from toolvet.cli.commands.check.records import Record, read_input, read_records
from toolvet.cli.commands.check.tables import is_table, read_table, refuse_field
from toolvet.errors import UsageError
from toolvet.schema.json_value import elements, is_object, members

_CALL_KEYS: Final = frozenset({"id", "name", "tool", "arguments"})


def check_calls(
    file: str, tool_file: Path, name: str | None, *, as_json: bool, max_chars: int | None, field: str | None = None
) -> int:
    """Check every call; return 1 when one is not valid, else 0."""
    tools = _read_tools(tool_file)
    failed = False
    for record in _read(file, field):
        identity, called, arguments = _read_call(record)
        tool = _choose(tools, called or name, tool_file, record.place)
        report = check_arguments(tool, arguments)
        failed |= not report.valid
        if as_json:
            repair = report.repair
            verdict: dict[str, object] = {**identity, "valid": report.valid}
            if not report.valid:
                verdict |= report.to_dict()
            if repair is not None:
                verdict["repair"] = {
                    "arguments": repair.arguments,
                    "patch": repair.patch,
                    "confidence": repair.confidence,
                    "certainty": repair.certainty,
                    "steps": repair.steps,
                }
            if report.unchecked is not None:
                verdict["unchecked"] = report.unchecked
            sys.stdout.buffer.write(orjson.dumps(verdict, option=orjson.OPT_NON_STR_KEYS) + b"\n")
        elif report.valid:
            note = f" ({report.unchecked})" if report.unchecked else ""
            sys.stdout.write(f"{record.place}: valid{note}\n")
        else:
            sys.stdout.write(f"{record.place}:\n{report.to_text(max_chars)}\n\n")
    return int(failed)


def _read(file: str, field: str | None) -> Iterator[Record]:
    if is_table(file):
        return read_table(file, field, "arguments", ("id", "name", "tool"))
    refuse_field(file, field)
    return read_records(file)


def _read_call(record: Record) -> tuple[Mapping[str, object], str | None, object]:
    """Return the id of the call, the tool that it names, and its arguments. Malformed text is arguments as a whole."""
    value = record.value
    if not is_object(value) or "arguments" not in value or not _CALL_KEYS.issuperset(value):
        return {}, None, value
    called = value.get("name", value.get("tool"))
    identity = {"id": value["id"]} if "id" in value else {}
    return identity, called if isinstance(called, str) else None, value["arguments"]


def _read_tools(path: Path) -> list[Mapping[str, object]]:
    """Read the tool definitions of a file: one, a list, or a `tools/list` result."""
    try:
        value: object = orjson.loads(read_input(str(path)))
    except orjson.JSONDecodeError as error:
        raise UsageError(f"--tool {path}: not JSON: {error}") from error
    listed = members(members(value).get("result")).get("tools", members(value).get("tools", value))
    tools = [tool for tool in elements(listed) or [listed] if is_object(tool)]
    if not tools:
        raise UsageError(f"--tool {path}: must hold a tool definition (an object with name and inputSchema) or a list")
    return tools


def _choose(tools: list[Mapping[str, object]], name: str | None, path: Path, place: str) -> Mapping[str, object]:
    if name is None and len(tools) == 1:
        return tools[0]
    names = [str(tool.get("name", "")) for tool in tools]
    if name is None:
        raise UsageError(f"{place}: which tool? {path} has {', '.join(names)}: name one with --name, or in the record")
    if name not in names:
        raise UsageError(f"{place}: {path} has no tool '{name}'; it has {', '.join(names)}")
    return tools[names.index(name)]
