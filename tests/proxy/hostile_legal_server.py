"""A hostile but legal server: legal in JSON, JSON-RPC and MCP, unexpected by clients, the same at every run.

`Hostile.hears` is the whole server, pure, so that a test knows how many lines to wait for; as a program it speaks
stdio and keeps every line that it got in the file `$HEARD`.
"""

import json
import os
import sys
import zlib
from pathlib import Path
from typing import Any

DEEP = b"[" * 400 + b"]" * 400
DEEPER = b"[" * 20_000 + b"]" * 20_000
LARGE = b"0123456789abcdef" * (5 * 2**20 // 16)
MODERN = b'"resultType":"complete","ttlMs":0,"cacheScope":"private",'

# Every one is an object with the members id, result and jsonrpc, in an unusual spelling.
LAYOUTS = (
    b'{"jsonrpc":"2.0","id":%(id)s,"result":%(result)s}',
    b'{"result":%(result)s,"id":%(id)s,"jsonrpc":"2.0"}',
    b'{ "future":{"id":7,"method":"x","error":{"code":1}} ,\t"id" :\t%(id)s , "result" : %(result)s ,"jsonrpc":"2.0"} ',
    b'{"res\\u0075lt":%(result)s,"\\u0069d":%(id)s,"jsonr\\u0070c":"2\\u002e0"}',
    b'  {"jsonrpc":"2.0","id":%(id)s,"id":%(id)s,"result":%(result)s,"_meta":{"\\ud83d\\ude00":"\xf0\x9f\x98\x80"}}\r',
)

TOOLS: dict[str, bytes] = {
    "echo": b'{"inputSchema":{"required":["text"],"properties":{"text":{"type":"string","x-y":1e3}},"type":"object"},'
    b'"name":"echo","name":"echo","future":[null,{}],"annotations":{"readOnlyHint":"yes","other":1.0}}',
    "count": b'{"name":"count","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]},'
    b'"outputSchema":{"type":"integer"}}',
    "array": b'{"name":"array","inputSchema":{"type":"object"},"outputSchema":{"items":{"type":"null"}}}',
    "null": b'{"name":"null","inputSchema":{"type":"object"},"outputSchema":{"type":"null"}}',
    "liar": b'{"name":"liar","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["a"]}}',
    "broken": b'{"name":"broken","inputSchema":{"type":7,"properties":[]}}',
    "remote": b'{"name":"remote","inputSchema":{"$ref":"http://127.0.0.1:9/schema.json"}}',
    "circle": b'{"name":"circle","inputSchema":{"$ref":"#"}}',
    "regex": b'{"name":"regex","inputSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"(("}}}}',
    "ancient": b'{"name":"ancient","inputSchema":{"$schema":"http://json-schema.org/draft-99/schema#","type":"object"}}',
    "true": b'{"name":"true","inputSchema":true,"outputSchema":false}',
    "bare": b'{"name":"bare"}',
    "\u00fcber/t\u00f6\u00f6l \U0001f600": b'{"name":"\\u00fcber/t\xc3\xb6\xc3\xb6l \\ud83d\\ude00","inputSchema":{}}',
    "large": b'{"name":"large","inputSchema":{"type":"object"}}',
    "deep": b'{"name":"deep","inputSchema":{"type":"object"}}',
    "deeper": b'{"name":"deeper","inputSchema":{"type":"object"}}',
    "fails": b'{"name":"fails","inputSchema":{"type":"object"}}',
    "mutters": b'{"name":"mutters","inputSchema":{"type":"object"}}',
    "refuses": b'{"name":"refuses","inputSchema":{"type":"object"}}',
    "strange": b'{"name":"strange","inputSchema":{"type":"object"}}',
    "progress": b'{"name":"progress","inputSchema":{"type":"object"}}',
    "asks": b'{"name":"asks","inputSchema":{"type":"object"}}',
    "waits": b'{"name":"waits","inputSchema":{"type":"object"}}',
    "changes": b'{"name":"changes","inputSchema":{"type":"object"}}',
    "inputs": b'{"name":"inputs","inputSchema":{"type":"object","required":["city"]}}',
    "task": b'{"name":"task","inputSchema":{"type":"object"}}',
    "later": b'{"name":"later","inputSchema":{"type":"object"}}',
}
# With two tools of one name, and entries that are not tools, a client does what it can.
ODDITIES = (b'{"name":"echo","inputSchema":{"type":"object","required":["never"]}}', b'{"name":7}', b"null")

RESULTS: dict[str, bytes] = {
    "count": b'{"structuredContent":123456789012345678901234567890,"content":[]}',
    "array": b'{"content":[],"structuredContent":[null , null],"structuredContent":[null]}',
    "null": b'{"structuredContent":null,"content":[{"text":"null","type":"text","annotations":{"priority":1e400}}]}',
    "liar": b'{"content":[{"type":"text","text":"{}"}],"structuredContent":{"b":-0.0}}',
    "large": b'{"content":[{"type":"text","text":"' + LARGE + b'"}]}',
    "deep": b'{"content":[],"structuredContent":{"a":' + DEEP + b"}}",
    "deeper": b'{"content":[],"structuredContent":{"a":' + DEEPER + b"}}",
    "fails": b'{"isError":true,"content":[{"type":"text","text":"ENOENT: no such file or directory, open \'/x\'"}]}',
    "mutters": b'{"content":[{"type":"text","text":"Error: connection refused"}],"isError":false}',
    "strange": b'{"content":[{"type":"hologram","data":{"z":1}}],"_meta":{"dev.toolvet/verdict":1,"a":1.0}}',
    "inputs": b'{"resultType":"input_required","requestState":"\\u0000opaque\\/","inputRequests":'
    b'{"k":{"method":"elicitation/create","params":{"message":"?"}}}}',
    "task": b'{"resultType":"task","task":{"taskId":"t","status":"working"}}',
    "later": b'{"resultType":"from-2031","anything":{}}',
}
QUESTIONS = (b"sampling\\/createMessage", b"elicitation/create", b"roots/list", b"tools/call")
WORKS = b'{"content":[{"type":"text","text":"\\u0064one \xe2\x80\xa8"}],"future":1.0E+2}'
PAGES = ((None, ""), ("", "\u00e9 0"), ("\u00e9 0", "0"), ("0", None))


class Hostile:
    """Takes lines without their ends and gives the lines to be written, in order."""

    def __init__(self) -> None:
        self._waiting: dict[str, bytes] = {}
        self._asking: bytes | None = None
        self._questions = 0

    def hears(self, line: bytes) -> list[bytes]:
        message = json.loads(line)
        if isinstance(message, list):
            answers = [answer for each in message for answer in self.hears(json.dumps(each).encode())]
            return [b"[ " + b" , ".join(answers) + b" ]"] if answers else []
        if "method" not in message:
            return self._told(line)
        if "id" not in message:
            return self._notified(message)
        return self._asked(message, _spelled(message["id"]))

    def _asked(self, message: dict[str, Any], id_: bytes) -> list[bytes]:
        params = message.get("params") or {}
        match message["method"]:
            case "initialize":
                return [_result(id_, _OPENED), b'{"jsonrpc":"2.0","method":"notifications/message","params":[]}']
            case "server/discover":
                return [_result(id_, b'{"resultType":"complete","supportedVersions":["2026-07-28"],' + _OPENED[1:])]
            case "tools/list":
                return [_result(id_, _page(params.get("cursor")))]
            case "tools/call":
                return self._called(str(params.get("name")), id_)
            case "x-vendor/echo":
                return [_result(id_, line_of(params))]
            case "subscriptions/listen":
                return [b'{"method":"notifications/subscriptions/acknowledged","params":{},"jsonrpc":"2.0","x":[]}']
            case "ping":
                return [_result(id_, b"{}")]
            case _:
                return [_error(id_, -32601)]

    def _called(self, name: str, id_: bytes) -> list[bytes]:
        match name:
            case "refuses":
                return [_error(id_, 2**62)]
            case "progress":
                steps = [
                    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}'
                    % (id_, number)
                    for number in (1, 2)
                ]
                return [*steps, _result(id_, WORKS), steps[1]]
            case "asks":
                # Ids of the two directions are two name spaces, so these are legal.
                self._asking, self._questions = id_, len(QUESTIONS)
                return [
                    b'{"id":%s,"method":"%s","params":{"x":1e2},"jsonrpc":"2.0"}' % (id_, each) for each in QUESTIONS
                ]
            case "waits":
                self._waiting[id_.decode()] = id_
                return []
            case "changes":
                changed = b'{"jsonrpc":"2.0","params":{"_meta":{}},"method":"notifications/tools/list\\u005fchanged"}'
                return [changed, _result(id_, WORKS), changed]
            case _ if name in TOOLS:
                return [_result(id_, RESULTS.get(name, WORKS))]
            case _:
                return [_error(id_, -32602)]

    def _told(self, line: bytes) -> list[bytes]:
        """The client's answer to a question of ours is shown to it; after the last one the call is answered."""
        told = [b'{"jsonrpc":"2.0","method":"notifications/told","params":' + line.strip() + b"}"]
        self._questions -= 1
        return told if self._questions or self._asking is None else [*told, _result(self._asking, WORKS)]

    def _notified(self, message: dict[str, Any]) -> list[bytes]:
        if message["method"] != "notifications/cancelled":
            return [b'{"params":%s,"jsonrpc":"2.0","method":"notifications/seen"}' % line_of(message.get("params"))]
        late = self._waiting.pop(_spelled(message["params"].get("requestId")).decode(), None)
        return [] if late is None else [_result(late, WORKS)]


