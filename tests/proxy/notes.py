"""Notes as a session makes them, for tests of what keeps and tells them."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from toolvet.proxy.record.recorder import RecordSource, StampedNote
from toolvet.proxy.record.store_exporter import StoreExporter
from toolvet.proxy.session import Note, Policies, ProxySettings, Session, ToClient, ToServer

ORIGIN = RecordSource("mcp-server-books", "stdio-1")
TOOL = {
    "name": "find_book",
    "inputSchema": {
        "type": "object",
        "properties": {"title": {"type": "string"}, "limit": {"type": "integer"}, "password": {"type": "string"}},
        "required": ["title"],
    },
}


class Conversation:
    """A session with a server of one tool, and the notes it made."""

    def __init__(self, settings: ProxySettings | None = None) -> None:
        # Its calls are all alike, which else is taken for a circle.
        self.session = Session(Policies(settings or ProxySettings(break_repeats=0)))
        self.notes: list[Note] = []
        self.client({"id": "list", "method": "tools/list"})
        self.server({"id": "list", "result": {"tools": [TOOL, {"name": "odd", "inputSchema": {"type": 7}}]}})
        self.notes.clear()

    def call(self, arguments: dict[str, Any], result: dict[str, Any] | None = None, **more: Any) -> "Conversation":
        """A call, and the server's answer unless the call was refused."""
        id_ = more.pop("id", 1)
        params = {"name": more.pop("tool", "find_book"), "arguments": arguments}
        params |= {"_meta": meta} if (meta := more.pop("meta", None)) else {}
        sent = self.client({"id": id_, "method": "tools/call", "params": params})
        if any(isinstance(step, ToServer) for step in sent):
            answer = {"error": more["error"]} if "error" in more else {"result": result or text("Emma")}
            self.server({"id": id_, **answer})
        return self

    def client(self, message: dict[str, Any]) -> Sequence[object]:
        return self._take(self.session.from_client(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def server(self, message: dict[str, Any]) -> Sequence[object]:
        return self._take(self.session.from_server(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def _take(self, steps: Sequence[object]) -> Sequence[object]:
        self.notes += [step for step in steps if isinstance(step, Note) and not isinstance(step, ToServer | ToClient)]
        return steps


def prepared(sink: StoreExporter, notes: Iterable[StampedNote]) -> list[object]:
    """The lines a sink writes for these notes."""
    return [item for note in notes if (item := sink.prepare(note)) is not None]


def text(words: str, **more: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}
