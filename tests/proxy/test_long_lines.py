"""Messages beyond `max_message_bytes`: what passes unread, what is held back, who is answered, and the memory."""

import json
import os
import select
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.proxy.stdio_client import PROXY, RAW_SERVER, Client

Start = Callable[..., Client]
LIMIT = 65_536
LONG_SERVER = (sys.executable, str(Path(__file__).parent / "long_server.py"))
ENFORCED = {"results": "enforce", "max_result_bytes": 2**40}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """The proxy with a small limit and these settings; the record is `calls.jsonl`."""
    clients: list[Client] = []

    def starting(*command: str, **settings: object) -> Client:
        given = {"max_message_bytes": LIMIT, **settings}
        env = {"SETTINGS": json.dumps(given), "STORE": str(tmp_path / "calls.jsonl")}
        clients.append(Client(*PROXY, *(command or LONG_SERVER), **env))
        clients[-1].ask("tools/list", 0)
        return clients[-1]

    yield starting
    for client in clients:
        client.close()


def recorded(tmp_path: Path) -> str:
    return (tmp_path / "calls.jsonl").read_text().replace('": ', '":')


# The server's direction.


@pytest.mark.parametrize("form", ["python", "typescript"])
def test_a_long_result_that_needs_no_decision_passes_and_is_recorded_as_not_judged(
    start: Start, tmp_path: Path, form: str
) -> None:
    client = start()
    client.call(1, "long", size=10 * LIMIT, form=form)
    answer = client.read()
    assert answer["id"] == 1
    assert answer["result"]["content"][0]["text"] == "x" * 10 * LIMIT
    assert client.ask("ping", 2)["id"] == 2
    client.end()
    record = recorded(tmp_path)
    assert record.count(f"not judged: longer than the limit of {LIMIT} bytes (max_message_bytes)") == 1
    assert record.count("message_too_long") == 1
    assert "it was passed on unread" in record


@pytest.mark.parametrize("form", ["python", "typescript", "endless"])
def test_a_long_result_that_a_policy_has_to_see_is_held_back_and_answered(start: Start, form: str) -> None:
    client = start(**ENFORCED)
    client.call(1, "long", size=10 * LIMIT, form=form)
    answer = client.read()
    assert answer["id"] == 1
    assert answer["error"]["code"] == -32603
    assert f"longer than the limit of {LIMIT} bytes" in answer["error"]["message"]
    if form != "endless":
        assert client.ask("ping", 2)["id"] == 2


def test_only_a_tool_with_an_output_schema_is_held_back_where_that_is_enforced(start: Start) -> None:
    client = start(output_schema="enforce")
    client.call(1, "long", size=2 * LIMIT)
    assert "result" in client.read()
    client.call(2, "promised", size=2 * LIMIT)
    assert client.read()["error"]["code"] == -32603


def test_a_line_without_an_id_answers_everybody_who_waits_when_it_does_not_end(start: Start) -> None:
    client = start(**ENFORCED)
    client.call(1, "long", size=0, form="endless-noise")
    client.send("resources/read", "two", uri="x")
    answers = {answer["id"]: answer for answer in (client.read(), client.read())}
    assert set(answers) == {1, "two"}
    assert all("longer than the limit" in answer["error"]["message"] for answer in answers.values())


def test_long_noise_that_ends_is_dropped_and_answers_nobody(start: Start) -> None:
    client = start()
    client.call(1, "long", size=LIMIT + LIMIT // 2, form="noise")
    assert client.ask("ping", 2)["id"] == 2


def test_an_answer_of_our_own_waits_for_the_end_of_a_line_that_is_being_passed_on(start: Start) -> None:
    client = start(*RAW_SERVER)
    half = '{"jsonrpc":"2.0","id":77,"result":"' + "x" * 2 * LIMIT
    client.send("raw", 1, text=half)
    select.select([client.stdout], [], [])
    client.call(2, "add", a="no number", b=2)
    client.send("raw", 3, text='"}\n')
    assert client.read()["id"] == 77
    assert client.read()["result"]["isError"]


def test_a_server_that_dies_within_a_long_line_leaves_no_request_without_an_answer(start: Start) -> None:
    client = start(*RAW_SERVER)
    half = '{"jsonrpc":"2.0","id":1,"result":"' + "x" * 2 * LIMIT
    client.send("raw", 1, text=half)
    select.select([client.stdout], [], [])
    client.send("kill", 2)
    assert client.stdout.readline() == half.encode() + b"\n"
    assert [client.read()["id"], client.read()["id"]] == [1, 2]


def test_stderr_is_told_once(start: Start) -> None:
    client = start()
    for id_ in (1, 2, 3):
        client.call(id_, "long", size=2 * LIMIT)
        client.read()
    client.end()
    assert client.stderr.read().count(b"max_message_bytes") == 1


# The client's direction.


def call_of(form: str, id_: int, size: int) -> bytes:
    params = b'{"name":"long","arguments":{"text":"' + b"x" * size + b'"}}'
    if form == "typescript":
        return b'{"method":"tools/call","params":' + params + b',"jsonrpc":"2.0","id":%d}\n' % id_
    return b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":' % id_ + params + b"}\n"


