"""Measure what a proxy adds to a tools/call over HTTP: one client on one connection, a result of a kibibyte.

The rounds of all paths take turns, so that other load on the machine affects all of them alike. Times are in
microseconds for a whole call, there and back.
"""

import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent / "proxy_http"
ROUNDS, CALLS, WARM_UP = 40, 100, 300
PATHS = {
    "direct": None,
    "asyncio forwarder, nothing read": "through_asyncio.py",
    "toolvet, everything on": "through_toolvet.py",
    "Starlette and httpx2, nothing read": "through_starlette.py",
}


class Caller:
    def __init__(self, port: int) -> None:
        self.socket = connect(port)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.count = 0
        self.host = f"127.0.0.1:{port}".encode()

    def call(self) -> float:
        self.count += 1
        body = (
            b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":'
            b'{"query":"opening hours","limit":3}}}' % self.count
        )
        request = (
            b"POST /mcp HTTP/1.1\r\nHost: %b\r\nAccept: application/json, text/event-stream\r\n"
            b"Content-Type: application/json\r\nUser-Agent: benchmark\r\nMCP-Protocol-Version: 2025-11-25\r\n"
            b"Mcp-Session-Id: 6f1c\r\nContent-Length: %d\r\n\r\n%b" % (self.host, len(body), body)
        )
        begin = time.perf_counter()
        self.socket.sendall(request)
        answer = b""
        while not answer.endswith(b'"isError":false}}'):
            part = self.socket.recv(65536)
            assert part, answer
            answer += part
        taken = time.perf_counter() - begin
        assert b'"id":%d,' % self.count in answer, answer
        return taken * 1e6


def connect(port: int) -> socket.socket:
    deadline = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            assert time.monotonic() < deadline, f"nothing listens on {port}"
            time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def rss_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> None:
    upstream = free_port()
    processes = [subprocess.Popen([sys.executable, HERE / "server.py", str(upstream)])]
    callers: dict[str, Caller] = {}
    pids: dict[str, int] = {}
    try:
        connect(upstream).close()
        for name, script in PATHS.items():
            port = upstream
            if script is not None:
                port = free_port()
                process = subprocess.Popen(
                    [sys.executable, HERE / script, str(port), str(upstream)], stderr=subprocess.DEVNULL
                )
                processes.append(process)
                pids[name] = process.pid
            callers[name] = Caller(port)
            for _ in range(WARM_UP):
                callers[name].call()
        times: dict[str, list[float]] = {name: [] for name in PATHS}
        for _ in range(ROUNDS):
            for name, caller in callers.items():
                times[name] += [caller.call() for _ in range(CALLS)]
        base = statistics.median(times["direct"])
        print(f"{'path':38} {'median µs':>10} {'added':>8} {'p99':>8} {'RSS MiB':>8}")
        for name, taken in times.items():
            median = statistics.median(taken)
            p99 = statistics.quantiles(taken, n=100)[98]
            rss = f"{rss_mib(pids[name]):8.0f}" if name in pids else ""
            print(f"{name:38} {median:10.1f} {median - base:8.1f} {p99:8.1f} {rss}")
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


if __name__ == "__main__":
    main()
