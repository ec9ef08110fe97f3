"""The scenes of `test_scenes.py`: who says what."""

import json
from typing import Any, Final, NamedTuple


class Turn(NamedTuple):
    """One message of a scene.

    `who` is the client (C), the server (S), the driver with an error for an open request (F), giving up a question (G)
    or ending it all (E); a long message of either side is shown by its beginning (`long C`, `long S`).
    """

    who: str
    data: bytes = b""


NUMBERS: Final = {"a": {"type": "integer"}, "b": {"type": "integer"}}
TOOLS: Final = [
    {
        "name": "add",
        "inputSchema": {"type": "object", "properties": NUMBERS, "required": ["a"], "additionalProperties": False},
    },
    {
        "name": "look",
        "inputSchema": {"type": "object", "properties": {"key": {"type": "string"}, "password": {"type": "string"}}},
        "outputSchema": {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]},
    },
    {"name": "free", "inputSchema": {"type": "object"}},
    {"name": "odd", "inputSchema": {"type": 7}},
]
META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
}


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()


def c(id_: Any, tool: str, arguments: Any = None, meta: Any = None, *, who: str = "C") -> Turn:
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    given = {key: value for key, value in params.items() if value is not None}
    return Turn(who, line(id=id_, method="tools/call", params=given))


def asks(id_: Any, method: str, params: Any = None) -> Turn:
    return Turn("C", line(id=id_, method=method, **({} if params is None else {"params": params})))


def s(id_: Any, result: Any = None, error: Any = None, who: str = "S") -> Turn:
    return Turn(who, line(id=id_, error=error) if error is not None else line(id=id_, result=result))


