"""Reads the tool calls of a turn from any of their usual shapes into plain calls. Total."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import cast

import msgspec

from toolvet.schema.json_value import elements, members

_MOST_CALLS = 2_000
_DEEPEST = 4
_NAMES = ("name", "tool", "tool_name", "toolName")
_ARGUMENTS = ("arguments", "input", "args", "parameters", "tool_input")
_RESULTS = ("result", "output", "content", "response", "tool_output", "observation")
_ATTRIBUTES = (
    *_NAMES, *_ARGUMENTS, *_RESULTS, "failed", "is_error", "isError", "structuredContent", "structured_content",
    "id", "type", "role", "tool_calls", "tool_call_id", "tool_use_id", "call_id", "function", "status",
)  # fmt: skip


class ToolCall(msgspec.Struct, frozen=True):
    """One tool call of a turn, and what came back.

    `result` is what the tool returned: text, any JSON value, an MCP result as a mapping or an object of the
    official SDK; None says that the call never returned (a tool that returns nothing is `""`). `failed` is whether
    the call did not do what it was asked; None lets `check_result` judge that from the result.
    """

    name: str
    arguments: object = None
    result: object = None
    failed: bool | None = None


class Unknown:
    """The type of `UNKNOWN`: a result that was not handed over, so how the call ended is not known."""


UNKNOWN = Unknown()


def read_calls(calls: Sequence[object]) -> list[ToolCall]:
    """The calls in `calls`, in order.

    Each item may be a `ToolCall`, a mapping or object with a name and a result, a result alone, or a message of the
    OpenAI, Anthropic or Gemini APIs; there, results find their calls by id. Calls without a result have `UNKNOWN` for
    one if none of the others has one either, else None: then they never returned.
    """
    reading = _CallsReader()
    for item in calls[:_MOST_CALLS]:
        try:
            reading.read(item, 0)
        except Exception:  # noqa: BLE001, S112 - foreign objects run foreign code when they are looked at.
            continue
    return reading.finished()


class _CallsReader:
    """The calls so far, and those of them that wait for their result."""

    def __init__(self) -> None:
        self._calls: list[ToolCall] = []
        self._waiting: dict[str, list[int]] = {}

    def finished(self) -> list[ToolCall]:
        if all(isinstance(call.result, Unknown) for call in self._calls):
            return self._calls
        return [
            ToolCall(call.name, call.arguments, None, call.failed) if isinstance(call.result, Unknown) else call
            for call in self._calls
        ]

    def read(self, item: object, depth: int) -> None:
        if isinstance(item, ToolCall):
            self._calls.append(item)
            return
        parts = _parts(item)
        if parts is None or depth > _DEEPEST:
            self._calls.append(ToolCall("", None, item))
            return
        if self._message(parts, depth) or self._result_of(parts):
            return
        found = _call(parts)
        if found is None:
            self._calls.append(ToolCall("", None, item))
        else:
            self._add(found, parts)

    def _add(self, call: ToolCall, parts: Mapping[str, object]) -> None:
        if isinstance(call.result, Unknown):
            # Gemini has no ids: there the name pairs a result with its call.
            key = _text(parts, ("call_id", "id", "tool_call_id")) or call.name
            self._waiting.setdefault(key, []).append(len(self._calls))
        self._calls.append(call)

    def _message(self, parts: Mapping[str, object], depth: int) -> bool:
        """A message that carries calls or results: of it only those count."""
        inner: list[object] = []
        inner += elements(parts.get("tool_calls"))
        carries = bool(inner)
        if "role" in parts:
            blocks = [block for block in elements(parts.get("content", parts.get("parts"))) if _carries(block)]
            inner += blocks
            # What a person or the model said is neither a tool call nor a result.
            carries = carries or bool(blocks) or parts.get("role") in ("user", "assistant", "system", "model")
        for name in ("functionCall", "function_call"):
            if isinstance(parts.get(name), dict):
                inner.append(parts[name])
                carries = True
        answer = parts.get("functionResponse", parts.get("function_response"))
        if isinstance(answer, dict):
            about = members(cast("object", answer))
            self._pair(_text(about, ("id", "name")), about.get("response"), failed=None, name=_text(about, ("name",)))
            carries = True
        for block in inner:
            self.read(block, depth + 1)
        return carries

    def _result_of(self, parts: Mapping[str, object]) -> bool:
        """A result that names its call: `role: tool`, `tool_result`, `function_call_output`."""
        kind = parts.get("type")
        if parts.get("role") in ("tool", "function") or kind in ("tool_result", "function_call_output", "tool"):
            key = _text(parts, ("tool_call_id", "tool_use_id", "call_id", "id", "name"))
            result = _first(parts, ("content", "output", "result"), None)
            failed = True if parts.get("is_error") is True or parts.get("status") == "error" else None
            self._pair(key, result, failed=failed, name=_text(parts, _NAMES))
            return True
        return False

    def _pair(self, key: str, result: object, *, failed: bool | None, name: str) -> None:
        waiting = self._waiting.get(key) or self._waiting.get(name)
        if waiting:
            # Ids may come twice in a long conversation: the first call that still waits gets the result.
            place = waiting.pop(0)
            call = self._calls[place]
            self._calls[place] = ToolCall(call.name, call.arguments, result, failed)
        else:
            self._calls.append(ToolCall(name, None, result, failed))


def _call(parts: Mapping[str, object]) -> ToolCall | None:
    """The call that a mapping describes: it needs a name beside arguments or a result, else it is a result itself."""
    function = _parts(parts.get("function")) or {}
    about = {**parts, **function} if function else parts
    name = _text(about, _NAMES)
    arguments = _first(about, _ARGUMENTS, UNKNOWN)
    result = _first(about, _RESULTS, UNKNOWN)
    if isinstance(result, Unknown) and ("structuredContent" in parts or "structured_content" in parts):
        result = {key: value for key, value in parts.items() if key not in _NAMES}
    if not name or (isinstance(arguments, Unknown) and isinstance(result, Unknown)):
        return None
    failed = about.get("failed")
    if not isinstance(failed, bool):
        # A flag that says "no error" is not believed: errors come without it too.
        flagged = any(about.get(key) is True for key in ("is_error", "isError")) or about.get("status") == "error"
        failed = True if flagged else None
    return ToolCall(name, None if isinstance(arguments, Unknown) else arguments, result, failed)


def _carries(block: object) -> bool:
    parts = members(block) or (_parts(block) or {})
    return (
        parts.get("type") in ("tool_use", "tool_result", "mcp_tool_use", "mcp_tool_result", "server_tool_use")
        or "functionCall" in parts
        or "functionResponse" in parts
        or "function_call" in parts
        or "function_response" in parts
    )


def _parts(item: object) -> Mapping[str, object] | None:
    """The members of a mapping or of an object that has some of the known attributes; None for anything else."""
    if isinstance(item, dict):
        return members(cast("object", item))
    if isinstance(item, Mapping):
        return dict(cast("Mapping[str, object]", item))
    if item is None or isinstance(item, str | bytes | int | float | list | tuple):
        return None
    if is_dataclass(item) and not isinstance(item, type):
        return {field.name: getattr(item, field.name, None) for field in fields(item)}
    found = {name: getattr(item, name) for name in _ATTRIBUTES if hasattr(item, name)}
    return found or None


def _text(parts: Mapping[str, object], keys: Sequence[str]) -> str:
    return next((value for key in keys if isinstance(value := parts.get(key), str) and value), "")


def _first(parts: Mapping[str, object], keys: Sequence[str], default: object) -> object:
    return next((parts[key] for key in keys if key in parts), default)
