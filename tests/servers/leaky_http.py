"""A Streamable HTTP server that repeats all headers of a request in every place that an answer has.

`leaky_http.py PORT`. Standard library only.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SCHEMA = {"type": "object", "properties": {"user": {"type": "string"}}}
NAMES = ("get_fails", "get_hides", "get_error", "get_good", "get_500", "get_401", "get_html", "get_broken", "get_cut")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.say(405, self.echo(), "text/plain")

    def do_DELETE(self) -> None:
        self.say(500, self.echo(), "text/plain")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        method, params = message.get("method", ""), message.get("params") or {}
        if "id" not in message:
            self.say(202, "", "text/plain")
            return
        echo = self.echo()
        answer: dict[str, Any] = {"error": {"code": -32602, "message": f"no {method}: {echo}", "data": {"was": echo}}}
        if method == "initialize":
            info = {"name": f"leaky {echo}", "version": echo}
            able: dict[str, object] = {"tools": {}}
            version = params["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": able, "serverInfo": info, "instructions": echo}
            answer = {"result": result}
        elif method == "tools/list":
            tool = {"description": f"Get. {echo}", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
            answer = {"result": {"tools": [{"name": name, **tool} for name in NAMES]}}
        elif method == "tools/call" and self.spoils(params["name"], echo):
            return
        elif method == "tools/call":
            answer = self.called(params["name"], echo)
        self.say(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), "application/json")

    def called(self, name: str, echo: str) -> dict[str, Any]:
        if name == "get_error":
            return {"error": {"code": -32603, "message": f"failed: {echo}", "data": {"note": echo}}}
        words = {"get_fails": echo, "get_hides": f"Error: {echo}"}.get(name, f"good {echo}")
        content = [{"type": "text", "text": words}]
        return {"result": {"content": content, "isError": name == "get_fails", "_meta": {"was": echo, echo: 1}}}

    def spoils(self, name: str, echo: str) -> bool:
        if name == "get_500":
            self.say(500, f"boom: {echo}", "text/plain")
        elif name == "get_401":
            self.say(401, echo, "text/plain", f'Bearer error="invalid_token", error_description="{echo}"')
        elif name == "get_html":
            self.say(200, f"<html><title>{echo}</title></html>", "text/html")
        elif name == "get_broken":
            self.say(200, f'{{"jsonrpc": "2.0", {echo}', "application/json")
        elif name == "get_cut":
            self.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\nX-Was: {echo}\r\n\r\n{{{echo}".encode())
            self.close_connection = True
        else:
            return False
        return True

    def echo(self) -> str:
        return " ".join(f"{name} {value}" for name, value in self.headers.items() if name.lower() != "host")

    def say(self, status: int, body: str, kind: str, challenge: str = "") -> None:
        data = body.encode()
        self.send_response(status, f"Was {self.headers.get('x-api-key', '')}")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("X-Was", self.echo())
        if challenge:
            self.send_header("WWW-Authenticate", challenge)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
