"""The promise of the record: every call that was answered is in the store, however the proxy and its disk end."""

import json
import os
import resource
import select
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from tests.proxy.stdio_client import HERE, PROXY, Client

from toolvet.proxy.record.recorder import Recorder, RecordSource
from toolvet.store import Store, VerdictFilter

SERVER = (sys.executable, str(HERE / "quick_server.py"))
BURST = int(os.environ.get("TOOLVET_BURST", "10000"))
CALL = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":%d}}}\n'

Start = Callable[..., Client]


@pytest.fixture
def start() -> Iterator[Start]:
    clients: list[Client] = []

    def begin(*command: str, **env: str) -> Client:
        clients.append(Client(*command, *PROXY, *SERVER, **env))
        return clients[-1]

    yield begin
    for client in clients:
        client.close()


def recorded(path: Path | str) -> set[str | None]:
    """The ids of the calls that the next reader finds, as `toolvet trace` would be one."""
    with Store(path, missing="refuse") as store:
        calls = store.verdicts(VerdictFilter(kind="call"), limit=1_000_000)
    assert len({call.request_id for call in calls}) == len(calls)
    return {call.request_id for call in calls}


def burst(client: Client, count: int) -> None:
    """Send all calls at once, and read all answers."""
    calls = b"".join((CALL % (number, number)).encode() for number in range(1, count + 1))
    writer = threading.Thread(target=client.write, args=(calls,))
    writer.start()
    for _ in range(count):
        assert client.stdout.readline().endswith(b"}\n")
    writer.join()


def test_a_burst_is_recorded_to_the_last_call(start: Start, tmp_path: Path) -> None:
    client = start(STORE=str(tmp_path / "calls.db"))
    burst(client, BURST)
    assert client.end() == 0
    assert client.stderr.read() == b""
    assert len(recorded(tmp_path / "calls.db")) == BURST


def test_all_answered_calls_are_kept_at_sigterm(start: Start, tmp_path: Path) -> None:
    client = start(STORE=str(tmp_path / "calls.db"))
    burst(client, 2000)
    client.process.terminate()
    client.process.wait()
    assert len(recorded(tmp_path / "calls.db")) == 2000


@pytest.mark.parametrize("calls", [1, 40, 400])
def test_a_killed_proxy_leaves_every_call_that_was_answered_a_moment_before(
    start: Start, tmp_path: Path, calls: int
) -> None:
    client = start(STORE=str(tmp_path / "calls.db"))
    client.ask("tools/list", 0)
    for number in range(1, calls + 1):
        client.call(number, "add", a=number, b=1)
        assert client.read()["id"] == number
    # The record of the last calls is on its way to the disk for less than this.
    time.sleep(1)
    client.process.kill()
    client.process.wait()
    assert recorded(tmp_path / "calls.db") == {str(number) for number in range(1, calls + 1)}


REQUIRED = json.dumps({"record": "required"})


@pytest.mark.parametrize("calls", [1, 2, 7, 60])
def test_a_killed_proxy_whose_record_is_required_leaves_every_call_that_was_answered(
    start: Start, tmp_path: Path, calls: int
) -> None:
    client = start(STORE=str(tmp_path / "calls.db"), SETTINGS=REQUIRED)
    for number in range(1, calls + 1):
        client.call(number, "add", a=number, b=1)
        assert client.read()["id"] == number
    client.process.kill()
    client.process.wait()
    assert recorded(tmp_path / "calls.db") == {str(number) for number in range(1, calls + 1)}


def test_a_burst_whose_record_is_required_is_recorded_as_far_as_it_was_answered(start: Start, tmp_path: Path) -> None:
    client = start(STORE=str(tmp_path / "calls.db"), SETTINGS=REQUIRED)
    calls = b"".join((CALL % (number, number)).encode() for number in range(1, 3001))

    def write() -> None:
        with suppress(BrokenPipeError):
            client.write(calls)

    threading.Thread(target=write, daemon=True).start()
    answered = {str(client.read()["id"]) for _ in range(1000)}
    client.process.kill()
    client.process.wait()
    # Calls in the pipe were answered, too.
    answered |= {str(json.loads(line)["id"]) for line in client.stdout if line.endswith(b"\n")}
    assert answered <= recorded(tmp_path / "calls.db")


def test_an_answer_that_is_too_long_to_be_kept_waits_for_its_record_as_well(tmp_path: Path) -> None:
    server = (sys.executable, str(HERE / "long_server.py"))
    settings = json.dumps({"record": "required", "max_message_bytes": 65_536})
    client = Client(*PROXY, *server, STORE=str(tmp_path / "calls.db"), SETTINGS=settings)
    try:
        for number in range(1, 6):
            client.call(number, "long", size=200_000)
            assert client.read()["id"] == number
        client.process.kill()
        client.process.wait()
        assert recorded(tmp_path / "calls.db") == {"1", "2", "3", "4", "5"}
    finally:
        client.close()


def test_a_required_record_holds_answers_back_while_the_disk_takes_nothing(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    client = start(STORE=str(path), SETTINGS=REQUIRED)
    client.call(1, "add", a=1, b=1)
    assert client.read()["id"] == 1
    soft, hard = resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (1, hard))
    client.call(2, "add", a=1, b=1)
    assert b"what is recorded waits in memory" in client.stderr.readline()
    assert select.select([client.stdout], [], [], 0.5)[0] == []
    resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (soft, hard))
    assert client.read()["id"] == 2
    assert client.end() == 0
    assert recorded(path) == {"1", "2"}


