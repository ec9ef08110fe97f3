"""Measure what a proxy adds to a tools/call over HTTP, and how many calls a second it carries: a result of a kibibyte.

    python -m benchmarks.proxy_http [--rounds 5] [--seconds 0.4] [--connections 1 50 300] [--only NAME …]

All paths take turns within each round, so that other load on the machine affects them alike; the figures are medians
over the rounds, with the lowest and the highest behind. On one connection the client waits for each answer ("added" is
the median of a call minus the direct one, in microseconds); on more of them each connection waits for its own. "CPU" is
the processor's time of the proxy alone, in microseconds a call, its threads and what they write later included: the
figure that other load disturbs least. "lost" are calls without their answer, and, with a record, calls that are not in
the store. nginx is the floor for any program that reads HTTP, the two forwarders for Python, and the native cores
(benchmarks/native) say what compiled code could give; nginx, FastMCP's proxy and the cores are left out where they or
`cc` are not installed. The last table holds toolvet against its goals; ratios are the medians of those of the rounds.
"""

import argparse
import importlib.util
import os
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness import Report
from benchmarks.native import HERE as NATIVE, HOW, compiled

HERE = Path(__file__).parent / "proxy_http_programs"
WARM_UP = 300
WARM_SECONDS = 10.0
# One round has to do: on many connections each call takes seconds.
SLOW = "FastMCP's proxy"
DIRECT, NGINX, ASYNCIO = "direct", "nginx", "asyncio forwarder, nothing read"
RECORDED, UNRECORDED = "toolvet, record and metrics", "toolvet, no record"
LOST = {NGINX: "checks nothing", SLOW: "checks nothing", **dict(HOW.values())}
# As servers make them: the proxy takes it for a credential, which the record must not show.
SESSION = b"3f2b8c1e-90ab-4cde-8f01-23456789abcd"
RESTED_SECONDS = 0.3
BODY = (
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":'
    b'{"query":"opening hours","limit":3}}}'
)
HEAD = (
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: application/json, text/event-stream\r\n"
    b"Content-Type: application/json\r\nUser-Agent: benchmark\r\nMCP-Protocol-Version: 2025-11-25\r\n%b"
    b"Content-Length: %d\r\n\r\n%b"
)


@dataclass
class Figures:
    """The figures of one path with some number of connections, a value for each round."""

    added: list[float] = field(default_factory=list[float])
    rates: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])


class Client:
    """One connection; `ask` sends a call, `take` reads what came of its answer."""

    def __init__(self, port: int, session: bytes) -> None:
        self.socket = connect(port)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port, self.session, self.count, self.answer = port, session, 0, b""
        self.is_cut = False
        self.asked = 0.0

    def ask(self) -> None:
        self.count += 1
        body = BODY % self.count
        session = b"Mcp-Session-Id: %b\r\n" % self.session if self.session else b""
        self.asked = time.perf_counter()
        try:
            self.socket.sendall(HEAD % (self.port, session, len(body), body))
        except OSError:
            # `take` says so.
            self.is_cut = True

    def take(self) -> bool | None:
        """Whether the answer is the right one; None while it is incomplete."""
        try:
            part = self.socket.recv(65536)
        except OSError:
            part = b""
        self.is_cut = self.is_cut or not part
        self.answer += part
        head, end, body = self.answer.partition(b"\r\n\r\n")
        if part and (not end or len(body) < length_in(head)):
            return None
        self.answer = b""
        return head.startswith(b"HTTP/1.1 200") and b'"id":%d,' % self.count in body and b'"isError":false' in body


def length_in(head: bytes) -> int:
    at = head.lower().find(b"content-length:")
    return int(head[at + 15 :].partition(b"\r\n")[0]) if at >= 0 else 0