def says(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


def own(number: int) -> str:
    """The id of a question of the session."""
    return f"toolvet:{number}"


def rounds(count: int, tool: str, arguments: Any, result: Any) -> list[Turn]:
    """The same call with the same answer, again and again."""
    return [turn for number in range(100, 100 + count) for turn in (c(number, tool, arguments), s(number, result))]


LIST: Final = [asks("l", "tools/list"), s("l", {"tools": TOOLS})]
MODERN_LIST: Final = [
    asks("l", "tools/list", {"_meta": META}),
    s("l", {"resultType": "complete", "tools": TOOLS, "ttlMs": 45000, "cacheScope": "private"}),
]
OPEN: Final = [
    asks(
        "i", "initialize", {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "c"}}
    ),
    s(
        "i",
        {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
    ),
]
DISCOVER: Final = [
    asks("d", "server/discover", {"_meta": META}),
    s("d", {"resultType": "complete", "capabilities": {"tools": {}}, "supportedVersions": ["2026-07-28"]}),
]
WITH_VALIDATOR: Final = {"tools": {}, "experimental": {"toolValidation": {"supported": True, "method": "check"}}}
VALIDATED: Final = [
    asks("i", "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}),
    s("i", {"protocolVersion": "2025-11-25", "capabilities": WITH_VALIDATOR, "serverInfo": {"name": "s"}}),
    asks("l", "tools/list"),
    s("l", {"tools": [*TOOLS, {"name": "check", "inputSchema": {"type": "object"}}]}),
]
DEEP: Final = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"free","arguments":{"x":' + (
    b"[" * 3000 + b"]" * 3000 + b"}}}"
)
LONG: Final = "All the pages of the book, one after the other, with their numbers and their titles. " * 40
FAILS: Final = "Error: connection to the database timed out"
UNKNOWN: Final = {"code": -32602, "message": "Unknown tool"}
BROKEN: Final = "Error: no column named 'a' in table 'books'"
CHECKED: Final = {"valid": False, "errors": ["a: too large", "b: odd"], "corrections": [{"path": "/a", "value": 7}]}

SCENES: Final[dict[str, list[Turn]]] = {
    "opening": [*OPEN, Turn("C", line(method="notifications/initialized")), *LIST, *OPEN, c(1, "add", {"a": 1})],
    "opening, modern": [*DISCOVER, *MODERN_LIST, c(1, "add", {"a": 1}, META), s(1, says("3", resultType="complete"))],
    "opening, other capabilities": [
        asks("i", "initialize", {"capabilities": 3}),
        s("i", {"capabilities": {"prompts": {}}}),
        asks("d", "server/discover"),
        s("d", {"capabilities": None}),
        asks("e", "initialize"),
        s("e", error={"code": -32600, "message": "no"}),
    ],
    "good calls": [
        *LIST,
        c(1, "add", {"a": 1, "b": 2}),
        s(1, says("3")),
        c("1", "look", {"key": "x"}),
        s("1", says('{"total":3}', structuredContent={"total": 3})),
        c(2, "free"),
        s(2, {"content": []}),
        c(3, "odd", {"any": [1]}),
        s(3, says("done")),
        c(4, "odd", {"any": [1]}),
        s(4, says("Nothing was found.")),
    ],
    "bad calls": [
        *LIST,
        c(1, "add", {}),
        c(2, "add", {"a": "3"}),
        c(3, "add", {"A": 3}),
        c(4, "add", {"a": "three", "b": None, "c": 1}),
        c(5, "add", [1]),
        c(6, "add"),
        c(7, "look", {"key": 5, "password": "FIXTUREPW1"}),
        c(8, "look", {"key": ["x"], "password": "FIXTUREPW1", "token": "x"}),
        s(2, says("5")),
        s(8, says("FIXTUREPW1 is wrong", isError=True)),
    ],
    "bad calls, modern": [*MODERN_LIST, c(1, "add", {"a": "3"}, META), c(2, "add", {}, META)],
    "no calls by the protocol": [
        *LIST,
        c(1, "add", "a=1"),
        s(1, error={"code": -32602, "message": "Invalid request parameters"}),
        Turn("C", b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"arguments":{}}}'),
        Turn("C", b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add","arguments":{"a":1e999}}}'),
        Turn("C", b'{"jsonrpc":"2.0","id":4,"method":"tools/call"}'),
        Turn("C", b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add","arguments":{}}}'),
        Turn("C", b'  {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"\\ud800"}}'),
        Turn("C", b'"tools/call"'),
        Turn("C", b"tools/call"),
        Turn("S", b"no JSON"),
        Turn("S", b""),
        Turn("S", line(method="notifications/message", params={"level": "info"})),
        Turn("S", line(id="r", method="sampling/createMessage", params={})),
        Turn("C", line(id="r", result={})),
    ],
    "unknown tools": [
        c(1, "nothing", {}),
        c(2, "add", {"a": 1}),
        s(own(1), {"tools": TOOLS}),
        s(1, error={"code": -32602, "message": "Unknown tool: nothing"}),
        c(3, "nothing", {}),
        s(own(2), {"tools": TOOLS}),
        s(3, says("Unknown tool: nothing", isError=True)),
        c(4, "nothing", {}),
        s(4, says("Unknown tool: nothing", isError=True)),
        c(5, "never", {}),
        Turn("S", line(method="notifications/tools/list_changed")),
        c(6, "never", {}),
        Turn("E"),
    ],
    "names that no tool has, again and again": [
        *LIST,
        *[
            turn
            for number in range(7)
            for turn in (
                c(number, "nothing", {"n": number}),
                s(number, error={"code": -32602, "message": "Unknown tool"}),
            )
        ],
    ],
    "a list in pages": [
        c(1, "odd", {}, {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}),
        s(own(1), {"tools": TOOLS[:1], "nextCursor": "p2"}),
        s(own(2), {"tools": TOOLS[1:2], "nextCursor": "p3"}),
        s(own(3), {"tools": TOOLS[2:], "nextCursor": "p3"}),
        asks("l", "tools/list", {"cursor": "x"}),
        s("l", {"tools": [], "nextCursor": "y"}),
        asks("m", "tools/list", {"cursor": "y"}),
        s("m", {"tools": TOOLS}),
        asks("n", "tools/list"),
        s("n", {"tools": 3}),
        asks("o", "tools/list"),
        s("o", error={"code": -32603, "message": "no"}),
    ],
    "a list that changes while it is read": [
        c(1, "add", {"a": 1}),
        *[
            turn
            for number in range(1, 6)
            for turn in (
                Turn("S", line(method="notifications/tools/list_changed")),
                s(own(number), {"tools": TOOLS, "nextCursor": f"p{number}"}),
            )
        ],
        asks("l", "tools/list"),
        Turn("S", line(method="notifications/tools/list_changed")),
        s("l", {"tools": TOOLS}),
    ],
    "lists that cannot be read": [
        c(1, "add", {"a": "x"}),
        s(own(1), error={"code": -32601, "message": "Method not found"}),
        c(2, "add", {"a": "x"}),
        s(own(2), {"tools": None}),
        c(3, "free", {}),
        Turn("G", own(3).encode()),
        c(4, "look", {}),
        Turn("G", b"toolvet:99"),
        Turn("S", b'{"jsonrpc":"2.0","id":"toolvet:4","result":{"tools":[1e999]}}'),
        s(own(3), {"tools": TOOLS}),
        s("toolvet:05", {}),
        s("toolvet:x", {}),
        s("toolvet:0", {}),
        s("toolvet:99999999999999999", {}),
    ],
    "results": [
        *LIST,
        c(1, "add", {"a": 1}),
        s(1, says(FAILS)),
        c(2, "add", {"a": 2}),
        s(2, says(FAILS, isError=True)),
        c(3, "add", {"a": 3}),
        s(3, error={"code": -32603, "message": "Internal error", "data": {"why": "FIXTUREPW1"}}),
        c(4, "add", {"a": 4}),
        s(4, {"content": "text"}),
        c(5, "add", {"a": 5}),
        s(5, {}),
        c(6, "add", {"a": 6}),
        s(6, "3"),
        c(7, "look", {"key": "k", "password": "FIXTUREPW1"}),
        s(7, says("Traceback (most recent call last):\n  FIXTUREPW1\nKeyError: 'FIXTUREPW1'")),
        c(8, "look", {}),
        s(8, says("{}", structuredContent={"total": "three"})),
        c(9, "look", {}),
        s(9, says("no structure")),
        c(10, "look", {}),
        Turn("S", b'{"jsonrpc":"2.0","id":10,"result":{"structuredContent":{"total":1e999},"content":[]}}'),
        c(11, "add", {"a": 11}),
        Turn("S", b'{"jsonrpc":"2.0","id":11,"result":{"content":[],"isError":"yes"}}'),
        c(12, "add", {"a": 12}),
        Turn("S", b'{"jsonrpc":"2.0","id":12,"result":\xff}'),
        c(13, "free", {"page": 1}),
        s(13, says('{"items":[],"next":null}')),
        c(14, "free", {}),
        s(14, says("Done.", _meta={"x": 1})),
        s(14, says("again")),
        s(None, error={"code": -32700, "message": "Parse error"}),
    ],
    "results, modern": [
        *MODERN_LIST,
        c(1, "add", {"a": 1}, META),
        s(1, says("3")),
        c(2, "add", {"a": 1}, META),
        s(2, says("3", resultType="input_required")),
        c(3, "look", {"key": "x"}, META),
        s(3, says("x", resultType="complete", structuredContent={"total": None})),
        c(4, "add", {"a": 1}, {**META, "dev.toolvet/verdict": True, "dev.toolvet/trace": "turn-7"}),
        s(4, says(FAILS, resultType="complete")),
        c(5, "add", {"a": 1}, {**META, "dev.toolvet/verdict": True, "dev.toolvet/trace": 7}),
        s(5, error={"code": -32603, "message": "Internal error"}),
    ],
    "sizes": [
        *LIST,
        c(1, "free", {"text": "x" * 300}),
        s(1, says("y" * 400)),
        c(2, "free", {"a": {"b": {"c": {"d": 1}}}}),
        s(2, says("ok")),
        c(3, "look", {"key": "z"}),
        s(3, says("q" * 400, structuredContent={"total": "q" * 400})),
        c(4, "add", {"a": 1}),
        s(4, says(FAILS + "!" * 400)),
        c(5, "free", [[[[1]]]]),
        Turn("C", DEEP),
        Turn("C", b"[" + DEEP + b"]"),
        Turn("C", DEEP.replace(b"tools/call", b"tools/odd1")),
        Turn("S", DEEP.replace(b'"method":"tools/call","params"', b'"result"')),
    ],
    "the same failing call": [
        *LIST,
        *rounds(8, "add", {"a": 1}, says(BROKEN, isError=True)),
        *rounds(7, "add", {"a": 2}, says(FAILS, isError=True)),
        c(1, "add", {"a": 1, "b": 1}),
        s(1, says("2")),
        *rounds(2, "free", {"x": {"y": 1}}, says("Invalid argument: y", isError=True)),
        *rounds(1, "free", {"x": {"y": 1}}, says("fine")),
        *rounds(3, "free", {"x": {"y": 1}}, says("Invalid argument: y", isError=True)),
    ],
    "the same call that brings nothing new": [
        *LIST,
        *rounds(8, "free", {"q": 1}, says("the same")),
        c(1, "free", {"q": 2}),
        s(1, says("another")),
        *rounds(2, "free", {"q": 1}, says("the same")),
        *rounds(7, "look", {"key": "x"}, says("{}", structuredContent={"total": 1})),
    ],
    "cancellation": [
        c(1, "add", {"a": 1}),
        c(2, "add", {"a": 1}),
        Turn("C", line(method="notifications/cancelled", params={"requestId": 1, "reason": "enough"})),
        s(own(1), {"tools": TOOLS}),
        Turn("C", line(method="notifications/cancelled", params={"requestId": 2})),
        s(2, says("late")),
        Turn("C", line(method="notifications/cancelled", params={"requestId": True})),
        Turn("C", line(method="notifications/cancelled", params={"requestId": 99})),
        Turn("C", line(method="notifications/cancelled")),
        asks(3, "ping"),
        Turn("C", line(method="notifications/cancelled", params={"requestId": 3})),
        s(3, {}),
    ],
    "ids that come again": [
        *LIST,
        c(1, "add", {"a": 1}),
        c(1, "add", {"a": 2}),
        c(1, "free", {}),
        Turn("C", line(method="notifications/cancelled", params={"requestId": 1})),
        s(1, says("one")),
        s(1, says("two")),
        s(1, says("three")),
        asks(2, "ping"),
        c(2, "add", {"a": 1}),
        s(2, {}),
        asks(3, "ping"),
        asks(3, "resources/list"),
        s(3, {}),
        c("a" * 60, "add", {"a": 1}),
        asks("a" * 60, "ping"),
        c(1.5, "add", {"a": 1}),
        s(1.5, says("x")),
    ],
    "batches": [
        *LIST,
        Turn("C", b"[" + c(1, "add", {"a": 1}).data + b"," + c(2, "add", {}).data + b"," + asks(3, "ping").data + b"]"),
        Turn("S", b"[" + s(1, says("1")).data + b"," + s(3, {}).data + b"]"),
        Turn("C", b"[" + c(4, "add", {}).data + b"]"),
        Turn("C", b"[]"),
        Turn("C", b"[1]"),
        Turn("S", b"[" + s(9, {}).data + b"]"),
    ],
    "our own validator": [
        *OPEN,
        *LIST,
        c(1, "validate", {"tool": "add", "arguments": {"a": 1}}),
        c(2, "validate", {"tool": "gone", "arguments": {}}),
        s(own(1), {"tools": TOOLS}),
        c(3, "validate", {"tool": "add", "arguments": {"a": "7"}}),
        c(4, "validate", {"tool": "server:add"}),
        c(5, "validate", {"tool": 3}),
        c(6, "validate"),
        c(7, "validate", {"calls": [{"tool": "add", "arguments": {"a": 1}}, {"tool": "ad", "arguments": {}}]}),
        c(8, "validate", {"calls": [{"tool": "add"}] * 101}),
        c(9, "validate", {"calls": []}),
        c(10, "prüfen", {"tool": "add", "arguments": {}}),
    ],
    "our own validator, modern": [
        *DISCOVER,
        c(1, "validate", {"tool": "add", "arguments": {"a": "x"}}, META),
        s(own(1), {"tools": TOOLS}),
    ],
    "a tool that is called as ours": [
        *OPEN,
        asks("l", "tools/list"),
        s("l", {"tools": [{"name": "validate", "inputSchema": {"type": "object"}}]}),
        c(1, "validate", {"calls": []}),
    ],
    "the server's own validator": [
        *VALIDATED,
        c(1, "add", {"a": 1}),
        s(own(1), says("{}", structuredContent={"valid": True, "errors": []})),
        s(1, says("1")),
        c(2, "add", {"a": 2}, META),
        s(own(2), says("{}", structuredContent=CHECKED)),
        c(3, "add", {"a": 3}),
        s(own(3), error={"code": -32603, "message": "down"}),
        c(4, "add", {"a": 4}),
        Turn("G", own(4).encode()),
        c(5, "add", {"a": 5}),
        Turn("C", line(method="notifications/cancelled", params={"requestId": 5})),
        s(own(5), says("{}", structuredContent=CHECKED)),
        c(6, "add", {"a": "x"}),
        c(7, "check", {}),
        c(8, "odd", {}),
        s(own(6), says("{}")),
        c(9, "add", {"a": 9}),
        Turn("E"),
    ],
    "long results": [
        *OPEN,
        *LIST,
        c(1, "free", {}),
        s(1, says(LONG)),
        c(2, "toolvet_retrieve", {"id": "x"}),
        c(3, "retrieve_result", {"id": "x"}),
        c(4, "look", {"key": "long"}),
        s(4, says(LONG, structuredContent={"total": 1, "items": [{"n": n} for n in range(400)]})),
        c(5, "add", {"a": 1}),
        s(5, says(LONG, isError=True)),
        c(6, "free", {"n": 6}),
        s(
            6,
            {"content": [{"type": "text", "text": "short"}, {"type": "image", "data": "x" * 3000, "mimeType": "a/b"}]},
        ),
    ],
    "secrets": [
        *LIST,
        c(1, "look", {"key": "the key " + "sk-ant-" + "api03-" + "Ab1" * 30, "password": "FIXTUREPW1"}),
        s(1, says("no user FIXTUREPW1", isError=True)),
        c(2, "look", {"key": "x", "password": "FIXTUREPW1"}),
        s(2, says("fine")),
        c(3, "look", {"key": 3, "password": "FIXTUREPW1", "note": "FIXTUREPW1 again"}),
    ],
    "long messages": [
        *LIST,
        c(1, "add", {"a": 1}, who="long C"),
        c(2, "odd", {"x": 1}, who="long C"),
        Turn("long S", line(id=1, result={"content": [{"type": "text", "text": "~"}]})),
        Turn("long S", line(id=2, error={"code": 1, "message": "~"})),
        Turn("long S", line(id=9, result={"x": "~"})),
        Turn("long S", line(id=own(1), result={"x": "~"})),
        Turn("long S", line(method="notifications/message", params={"x": "~"})),
        c(3, "look", {"key": "x"}),
        Turn("long S", line(id=3, result={"x": "~"})),
        Turn("long S", line(result={"x": "~"}, id=3)),
        Turn("long C", b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"arguments":{}}}'),
        asks(5, "tools/list"),
        Turn("long S", line(id=5, result={"tools": "~"})),
        Turn("E"),
    ],
    "errors of the driver": [
        *LIST,
        c(1, "add", {"a": 1}),
        s(1, error={"code": -32000, "message": "the server ended"}, who="F"),
        c(2, "look", {"key": "x"}, {**META, "dev.toolvet/verdict": True}),
        s(2, error={"code": -32001, "message": "no answer in 5 s"}, who="F"),
        s(3, error={"code": -32000, "message": "x"}, who="F"),
        asks(4, "ping"),
        s(4, error={"code": -32000, "message": "x"}, who="F"),
        s(5, {}, who="F"),
    ],
    "the end": [
        *LIST,
        c(1, "add", {"a": 1}),
        asks(2, "ping"),
        c(3, "gone", {}),
        Turn("E"),
        s(1, says("late")),
        s(own(1), {"tools": TOOLS}),
    ],
}
