"""A server over HTTP that answers every request as `json`, `events` or `gzip`, its argument. Prints its URL."""

import gzip
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KIND = sys.argv[1]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = {"tools": []} if message["method"] == "tools/list" else {"content": [{"type": "text", "text": "3"}]}
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        self.send_response(200)
        if KIND == "gzip":
            self.send_header("Content-Encoding", "gzip")
            body = gzip.compress(body)
        if KIND == "events":
            body = b"data: " + body + b"\n\n"
        self.send_header("Content-Type", "text/event-stream" if KIND == "events" else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}/mcp\n")
sys.stdout.flush()
server.serve_forever()
