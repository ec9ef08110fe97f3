"""Two lists of tools → what differs, in lines that a person reads in a failed test."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from toolvet.core.json_value import is_array, is_object, members

_MOST_LINES: Final = 40
_LONGEST: Final = 120


def written(tools: Sequence[object]) -> str:
    """Return the definitions as the text of a snapshot: JSON, the tools by their names, without `_meta`."""
    listed = [{key: value for key, value in members(tool).items() if key != "_meta"} for tool in tools]
    listed.sort(key=lambda tool: str(tool.get("name", "")))
    return json.dumps({"tools": listed}, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def differences(before: object, after: object) -> tuple[str, ...]:
    """Return a line for each difference between two snapshots, which are given as JSON values.

    >>> old = {"tools": [{"name": "find", "description": "Find"}, {"name": "add"}]}
    >>> new = {"tools": [{"name": "find", "description": "Search"}]}
    >>> differences(old, new)
    ('- add: the tool is gone', '~ find /description: "Find" → "Search"')
    """
    old, new = _by_name(before), _by_name(after)
    lines = [f"- {name}: the tool is gone" for name in old if name not in new]
    lines += [f"+ {name}: the tool is new" for name in new if name not in old]
    for name, tool in old.items():
        if name in new:
            lines += [f"~ {name} {change}" for change in _changes(tool, new[name], "")]
    if len(lines) > _MOST_LINES:
        return (*lines[:_MOST_LINES], f"… and {len(lines) - _MOST_LINES} more differences")
    return tuple(lines)


def _by_name(snapshot: object) -> dict[str, object]:
    tools = members(snapshot).get("tools")
    return {str(members(tool).get("name", "")): tool for tool in tools} if is_array(tools) else {}


def _changes(before: object, after: object, pointer: str) -> Iterator[str]:
    """Yield `POINTER: before → after` for each place that differs (JSON Pointer, RFC 6901)."""
    if is_object(before) and is_object(after):
        yield from _member_changes(before, after, pointer)
    elif is_array(before) and is_array(after) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _changes(old, new, f"{pointer}/{number}")
    # `true == 1` in Python, and not in JSON.
    elif json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True):
        yield f"{pointer or '/'}: {_short(before)} → {_short(after)}"


def _member_changes(before: Mapping[str, object], after: Mapping[str, object], pointer: str) -> Iterator[str]:
    for key in sorted({*before, *after}):
        place = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
        if key not in after:
            yield f"{place}: {_short(before[key])} is gone"
        elif key not in before:
            yield f"{place}: {_short(after[key])} is new"
        else:
            yield from _changes(before[key], after[key], place)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
