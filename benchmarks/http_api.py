"""The cost of the HTTP API besides the check itself, how soon `toolvet serve` answers, and its memory.

    python -m benchmarks.http_api [CHECKS]

A client on the same machine sends one check after another over one connection, then the same over eight connections at
200 checks a second. The cost of the check itself is measured in this process, for the same bodies, and subtracted. The
peer is a bare Starlette endpoint under the same Uvicorn, which reads the same JSON and sends it back. At last, small
checks are asked for while another client sends answers of a megabyte, one after another.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.harness import Report

from toolvet import check_answer, check_arguments, check_result

SHIP = {
    "name": "find_ship",
    "description": "Find a ship.",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string", "minLength": 2}, "limit": {"type": "integer"}},
        "required": ["name"],
    },
}
DOWN = {"content": [{"type": "text", "text": "Error: connection refused"}], "isError": True}
ANSWER = "The Aurora sails at nine from Lisbon and reaches Porto in the afternoon. " * 8
CALLS = [{"name": "find_ship", "arguments": {"name": "Aurora"}, "result": {"content": [{"type": "text", "text": "9"}]}}]

CASES: dict[str, tuple[dict[str, object], Callable[[], object]]] = {
    "answer": ({"text": ANSWER, "calls": CALLS}, lambda: check_answer(ANSWER, calls=CALLS).to_dict()),
    "arguments": (
        {"tool": SHIP, "arguments": {"name": "A"}},
        lambda: check_arguments(SHIP, {"name": "A"}).to_dict(),
    ),
    "result": ({"tool": SHIP, "result": DOWN}, lambda: check_result(SHIP, None, DOWN).to_dict()),
}

# An answer that takes as long as that does not come.
ANSWER_SECONDS = 30
ENDS_SECONDS = 10

BARE = """
import socket, sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def echo(request):
    return JSONResponse(await request.json())

listener = socket.create_server(("127.0.0.1", 0))
sys.stderr.write(f"http://127.0.0.1:{listener.getsockname()[1]}/\\n")
sys.stderr.flush()
app = Starlette(routes=[Route("/v1/check/{kind}", echo, methods=["POST"])])
config = uvicorn.Config(app, http="h11", ws="none", log_level="error", access_log=False)
uvicorn.Server(config).run(sockets=[listener])
"""


def request(kind: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST /v1/check/{kind} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(content)}\r\n\r\n".encode() + content


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: bytes) -> float:
    began = time.perf_counter()
    writer.write(message)
    async with asyncio.timeout(ANSWER_SECONDS):
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
    return time.perf_counter() - began


async def one_after_another(port: int, message: bytes, count: int) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    took = [await ask(reader, writer, message) for _ in range(count)]
    writer.close()
    return took


async def at_a_rate(port: int, message: bytes, count: int, rate: float, connections: int = 8) -> list[float]:
    async def client(share: int) -> list[float]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        took = []
        for _ in range(count // connections):
            due = time.perf_counter() + connections / rate
            took.append(await ask(reader, writer, message))
            await asyncio.sleep(max(0, due - time.perf_counter()))
        writer.close()
        del share
        return took

    found = await asyncio.gather(*(client(number) for number in range(connections)))
    return [each for one in found for each in one]


async def beside_long_ones(port: int, message: bytes, count: int) -> tuple[list[float], int]:
    """Ask for small checks while another connection sends answers of a megabyte. Returns also how many of these."""
    long = request("answer", {"text": ANSWER * (1_000_000 // len(ANSWER))})
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    done = 0

    async def send_long_ones() -> None:
        nonlocal done
        while True:
            await ask(reader, writer, long)
            done += 1

    sending = asyncio.create_task(send_long_ones())
    took = await at_a_rate(port, message, count, 200)
    if sending.done():
        # It goes on until it is cancelled: what ended it is an error.
        sending.result()
    sending.cancel()
    writer.close()
    return took, done


@contextmanager
def running(command: list[str]) -> Iterator["subprocess.Popen[str]"]:
    """A server, which ends with the block, whatever was raised in it."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(ENDS_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def listening_on(process: "subprocess.Popen[str]") -> int:
    assert process.stderr is not None
    return int(process.stderr.readline().partition("127.0.0.1:")[2].partition("/")[0])


def share(times: Sequence[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] * 1000


def memory(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


Rows = list[list[str]]


def measure(kind: str, work: Callable[[], object], message: bytes, ports: tuple[int, int], count: int) -> Rows:
    """What one check costs beside its own work, and how often that is what the bare endpoint costs."""
    port, bare_port = ports
    own, alone, bare = list[float](), list[float](), list[float]()
    for _ in range(min(count, 2000)):
        start = time.perf_counter()
        work()
        own.append(time.perf_counter() - start)
    for each in (port, bare_port):
        asyncio.run(one_after_another(each, message, 200))
    # In turns, so that what else the machine does hits both.
    for _ in range(8):
        alone += asyncio.run(one_after_another(port, message, count // 8))
        bare += asyncio.run(one_after_another(bare_port, message, count // 8))
    busy = asyncio.run(at_a_rate(port, message, min(count, 2000), 200))
    bare_busy = asyncio.run(at_a_rate(bare_port, message, min(count, 2000), 200))
    cost = share(own, 0.5)

    def row(how: str, ours: list[float], theirs: list[float]) -> list[str]:
        cells = [kind, f"{cost:.2f} ms", how]
        for part in (0.5, 0.99):
            beside, bare_one = share(ours, part) - cost, share(theirs, part)
            cells += [f"{beside:.2f} ms", f"{bare_one:.2f} ms", f"{beside / bare_one:.1f}"]
        return cells

    rate = f"one after another, {len(alone) / sum(alone):.0f} a second"
    return [row(rate, alone, bare), row("200 a second over 8 connections", busy, bare_busy)]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    rows: Rows = []
    with tempfile.TemporaryDirectory() as folder, Report("http_api", peers=["starlette", "uvicorn"]) as report:
        began = time.perf_counter()
        command = [sys.executable, "-m", "toolvet", "serve", "--port", "0", "--store", f"{folder}/a.db"]
        with running(command) as process, running([sys.executable, "-c", BARE]) as bare:
            port = listening_on(process)
            first = time.perf_counter()
            asyncio.run(one_after_another(port, request("envelope", {"response": {}}), 1))
            answered = time.perf_counter()
            told = [
                ["listening after", f"{first - began:.2f} s"],
                ["first check answered after", f"{answered - began:.2f} s"],
                ["memory at the start", f"{memory(process.pid):.0f} MB"],
            ]
            bare_port = listening_on(bare)
            for kind, (body, work) in CASES.items():
                rows += measure(kind, work, request(kind, body), (port, bare_port), count)
            took, done = asyncio.run(beside_long_ones(port, request("arguments", CASES["arguments"][0]), count // 4))
            late = f"{share(took, 0.5):.2f} ms, 99 of 100 below {share(took, 0.99):.2f} ms"
            told.append([f"arguments beside {done} answers of 1 MB", late])
            told.append(["memory after all", f"{memory(process.pid):.0f} MB"])
            process.terminate()
            ended = time.perf_counter()
            process.wait(ENDS_SECONDS)
            told.append(["ended after SIGTERM", f"{time.perf_counter() - ended:.2f} s"])
        columns = ["check", "its own work", "asked", "p50 beside it", "bare Starlette", "times", "p99", "bare", "times"]
        report.table("A check over HTTP", columns, rows, about="by the clock; the bare endpoint sends the JSON back")
        report.table("`toolvet serve`", ["", ""], told)


if __name__ == "__main__":
    main()
