"""Measure what a proxy adds to a tools/call over stdio: toolvet's with everything on, beside others, in one run.

    python -m benchmarks.proxy [--calls 2000] [--rounds 7] [--flight 20000] [--soak 1000000] [--only NAME …]
    python -m benchmarks.proxy --cases [--case-calls 300] [--case-rounds 5]

The client is this script, with blocking writes and reads; the server is written in C and does no work, so only the
transport is measured. "C forwarder" is the floor: any process between two pipes costs two more context switches in each
direction. "median" is that of the best round, because other programs may use the machine; "added" is it minus the
direct one. p99 is over all rounds. Needs `cc`; uvloop is measured if it is installed.

The second part, which `--cases` runs alone, has answers of 1 KB and of 100 KB of JSON, from tools with and without an
outputSchema, with and without a record, with all policies and with the defaults, beside forwarders and native cores
(benchmarks/native). All ways take turns; "added" is the median of the rounds, "C forwarders" the median of the ratios
within a round. CPU is the processor time of the proxy for each call, all its threads and what the record does
afterwards included. "lost" are calls that are not in the record.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import cast

from benchmarks.harness import Report
from benchmarks.native import HERE as NATIVE, HOW, compiled

HERE = Path(__file__).parent / "proxy_programs"
Rounds = dict[str, list[float]]
ARGUMENTS = {"text": "A kibibyte of words that a tool is to work on. " * 20, "times": 3, "mode": "plain"}
PEERS = ("SDK streams", "FastMCP proxy")
# It blocks in its writes, so that two full pipes stop it for ever: it cannot have a thousand calls in flight.
FLOOR = "C forwarder"
START_MS, RSS_MIB, P99_MS = 250, 60, 1.0
# Calls that take as long as this hang.
HANG_SECONDS = 120


class Connection:
    """A client that speaks to one proxy, or to the server itself."""

    def __init__(self, name: str, command: list[str], env: dict[str, str]) -> None:
        self.name = name
        started = perf_counter()
        self.process = subprocess.Popen(
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **env}
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.to, self.fro = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.rest = b""
        self.id = 0
        self.calls = 0
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", opening)
        self.start_ms = (perf_counter() - started) * 1000
        self.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.ask("tools/list", {})
        self.ask("tools/call", {"name": "echo", "arguments": ARGUMENTS})

    def tell(self, message: object) -> None:
        os.write(self.to, json.dumps(message).encode() + b"\n")

    def ask(self, method: str, params: object) -> dict[str, object]:
        self.id += 1
        self.calls += method == "tools/call"
        self.tell({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        while True:
            answer = json.loads(self.line())
            if answer.get("id") == self.id and "method" not in answer:
                assert "result" in answer, answer
                return cast("dict[str, object]", answer["result"])

    def line(self) -> bytes:
        while b"\n" not in self.rest:
            got = os.read(self.fro, 1 << 20)
            assert got, f"{self.name} closed the connection"
            self.rest += got
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def request(self) -> bytes:
        self.id += 1
        self.calls += 1
        # No two calls are alike: the same call with the same result again and again would be refused as a circle.
        params = {"name": "echo", "arguments": {**ARGUMENTS, "text": f"{self.id} {ARGUMENTS['text']}"}}
        message = {"jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": params}
        return json.dumps(message).encode() + b"\n"

    def round_trips(self, calls: int) -> list[float]:
        """Seconds of each."""
        times: list[float] = []
        signal.alarm(HANG_SECONDS)
        for _ in range(calls):
            request = self.request()
            started = perf_counter()
            os.write(self.to, request)
            self.line()
            times.append(perf_counter() - started)
        signal.alarm(0)
        return times

    def flight(self, calls: int) -> float:
        """Calls per second with 1,000 in flight. Every call is answered once, and in the order of the questions."""
        first = self.id + 1
        allowed = threading.Semaphore(1000)

        def send() -> None:
            for _ in range(calls):
                allowed.acquire()
                request = memoryview(self.request())
                while request:
                    request = request[os.write(self.to, request) :]

        sender = threading.Thread(target=send, daemon=True)
        signal.alarm(HANG_SECONDS)
        started = perf_counter()
        sender.start()
        for expected in range(first, first + calls):
            line = self.line()
            assert f'"id":{expected},'.encode() in line[:60], (expected, line[:60])
            allowed.release()
        sender.join()
        signal.alarm(0)
        return calls / (perf_counter() - started)

    @property
    def rss_mib(self) -> float:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0

    @property
    def processor_us(self) -> float:
        """The processor time that all threads of the process have taken; ended threads do not count."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1000

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            # The SDK's streams, back to back, do not end with their client. The server then ends with them.
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(5)


