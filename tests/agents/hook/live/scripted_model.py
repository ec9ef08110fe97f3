"""A model on loopback that says what a script says, in the words of Anthropic, of OpenAI (both APIs) and of Gemini.

Each request that offers tools takes the next step; requests of another kind (a title, a summary) get a word. What was
asked is kept, because a model's next request is where an agent's client puts the words of its hooks.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

_NOT_THERE = "No such tool available: mcp__clock__now"


class ScriptStep(NamedTuple):
    """A turn of the model: it calls a tool, or it says `text` and is done."""

    tool: str = ""
    arguments: dict[str, Any] | str = ""
    text: str = ""
    namespace: str = ""


class ScriptedModel:
    """The server, from `with` to the end of the block; `asked` has the body of each request that took a step."""

    def __init__(self, steps: Sequence[ScriptStep]) -> None:
        self.steps = list(steps)
        self.asked: list[dict[str, Any]] = []
        self.other: list[str] = []
        self.answered = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_ModelHandler,), {"model": self}))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def next_step(self, path: str, body: dict[str, Any]) -> tuple[int, ScriptStep]:
        """Return the number of the answer to this request, and the step that it is."""
        with self._lock:
            if not body.get("tools"):
                self.other.append(path)
                return 0, ScriptStep(text="Clock")
            self.answered += 1
            if self.asked and _NOT_THERE in "\n".join(_texts(body.get("messages", [])[-1:])):
                # Claude Code does not wait for a server that is slow to start: the same step again.
                self.asked[-1] = body
            else:
                self.asked.append(body)
            at = len(self.asked)
            step = self.steps[at - 1] if at <= len(self.steps) else ScriptStep(text="Nothing is left to do.")
            return self.answered, step

    def heard(self, at: int) -> str:
        """Return all texts of the request that took step `at` (from 0)."""
        return "\n".join(_texts(self.asked[at]))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


class _ModelHandler(BaseHTTPRequestHandler):
    model: ScriptedModel
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the method it replaces
        del format, args

    def do_HEAD(self) -> None:
        self._send("text/plain", b"")

    def do_GET(self) -> None:
        self.model.other.append(f"GET {self.path}")
        self._send("application/json", b'{"data": [], "models": [], "object": "list"}')

    def do_POST(self) -> None:
        body = json.loads(self._body() or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith(("count_tokens", ":countTokens")):
            self._send("application/json", b'{"input_tokens": 10, "totalTokens": 10}')
        elif path.endswith("/messages"):
            self._stream(_messages(*self.model.next_step(path, body)))
        elif path.endswith("/chat/completions"):
            at, step = self.model.next_step(path, body)
            if body.get("stream"):
                self._stream(_chat_chunks(at, step))
            else:
                self._send("application/json", json.dumps(_chat(at, step)).encode())
        elif path.endswith("/responses"):
            events = list(_responses(*self.model.next_step(path, body)))
            if body.get("stream"):
                self._stream(iter(events))
            else:
                self._send("application/json", json.dumps(events[-1]["response"]).encode())
        elif ":streamGenerateContent" in path:
            self._stream(_gemini(*self.model.next_step(path, body)))
        elif ":generateContent" in path:
            self.model.other.append(path)
            self._send("application/json", json.dumps(_gemini_part([{"text": "{}"}])).encode())
        else:
            self.model.other.append(f"POST {path}")
            self._send("application/json", b"{}")

    def _body(self) -> bytes:
        if "chunked" not in (self.headers.get("Transfer-Encoding") or ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        found = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found

    def _stream(self, events: Iterator[dict[str, Any]]) -> None:
        lines = []
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            lines.append(f"{name}data: {json.dumps(event)}\n\n")
        self._send("text/event-stream", "".join(lines).encode())

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", f"{len(content)}")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _messages(at: int, step: ScriptStep) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 10, "output_tokens": 10}
    head = {"id": f"msg_{at}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    yield {"type": "message_start", "message": {**head, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    if step.tool:
        block = {"type": "tool_use", "id": f"toolu_{at}", "name": step.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": step.text}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": "tool_use" if step.tool else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": usage}
    yield {"type": "message_stop"}


def _responses(at: int, step: ScriptStep) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
    item: dict[str, Any]
    if step.tool and isinstance(step.arguments, str):
        item = {"type": "custom_tool_call", "call_id": f"call_{at}", "name": step.tool, "input": step.arguments}
    elif step.tool:
        written = json.dumps(step.arguments)
        item = {"type": "function_call", "call_id": f"call_{at}", "name": step.tool, "arguments": written}
        if step.namespace:
            item["namespace"] = step.namespace
    else:
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        item = {"type": "message", "role": "assistant", "content": content}
    item = {"id": f"item_{at}", "status": "completed", **item}
    response = {"id": f"resp_{at}", "object": "response", "created_at": 1, "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {
        "type": "response.completed",
        "response": {**response, "status": "completed", "output": [item], "usage": usage},
    }


def _chat_message(at: int, step: ScriptStep) -> dict[str, Any]:
    if not step.tool:
        return {"role": "assistant", "content": step.text}
    function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
    call = {"index": 0, "id": f"call_{at}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _chat(at: int, step: ScriptStep) -> dict[str, Any]:
    ended = "tool_calls" if step.tool else "stop"
    choice = {"index": 0, "finish_reason": ended, "message": _chat_message(at, step)}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    return {
        "id": f"chat_{at}",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [choice],
        "usage": usage,
    }


def _chat_chunks(at: int, step: ScriptStep) -> Iterator[dict[str, Any]]:
    head = {"id": f"chat_{at}", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    said = _chat_message(at, step)
    words = [said] if step.tool else [{"role": "assistant", "content": f"{word} "} for word in step.text.split()]
    for delta in words:
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    ended = "tool_calls" if step.tool else "stop"
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": ended}]}


def _gemini(at: int, step: ScriptStep) -> Iterator[dict[str, Any]]:
    call = {"functionCall": {"id": f"call_{at}", "name": step.tool, "args": step.arguments}}
    yield _gemini_part([call if step.tool else {"text": step.text}])


def _gemini_part(parts: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage}
