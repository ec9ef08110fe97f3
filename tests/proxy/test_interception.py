"""Interceptor servers behind the real proxy, in front of a real server, over pipes and HTTP."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.proxy.stdio_client import Client

HERE = Path(__file__).parent
TOOLVET = (sys.executable, "-m", "toolvet")
BOOKS = (sys.executable, str(HERE / "book_server.py"))
OWN = {"command": [*TOOLVET, "intercept"]}
Start = Callable[..., Client]


def odd(mode: str, **more: object) -> dict[str, object]:
    return {"command": [sys.executable, str(HERE / "odd_interceptor.py"), mode], **more}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """The proxy with these interceptors in front of the books; the client has read the tool list."""
    clients: list[Client] = []

    def starting(*interceptors: dict[str, object], words: tuple[str, ...] = BOOKS, **policy: str) -> Client:
        lines = ["[proxy]", *(f"{name} = {json.dumps(value)}" for name, value in policy.items())]
        for each in interceptors:
            lines += ["[[proxy.interceptors]]", *(f"{name} = {json.dumps(value)}" for name, value in each.items())]
        settings = tmp_path / "toolvet.toml"
        settings.write_text("\n".join(lines))
        flags = ("--settings", str(settings), "--store", str(tmp_path / "record.jsonl"))
        clients.append(Client(*TOOLVET, "proxy", *flags, "--", *words))
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        clients[-1].ask("initialize", -1, **hello)
        clients[-1].ask("tools/list", 0)
        return clients[-1]

    yield starting
    for client in clients:
        client.close()


def record(client: Client, tmp_path: Path) -> list[dict[str, Any]]:
    assert client.end() == 0
    lines = (tmp_path / "record.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def text(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])


def book(client: Client, id_: int = 1, **arguments: object) -> Any:
    return client.ask("tools/call", id_, name="get_book", arguments=arguments)


def test_our_own_interceptor_server_repairs_a_call_that_the_proxy_would_refuse(start: Start, tmp_path: Path) -> None:
    client = start(OWN)
    assert json.loads(text(book(client, id="7"))) == {"id": 7}
    kinds = {(each["kind"], each.get("message")) for each in record(client, tmp_path)}
    assert ("interceptor_change", "tools/call, request: the interceptor 'toolvet/repair' changed the request") in kinds


def test_our_own_interceptor_server_blocks_a_call_and_the_record_says_so(start: Start, tmp_path: Path) -> None:
    client = start(OWN, arguments="off")
    answer = book(client, note="x")
    assert answer["result"]["isError"]
    assert text(answer).startswith("'get_book' was not called: the interceptor 'toolvet/arguments' says: id: Required")
    (call,) = [each for each in record(client, tmp_path) if each["kind"] == "call"]
    assert (call["outcome"], call["blocked"], call["state"]) == ("refused", "interceptor", "forbidden")


def test_on_audit_the_same_call_passes_and_is_noted(start: Start, tmp_path: Path) -> None:
    client = start({**OWN, "mode": "audit"}, arguments="off")
    assert json.loads(text(book(client, note="x"))) == {"note": "x"}
    assert json.loads(text(book(client, 2, id="7"))) == {"id": "7"}
    found = [each for each in record(client, tmp_path) if each["kind"].startswith("interceptor")]
    assert [each["kind"] for each in found] == ["interceptor_finding", "interceptor_change", "interceptor_finding"]
    assert "'toolvet/arguments' says: id: Required" in found[0]["message"]
    assert found[1]["message"].endswith("would have changed the request")


FAILURES = {
    "dies": "exit code 3",
    "garbage": "no answer within 0.5 s",
    "slow": "no answer within 0.5 s",
    "refuses": 'refused with -32603 "Interceptor execution failed"',
    "wrong-type": "no boolean 'valid'",
    "nothing": "no boolean 'valid'",
    "messages": "'messages' that is not a list",
    "lies": "'modified' is false, and the payload differs",
    "to-text": "the new payload is not an object",
    "to-method": "not a request of the same method",
    "to-no-params": "not a request of the same method",
}


@pytest.mark.parametrize("mode", FAILURES)
def test_an_interceptor_that_fails_blocks_unless_it_fails_open(start: Start, tmp_path: Path, mode: str) -> None:
    client = start(odd(mode, timeout=0.5))
    answer = book(client, id=7)
    assert answer["result"]["isError"]
    assert re.search(FAILURES[mode], text(answer)), text(answer)
    assert f"the interceptor '{mode}' failed: " in text(answer)
    # The connection goes on, and the next call fails in the same way: a server that died was started again.
    assert re.search(FAILURES[mode], text(book(client, 2, id=7)))
    kinds = [each["kind"] for each in record(client, tmp_path)]
    assert kinds.count("interceptor_failed") == 2


@pytest.mark.parametrize("mode", FAILURES)
def test_an_interceptor_that_fails_open_lets_the_call_pass(start: Start, tmp_path: Path, mode: str) -> None:
    client = start(odd(mode, timeout=0.5, fail_open=True))
    assert json.loads(text(book(client, id=7))) == {"id": 7}
    assert "interceptor_failed" in [each["kind"] for each in record(client, tmp_path)]


def test_the_proxy_checks_what_a_mutator_made(start: Start, tmp_path: Path) -> None:
    client = start(odd("to-invalid"))
    assert "received invalid arguments" in text(book(client, id=7))
    (call,) = [each for each in record(client, tmp_path) if each["kind"] == "call"]
    assert call["blocked"] == "arguments"


def test_a_huge_message_is_cut(start: Start) -> None:
    words = text(book(start(odd("huge")), id=7))
    assert "the interceptor 'huge' says: xxx" in words
    assert len(words) < 1000


def test_a_warning_does_not_block(start: Start, tmp_path: Path) -> None:
    client = start(odd("warn"))
    assert json.loads(text(book(client, id=7))) == {"id": 7}
    (found,) = [each for each in record(client, tmp_path) if each["kind"] == "interceptor_finding"]
    assert found["message"] == "tools/call, request: the interceptor 'warn' says: hm (warn; active)"


def test_a_result_is_changed_or_blocked_before_the_client_sees_it(start: Start, tmp_path: Path) -> None:
    assert text(book(start(odd("to-other-result")), id=7)) == "other"
    client = start(odd("block-result"))
    answer = book(client, id=7)
    assert answer["error"]["code"] == -32603
    assert answer["error"]["message"] == (
        "The result was blocked: the interceptor 'block-result' says: without a reason"
    )
    assert record(client, tmp_path)[-1]["reason"] == answer["error"]["message"]


def test_the_results_of_two_open_calls_with_the_same_id_are_both_intercepted(start: Start) -> None:
    client = start(odd("to-other-result"))
    call = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_book", "arguments": {"id": 7}}}
    )
    client.write(f"{call}\n{call}\n".encode())
    assert [text(client.read()) for _ in range(2)] == ["other", "other"]


def test_other_requests_are_intercepted_and_blocked_with_a_protocol_error(start: Start) -> None:
    client = start(odd("block"))
    assert client.ask("resources/read", 1, uri="book:1")["error"] == {
        "code": -32602,
        "message": "the interceptor 'block' says: not today",
    }
    assert client.ask("initialize", 2)["result"]["serverInfo"]["name"] == "books"


def test_the_order_of_servers_and_priorities_decides_who_sees_what(start: Start) -> None:
    """The last mutator wins; with the same priority they are asked in the order of their names."""
    assert json.loads(text(book(start(odd("to-note"), OWN), id="7"))) == {"id": 1, "note": "new"}
    invalid_last = start(odd("to-invalid", priority=5), odd("to-note"))
    assert "received invalid arguments" in text(book(invalid_last, id=7))


def test_requests_behind_an_intercepted_one_keep_their_order(start: Start) -> None:
    client = start(odd("to-note"))
    for number in range(1, 9):
        client.send("tools/call" if number % 2 else "ping", number, name="get_book", arguments={"id": number})
    assert [client.read()["id"] for _ in range(8)] == list(range(1, 9))


def test_a_batch_goes_on_without_the_message_that_is_blocked(start: Start) -> None:
    client = start(odd("block"))
    batch = [{"jsonrpc": "2.0", "id": id_, "method": method, "params": {"name": "get_book", "arguments": {"id": 1}}}
             for id_, method in ((1, "tools/call"), (2, "other"))]  # fmt: skip
    client.write(json.dumps(batch).encode() + b"\n")
    answers = {answer["id"]: answer for answer in (client.read(), client.read())}
    assert answers[1]["result"]["isError"]
    assert answers[2]["error"]["code"] == -32601


def test_a_call_that_cannot_be_read_does_not_get_around_the_interceptors(start: Start) -> None:
    client = start(odd("warn"), arguments="off")
    deep = "[" * 1200 + "]" * 1200
    for message in (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":1e999}}}',
        f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"get_book","arguments":{{"id":{deep}}}}}}}',
    ):
        client.write(message.encode() + b"\n")
        answer = client.read()
        assert "error" in answer or answer["result"]["isError"], answer


@pytest.mark.parametrize("uri", [r'"\ud800"', "NaN", '"a\tb"', "1e999"])
def test_a_request_that_cannot_be_read_does_not_get_around_the_interceptors(start: Start, uri: str) -> None:
    client = start(odd("block"))
    request = f'{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":{uri}}}}}'
    client.write(request.encode() + b"\n")
    answer = client.read()
    assert answer["id"] == 1
    assert "cannot be read" in answer["error"]["message"]


def test_calls_that_were_sent_before_the_end_are_answered() -> None:
    requests = [
        {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"name": "get_book", "arguments": {"id": id_}}}
        for id_ in (1, 2, 3)
    ]
    given = "".join(json.dumps(each) + "\n" for each in requests).encode()
    command = (
        *TOOLVET,
        "proxy",
        "--interceptor",
        " ".join((sys.executable, str(HERE / "odd_interceptor.py"), "to-note")),
    )
    found = subprocess.run([*command, "--", *BOOKS], input=given, stdout=subprocess.PIPE, check=True)
    assert [json.loads(line)["id"] for line in found.stdout.splitlines()] == [1, 2, 3]


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("kind", ["pipes", "url"])
@pytest.mark.parametrize("mode", ["slow", "slow-result"])
def test_a_signal_does_not_wait_for_an_interceptor(start: Start, mode: str, kind: str, *, ends: bool) -> None:
    """Its timeout is longer than the test may take. Messages without a decision are refused."""
    with ExitStack() as until_the_end:
        words: tuple[str, ...] = BOOKS
        if kind == "url":
            words = (until_the_end.enter_context(listening("proxy", "--listen", "127.0.0.1:0", "--", *BOOKS))[0],)
        client = start(odd(mode, timeout=600), words=words)
        client.send("tools/call", 1, name="get_book", arguments={"id": 1})
        if ends:
            client.stdin.close()
        client.process.send_signal(signal.SIGTERM)
        answers = [json.loads(line) for line in client.stdout.read().splitlines()]
        assert any(each["id"] == 1 and "unavailable" in json.dumps(each) for each in answers), answers
        assert client.process.wait() in (0, 143)


def test_a_signal_does_not_wait_for_an_interceptor_server_that_hangs_when_it_is_started_again(
    start: Start, tmp_path: Path
) -> None:
    command = [*odd("hangs-later")["command"], str(tmp_path / "died")]  # type: ignore[misc]
    client = start({"command": command, "timeout": 600})
    assert "failed: " in text(book(client, id=7))
    client.send("tools/call", 2, name="get_book", arguments={"id": 1})
    client.process.send_signal(signal.SIGTERM)
    client.process.wait()


@pytest.mark.parametrize("fail_open", ["true", "false"])
def test_a_program_that_is_not_an_interceptor_server_ends_the_proxy_unless_it_fails_open(
    tmp_path: Path, fail_open: str
) -> None:
    settings = tmp_path / "toolvet.toml"
    command = json.dumps(odd("lists-nothing")["command"])
    settings.write_text(f"[[proxy.interceptors]]\ncommand = {command}\nfail_open = {fail_open}\n")
    ran = subprocess.run(
        [*TOOLVET, "proxy", "--settings", str(settings), "--", *BOOKS], input=b"", stderr=subprocess.PIPE, check=False
    )
    assert ran.returncode == (0 if fail_open == "true" else 4), ran.stderr
    assert (b'is not an interceptor server: it refused with -32601 "no such method"' in ran.stderr) == (
        fail_open == "false"
    )


@contextmanager
def listening(*words: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A command of toolvet that listens, and its URL."""
    process = subprocess.Popen([*TOOLVET, *words], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        url = ""
        while not url:
            url = next(iter(re.findall(r"http://\S+", process.stderr.readline())), "")
        yield url, process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.parametrize("fail_open", [True, False])
def test_over_http_a_killed_interceptor_server_blocks_unless_it_fails_open(start: Start, *, fail_open: bool) -> None:
    with listening("intercept", "--listen", "127.0.0.1:0") as (url, process):
        client = start({"url": url, "fail_open": fail_open, "timeout": 5})
        assert json.loads(text(book(client, id="7"))) == {"id": 7}
        process.kill()
        process.wait()
        answer = book(client, 2, id=7)
    if fail_open:
        assert json.loads(text(answer)) == {"id": 7}
    else:
        assert "the interceptor 'toolvet/" in text(answer)
        assert "failed: " in text(answer)


def test_in_front_of_a_server_at_a_url_calls_are_intercepted_too(start: Start) -> None:
    with listening("proxy", "--listen", "127.0.0.1:0", "--", *BOOKS) as (url, _):
        client = start(odd("to-note"), words=(url,))
        assert json.loads(text(book(client, id=7))) == {"id": 1, "note": "new"}
        assert client.end() == 0


@pytest.mark.parametrize(
    ("mode", "expected"), [("to-note", '"note": "new"'), ("block", "not today"), ("to-other-result", "other")]
)
def test_the_proxy_over_http_asks_as_well(mode: str, expected: str) -> None:
    interceptor = " ".join((sys.executable, str(HERE / "odd_interceptor.py"), mode))
    with listening("proxy", "--listen", "127.0.0.1:0", "--interceptor", interceptor, "--", *BOOKS) as (url, _):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

        def post(body: dict[str, object]) -> str:
            data = json.dumps({"jsonrpc": "2.0", **body}).encode()
            request = urllib.request.Request(url, data, headers)  # noqa: S310 - our own proxy
            with urllib.request.urlopen(request) as response:  # noqa: S310 - as above
                if response.headers.get("Mcp-Session-Id"):
                    headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
                return str(response.read().decode())

        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        post({"id": 0, "method": "initialize", "params": hello})
        post({"method": "notifications/initialized"})
        answer = post({"id": 1, "method": "tools/call", "params": {"name": "get_book", "arguments": {"id": 7}}})
        assert expected in answer.replace('\\"', '"')
