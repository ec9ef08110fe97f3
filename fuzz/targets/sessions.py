"""A session between a client and a server that send anything: nothing raises, no request is answered twice."""

import json

import msgspec
from fuzz import words
from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet.core.json_value import is_endless
from toolvet.mcp.wire import ErrorReply, Request, Result, parse
from toolvet.proxy.session import CallEnded, Note, Policies, ProxySettings, Session, ToClient, ToolSettings, ToServer

IDS = (1, 2, "1", "a", 3)
TOOL_SETTINGS = {
    "arguments": ("off", "audit", "enforce"),
    "repair": ("off", "suggest", "apply"),
    "repair_from": ("high", "medium", "low"),
    "results": ("off", "annotate", "enforce"),
    "output_schema": ("off", "warn", "enforce"),
    "verdict": ("on_request", "always"),
    "server_validation": ("off", "before_call"),
    "break_after": (0, 1, 5),
    "max_arguments_bytes": (0, 100, 10_000),
    "max_result_bytes": (0, 100, 10_000),
    "max_judged_bytes": (0, 100, 10_000),
    "max_depth": (0, 2, 128),
    "record": ("verdicts", "calls"),
    "redact": ((), ("a", "date")),
}
OWN = {"announce": ("off", "capability", "tool"), "validate_method": ("validate", "sail", "own")}
META = ("dev.toolvet/verdict", "dev.toolvet/trace", "traceparent", "dev.toolvet/contract", "progressToken", "a")
VALIDATION = {"tools": {}, "toolValidation": {"method": "validate"}, "experimental": {"response_contract_v2": {}}}


def check(draw: Draw) -> None:
    """Up to a dozen messages from both sides."""
    session = Session(Policies(_settings(draw)))
    sent: list[object] = []
    asked: list[str] = []
    steps: list[object] = []
    opened, answered = 0, 0
    for _ in range(draw.byte() % 12):
        kind = draw.byte()
        if kind < 120:
            data = _of_client(draw)
            message = parse(data)
            opened += isinstance(message, Request) or data.count(b'"method"')
            found = session.from_client(data)
        elif kind < 240:
            data = _of_server(draw, asked)
            found = session.from_server(data)
            answered += isinstance(parse(data), Result | ErrorReply)
        elif asked:
            found = session.give_up(asked[-1])
        else:
            found = session.fail(_error(draw))
        for step in found:
            _step(step, asked)
        steps += found
        holds(isinstance(session.only_watches, bool), "no answer")
    for step in [*steps, *session.close()]:
        _step(step, sent)


def _settings(draw: Draw) -> ProxySettings:
    if draw.byte() < 100:
        return ProxySettings()
    own = ToolSettings(**_some(draw, TOOL_SETTINGS))
    tools = {draw.one(("s*", "sail", "[", "")): own}
    return ProxySettings(**_some(draw, TOOL_SETTINGS), **_some(draw, OWN), tools=tools)


def _some(draw: Draw, table: dict[str, tuple[object, ...]]) -> dict[str, object]:
    return draw.options({name: (lambda draw, values=values: draw.one(values)) for name, values in table.items()})


def _step(step: object, asked: list[str]) -> None:
    if isinstance(step, ToServer | ToClient):
        holds(isinstance(step.data, bytes), "a message is not bytes")
        if isinstance(step, ToServer) and isinstance(step.about, str) and step.about.startswith("toolvet:"):
            asked.append(step.about)
        return
    holds(isinstance(step, Note), "a step of no kind")
    json.dumps(step.to_dict())
    if isinstance(step, CallEnded):
        msgspec.json.encode(step.to_dict())


def _encoded(message: object, draw: Draw) -> bytes:
    data = json.dumps(message).encode()
    if draw.byte() > 240:
        at = draw.byte() % (len(data) + 1)
        data = data[:at] + draw.piece(5) + data[at + draw.byte() % 3 :]
    return b"[" + data + b"," + data + b"]" if draw.byte() > 250 else data


def _of_client(draw: Draw) -> bytes:
    kind = draw.byte()
    message: dict[str, object] = {"jsonrpc": "2.0", "id": draw.one(IDS)}
    if kind < 140:
        params: dict[str, object] = {"name": draw.one(words.TOOLS), "arguments": draw.members()}
        if draw.byte() > 180:
            params["_meta"] = {draw.one(META): draw.json(2) for _ in range(draw.byte() % 3)}
        message |= {"method": "tools/call", "params": params if kind < 130 else draw.json()}
    elif kind < 180:
        params = {} if draw.flag() else {"cursor": draw.one(("", "p", 5))}
        message |= {"method": "tools/list", "params": params}
    elif kind < 200:
        opening = {"capabilities": draw.one(({}, VALIDATION, 5)), "protocolVersion": "2025-06-18"}
        message |= {"method": draw.one(("initialize", "server/discover")), "params": opening}
    elif kind < 220:
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": draw.one(IDS)}}
    elif kind < 240:
        message |= {draw.one(("method", "result", "error", "params")): draw.json()}
    else:
        return draw.piece(60)
    return _encoded(message, draw)


def _of_server(draw: Draw, asked: list[str]) -> bytes:
    kind = draw.byte()
    identifier = draw.one((*asked[-2:], *IDS)) if draw.byte() < 200 else draw.one(IDS)
    message: dict[str, object] = {"jsonrpc": "2.0", "id": identifier}
    if kind < 70:
        result = draw.result()
        message["result"] = result if _is_json(result) else {"content": []}
    elif kind < 150:
        tools = [{**_tool(draw)} for _ in range(draw.byte() % 4)]
        message["result"] = {"tools": tools} | draw.options({"nextCursor": lambda draw: draw.one(("", "p", 5, None))})
    elif kind < 175:
        message["result"] = {"capabilities": draw.one((VALIDATION, {"tools": {}}, {}, 5)), "protocolVersion": "x"}
    elif kind < 200:
        verdict = {"valid": draw.flag(), "issues": draw.several(draw.members, 2), "a": draw.json(2)}
        message["result"] = {"structuredContent": verdict, "content": [{"type": "text", "text": json.dumps(verdict)}]}
    elif kind < 220:
        return _error(draw)
    elif kind < 235:
        message = {"jsonrpc": "2.0", "method": draw.one(("notifications/tools/list_changed", "ping", "a"))}
    elif kind < 245:
        message |= {draw.one(("method", "result", "error", "params")): draw.json()}
    else:
        return draw.piece(60)
    return _encoded(message, draw)


def _tool(draw: Draw) -> dict[str, object]:
    tool = {"name": draw.one(words.TOOLS), "inputSchema": draw.schema(), "outputSchema": draw.schema()}
    return {name: value for name, value in tool.items() if _is_json(value) and (name != "outputSchema" or draw.flag())}


def _error(draw: Draw) -> bytes:
    error = {"code": draw.one((-32602, -32601, 5, 429)), "message": draw.text(), "data": draw.json()}
    return _encoded({"jsonrpc": "2.0", "id": draw.one(IDS), "error": error}, draw)


def _is_json(value: object) -> bool:
    if is_endless(value):
        return False
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
