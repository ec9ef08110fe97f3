"""A server over HTTP that costs next to nothing: tools/list and a tool whose result is a kibibyte. `server.py PORT`."""

import asyncio
import re
import sys
from typing import cast

import msgspec

SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
    "required": ["query"],
}
TOOLS = msgspec.json.encode({"tools": [{"name": "search", "description": "Search.", "inputSchema": SCHEMA}]})
# The same prose as in benchmarks/session.py.
TEXT = "Berlin has 3 700 000 inhabitants, and its oldest bridge was rebuilt after the war. " * 11
RESULT = msgspec.json.encode({"content": [{"type": "text", "text": TEXT}], "isError": False})


OPENING = msgspec.json.encode(
    {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "benchmark", "version": "1"},
    }
)
RESULTS = {"tools/list": TOOLS, "initialize": OPENING}


class Envelope(msgspec.Struct):
    method: str
    id: msgspec.Raw = msgspec.Raw(b"null")


DECODER = msgspec.json.Decoder(Envelope)
LENGTH = re.compile(rb"(?i)\ncontent-length: *(\d+)")


class Connection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.WriteTransport", transport)
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n") + 4) > 3:
            found = LENGTH.search(self.received, 0, end)
            size = end + (int(found[1]) if found is not None else 0)
            if len(self.received) < size:
                return
            head, body, self.received = self.received[:end], self.received[end:size], self.received[size:]
            self.answer(head, body)

    def answer(self, head: bytes, message: bytes) -> None:
        if not head.startswith(b"POST"):
            self.transport.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
            return
        asked = DECODER.decode(message)
        if asked.method.startswith("notifications/"):
            self.transport.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            return
        result = RESULTS.get(asked.method, RESULT)
        body = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (bytes(asked.id), result)
        self.transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        )


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", int(sys.argv[1]), backlog=1024)
    await server.serve_forever()


try:
    import uvloop
except ImportError:
    asyncio.run(main())
else:
    uvloop.run(main())
