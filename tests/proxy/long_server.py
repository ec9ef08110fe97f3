"""A server whose results are as long as a call asks for, in the forms that servers and bugs give them.

Arguments of the tool `long` (and of `promised`, which has an outputSchema): `size` in bytes, and `form`:
`python` (id first), `typescript` (id last), `endless` (no end of line), `noise` (no JSON), `endless-noise`.
"""

import json
import os
import sys
from typing import Any

OUTPUT = {"type": "object", "required": ["n"]}
TOOLS = [
    {"name": "long", "inputSchema": {"type": "object"}},
    {"name": "promised", "inputSchema": {"type": "object"}, "outputSchema": OUTPUT},
]
CHUNK = b"x" * 65_536


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def pad(size: int) -> None:
    while size > 0:
        write(CHUNK[:size])
        size -= len(CHUNK)


def say(id_: object, result: object) -> None:
    write(json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode() + b"\n")


def call(id_: object, arguments: dict[str, Any]) -> None:
    size, form = arguments["size"], arguments.get("form", "python")
    own = json.dumps(id_).encode()
    begin = b'{"jsonrpc":"2.0","id":' + own + b',"result":{"content":[{"type":"text","text":"'
    end = b'"}]}}\n'
    if form == "typescript":
        begin, end = b'{"result":{"content":[{"type":"text","text":"', b'"}]},"jsonrpc":"2.0","id":' + own + b"}\n"
    if form in {"noise", "endless-noise"}:
        begin, end = b"", b"\n"
    write(begin)
    pad(size)
    while form.startswith("endless"):
        write(CHUNK)
    write(end)


def main() -> None:
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        match message.get("method"), message.get("id"):
            case _, None:
                pass
            case "tools/list", id_:
                say(id_, {"tools": TOOLS})
            case "initialize", id_:
                info = {"name": "long", "version": "1"}
                say(id_, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
            case "tools/call", id_:
                if "size" in message["params"].get("arguments", {}):
                    call(id_, message["params"]["arguments"])
                else:
                    say(id_, {"content": [{"type": "text", "text": f"{len(line)} bytes"}]})
            case _, id_:
                say(id_, {"bytes": len(line)})


main()
