r"""A real MCP server that writes half of a surrogate pair, `\ud800`, wherever a text may be. Standard library only.

    half_characters.py [--only initialize|list|call|error|resource|prompt] [--http]

Without `--only` it does so everywhere. `--http` serves Streamable HTTP on a port that it prints, instead of stdio.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

HALF = "\ud800"
only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""


def half(place: str) -> str:
    return HALF if only in {"", place} else "x"


def answer(method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The members `result` or `error` of the answer."""
    schema = {"type": "object", "properties": {"query": {"type": "string", "enum": ["a"]}}}
    match method:
        case "initialize":
            words = half("initialize")
            result: dict[str, Any] = {
                "protocolVersion": parameters["protocolVersion"],
                "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "completions": {}},
                "serverInfo": {"name": f"half {words}", "version": words},
                "instructions": f"Speak {words}",
            }
        case "tools/list":
            words = half("list")
            first = {"name": f"get_{words}", "description": f"Gets {words}.", "inputSchema": schema}
            result = {"tools": [first, {"name": "get_book", "description": "Gets a book.", "inputSchema": schema}]}
        case "tools/call" if parameters["name"] == "get_book":
            result = {"content": [{"type": "text", "text": f"A book {half('call')}"}]}
        case "resources/list":
            words = half("resource")
            result = {"resources": [{"uri": f"shelf://{words}", "name": words}, {"uri": "shelf://b", "name": "b"}]}
        case "resources/templates/list":
            result = {"resourceTemplates": []}
        case "resources/read":
            result = {"contents": [{"uri": parameters["uri"], "text": half("resource")}]}
        case "prompts/list":
            words = half("prompt")
            result = {
                "prompts": [{"name": f"plan {words}", "description": words}, {"name": "go", "description": "Go."}]
            }
        case "prompts/get":
            words = half("prompt")
            result = {"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}
        case "ping":
            result = {}
        case _:
            return {"error": {"code": -32601, "message": f"no such thing {half('error')}", "data": half("error")}}
    return {"result": result}


def respond(line: str | bytes) -> bytes:
    """The answer to a message as bytes; nothing for what wants no answer."""
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        return b""
    body = answer(message["method"], message.get("params") or {})
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = respond(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, *args: Any) -> None:
        del args


if "--http" in sys.argv:
    server = HTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}/mcp\n")
    sys.stdout.flush()
    server.serve_forever()
for request in sys.stdin:
    if response := respond(request):
        sys.stdout.buffer.write(response + b"\n")
        sys.stdout.buffer.flush()