@pytest.mark.parametrize("form", ["python", "typescript"])
def test_a_long_call_is_refused_and_the_next_one_is_made(start: Start, tmp_path: Path, form: str) -> None:
    client = start()
    client.write(call_of(form, 1, 2 * LIMIT))
    answer = client.read()
    assert answer["id"] == 1
    assert answer["result"]["isError"]
    assert f"longer than the limit of {LIMIT} bytes" in answer["result"]["content"][0]["text"]
    client.write(call_of(form, 2, 10))
    assert "error" not in client.read()
    client.end()
    assert '"blocked":"limits"' in recorded(tmp_path)
    assert "it was held back" in recorded(tmp_path)


@pytest.mark.parametrize("arguments", ["off", "audit"])
@pytest.mark.parametrize("form", ["python", "typescript"])
def test_a_long_call_whose_arguments_are_not_enforced_passes(
    start: Start, tmp_path: Path, form: str, arguments: str
) -> None:
    client = start(arguments=arguments)
    message = call_of(form, 1, 3 * LIMIT)
    client.write(message)
    answer = client.read()
    assert answer["id"] == 1
    assert answer["result"]["content"][0]["text"] == f"{len(message)} bytes"
    client.end()
    assert '"outcome":"success"' in recorded(tmp_path)
    assert ('"would_block":"limits"' in recorded(tmp_path)) == (arguments == "audit")


def test_a_long_message_that_is_no_call_passes(start: Start) -> None:
    client = start()
    assert client.ask("resources/read", 1, uri="x" * 3 * LIMIT)["result"]["bytes"] > 3 * LIMIT


# A call whose method is not among the first bytes, or comes again, as lenient readers take the last one.
LATE = {
    "duplicate": b'{"jsonrpc":"2.0","id":1,"method":"resources/read","x":"FILL","method":"tools/call","params":CALL}',
    "escaped": b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"FILL","method":"tools\\/c\\u0061ll","params":CALL}',
    "behind a result": b'{"jsonrpc":"2.0","id":1,"result":"FILL","m\\u0065thod":"t\\u006fols/call","params":CALL}',
    "at first": b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/c\\u0061ll","params":CALL,"x":"FILL"}',
}  # fmt: skip


@pytest.mark.parametrize("form", LATE)
@pytest.mark.parametrize("size", [LIMIT, 3 * LIMIT, 3 * LIMIT + 40])
def test_a_long_message_that_turns_out_to_be_a_call_is_cut(start: Start, tmp_path: Path, form: str, size: int) -> None:
    client = start()
    call = b'{"name":"long","arguments":{"size":1}}'
    message = LATE[form].replace(b"FILL", b"x" * size).replace(b"CALL", call) + b"\n"
    client.write(message)
    if form != "behind a result":
        # The client has written a request that the server does not get.
        answer = client.read()
        while "error" not in answer and not answer.get("result", {}).get("isError"):
            answer = client.read()
    assert client.ask("ping", 2)["id"] == 2
    client.end()
    assert '"outcome":"success"' not in recorded(tmp_path)
    assert "it was held back" in recorded(tmp_path)


@pytest.mark.parametrize("form", LATE)
def test_it_passes_where_no_arguments_are_enforced(start: Start, tmp_path: Path, form: str) -> None:
    client = start(arguments="audit")
    client.write(LATE[form].replace(b"FILL", b"x" * 3 * LIMIT).replace(b"CALL", b'{"name":"long"}') + b"\n")
    client.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
    while client.read()["id"] != 2:
        pass
    client.end()
    assert "held back" not in recorded(tmp_path)


def test_an_endless_line_of_the_client_is_answered_and_skipped_to_its_end(start: Start) -> None:
    client = start()
    client.write(b"x" * 9 * LIMIT)
    answer = client.read()
    assert answer["id"] is None
    assert answer["error"]["code"] == -32600
    client.write(b"x" * 3 * LIMIT + b"\n")
    assert client.ask("ping", 2)["id"] == 2


# Memory.


def peak(client: Client) -> int:
    """The most memory that the proxy ever had, in bytes."""
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say the peak")
MUCH = 300 * 2**20


@needs_proc
@pytest.mark.parametrize("settings", [{}, ENFORCED], ids=["passed-on", "held-back"])
def test_a_long_result_does_not_grow_the_proxy(start: Start, settings: dict[str, object]) -> None:
    client = start(**settings)
    before = peak(client)
    client.call(1, "long", size=MUCH)
    read = 0
    while chunk := client.stdout.readline(2**20):
        read += len(chunk)
        if chunk.endswith(b"\n"):
            break
    assert read > MUCH or settings
    client.ask("ping", 2)
    assert peak(client) - before < 64 * 2**20


@needs_proc
@pytest.mark.parametrize("method", ["resources/read", "tools/call"])
def test_a_long_line_of_the_client_does_not_grow_the_proxy(start: Start, method: str) -> None:
    client = start()
    before = peak(client)
    client.write(b'{"jsonrpc":"2.0","id":1,"method":"%s","params":{"name":"long","uri":"' % method.encode())
    chunk = b"x" * 2**20
    for _ in range(MUCH // len(chunk)):
        os.write(client.stdin.fileno(), chunk)
    client.write(b'"}}\n')
    assert client.read()["id"] == 1
    client.ask("ping", 2)
    assert peak(client) - before < 64 * 2**20
