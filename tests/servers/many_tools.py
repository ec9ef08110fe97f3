"""A real MCP server that makes up as many tools as its command line says. Standard library only.

    many_tools.py [--tools N] [--page P] [--endless] [--silent-page C] [--answer fine|hang] [--http] [--marker FILE]

`--page 0` (the default) lists all tools on one page; with `--endless` each page names a next one for ever, and
the page of the cursor `--silent-page` never comes. `--http`
serves Streamable HTTP on a port that it prints, instead of stdio. `--marker` is a file that the first call touches.
"""

import argparse
import itertools
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

parser = argparse.ArgumentParser()
parser.add_argument("--tools", type=int, default=1)
parser.add_argument("--page", type=int, default=0)
parser.add_argument("--endless", action="store_true")
parser.add_argument("--silent-page", default="")
parser.add_argument("--answer", default="fine")
parser.add_argument("--http", action="store_true")
parser.add_argument("--marker", default="")
options = parser.parse_args()


def definition(number: int) -> str:
    schema = (
        '{"type":"object","properties":{"item_id":{"type":"string","description":"Its id."}},"required":["item_id"]}'
    )
    return f'{{"name":"get_item_{number}","description":"Gets an item.","inputSchema":{schema}}}'


def write_list(parameters: dict[str, Any]) -> Iterator[str]:
    """The result of tools/list, in pieces."""
    first = int(parameters.get("cursor", 0))
    last = first + options.page if options.page else options.tools
    if not options.endless:
        last = min(last, options.tools)
    yield '{"ttlMs":0,"cacheScope":"private","tools":['
    for begin in range(first, last, 1000):
        numbers = range(begin, min(begin + 1000, last))
        yield ("," if begin > first else "") + ",".join(map(definition, numbers))
    yield "]"
    if options.endless or last < options.tools:
        yield f',"nextCursor":"{last}"'
    yield "}"


def write_result(method: str, parameters: dict[str, Any]) -> Iterator[str] | None:
    """The member `result`, in pieces; None for a call that is not answered."""
    if method == "initialize":
        info = {"name": "many", "version": "1"}
        opened = {
            "protocolVersion": parameters["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info,
        }  # fmt: skip
        return iter([json.dumps(opened)])
    if method == "tools/list":
        return None if parameters.get("cursor") == options.silent_page else write_list(parameters)
    if method == "tools/call":
        if options.marker:
            Path(options.marker).touch()
        if options.answer == "hang":
            return None
        return iter([json.dumps({"content": [{"type": "text", "text": "fine"}]})])
    return iter(["{}"]) if method == "ping" else iter([])


def write_answer(message: dict[str, Any]) -> Iterator[str]:
    """The whole message in pieces; no piece for a call that is not answered."""
    result = write_result(message["method"], message.get("params") or {})
    if result is None:
        return
    id_ = json.dumps(message["id"])
    first = next(result, None)
    if first is None:
        yield f'{{"jsonrpc":"2.0","id":{id_},"error":{{"code":-32601,"message":"Method not found"}}}}'
        return
    yield f'{{"jsonrpc":"2.0","id":{id_},"result":{first}'
    yield from result
    yield "}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message or "method" not in message:
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        pieces = write_answer(message)
        first = next(pieces, None)
        if first is None:
            threading.Event().wait()
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in itertools.chain([first], pieces):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece.encode()))
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, *args: Any) -> None:
        del args


if options.http:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}/mcp\n")
    sys.stdout.flush()
    server.serve_forever()
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request and "method" in request:
        written = False
        for piece in write_answer(request):
            sys.stdout.write(piece)
            written = True
        if written:
            sys.stdout.write("\n")
        sys.stdout.flush()