_OPENED = (
    b'{"serverInfo":{"version":"","name":"hostile","x":{}},"capabilities":{"x":1,"tools":{"listChanged":true,"y":[]},'
    b'"experimental":{"\\u0061":{}}},"protocolVersion":"2025-11-25","instructions":"\\ud83d\\ude00"}'
)


def _result(id_: bytes, result: bytes) -> bytes:
    layout = LAYOUTS[zlib.crc32(id_) % len(LAYOUTS)]
    return layout.replace(b"%(id)s", id_).replace(b"%(result)s", result)


def line_of(value: object) -> bytes:
    return json.dumps(value).encode()


def _page(cursor: object) -> bytes:
    """A quarter of the tools; the first page ends in an empty cursor, which is one."""
    number = next((at for at, (known, _) in enumerate(PAGES) if known == cursor), None)
    if number is None:
        return b'{"tools":[]}'
    tools = list(TOOLS.values())[number :: len(PAGES)]
    if number == len(PAGES) - 1:
        return b'{"tools" : [ ' + b" , ".join((*tools, *ODDITIES)) + b' ], "x":{}}'
    following = json.dumps(PAGES[number][1]).encode()
    return b"{" + MODERN + b'"nextCursor":' + following + b',"tools":[' + b",".join(tools) + b"]}"


def _spelled(id_: object) -> bytes:
    """The same id, written otherwise."""
    if isinstance(id_, str):
        return b'"' + b"".join(b"\\u%04x" % unit for unit in _units(id_)) + b'"'
    return json.dumps(id_).encode()


def _units(text: str) -> list[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


def _error(id_: bytes, code: int) -> bytes:
    return (
        b'{"error":{"data":{"deep":'
        + DEEP
        + b'},"x":[1e400],"message":"\\u004eo","code":%d},"y":0,"id":%s,"jsonrpc":"2.0"}'
    ) % (code, id_)


def main() -> None:
    server = Hostile()
    with Path(os.environ["HEARD"]).open("wb") as heard:
        for line in sys.stdin.buffer:
            heard.write(line)
            heard.flush()
            for answer in server.hears(line.rstrip(b"\n")):
                sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