def hanging(number: int, frame: object) -> None:
    """Handles the alarm."""
    del number, frame
    raise TimeoutError(f"no answer in {HANG_SECONDS} s")


@contextlib.contextmanager
def built() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("echo_server", "forwarder"):
            source = HERE / f"{name}.c"
            subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", f"{folder}/{name}", str(source)], check=True)
        core = compiled("stdio_core", Path(folder))
        yield {
            "server": f"{folder}/echo_server",
            "forwarder": f"{folder}/forwarder",
            "record": f"{folder}/record",
            "core": str(core),
        }


def ways(paths: dict[str, str]) -> dict[str, tuple[list[str], dict[str, str]]]:
    def python(script: str) -> list[str]:
        return [sys.executable, str(HERE / script), paths["server"]]

    record = {"RECORD": f"{paths['record']}.db"} if not os.environ.get("NOREC") else {}
    found: dict[str, tuple[list[str], dict[str, str]]] = {
        "direct": ([paths["server"]], {}),
        "C forwarder": ([paths["forwarder"], paths["server"]], {}),
        "toolvet": (python("through_toolvet.py"), record),
        "toolvet, verdicts": (python("through_toolvet.py"), {**record, "VERDICT": "1"}),
        "on asyncio": (python("through_asyncio.py"), record),
    }
    if importlib.util.find_spec("uvloop"):
        found["on uvloop"] = (python("through_asyncio.py"), {**record, "UVLOOP": "1"})
    found["SDK streams"] = (python("through_sdk.py"), {})
    found["FastMCP proxy"] = (python("through_fastmcp.py"), {})
    return found


CASES: dict[str, list[str]] = {
    "1 KB of prose": ["1024"],
    "1 KB, outputSchema": ["1024", "schema"],
    "100 KB of JSON in a text": ["102400"],
    "100 KB, outputSchema": ["102400", "schema"],
}
# So long after its last call the record has settled.
SETTLES = 1.2


def case_ways(paths: dict[str, str], answer: list[str]) -> dict[str, tuple[list[str], dict[str, str]]]:
    server = [paths["server"], *answer]

    def python(script: Path, *more: str) -> list[str]:
        return [sys.executable, str(script), *more, *server]

    found: dict[str, tuple[list[str], dict[str, str]]] = {
        "direct": (server, {}),
        FLOOR: ([paths["forwarder"], *server], {}),
    }
    for policies, chosen in (("all policies", {}), ("defaults", {"DEFAULTS": "1"})):
        record = f"{paths['record']}-{'-'.join(answer)}-{len(found)}.db"
        found[policies] = (python(HERE / "through_toolvet.py"), chosen)
        found[f"{policies}, record"] = (python(HERE / "through_toolvet.py"), {**chosen, "RECORD": record})
    for how, (name, _) in HOW.items():
        found[name] = (python(NATIVE / "through_stdio.py", paths["core"], how), {})
    found["SDK streams"] = (python(HERE / "through_sdk.py"), {})
    found["FastMCP proxy"] = (python(HERE / "through_fastmcp.py"), {})
    return found


