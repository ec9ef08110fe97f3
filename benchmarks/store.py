"""The store under load: `python -m benchmarks.store rate URL [PER_SECOND] [SECONDS]` or `… overview URL [MILLIONS]`.

`rate` starts a writer that adds verdicts at a fixed rate, each in a call of its own, and prints what it acknowledged;
then kills it, and counts what the next process finds. `overview` fills a store and times what a dashboard asks it.
Without words, both are done on a small store in SQLite, and reported.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from benchmarks.harness import Report

from toolvet.store import FigureFilter, Store, VerdictFilter, VerdictRecord
from toolvet.store.database import open_engine, writing
from toolvet.store.inserting import insert_records
from toolvet.store.records import SignalRecord, encode_document, new_id

if TYPE_CHECKING:
    from collections.abc import Callable

TOOLS = [(f"server-{number % 8}", f"tool_{number}") for number in range(40)]
DETAIL = encode_document({"verdict": {"classification": "fully_working", "evidence": ["Response contains text"] * 3}})
MODELS = ("small", "large")
REFUSED = (SignalRecord("refusal", "error", 0.97),)
NOT_FOUND = (SignalRecord("not_found", "warning", 0.9),)
DAY = 86_400


def verdict(at: float, number: int) -> VerdictRecord:
    server, tool = TOOLS[number * 7 % len(TOOLS)]
    failed = number % 23 == 0
    if number % 5 == 4:
        return VerdictRecord(
            id=new_id(at),
            at=at,
            kind="answer",
            trace=f"turn-{number // 5}",
            conversation=f"conversation-{number // 50}",
            model=MODELS[number // 5 % len(MODELS)],
            outcome="route" if failed else "use",
            escalate=failed,
            score=0.25 if failed else 1.0,
            confidence=0.9,
            reason="a refusal" if failed else None,
            text="I cannot help with that request." if failed else None,
            signals=REFUSED if failed else (),
            document=DETAIL,
        )
    return VerdictRecord(
        id=new_id(at),
        at=at,
        kind="call",
        trace=f"turn-{number // 5}",
        server=server,
        tool=tool,
        request_id=str(number),
        outcome="tool_error" if failed else "success",
        state="not_found" if failed else None,
        failed=failed,
        score=0.5 if failed else 1.0,
        duration=random.expovariate(10),
        reason="Book not found: the catalogue has no such title" if failed else None,
        signals=NOT_FOUND if failed else (),
        document=DETAIL,
    )


def write(url: str, rate: int) -> None:
    """Add verdicts until we are killed, and print the number of each that was acknowledged."""
    store, began, number = Store(url), time.perf_counter(), 0
    while True:
        due = int((time.perf_counter() - began) * rate)
        while number < due:
            store.add_records([verdict(time.time(), number)])
            number += 1
        os.write(1, b"%d\n" % number)
        time.sleep(0.005)


def measure_rate(url: str, rate: int, seconds: float) -> list[object]:
    """A row: what was to be added, was acknowledged, was found, and is lost."""
    with Store(url) as store:
        before = store.count()
    writer = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.store", "write", url, str(rate)], stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    began, acknowledged = time.perf_counter(), 0
    for line in writer.stdout:
        acknowledged = int(line)
        if time.perf_counter() - began > seconds:
            break
    writer.send_signal(signal.SIGKILL)
    for line in writer.stdout.read().splitlines(keepends=True):
        acknowledged = int(line) if line.endswith(b"\n") else acknowledged
    took = time.perf_counter() - began
    writer.wait()
    with Store(url) as store:
        in_spool = sum(file.stat().st_size for file in store.address.spool.glob("*.jsonl"))
        taken = time.perf_counter()
        # A server beside us may hold the last file of the spool: what it took in is there once the spool is empty.
        while any(file.stat().st_size for file in store.address.spool.glob("*.jsonl")):
            store.flush()
            if time.perf_counter() - taken > 30:
                break
        after = store.count()
        lost = max(0, acknowledged - (after - before))
        print(
            f"{acknowledged:,} acknowledged in {took:.1f} s ({acknowledged / took:,.0f}/s), killed;"
            f" {after - before:,} found ({in_spool:,} bytes were in the spool, taken in within"
            f" {time.perf_counter() - taken:.1f} s); lost {lost}"
        )
    return [f"{rate:,}", f"{acknowledged / took:,.0f}", f"{acknowledged:,}", f"{after - before:,}", lost]


def fill(url: str, count: int) -> None:
    """Insert `count` verdicts of the last 30 days, past the spool."""
    store = Store(url)
    engine, began, first = open_engine(store.address), time.perf_counter(), time.time() - 30 * DAY
    for start in range(0, count, 20_000):
        numbers = range(start, min(start + 20_000, count))
        with writing(engine) as connection:
            insert_records(connection, [verdict(first + 30 * DAY * number / count, number) for number in numbers])
    print(f"filled with {count:,} in {time.perf_counter() - began:.0f} s")
    engine.dispose()


def measure_overview(url: str, count: int) -> list[list[str]]:
    """A row for each question: its median, and the first time."""
    with Store(url) as store:
        missing = count - store.count()
    if missing > 0:
        fill(url, missing)
    now = time.time()
    with Store(url) as store:
        month, day = FigureFilter(since=now - 30 * DAY, until=now), FigureFilter(since=now - DAY, until=now)
        newest = store.verdicts(limit=1)[0]
        questions: dict[str, Callable[[], object]] = {
            "overview, everything": store.overview,
            "overview, 30 days": lambda: store.overview(month),
            "overview, 1 day": lambda: store.overview(day),
            "trend, 30 days": lambda: store.trend(month),
            "50 newest": lambda: store.verdicts(limit=50),
            "50 newest of a tool": lambda: store.verdicts(VerdictFilter(server="server-1", tool="tool_9"), limit=50),
            "50 newest of a signal": lambda: store.verdicts(VerdictFilter(signal="not_found"), limit=50),
            "a turn": lambda: store.turn(newest.trace or ""),
            "20 latest turns": store.latest_turns,
            "search of a common word": lambda: store.search("catalogue", limit=50),
        }
        rows = []
        for name, ask in questions.items():
            times = []
            for _ in range(5):
                began = time.perf_counter()
                ask()
                times.append(time.perf_counter() - began)
            rows.append([name, f"{sorted(times)[2] * 1000:.1f} ms", f"{times[0] * 1000:.1f} ms"])
            print(f"{name:28} {rows[-1][1]:>10} (first {rows[-1][2]})")
    return rows


def measure_adding(url: str, size: int) -> float:
    """The CPU time of a verdict in batches of this size, in microseconds, all threads counted; the least of five."""
    least = float("inf")
    with Store(url) as store:
        for _ in range(5):
            records = [verdict(time.time(), number) for number in range(size)]
            began = time.process_time()
            store.add_records(records)
            store.flush()
            least = min(least, (time.process_time() - began) / size * 1e6)
    return least


def report_all(count: int = 100_000) -> None:
    with tempfile.TemporaryDirectory() as folder, Report("store", peers=["sqlalchemy"]) as report:
        rows = [[f"{size:,}", f"{measure_adding(f'{folder}/a.db', size):.0f} µs"] for size in (100, 1_000, 5_000)]
        report.table(
            "Adding to SQLite", ["verdicts in a batch", "a verdict"], rows, about="CPU time, the least of five"
        )
        columns = ["to add a second", "added", "acknowledged", "found after a kill", "lost"]
        report.table(
            "A writer that is killed", columns, [measure_rate(f"{folder}/b.db", 2_000, 10)], about="by the clock"
        )
        rows = measure_overview(f"{folder}/c.db", count)
        columns = ["question", "median of 5", "the first time"]
        report.table(f"A store of {count:,} verdicts in SQLite", columns, rows, about="by the clock")


def main(what: str = "", url: str = "", *numbers: str) -> None:
    if what == "write":
        write(url, int(numbers[0]))
    elif what == "rate":
        measure_rate(url, int((numbers or ("2000",))[0]), float(numbers[1] if len(numbers) > 1 else 30))
    elif what == "overview":
        measure_overview(url, int(float((numbers or ("5",))[0]) * 1_000_000))
    else:
        report_all()


if __name__ == "__main__":
    main(*sys.argv[1:])
