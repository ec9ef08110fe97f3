"""The clock of a running proxy jumps: calls are answered, durations stay, and retention deletes nothing young."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.proxy.stdio_client import HERE, Client

from toolvet.store import Store, VerdictFilter
from toolvet.store.retention import parse_retention

HOUR, DAY = 3600, 86400
LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)

# `time.sleep` of Python asks for a time on the monotonic clock, which libfaketime 0.9.10 moves with the other clock.
TOOLVET = """
import runpy, threading, time
time.sleep = lambda seconds: threading.Event().wait(seconds)
runpy.run_module("toolvet", run_name="__main__", alter_sys=True)
"""

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="needs libfaketime (Debian: apt-get install faketime)")


@pytest.fixture
def clock(tmp_path: Path) -> Path:
    """The file that says by how many seconds the clock is wrong."""
    file = tmp_path / "clock"
    file.write_text("+0\n", encoding="ascii")
    return file


@pytest.fixture
def client(tmp_path: Path, clock: Path) -> Iterator[Client]:
    settings = tmp_path / "toolvet.toml"
    settings.write_text('[store]\nolder_than = "2d"\n', encoding="ascii")
    # Only the clock on the wall jumps; the one that measures durations does not, as in reality.
    client = Client(
        *("env", f"LD_PRELOAD={LIBRARY}", f"FAKETIME_TIMESTAMP_FILE={clock}", "FAKETIME_NO_CACHE=1"),
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
        *(sys.executable, "-c", TOOLVET, "proxy", "--settings", str(settings)),
        *("--store", str(tmp_path / "calls.db"), "--", sys.executable, str(HERE / "quick_server.py")),
    )
    yield client
    client.close()


@pytest.mark.parametrize("jumps", [(-HOUR, DAY), (DAY, -HOUR)], ids=["back, then forward", "forward, then back"])
def test_calls_and_the_record_survive_jumps_of_the_clock(
    tmp_path: Path, clock: Path, client: Client, jumps: tuple[int, int]
) -> None:
    begun = datetime.now(UTC).timestamp()
    client.ask("initialize", 0)
    client.ask("tools/list", 1)
    last = 1
    for wrong in (0, *jumps):
        first, last = last + 1, last + 11
        # One call is open while the clock jumps.
        client.call(first, "add", a=first, b=1)
        clock.write_text(f"{wrong:+d}\n", encoding="ascii")
        for number in range(first, last + 1):
            if number > first:
                client.call(number, "add", a=number, b=1)
            answer = client.read()
            assert (answer["id"], answer["result"]["content"][0]["text"]) == (number, str(number + 1))
    assert client.end() == 0
    assert client.stderr.read() == b""
    clock.write_text("+0\n", encoding="ascii")
    # The next process that opens the store, with the clock set right or not, deletes old rows.
    with Store(tmp_path / "calls.db") as store:
        store.prune(parse_retention("2d", None))
        calls = store.verdicts(VerdictFilter(kind="call"), limit=1000)
    assert {call.request_id for call in calls} == {str(each) for each in range(2, last + 1)}
    assert len(calls) == last - 1
    assert all(call.duration is not None and 0 <= call.duration < HOUR / 2 for call in calls)
    ended = datetime.now(UTC).timestamp()
    seen = {wrong for wrong in (0, *jumps) for call in calls if begun - 1 <= call.at - wrong <= ended + 1}
    assert seen == {0, *jumps}, "the clock did not jump"