class Way:
    """One way to the server: a port, and the process whose time counts."""

    def __init__(self, name: str, port: int, process: "subprocess.Popen[bytes] | None", store: Path | None) -> None:
        self.name, self.port, self.process, self.store = name, port, process, store
        self.figures: dict[int, Figures] = {}
        self.asked = self.lost = 0
        # With this many connections it never answered in time: it is not asked again.
        self.silent: set[int] = set()
        # FastMCP opens no session here, and would refuse an unknown one.
        self.session = b"" if name.startswith("FastMCP") else SESSION

    def cpu(self) -> float:
        """Return the processor's time of the process so far, in seconds."""
        return 0.0 if self.process is None else time.clock_gettime((~self.process.pid << 3) | 2)

    def run(self, clients: list[Client], until: Callable[[int], bool]) -> list[float]:
        """Call on all these connections at once, until `until` accepts the number of answers."""
        times: list[float] = []
        with select.epoll() as poll:
            by_number = {client.socket.fileno(): client for client in clients}
            for number, client in by_number.items():
                poll.register(number, select.EPOLLIN)
                client.ask()
            self.asked += len(clients)
            while by_number:
                events = poll.poll(20)
                if not events:
                    self.lost += len(by_number)
                    return times
                for number, _ in events:
                    client = by_number[number]
                    good = client.take()
                    if good is None:
                        continue
                    times.append(time.perf_counter() - client.asked)
                    self.lost += not good
                    if client.is_cut or until(len(times)):
                        del by_number[number]
                        poll.unregister(number)
                    else:
                        client.ask()
                        self.asked += 1
        return times

    def measure(self, connections: int, seconds: float) -> None:
        known = self.figures.get(connections)
        if connections in self.silent or (known is not None and self.name == SLOW):
            return
        # New ones each time: servers close those that rest for long.
        clients = [Client(self.port, self.session) for _ in range(connections)]
        warm = time.perf_counter() + WARM_SECONDS
        self.run(clients, lambda count: count >= WARM_UP or time.perf_counter() > warm)
        time.sleep(RESTED_SECONDS if self.store else 0)
        begun, cpu = time.perf_counter(), self.cpu()
        times = self.run(clients, lambda _: time.perf_counter() - begun > seconds)
        taken = time.perf_counter() - begun
        if not times:
            self.silent.add(connections)
        for client in clients:
            client.socket.close()
        if not times:
            return
        # The record is written a moment later.
        time.sleep(RESTED_SECONDS if self.store else 0)
        figures = self.figures.setdefault(connections, Figures())
        figures.added.append(statistics.median(times) * 1e6)
        figures.rates.append(len(times) / taken)
        figures.cpu.append((self.cpu() - cpu) / len(times) * 1e6)


def connect(port: int) -> socket.socket:
    deadline = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            assert time.monotonic() < deadline, f"nothing listens on {port}"
            time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def running(command: list[str], folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with (folder / "stderr").open("ab") as stderr:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, cwd=folder)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def commands(folder: Path, upstream: int) -> Iterator[tuple[str, int, list[str] | None, Path | None]]:
    """Yield each path: its name, its port, the command that serves it and the store that it records into."""

    def script(name: str, *more: str) -> tuple[int, list[str]]:
        port = free_port()
        return port, [sys.executable, str(HERE / name), str(port), str(upstream), *more]

    yield DIRECT, upstream, None, None
    nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if nginx is not None:
        port = free_port()
        config = folder / "nginx.conf"
        text = (HERE / "nginx.conf").read_text()
        config.write_text(text.replace("PORT", str(port)).replace("UPSTREAM", str(upstream)))
        yield NGINX, port, [nginx, "-p", str(folder), "-c", str(config)], None
    if importlib.util.find_spec("uvloop") is not None:
        yield "uvloop forwarder, nothing read", *script("through_asyncio.py", "protocols"), None
    yield ASYNCIO, *script("through_asyncio.py", "streams"), None
    store = folder / "record.db"
    yield RECORDED, *script("through_toolvet.py", str(store)), store
    yield UNRECORDED, *script("through_toolvet.py"), None
    core = compiled("http_core", folder)
    for how, (name, _) in HOW.items() if core is not None else ():
        port = free_port()
        command = [sys.executable, str(NATIVE / "through_http.py"), str(port), str(upstream), str(core), how]
        yield name, port, command, None
    yield "Starlette and httpx2, nothing read", *script("through_starlette.py"), None
    if importlib.util.find_spec("fastmcp") is not None:
        yield SLOW, *script("through_fastmcp.py"), None


