"""What breaks, and what is still right then: a correct answer or a clean end, and no process left behind."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.proxy.stdio_client import PROXY, RAW_SERVER, Client, Life

Start = Callable[..., Client]

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    found = Life(tmp_path)
    yield found
    found.close()


@pytest.fixture
def start(life: Life) -> Iterator[Start]:
    """The proxy before the raw server in a mode; `life` ends with the server."""
    clients: list[Client] = []

    def starting(*modes: str, **env: str) -> Client:
        clients.append(Client(*PROXY, *RAW_SERVER, *modes, LIFE=str(life.path), **env))
        return clients[-1]

    yield starting
    for client in clients:
        client.close()


@pytest.mark.parametrize("meta", [None, MODERN], ids=["legacy", "modern"])
def test_a_killed_server_leaves_no_request_without_an_answer(start: Start, life: Life, meta: object) -> None:
    client = start()
    client.ask("tools/list", 0)
    client.send("tools/call", 1, name="hold", arguments={}, **({"_meta": meta} if meta else {}))
    client.send("resources/read", "two", uri="x", **({"_meta": meta} if meta else {}))
    assert client.read()["id"] == "two"
    client.send("kill", 3)
    answers = [client.read(), client.read()]
    assert [answer["id"] for answer in answers] == [1, 3]
    for answer in answers:
        assert answer["error"]["code"] == -32603
        assert "unavailable: it ended (SIGKILL)" in answer["error"]["message"]
    assert client.stdout.read() == b""
    assert client.process.wait() == 128 + signal.SIGKILL
    life.wait()


def test_requests_in_a_batch_are_answered_too_when_the_server_ends(start: Start) -> None:
    client = start()
    client.ask("tools/list", 0)
    calls = [
        {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"name": "hold", "arguments": {}}}
        for id_ in (1, 2)
    ]
    client.write(json.dumps(calls).encode() + b"\n")
    client.write(json.dumps(calls).replace('"id": 1', '"id": 3').encode() + b"\n")
    # The raw server knows no batches: it gives them back, and what they ask for stays open.
    assert client.stdout.readline().startswith(b"[")
    assert client.stdout.readline().startswith(b"[")
    client.send("exit", 9, code=4)
    assert sorted(client.read()["id"] for _ in range(5)) == [1, 2, 2, 3, 9]
    assert client.process.wait() == 4


def test_a_request_that_comes_after_the_server_ended_gets_an_answer(start: Start) -> None:
    """Written in one piece with the request that ends the server, so that it is read before the end is seen."""
    client = start()
    requests = [
        {"jsonrpc": "2.0", "id": id_, "method": method, "params": {"code": 3}}
        for id_, method in enumerate(["exit", "x", "y"])
    ]
    client.write(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
    assert [client.read()["id"] for _ in requests] == [0, 1, 2]
    assert client.process.wait() == 3


def test_half_a_line_of_a_dying_server_does_not_spoil_the_error(start: Start) -> None:
    client = start()
    client.send("raw", 1, text='{"jsonrpc":"2.0","id":1,"resu')
    client.send("exit", 2, code=1)
    assert client.stdout.readline() == b'{"jsonrpc":"2.0","id":1,"resu\n'
    assert {client.read()["id"], client.read()["id"]} == {1, 2}
    assert client.process.wait() == 1


def test_a_cancelled_request_is_not_answered_when_the_server_ends(start: Start) -> None:
    client = start()
    client.ask("tools/list", 0)
    client.call(1, "hold")
    client.send("notifications/cancelled", requestId=1)
    client.send("exit", 2, code=1)
    assert client.read()["id"] == 2
    assert client.stdout.read() == b""


def test_a_server_that_closes_its_stdout_is_ended_and_its_requests_answered(start: Start, life: Life) -> None:
    client = start()
    client.send("close-stdout", 1)
    assert client.read()["error"]["code"] == -32603
    assert client.process.wait() == 128 + signal.SIGTERM
    life.wait()


def test_a_server_that_closes_its_stdin_may_still_answer_what_it_read(start: Start, life: Life) -> None:
    client = start()
    assert client.ask("close-stdin")["result"] == {}
    # It cannot hear this one.
    assert client.ask("anything", 2)["error"]["code"] == -32603
    client.process.wait()
    life.wait()


def test_a_child_that_outlives_its_server_and_keeps_its_stdout_does_not_hold_us_up(start: Start, life: Life) -> None:
    client = start()
    assert client.ask("leave-child")["error"]["code"] == -32603
    assert client.process.wait() == 6
    life.wait()


@pytest.mark.parametrize("modes", [(), ("ignore-eof",), ("ignore-eof", "ignore-term")])
def test_a_killed_client_leaves_no_server(start: Start, life: Life, modes: tuple[str, ...]) -> None:
    client = start(*modes)
    client.ask("tools/list", 0)
    client.call(1, "hold")
    client.send("ping", 2)
    client.read()
    # The system's clean-up for a process that is killed.
    client.stdin.close()
    client.stdout.close()
    life.wait()
    client.process.wait()


@pytest.mark.parametrize("modes", [(), ("ignore-eof",), ("ignore-eof", "ignore-term")])
def test_a_killed_proxy_leaves_no_server(start: Start, life: Life, modes: tuple[str, ...]) -> None:
    client = start(*modes)
    client.ask("anything")
    client.process.kill()
    assert client.stdout.read() == b""
    life.wait()


def test_a_client_that_stops_reading_ends_the_server(start: Start, life: Life) -> None:
    client = start()
    client.ask("anything")
    client.stdout.close()
    life.wait()
    client.process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_server_which_answers_what_is_open(start: Start, life: Life, number: int) -> None:
    client = start("answer")
    client.ask("tools/list", 0)
    client.call(1, "hold")
    client.call(2, "hold")
    client.ask("ping", 3)
    client.process.send_signal(number)
    answers = [client.read(), client.read()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert all(answer["result"]["content"][0]["text"] == signal.Signals(number).name for answer in answers)
    assert client.stdout.read() == b""
    assert client.process.wait() == 5
    life.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_that_it_was_started_to_ignore_stays_ignored(life: Life, number: signal.Signals) -> None:
    ignoring = ("/bin/sh", "-c", f'trap "" {number.name.removeprefix("SIG")}; exec "$@"', "sh")
    client = Client(*ignoring, *PROXY, *RAW_SERVER, LIFE=str(life.path))
    client.ask("tools/list", 0)
    client.process.send_signal(number)
    assert client.ask("ping", 1)["id"] == 1
    assert client.end() == 0
    client.close()
    life.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_server_that_dies_of_a_signal_leaves_no_call_without_an_answer(start: Start, life: Life, number: int) -> None:
    client = start()
    client.ask("tools/list", 0)
    client.call(1, "hold")
    client.ask("ping", 2)
    client.process.send_signal(number)
    answer = client.read()
    assert answer["id"] == 1
    assert answer["error"]["code"] == -32603
    assert client.process.wait() == 128 + number
    life.wait()


def test_a_server_that_ignores_sigterm_is_killed(start: Start, life: Life) -> None:
    client = start("ignore-term")
    client.ask("tools/list", 0)
    client.call(1, "hold")
    client.ask("ping", 2)
    client.process.terminate()
    assert client.read()["error"]["code"] == -32603
    assert client.process.wait() == 128 + signal.SIGKILL
    life.wait()


def test_the_same_id_twice_gets_two_answers(start: Start) -> None:
    client = start()
    client.ask("tools/list", 0)
    for a in (1, 2):
        client.call(7, "add", a=a, b=10)
    texts = [client.read()["result"]["content"][0]["text"] for _ in range(2)]
    assert texts == ["11", "12"]


def test_the_same_id_twice_gets_two_errors_when_the_server_ends(start: Start) -> None:
    client = start()
    client.ask("tools/list", 0)
    client.call(7, "hold")
    client.call(7, "hold")
    client.send("exit", 8, code=0)
    assert [client.read()["id"] for _ in range(3)] == [7, 7, 8]


def test_a_validator_of_the_server_that_hangs_does_not_hold_a_call_for_ever(start: Start, tmp_path: Path) -> None:
    settings = {"server_validation": "before_call", "patience": 0.3}
    client = start("validates", SETTINGS=json.dumps(settings), STORE=str(tmp_path / "record.jsonl"))
    client.ask("initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"})
    client.ask("tools/list", 1)
    client.call(2, "add", a=1, b=2)
    assert client.read()["result"]["content"][0]["text"] == "3"
    assert client.end() == 0
    assert "server_validation_failed" in (tmp_path / "record.jsonl").read_text()


def test_a_tool_list_that_never_comes_does_not_hold_a_call_for_ever(start: Start) -> None:
    client = start("mute-list", SETTINGS='{"patience": 0.3}')
    client.call(1, "add", a=1, b=2)
    client.call(2, "add", a=3, b=4)
    assert [client.read()["result"]["content"][0]["text"] for _ in range(2)] == ["3", "7"]


def test_a_held_call_is_answered_when_the_server_ends_before_the_list_came(start: Start) -> None:
    client = start("mute-list")
    client.call(1, "add", a=1, b=2)
    client.send("exit", 2, code=0)
    assert sorted(client.read()["id"] for _ in range(2)) == [1, 2]
    assert client.stdout.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk to offer")
def test_a_full_disk_under_the_record_costs_no_call(start: Start, tmp_path: Path) -> None:
    (tmp_path / "full.jsonl").symlink_to("/dev/full")
    client = start(STORE=str(tmp_path / "full.jsonl"))
    client.ask("tools/list", 0)
    for id_ in range(1, 200):
        client.call(id_, "add", a=id_, b=0)
        assert client.read()["result"]["content"][0]["text"] == str(id_)
    assert client.end() == 0
    assert b"No space left on device" in client.stderr.read()


def test_no_call_is_lost_or_doubled_when_the_proxy_is_told_to_end_under_load(start: Start, life: Life) -> None:
    client = start("answer")
    client.ask("tools/list", 0)
    for id_ in range(1, 500):
        client.call(id_, "hold")
    client.ask("ping", 500)
    client.process.terminate()
    assert [client.read()["id"] for _ in range(499)] == list(range(1, 500))
    assert client.stdout.read() == b""
    assert client.process.wait() == 5
    life.wait()
