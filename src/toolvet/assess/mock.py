"""A record → an MCP server that answers recorded calls with their results. Bytes in, bytes out, no clock.

    a recorded call      its result; several results of one call come in the recorded order, the last one repeats
    an invalid call      a tool error that says how its arguments break the inputSchema
    another unseen call  a value that the outputSchema allows, or a tool error that names the recorded calls

The server answers both protocol eras, request by request (`toolvet.mcp.serving`). Faults on demand replace or delay the
answers of chosen tools.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from toolvet.assess.replay.recorded import REDACTED_ARGUMENTS, RecordedCall
from toolvet.assess.rules import Outcome
from toolvet.core.checks import check_arguments
from toolvet.core.json_value import is_array, is_object, members
from toolvet.core.meta import META_PREFIX
from toolvet.core.redact import REDACTED
from toolvet.core.schema import valid_example
from toolvet.core.visible import shorten
from toolvet.errors import Unsatisfiable, UsageError
from toolvet.mcp.serving import UNCACHED, in_era, is_modern, opening
from toolvet.mcp.wire import Noise, Request, encode_error, encode_result, parse

_FAULT: Final = re.compile(
    r"(?:latency=(?P<seconds>\d{1,6}(?:\.\d+)?)|(?P<kind>outage|malformed|error))(?::(?P<tool>.+))?"
)
_NAME: Final = "toolvet mock"
_CAPABILITIES: Final = {"tools": dict[str, object]()}


def read_definitions(file: Path) -> tuple[Mapping[str, object], ...]:
    """Return the tools of a lock file, or of an answer to tools/list. Raises UsageError for anything else."""
    try:
        document: object = msgspec.json.decode(file.read_bytes())
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UsageError(f"{file}: {error}") from error
    tools = members(members(document).get("result", document)).get("tools")
    if not is_array(tools):
        raise UsageError(f'{file}: it has no list "tools", as a toolvet.lock.json and an answer to tools/list have')
    return tuple(tool for tool in tools if is_object(tool) and isinstance(tool.get("name"), str))


class MockServer:
    """Answers one client from a record.

    Args:
        calls: The recorded calls, from `read_recorded`.
        definitions: The tools to list. Without any, recorded tools get definitions that allow all arguments.
        faults: The faults on demand, `KIND` or `KIND:TOOL`: `latency=SECONDS`, outage, malformed or error.
        unseen: How to answer an unseen call of a tool with an outputSchema: with an example, or always with an error.

    Example:
        >>> call = RecordedCall(number=1, tool="add", arguments={}, outcome=Outcome.RESULT, result={"content": []})
        >>> MockServer([call]).answer(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}')
        (b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}', 0.0)
    """

    def __init__(
        self,
        calls: Sequence[RecordedCall],
        definitions: Iterable[Mapping[str, object]] = (),
        faults: Iterable[str] = (),
        *,
        unseen: Literal["example", "error"] = "example",
    ) -> None:
        # By kind and tool ("" for all): the seconds of `latency`.
        self._faults = dict[tuple[str, str], float]()
        self._unseen = unseen
        # By tool and arguments: the answers in the recorded order.
        self._recorded = defaultdict[str, dict[bytes, list[RecordedCall]]](dict)
        made = dict[str, Mapping[str, object]]()
        for call in calls:
            has_result = call.outcome is Outcome.RESULT and is_object(call.result)
            if call.skip in ("", REDACTED_ARGUMENTS) and (has_result or call.error is not None):
                self._recorded[call.tool].setdefault(_key(call.arguments), []).append(call)
                # A call that a server refused with a protocol error may name a tool that it does not have.
                if has_result:
                    made[call.tool] = {"name": call.tool, "inputSchema": {"type": "object"}}
        self._tools = {str(tool["name"]): tool for tool in definitions} or made
        self._names = ", ".join(self._tools) or "none"
        for text in faults:
            found = _FAULT.fullmatch(text)
            if found is None:
                raise UsageError(f"--fault {text}: write latency=SECONDS, outage, malformed or error, then :TOOL")
            if found["tool"] and found["tool"] not in self._tools:
                raise UsageError(f"--fault {text}: there is no such tool; the tools are: {self._names}")
            self._faults[found["kind"] or "latency", found["tool"] or ""] = float(found["seconds"] or 0)
        self._list: Mapping[str, object] = {"tools": list(self._tools.values()), **UNCACHED}

    def answer(self, line: bytes) -> tuple[bytes, float] | None:
        """Return the answer to a line of the client and its delay in seconds; None for a line that gets none. Total."""
        message = parse(line)
        if isinstance(message, Noise) and message.kind != "empty":
            return encode_error(None, -32700, f"Not a JSON-RPC message: {message.reason}"), 0.0
        if not isinstance(message, Request):
            return None
        if message.method == "tools/call":
            return self._call(message, members(message.params))
        found = self._list if message.method == "tools/list" else opening(message, _NAME, _CAPABILITIES)
        if found is None:
            return encode_error(message.id, -32601, f"Method not found: {message.method}"), 0.0
        return encode_result(message.id, in_era(message, found)), 0.0

    def _call(self, request: Request, params: Mapping[str, object]) -> tuple[bytes, float] | None:
        tool, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(tool, str) or not (tool in self._tools or tool in self._recorded):
            return encode_error(request.id, -32602, f"Unknown tool: {tool}. The tools are: {self._names}"), 0.0
        # A fault of this tool comes after those of all tools, and counts.
        faults = {kind: seconds for (kind, of), seconds in sorted(self._faults.items()) if of in ("", tool)}
        if "outage" in faults:
            return None
        if "error" in faults:
            found: object = _text(f"{tool} is not available at the moment (503 Service Unavailable).", isError=True)
        else:
            found = self._find(tool, arguments, era="modern" if is_modern(request) else "legacy")
        if isinstance(found, RecordedCall) and found.error is not None:
            line = encode_error(request.id, found.error.code or -32603, found.error.message)
        else:
            result = found.result if isinstance(found, RecordedCall) else found
            line = encode_result(request.id, in_era(request, members(result)))
        return line[: len(line) // 2] if "malformed" in faults else line, faults.get("latency", 0.0)

    def _find(
        self, tool: str, arguments: object, *, era: Literal["legacy", "modern"]
    ) -> RecordedCall | Mapping[str, object]:
        recorded = self._recorded.get(tool, {})
        answers = recorded.get(_key(arguments)) or next(
            (each for each in recorded.values() if _matches(each[0].arguments, arguments)), None
        )
        if answers:
            return answers.pop(0) if len(answers) > 1 else answers[0]
        definition = self._tools.get(tool, {"name": tool, "inputSchema": {}})
        report = check_arguments(definition, arguments, unchecked="pass")
        if not report.valid:
            return report.to_result(era)
        why = "it has no outputSchema to make an answer from"
        if self._unseen == "error":
            why = "unseen calls are errors here (--unseen error)"
        elif "outputSchema" in definition:
            try:
                example = valid_example(definition["outputSchema"])
                return _text(_key(example).decode(), structuredContent=example, _meta={f"{META_PREFIX}mock": "example"})
            except Unsatisfiable as error:
                why = f"no answer could be made from its outputSchema: {error}"
        words = f"toolvet mock: {tool} was not recorded with these arguments, and {why}. {_named(recorded)}"
        return _text(words, isError=True)


def _key(arguments: object) -> bytes:
    """Return the same bytes for equal arguments, whatever the order of their members."""
    try:
        return msgspec.json.encode(arguments, order="sorted")
    except (msgspec.MsgspecError, OverflowError, ValueError, RecursionError):
        return repr(arguments).encode(errors="surrogatepass")


def _matches(recorded: object, given: object) -> bool:
    """Whether arguments are the recorded ones, where what was redacted in the record may be any text."""
    pending = [(recorded, given)]
    while pending:
        kept, new = pending.pop()
        if isinstance(kept, str) and REDACTED in kept:
            first, *_, last = kept.split(REDACTED)
            if kept != REDACTED and not (isinstance(new, str) and new.startswith(first) and new.endswith(last)):
                return False
        elif is_object(kept) and is_object(new) and kept.keys() == new.keys():
            pending += [(kept[name], new[name]) for name in kept]
        elif is_array(kept) and is_array(new) and len(kept) == len(new):
            pending += zip(kept, new, strict=True)
        elif type(kept) is not type(new) or kept != new:
            return False
    return True


def _named(recorded: Mapping[bytes, object]) -> str:
    if not recorded:
        return "The record has no call of this tool."
    shown = "; ".join(shorten(key.decode(errors="replace"), 200) for key in list(recorded)[:5])
    more = f"; and {len(recorded) - 5} more" if len(recorded) > 5 else ""
    return f"Recorded arguments: {shown}{more}"


def _text(text: str, **more: object) -> Mapping[str, object]:
    return {"content": [{"type": "text", "text": text}], **more}