def measure_case(connections: dict[str, Connection], calls: int, rounds: int) -> tuple[Rounds, Rounds]:
    """The median of a call, and the processor time of the proxy for each, in microseconds, by ways and rounds."""
    took: Rounds = {name: [] for name in connections}
    used: Rounds = {name: [] for name in connections}
    for name, connection in connections.items():
        connection.round_trips(20 if name in PEERS else 200)
    for _ in range(rounds):
        for name, connection in connections.items():
            number = calls // 10 if name in PEERS else calls
            before = connection.processor_us
            took[name].append(statistics.median(connection.round_trips(number)) * 1e6)
            time.sleep(SETTLES if "record" in name else 0)
            used[name].append((connection.processor_us - before) / number)
    return took, used


def show_cases(report: Report, paths: dict[str, str], calls: int, rounds: int, only: list[str]) -> None:
    title = "A `tools/call` over stdio by its answer, the client waiting for each"
    columns = ["answer", "by", "added", "C forwarders", "CPU a call", "record, times the CPU", "lost"]
    rows: list[list[str]] = []
    for case, answer in CASES.items():
        if only and not any(each in case for each in only):
            continue
        found = case_ways(paths, answer)
        asked: dict[str, int] = {}
        with contextlib.ExitStack() as stack:
            connections: dict[str, Connection] = {}
            for name, (command, env) in found.items():
                connections[name] = Connection(name, command, env)
                stack.callback(connections[name].close)
            took, used = measure_case(connections, calls, rounds)
            asked = {name: connection.calls for name, connection in connections.items()}
        added = {
            name: [own - direct for own, direct in zip(each, took["direct"], strict=True)]
            for name, each in took.items()
        }
        for number, name in enumerate(name for name in found if name != "direct"):
            plain = used.get(name.removesuffix(", record"), [])
            share = [with_it / without for with_it, without in zip(used[name], plain, strict=True)]
            times = [own / floor for own, floor in zip(added[name], added[FLOOR], strict=True) if floor > 0]
            cells = [spread(added[name], " µs"), spread(times) if times else "", spread(used[name], " µs")]
            cells.append(spread(share) if name.endswith(", record") else "")
            rows.append(["" if number else case, name, *cells, lost_by(name, found[name][1], asked[name])])
    report.table(title, columns, rows, about="by the clock, the median of the rounds (least to most)")


def lost_by(name: str, env: dict[str, str], asked: int) -> str:
    """The part that a way does not do, or how many of its calls are not in its record."""
    if "RECORD" in env:
        return f"{asked - recorded(env['RECORD']):,} of {asked:,} calls not in the record"
    return {**LOST, **dict(HOW.values())}.get(name, "")


def recorded(path: str) -> int:
    from toolvet.store.store import Store  # noqa: PLC0415 - after the processes were started

    with Store(path, missing="refuse") as store:
        return store.count()


def spread(values: list[float], unit: str = "") -> str:
    """The median, with the least and the most."""
    shown = [f"{each:.1f}" for each in (statistics.median(values), min(values), max(values))]
    return f"{shown[0]}{unit} ({shown[1]} to {shown[2]})"


def percentile(times: list[float], part: float) -> float:
    return sorted(times)[int(len(times) * part)]


