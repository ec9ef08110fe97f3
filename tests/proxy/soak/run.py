"""Many calls through real proxies while something goes wrong every second: `python -m tests.proxy.soak.run --calls N`.

Four proxies one after the other, each a program of its own: one on pipes that lives all the time, one on pipes whose
server is killed again and again, and before a server that is killed and comes back one over HTTP and one from pipes to
HTTP.
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.proxy.soak.disk import Disk, disk
from tests.proxy.soak.http_lane import HttpLane, HttpServer
from tests.proxy.soak.lane import Faults, Memory, StdioLane
from tests.proxy.soak.tally import Tally

from toolvet.store import Store, VerdictFilter

_PROXY: Final = [sys.executable, "-m", "toolvet", "proxy"]
_SERVER: Final = [sys.executable, str(Path(__file__).with_name("server.py"))]
_LOST: Final = re.compile(rb"the record lost (\d+) notes")
# The most bytes of a row of the record, and those before the first.
_ROW_BYTES: Final = 4096
_LEAST_DISK: Final = 32 << 20
# Of a hundred calls, how many go which way.
_SHARES: Final = {"stdio": 70, "stdio, killed": 5, "http": 20, "stdio to http": 5}


class Pace(NamedTuple):
    """How often something goes wrong, for how long it does, and for how long the disk is full, all in seconds.

    `answers`: it goes wrong after this many answers at the latest.
    """

    every: float = 1.0
    pause: float = 0.5
    full: float = 10.0
    answers: int | None = None

    def faults(self, kinds: Mapping[str, Callable[[], None]], place: Disk) -> Faults:
        """Faults of these kinds and of this disk, as often as that."""
        return Faults(self.every, kinds, place, self.full, self.answers)


class Outcome(NamedTuple):
    """The outcome of one proxy. `rows` are the calls in its record, `told` what it said that the record lost."""

    way: str
    tally: Tally
    seconds: float
    memory: Memory
    faults: dict[str, int]
    rows: int
    told: int
    full_by: str

    def __str__(self) -> str:
        tally, at = self.tally, self.memory.at
        return (
            f"{self.way:14} {tally.calls:8} calls, {tally.answered / self.seconds:6.0f}/s, "
            f"RSS {at.get(10, 0):.1f} / {at.get(50, 0):.1f} / {at.get(100, 0):.1f} MiB at 10 / 50 / 100 %, "
            f"lost {tally.lost}, errors {tally.errors}, record {self.rows} rows (told lost: {self.told} notes), "
            f"faults {self.faults} (disk: {self.full_by})"
        )


def soak(calls: int, pace: Pace, ways: tuple[str, ...] = tuple(_SHARES)) -> Iterator[Outcome]:
    """Make that many calls in all, and yield what came of each way."""
    run: dict[str, Callable[[Tally, Disk, Pace], Outcome]] = {
        "stdio": _stdio,
        "stdio, killed": _killed,
        "http": _http,
        "stdio to http": _remote,
    }
    for way in ways:
        share = calls * _SHARES[way] // sum(_SHARES[each] for each in ways)
        with _room(share) as place:
            yield run[way](Tally(share), place, pace)


@contextmanager
def _room(calls: int) -> Iterator[Disk]:
    with tempfile.TemporaryDirectory(prefix="toolvet-soak-") as folder:
        place = Path(folder) / "disk"
        place.mkdir()
        with disk(place, _LEAST_DISK + calls * _ROW_BYTES) as found:
            yield found


def _stdio(tally: Tally, place: Disk, pace: Pace) -> Outcome:
    return _over_pipes("stdio", _SERVER, tally, place, pace, "slow client", "stopped server", "noise")


def _killed(tally: Tally, place: Disk, pace: Pace) -> Outcome:
    return _over_pipes("stdio, killed", _SERVER, tally, place, pace, "killed server")


def _over_pipes(way: str, server: list[str], tally: Tally, place: Disk, pace: Pace, *kinds: str) -> Outcome:
    record = place.folder / "record.db"
    command = [*_PROXY, "--store", str(record), "--", *server]
    lane = StdioLane(command, tally, place, pause=pace.pause)
    began = time.perf_counter()
    faults = lane.run(pace.faults({kind: lane.kinds[kind] for kind in kinds}, place))
    return _outcome(way, lane, time.perf_counter() - began, faults, place)


def _http(tally: Tally, place: Disk, pace: Pace) -> Outcome:
    server = HttpServer()
    record = place.folder / "record.db"
    lane = HttpLane([*_PROXY, "--listen", "127.0.0.1:0", "--store", str(record), server.url], tally, pause=pace.pause)
    try:
        place.pid = lane.process.pid
        kinds = {"killed server": server.kill, "slow client": lane.read_slowly}
        began = time.perf_counter()
        faults = lane.run(pace.faults(kinds, place))
        seconds = time.perf_counter() - began
    finally:
        lane.close()
        server.close()
    return _outcome("http", lane, seconds, faults, place)


def _remote(tally: Tally, place: Disk, pace: Pace) -> Outcome:
    server = HttpServer()
    record = place.folder / "record.db"
    lane = StdioLane([*_PROXY, "--store", str(record), server.url], tally, place, pause=pace.pause)
    try:
        began = time.perf_counter()
        faults = lane.run(pace.faults({"killed server": server.kill}, place))
        seconds = time.perf_counter() - began
    finally:
        server.close()
    return _outcome("stdio to http", lane, seconds, faults, place)


def _outcome(way: str, lane: StdioLane | HttpLane, seconds: float, faults: dict[str, int], place: Disk) -> Outcome:
    said = b"".join(lane.stderr)
    told = sum(map(int, _LOST.findall(said)))
    rows = _rows(place.folder / "record.db")
    return Outcome(way, lane.tally, seconds, lane.memory, faults, rows, told, place.how or place.why)


def _rows(record: Path) -> int:
    # It takes in what the database did not take in time.
    with Store(record, missing="refuse") as store:
        return store.count(VerdictFilter(kind="call"))


def main() -> int:
    """Print what came of it. Returns 1 where a call was lost or answered wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--way", action="append", choices=list(_SHARES), help="only this one; may be repeated")
    given = parser.parse_args()
    failed = False
    for outcome in soak(given.calls, Pace(), tuple(given.way or _SHARES)):
        sys.stdout.write(f"{outcome}\n")
        sys.stdout.flush()
        for words in outcome.tally.wrong:
            sys.stdout.write(f"    wrong: {words}\n")
        grown = outcome.memory.at.get(100, 0) > 1.1 * outcome.memory.at.get(10, 0)
        if grown and outcome.way != "stdio, killed":
            sys.stdout.write("    wrong: its memory grew by more than a tenth after the first tenth of the calls\n")
        if outcome.rows != outcome.tally.calls:
            sys.stdout.write("    wrong: the record has more or fewer calls\n")
        failed |= bool(outcome.tally.lost or outcome.tally.wrong or grown or outcome.rows != outcome.tally.calls)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
