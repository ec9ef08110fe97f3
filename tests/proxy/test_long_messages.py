"""Messages beyond `max_message_bytes` where HTTP is on one side: a server at a URL, and a command behind `--listen`."""

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.proxy.http_world import Asked, Writer
from tests.proxy.url_world import FrontEnd, events, request, run, stream

LIMIT = 65_536
LONG_SERVER = (sys.executable, str(Path(__file__).parent / "long_server.py"))
OPTION = ("--max-message-bytes", str(LIMIT))


# A server at a URL.


def answered(kind: str, size: int) -> bytes:
    message = b'{"jsonrpc":"2.0","id":1,"result":{"text":"' + b"x" * size + b'"}}'
    if kind == "json":
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(message)}\r\n\r\n"
        return head.encode() + message
    return stream() + events(message)


@pytest.mark.parametrize("kind", ["json", "events"])
def test_a_long_answer_of_a_server_at_a_url_is_dropped_and_its_request_answered(kind: str) -> None:
    async def answering(asked: Asked, writer: Writer) -> None:
        size = 3 * LIMIT if asked.message["method"] == "resources/read" else 10
        writer.write(answered(kind, size))
        writer.close()

    async def test(front: FrontEnd) -> None:
        front.write(request(1, "resources/read", uri="x"))
        answer = await front.read()
        assert answer["id"] == 1
        assert f"longer than the limit of {LIMIT} bytes" in answer["error"]["message"]
        front.write(request(1, "ping"))
        assert (await front.read())["result"] == {"text": "x" * 10}

    run(answering, test, *OPTION)


def test_a_long_message_of_the_client_is_not_sent_to_a_url() -> None:
    async def answering(asked: Asked, writer: Writer) -> None:
        assert len(asked.body) < LIMIT
        writer.write(answered("json", 10))
        writer.close()

    async def test(front: FrontEnd) -> None:
        front.write(request(7, "resources/read", uri="x" * LIMIT))
        answer = await front.read()
        assert answer["id"] == 7
        assert answer["error"]["code"] == -32600
        front.write(request(1, "ping"))
        assert (await front.read())["result"] == {"text": "x" * 10}

    run(answering, test, *OPTION)


# A command behind `--listen`.


class Listening:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        assert process.stderr is not None
        found = re.search(r":(\d+)/", process.stderr.readline())
        assert found is not None
        self.port = int(found[1])
        self.session = ""
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        self.post(0, "initialize", **opening)

    def post(self, id_: int, method: str, **params: object) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        head = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if self.session:
            head |= {"mcp-session-id": self.session, "mcp-protocol-version": "2025-11-25"}
        body = json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        connection.request("POST", "/mcp", body, head)
        response = connection.getresponse()
        self.session = response.headers.get("mcp-session-id") or self.session
        text = response.read().decode()
        connection.close()
        if response.status == 413:
            return 413
        found = re.search(r"\{.*\}", text)
        assert found is not None, text
        return json.loads(found[0])


@pytest.fixture
def listening() -> Iterator[Listening]:
    words = (sys.executable, "-m", "toolvet", "proxy", "--listen", "127.0.0.1:0", *OPTION, "--", *LONG_SERVER)
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    yield Listening(process)
    process.kill()
    process.communicate()


@pytest.mark.parametrize("form", ["python", "typescript"])
def test_a_long_answer_behind_the_bridge_is_dropped_and_its_request_answered(listening: Listening, form: str) -> None:
    answer = listening.post(1, "tools/call", name="long", arguments={"size": 3 * LIMIT, "form": form})
    assert answer["id"] == 1
    assert f"longer than the limit of {LIMIT} bytes" in answer["error"]["message"]
    assert listening.post(2, "ping")["result"]


@pytest.mark.parametrize("form", ["endless", "endless-noise"])
def test_an_endless_answer_behind_the_bridge_answers_who_waits(listening: Listening, form: str) -> None:
    answer = listening.post(1, "tools/call", name="long", arguments={"size": 0, "form": form})
    assert answer["id"] == 1
    assert f"longer than the limit of {LIMIT} bytes" in answer["error"]["message"]


def test_a_long_request_to_the_bridge_is_refused(listening: Listening) -> None:
    assert listening.post(1, "resources/read", uri="x" * 2 * LIMIT) == 413
    assert listening.post(2, "ping")["result"]