def measure(connections: dict[str, Connection], calls: int, rounds: int) -> dict[str, list[list[float]]]:
    """The round trips of each way, by rounds."""
    for connection in connections.values():
        connection.round_trips(200)
    times: dict[str, list[list[float]]] = {name: [] for name in connections}
    for _ in range(rounds):
        for name, connection in connections.items():
            # Ten times as slow, a tenth of the calls: more calls would not change the figure.
            times[name].append(connection.round_trips(calls // 10 if name in PEERS else calls))
    return times


NOTHING_READ = "reads nothing, checks nothing"
LOST = {FLOOR: NOTHING_READ, "SDK streams": NOTHING_READ, "FastMCP proxy": "checks nothing"}


def show(report: Report, connections: dict[str, Connection], rounds: dict[str, list[list[float]]], flight: int) -> None:
    best = {name: min(statistics.median(found) for found in each) * 1e6 for name, each in rounds.items()}
    added = {name: found - best["direct"] for name, found in best.items()}
    times = {name: [time for found in each for time in found] for name, each in rounds.items()}
    tail = percentile(times["direct"], 0.99)
    rows = []
    for name, found in times.items():
        connection = connections[name]
        rate = "" if name in (*PEERS, FLOOR) else f"{connection.flight(flight):,.0f}"
        figures = (f"{best[name]:.1f} µs", f"{added[name]:.1f} µs", f"{percentile(found, 0.99) * 1e6:.0f} µs")
        memory = (f"{connection.start_ms:.0f} ms", f"{connection.rss_mib:.1f} MiB")
        rows.append([name, *figures, *memory, rate, LOST.get(name, "")])
    columns = ["", "median", "added", "p99", "start", "memory", "calls/s, 1,000 in flight", "lost"]
    about = "by the clock, the median of the best round; the record is written"
    report.table("A `tools/call` of 1 KB over stdio", columns, rows, about=about)
    if "toolvet" not in added:
        return
    ours, connection = added["toolvet"], connections["toolvet"]
    p99 = (percentile(times["toolvet"], 0.99) - tail) * 1000
    print()
    if FLOOR in added:
        verdict("median, in C forwarders", ours / added[FLOOR], 2.0, "at most")
    verdict("p99 added, ms", p99, P99_MS, "at most")
    for name, factor in (("FastMCP proxy", 20.0), ("SDK streams", 7.0)):
        if name in added:
            verdict(f"{name} adds this many times as much", added[name] / ours, factor, "at least")
    verdict("start, ms", connection.start_ms - connections["direct"].start_ms, START_MS, "at most")
    verdict("RSS, MiB", connection.rss_mib, RSS_MIB, "at most")


def verdict(what: str, value: float, bound: float, sense: str) -> None:
    met = value <= bound if sense == "at most" else value >= bound
    print(f"  {what}: {value:.2f}, {sense} {bound:g}: {'met' if met else 'MISSED'}")


def soak(connection: Connection, calls: int) -> None:
    """Memory after a tenth of the calls, and after all."""
    connection.flight(calls // 10)
    before = connection.rss_mib
    connection.flight(calls - calls // 10)
    after = connection.rss_mib
    print(f"\nmemory: {before:.1f} MiB after {calls // 10:,} calls, {after:.1f} MiB after {calls:,}")
    verdict("growth, per cent", (after / before - 1) * 100, 10, "at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--flight", type=int, default=20_000, help="calls that are sent without waiting")
    parser.add_argument("--soak", type=int, default=0, help="calls of the memory test (a million take a minute or two)")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--cases", action="store_true", help="the second part alone, with --only for its answers")
    parser.add_argument("--case-calls", type=int, default=300)
    parser.add_argument("--case-rounds", type=int, default=5)
    options = parser.parse_args()
    if shutil.which("cc") is None:
        print("no C compiler here: nothing to measure against")
        return
    signal.signal(signal.SIGALRM, hanging)
    with built() as paths, Report("proxy", peers=["mcp", "fastmcp"]) as report:
        if not options.cases:
            with contextlib.ExitStack() as stack:
                chosen = {name: way for name, way in ways(paths).items() if name in (options.only or name)}
                connections: dict[str, Connection] = {}
                for name, (command, env) in chosen.items():
                    connections[name] = Connection(name, command, env)
                    stack.callback(connections[name].close)
                show(report, connections, measure(connections, options.calls, options.rounds), options.flight)
                if options.soak:
                    soak(connections["toolvet"], options.soak)
        if options.cases or not options.only:
            only = options.only if options.cases else []
            show_cases(report, paths, options.case_calls, options.case_rounds, only)


if __name__ == "__main__":
    main()
