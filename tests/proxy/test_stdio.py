"""The proxy over stdio: what passes, passes as it is, and nothing waits for what cannot come."""

import hashlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.proxy.stdio_client import PROXY, RAW_SERVER, Client

Start = Callable[..., Client]

# The last three lines are half a character, a lone surrogate, and what looks like a line end to Python's str.
ODD = [
    b'{"jsonrpc":"2.0","method":"notifications/echo"  ,"params":{"b":1,  "a":1.0, "a":2}}',
    b'{"method":"notifications/echo","jsonrpc":"2.0","params":{"\\u00e9":"\xc3\xa9","n":1e400,"big":123456789012345678901}}',
    b'{"jsonrpc":"2.0","method":"notifications/echo","future":{"field":[null]}}\r',
    b'  {"jsonrpc":"2.0","method":"notifications/echo"}  ',
    b"no JSON at all",
    b"",
    b"\r",
    b'[{"jsonrpc":"2.0","method":"notifications/echo"}]',
    b'{"jsonrpc":"2.0","method":"notifications/echo","text":"\xc3"}',
    b'{"jsonrpc":"2.0","method":"notifications/echo","text":"\\ud800"}',
    b'{"jsonrpc":"2.0","method":"notifications/echo","text":"\xe2\x80\xa8\x0b\x0c\xc2\x85"}',
]


@pytest.fixture
def start() -> Iterator[Start]:
    clients: list[Client] = []

    def starting(*command: str, **env: str) -> Client:
        clients.append(Client(*PROXY, *(command or RAW_SERVER), **env))
        return clients[-1]

    yield starting
    for client in clients:
        client.close()


def test_bytes_that_need_no_decision_pass_unchanged_in_both_directions(start: Start) -> None:
    data = b"".join(line + b"\n" for line in ODD)
    client = start("cat")
    client.write(data)
    client.stdin.close()
    assert client.stdout.read() == data


def test_half_a_line_at_the_end_passes_without_a_line_feed(start: Start) -> None:
    client = start("cat")
    client.write(b'{"jsonrpc":"2.0","method":"notifications/echo"}\n{"jsonrpc":"2.0","meth')
    client.stdin.close()
    assert client.stdout.read() == b'{"jsonrpc":"2.0","method":"notifications/echo"}\n{"jsonrpc":"2.0","meth'


def test_a_bad_call_in_a_last_line_without_line_feed_does_not_slip_through(start: Start) -> None:
    client = start()
    client.ask("tools/list")
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "add", "arguments": {"a": "x"}}}
    client.write(json.dumps(call).encode())
    client.stdin.close()
    answer = client.read()
    assert answer["result"]["isError"]
    assert "integer" in answer["result"]["content"][0]["text"]


def test_a_bad_call_is_answered_with_what_is_wrong_and_a_good_one_by_the_server(start: Start) -> None:
    client = start()
    client.call(1, "add", a=1, b="two")
    client.call(2, "add", a=1, b=2)
    answers = {answer["id"]: answer["result"] for answer in (client.read(), client.read())}
    assert answers[1]["isError"]
    assert answers[2] == {"content": [{"type": "text", "text": "3"}]}


@pytest.mark.parametrize("code", [0, 7])
def test_the_exit_code_of_the_server_becomes_ours(start: Start, code: int) -> None:
    client = start()
    client.send("exit", 1, code=code)
    assert client.process.wait() == code


def test_a_server_that_ends_at_the_end_of_its_stdin_ends_the_proxy(start: Start) -> None:
    client = start()
    client.ask("anything")
    assert client.end() == 0
    assert client.stdout.read() == b""


def test_what_the_client_still_waits_for_when_it_stops_writing_is_served(start: Start) -> None:
    client = start()
    client.send("hold-until-eof", 1)
    client.stdin.close()
    assert client.read() == {"jsonrpc": "2.0", "id": 1, "result": {"held": True}}
    assert client.process.wait() == 0


def test_a_call_that_waits_for_the_tool_list_is_made_although_the_client_stopped_writing(start: Start) -> None:
    client = start()
    client.call(1, "add", a=20, b=3)
    client.stdin.close()
    assert client.read()["result"]["content"][0]["text"] == "23"