def recorded(store: Path) -> int:
    from toolvet.store.store import Store  # noqa: PLC0415 - after the processes were started

    opened = Store(store)
    opened.open()
    try:
        return opened.count()
    finally:
        opened.close()


def spread(values: list[float], digits: int = 0) -> str:
    return f"{statistics.median(values):8.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def show(report: Report, paths: list[Way], connections: int) -> None:
    direct = statistics.median(paths[0].figures[connections].added)
    rows = []
    for path in paths:
        figures = path.figures.get(connections)
        if figures is None or connections in path.silent:
            rows.append([path.name, "no answer in 20 s", "", "", f"{path.lost:,} of {path.asked:,} calls"])
            continue
        added = spread([value - direct for value in figures.added])
        cells = (added, spread(figures.rates), spread(figures.cpu, 1))
        unrecorded = "" if path.store is None else f"; {path.asked - recorded(path.store):,} not in the record"
        lost = f"{path.lost:,} of {path.asked:,} calls{unrecorded}" if path.lost or unrecorded else ""
        lost = lost or LOST.get(path.name, "")
        rows.append([path.name, *(cell.strip() for cell in cells), lost])
    title = f"A `tools/call` over HTTP, {connections} connection{'s' if connections > 1 else ''}"
    columns = ["", "added, µs", "calls/s", "CPU of the proxy, µs a call", "lost, of all connections"]
    report.table(title, columns, rows, about="by the clock, the median of the rounds (least-most)")


def ratio(over: list[float], under: list[float]) -> str:
    """The median of the ratios within the rounds."""
    found = [one / other for one, other in zip(over, under, strict=True) if other > 0]
    return spread(found, 2).strip() if found else ""


def show_goals(report: Report, paths: list[Way], counts: list[int]) -> None:
    """The time the proxy adds against nginx, its load against a forwarder, the cost of the record and the metrics."""
    by_name = {path.name: path.figures for path in paths}
    ours = by_name.get(RECORDED)
    if ours is None:
        return
    rows = []
    for count in counts:
        direct = by_name[DIRECT][count].added

        def added(name: str, count: int = count, direct: list[float] = direct) -> list[float]:
            return [own - base for own, base in zip(by_name[name][count].added, direct, strict=True)]

        if count == 1 and NGINX in by_name:
            rows.append(["added on one connection, times nginx's", ratio(added(RECORDED), added(NGINX)), "at most 2"])
        elif ASYNCIO in by_name:
            told = f"calls a second on {count} connections, of the asyncio forwarder's"
            rows.append([told, ratio(ours[count].rates, by_name[ASYNCIO][count].rates), "at least 0.5"])
        if UNRECORDED in by_name:
            without = by_name[UNRECORDED][count].cpu
            share = [1 - less / more for more, less in zip(ours[count].cpu, without, strict=True)]
            told = f"record and metrics, of the CPU on {count} connection{'s' if count > 1 else ''}"
            rows.append([told, spread(share, 2).strip(), "at most 0.2"])
    report.table("The proxy over HTTP against its goals", ["", "measured", "goal"], rows, about="medians (least-most)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 50, 300])
    parser.add_argument("--only", nargs="+", default=[])
    chosen = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        upstream = free_port()
        paths: list[Way] = []
        with ExitStack() as processes:
            processes.enter_context(running([sys.executable, str(HERE / "server.py"), str(upstream)], folder))
            connect(upstream).close()
            for name, port, command, store in commands(folder, upstream):
                if name != "direct" and chosen.only and not any(word in name for word in chosen.only):
                    continue
                process = None if command is None else processes.enter_context(running(command, folder))
                paths.append(Way(name, port, process, store))
            for _ in range(chosen.rounds):
                for connections in chosen.connections:
                    for path in paths:
                        path.measure(connections, chosen.seconds)
        with Report("proxy_http", peers=["aiohttp", "uvloop", "starlette", "fastmcp"]) as report:
            for connections in chosen.connections:
                show(report, paths, connections)
            show_goals(report, paths, chosen.connections)


if __name__ == "__main__":
    main()
