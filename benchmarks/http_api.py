"""What the HTTP API costs beside the check itself, how soon `toolvet serve` answers, and its memory.

    python benchmarks/http_api.py [CHECKS]

A client on the same machine sends one check after another over one connection, then the same over eight connections at
200 checks a second. What the check itself costs is measured in this process, for the same bodies, and taken off.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

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


def request(kind: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST /v1/check/{kind} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(content)}\r\n\r\n".encode() + content


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: bytes) -> float:
    began = time.perf_counter()
    writer.write(message)
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


def share(times: Sequence[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] * 1000


def memory(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        command = [sys.executable, "-m", "toolvet", "serve", "--port", "0", "--store", f"{folder}/a.db"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            port = int(process.stderr.readline().partition("127.0.0.1:")[2].partition("/")[0])
            first = time.perf_counter()
            asyncio.run(one_after_another(port, request("envelope", {"response": {}}), 1))
            answered = time.perf_counter()
            listening, reply = first - began, answered - began
            print(f"listening after {listening:.2f} s, first check answered after {reply:.2f} s")
            print(f"memory at the start {memory(process.pid):.0f} MB")
            for kind, (body, work) in CASES.items():
                message = request(kind, body)
                asyncio.run(one_after_another(port, message, 200))
                own = []
                for _ in range(min(count, 2000)):
                    start = time.perf_counter()
                    work()
                    own.append(time.perf_counter() - start)
                alone = asyncio.run(one_after_another(port, message, count))
                busy = asyncio.run(at_a_rate(port, message, min(count, 2000), 200))
                cost = share(own, 0.5)
                print(
                    f"{kind}: own work {cost:.2f} ms; beside it: one connection p50 {share(alone, 0.5) - cost:.2f},"
                    f" p99 {share(alone, 0.99) - cost:.2f}; 200 a second p50 {share(busy, 0.5) - cost:.2f},"
                    f" p99 {share(busy, 0.99) - cost:.2f} ms; {count / sum(alone):.0f} a second over one connection"
                )
            print(f"memory after all {memory(process.pid):.0f} MB")
            process.terminate()
            ended = time.perf_counter()
            process.wait()
            print(f"ended {time.perf_counter() - ended:.2f} s after SIGTERM")


if __name__ == "__main__":
    main()