def test_stderr_of_the_server_passes_untouched(start: Start) -> None:
    client = start()
    client.ask("stderr", text="\xff half a line, and bytes that are not text")
    client.end()
    assert client.stderr.read() == b"\xff half a line, and bytes that are not text"


def test_the_server_gets_our_environment_and_folder(start: Start) -> None:
    client = start(SOME_SETTING="for the server")
    found = client.ask("environment")["result"]
    assert found["env"]["SOME_SETTING"] == "for the server"
    assert found["cwd"] == str(Path.cwd())


def test_a_hundred_megabytes_in_one_line_pass_both_ways_unchanged(start: Start) -> None:
    head, tail = b'{"jsonrpc":"2.0","id":1,"result":{"text":"', b'"}}\n'
    line = head + b"0123456789abcdef" * (100 * 2**20 // 16) + tail
    client = start("cat")
    writer = threading.Thread(target=client.write, args=(line,))
    writer.start()
    digest, left = hashlib.sha256(), len(line)
    while left:
        chunk = client.stdout.read(min(left, 2**20))
        assert chunk
        digest.update(chunk)
        left -= len(chunk)
    writer.join()
    assert digest.digest() == hashlib.sha256(line).digest()


def test_a_result_of_a_hundred_megabytes_passes(start: Start) -> None:
    client = start()
    client.ask("tools/list", 0)
    client.call(1, "big", bytes=100 * 2**20)
    assert len(client.read()["result"]["content"][0]["text"]) == 100 * 2**20


def test_a_thousand_calls_in_flight_are_answered_once_each_and_in_their_order(start: Start) -> None:
    client = start()
    client.ask("tools/list", 0)
    calls = [
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": id_,
                "method": "tools/call",
                "params": {"name": "add", "arguments": {"a": id_, "b": 1}},
            }
        )
        for id_ in range(1, 1001)
    ]
    writer = threading.Thread(target=client.write, args=("".join(call + "\n" for call in calls).encode(),))
    writer.start()
    answers = [client.read() for _ in calls]
    writer.join()
    assert [answer["id"] for answer in answers] == list(range(1, 1001))
    assert all(answer["result"]["content"][0]["text"] == str(answer["id"] + 1) for answer in answers)
    assert client.end() == 0
    assert client.stdout.read() == b""


def test_full_pipes_on_both_sides_never_deadlock(start: Start) -> None:
    """The client writes all before it reads anything, and the server stops reading while its answers are not taken."""
    client = start("cat")
    line = b'{"jsonrpc":"2.0","method":"notifications/echo","params":"' + b"x" * 65536 + b'"}\n'
    for _ in range(400):
        client.write(line)
    client.stdin.close()
    assert client.stdout.read() == line * 400


def test_a_client_that_does_not_read_stops_the_server_and_not_our_memory(start: Start) -> None:
    client = start(sys.executable, "-c", "import os\nwhile True: os.write(1, b'{}' * 32768 + b'\\n')")
    client.stdout.read(2**20)
    wrote = 0
    # Twice in a row the same: the proxy waits. (Its buffer is bounded, so that moment comes.)
    while (now := _memory(client.process.pid)) != wrote:
        wrote = now
        client.stdout.read(2**18)
    assert wrote < 200 * 2**20


def test_sockets_in_place_of_pipes_work_as_well() -> None:
    """Node gives its children socket pairs."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([*PROXY, "cat"], stdin=theirs.fileno(), stdout=theirs.fileno())
    theirs.close()
    line = b'{"jsonrpc":"2.0","method":"notifications/echo","params":"' + b"x" * 10**6 + b'"}\n'
    writer = threading.Thread(target=ours.sendall, args=(line,))
    writer.start()
    got = b""
    while len(got) < len(line):
        got += ours.recv(2**20)
    writer.join()
    ours.close()
    assert got == line
    assert process.wait() is not None


def test_a_server_that_cannot_be_started_is_told(start: Start) -> None:
    client = start("no-such-program-anywhere")
    client.process.wait()
    assert b"no such program on PATH" in client.stderr.read()


def _memory(pid: int) -> int:
    found = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(found.stdout) * 1024
