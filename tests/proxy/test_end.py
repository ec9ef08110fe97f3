"""The end always comes, even if a peer does not read, does not end, or locks the record.

Each of these proxies lived on before: a test that fails ends by pytest's timeout.
"""

import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.proxy.stdio_client import PROXY, RAW_SERVER, Client, Life

from toolvet.store import Store

Start = Callable[..., Client]

HOLD = "import os, signal, sys, time; os.set_inheritable(os.open(os.environ['LIFE'], os.O_WRONLY), True)\n"
FLOOD = HOLD + "while True: os.write(1, b'{}' * 32768 + b'\\n')"
STUBBORN_FLOOD = HOLD + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: os.write(1, b'{}' * 32768 + b'\\n')"
# It says one line, so that a test knows when it runs, and reads nothing.
DEAF = HOLD + "os.write(1, b'{}\\n')\ntime.sleep(3600)"
RELOADS = (
    HOLD + "signal.signal(signal.SIGHUP, lambda *_: os.write(1, b'{\"again\": 1}\\n'))\n"
    "os.write(1, b'{}\\n')\nwhile True: time.sleep(3600)"
)
STUBBORN_DEAF = HOLD + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.write(1, b'{}\\n')\ntime.sleep(3600)"
LINE = b'{"jsonrpc":"2.0","method":"notifications/x","params":"' + b"x" * 60_000 + b'"}\n'


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    found = Life(tmp_path)
    yield found
    found.close()


@pytest.fixture
def start(life: Life) -> Iterator[Start]:
    """The proxy before a server that is this program; `life` ends with the server."""
    clients: list[Client] = []

    def starting(program: str, **env: str) -> Client:
        clients.append(Client(*PROXY, sys.executable, "-c", program, LIFE=str(life.path), **env))
        return clients[-1]

    yield starting
    for client in clients:
        client.close()


def fill(client: Client) -> None:
    """Write until the pipe takes no more, and once more after the proxy had the time to take some."""
    fd = client.stdin.fileno()
    os.set_blocking(fd, False)
    with suppress(BlockingIOError):
        while True:
            os.write(fd, LINE)


@pytest.mark.parametrize("program", [FLOOD, STUBBORN_FLOOD], ids=["ends", "ignores-term"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_proxy_whose_client_does_not_read(start: Start, life: Life, program: str, number: int) -> None:
    client = start(program)
    client.stdout.read(2**20)
    client.process.send_signal(number)
    assert client.process.wait() >= 128
    life.wait()


def test_a_hangup_that_ends_the_server_ends_a_proxy_whose_client_does_not_read(start: Start, life: Life) -> None:
    client = start(FLOOD)
    client.stdout.read(2**20)
    client.process.send_signal(signal.SIGHUP)
    assert client.process.wait() == 128 + signal.SIGHUP
    life.wait()


def test_a_server_that_reads_its_settings_at_a_hangup_goes_on(start: Start, life: Life) -> None:
    client = start(RELOADS)
    client.stdout.readline()
    for _ in range(2):
        client.process.send_signal(signal.SIGHUP)
        assert client.stdout.readline() == b'{"again": 1}\n'
    client.process.send_signal(signal.SIGTERM)
    assert client.process.wait() == 128 + signal.SIGTERM
    life.wait()


def test_a_proxy_that_got_no_time_for_a_while_ends_in_order(start: Start, life: Life) -> None:
    # As on a busy machine: the server was killed, and then both timers of the end are due at once.
    client = start(STUBBORN_FLOOD)
    client.stdout.read(2**20)
    client.process.send_signal(signal.SIGTERM)
    time.sleep(2.2)
    client.process.send_signal(signal.SIGSTOP)
    time.sleep(1)
    client.process.send_signal(signal.SIGCONT)
    assert client.process.wait() >= 128
    assert b"Traceback" not in client.stderr.read()
    life.wait()


@pytest.mark.parametrize("program", [DEAF, STUBBORN_DEAF], ids=["ends", "ignores-term"])
def test_a_signal_ends_a_proxy_whose_server_never_reads(start: Start, life: Life, program: str) -> None:
    client = start(program)
    client.stdout.readline()
    fill(client)
    client.process.terminate()
    assert client.process.wait() >= 128
    life.wait()


def test_a_killed_client_of_a_server_that_never_reads_leaves_no_process(start: Start, life: Life) -> None:
    client = start(STUBBORN_DEAF)
    client.stdout.readline()
    fill(client)
    client.stdout.close()
    client.stdin.close()
    life.wait()
    client.process.wait()


def terminate_twice(client: Client) -> None:
    """Two signals that come at once are one to the process, so the second comes until it is seen."""
    client.process.terminate()
    for _ in range(20):
        time.sleep(0.1)
        if client.process.poll() is not None:
            return
        client.process.terminate()


def test_a_second_signal_does_not_wait_for_anything(start: Start, life: Life) -> None:
    """The first one lets the server answer; this one never would."""
    client = start(STUBBORN_FLOOD)
    client.stdout.read(2**20)
    terminate_twice(client)
    assert client.process.wait() == 128 + signal.SIGKILL
    life.wait()


def test_open_requests_are_answered_at_the_second_signal_too(life: Life) -> None:
    client = Client(*PROXY, *RAW_SERVER, "ignore-term", LIFE=str(life.path))
    client.ask("tools/list", 0)
    client.call(1, "hold")
    client.ask("ping", 2)
    terminate_twice(client)
    answer = client.read()
    assert answer["id"] == 1
    assert answer["error"]["code"] == -32603
    client.process.wait()
    life.wait()
    client.close()


def test_a_locked_record_does_not_keep_the_proxy_alive(life: Life, tmp_path: Path) -> None:
    record = tmp_path / "calls.db"
    client = Client(*PROXY, *RAW_SERVER, LIFE=str(life.path), STORE=str(record))
    client.ask("tools/list", 0)
    client.call(1, "add", a=1, b=2)
    client.read()
    while not record.exists() or not record.stat().st_size:
        client.ask("ping", 2)
    other = sqlite3.connect(record, isolation_level=None, timeout=60)
    other.execute("BEGIN EXCLUSIVE")
    client.call(3, "add", a=1, b=2)
    client.read()
    client.process.terminate()
    client.process.wait()
    # It ended while the record was locked; what was recorded is beside it, and the next one takes it in.
    assert b"the next process that opens the store takes it in" in client.stderr.read()
    other.execute("ROLLBACK")
    other.close()
    client.close()
    with Store(record) as store:
        assert store.count() == 2


def test_a_signal_ends_a_proxy_of_a_url_whose_client_does_not_read() -> None:
    """Every request is answered with an error, because nothing listens at that port; the errors are not read."""
    client = Client(sys.executable, "-m", "toolvet", "proxy", "http://127.0.0.1:9/mcp")
    ping = json.dumps({"jsonrpc": "2.0", "id": "x" * 50_000, "method": "ping"}).encode() + b"\n"
    client.write(ping)
    client.stdout.readline()
    fd = client.stdin.fileno()
    for _ in range(40):
        os.write(fd, ping)
    client.process.terminate()
    assert client.process.wait() == 128 + signal.SIGTERM
    client.close()