def test_a_signal_ends_a_proxy_whose_answers_wait_for_the_disk(start: Start, tmp_path: Path) -> None:
    client = start(STORE=str(tmp_path / "calls.db"), SETTINGS=REQUIRED)
    client.call(1, "add", a=1, b=1)
    assert client.read()["id"] == 1
    _, hard = resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (1, hard))
    client.call(2, "add", a=1, b=1)
    assert b"what is recorded waits in memory" in client.stderr.readline()
    client.process.terminate()
    client.process.wait()
    assert b"the record lost 1 notes" in client.stderr.read()


@pytest.mark.parametrize("kind", ["json", "events", "gzip"])
def test_a_killed_proxy_over_http_whose_record_is_required_leaves_every_call_that_was_answered(
    tmp_path: Path, kind: str
) -> None:
    server = subprocess.Popen([sys.executable, str(HERE / "kinds_server.py"), kind], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    (tmp_path / "toolvet.toml").write_text('[proxy]\nrecord = "required"\n')
    command = [sys.executable, "-m", "toolvet", "proxy", "--listen", "127.0.0.1:0", "--store", "calls.db"]
    url = server.stdout.readline().strip()
    with subprocess.Popen([*command, url], stderr=subprocess.PIPE, text=True, cwd=tmp_path) as proxy:
        assert proxy.stderr is not None
        told = proxy.stderr.readline()
        try:
            with httpx2.Client(headers={"Accept": "application/json, text/event-stream"}) as client:
                for number in range(1, 21):
                    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "add"}}
                    assert client.post(told.split()[-1], json=message).status_code == 200
        finally:
            proxy.kill()
            server.kill()
            server.wait()
            server.stdout.close()
    assert recorded(tmp_path / "calls.db") == {str(number) for number in range(1, 21)}


def test_a_proxy_that_is_killed_at_once_leaves_a_store_that_can_be_read(start: Start, tmp_path: Path) -> None:
    client = start(STORE=str(tmp_path / "calls.db"))
    client.ask("tools/list", 0)
    client.process.kill()
    client.process.wait()
    told = subprocess.run(
        [sys.executable, "-m", "toolvet", "trace", "--store", str(tmp_path / "calls.db")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert "has no turns yet" in told.stdout


def test_a_locked_database_delays_nothing_and_loses_nothing(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    with Store(path) as store:
        assert store.count() == 0
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    client = start(STORE=str(path))
    burst(client, 100)
    assert client.end() == 0
    assert b"the last notes" not in client.stderr.read()
    other.execute("COMMIT")
    other.close()
    assert len(recorded(path)) == 100


def test_a_damaged_database_is_left_as_it_is_and_loses_nothing(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    path.write_bytes(b"not a database, and long enough to be read as one" * 100)
    client = start(STORE=str(path))
    burst(client, 50)
    assert client.end() == 0
    said = client.stderr.read()
    assert b"is damaged, or is not a database" in said
    assert b"move the damaged file away" in said
    assert path.read_bytes().startswith(b"not a database")
    path.rename(tmp_path / "damaged.db")
    assert len(recorded(path)) == 50


def unwritable(folder: Path) -> tuple[str, ...]:
    """A command in front of the proxy, so that it cannot write into the folder; root can write everywhere."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        return ()
    blocked = folder / "calls.db.spool"
    blocked.write_text("a file where the spool should be")
    return ()


def test_a_folder_that_cannot_be_written_to_costs_no_call(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    client = start(*unwritable(folder), STORE=str(folder / "calls.db"))
    burst(client, 50)
    assert client.end() == 0
    said = client.stderr.read()
    assert b"the calls pass" in said
    assert b"the record lost" in said
    folder.chmod(0o700)


def test_what_a_full_disk_does_not_take_waits_in_memory(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    client = start(STORE=str(path))
    burst(client, 50)
    # No file may grow beyond this: what a full disk looks like, without one.
    soft, hard = resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE)
    time.sleep(0.6)
    resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (1, hard))
    for number in range(51, 200):
        client.call(number, "add", a=number, b=1)
        assert client.read()["id"] == number
    time.sleep(0.6)
    resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (soft, hard))
    assert client.end() == 0
    assert b"what is recorded waits in memory" in client.stderr.read()
    assert len(recorded(path)) == 199


# ── without a process ──


class Slow:
    """A sink that takes nothing until it is released, and ends on command."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.seen = 0

    def write(self, notes: object) -> None:
        self.let.wait(60)
        self.seen += len(list(notes))  # type: ignore[call-overload]

    def end(self) -> None:
        self.let.set()

    def close(self) -> None:
        pass


def test_a_required_record_makes_calls_wait_and_loses_none() -> None:
    sink = Slow()
    recorder = Recorder([sink], limit=10 * 1024, when_full="wait")

    def take_all() -> None:
        for number in range(100):
            recorder.take(RecordSource("s"), number)

    taker = threading.Thread(target=take_all)
    taker.start()
    taker.join(0.5)
    assert taker.is_alive()
    sink.let.set()
    taker.join(60)
    recorder.close()
    assert (sink.seen, recorder.lost) == (100, 0)


def test_a_signal_ends_the_waiting_for_a_required_record() -> None:
    sink = Slow()
    recorder = Recorder([sink], limit=10 * 1024, when_full="wait", complain=lambda _: None)
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    recorder.watch_signals()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM))
    timer.start()
    try:
        for number in range(60):
            recorder.take(RecordSource("s"), number)
            if came:
                break
    finally:
        timer.join()
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM]
    assert recorder.lost == 1
    recorder.close()
