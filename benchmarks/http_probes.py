"""Measure the probes of the HTTP transport on a local server: requests, and milliseconds in all and for each."""

import asyncio
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.harness import Report

from toolvet.assess.http_probes import HttpProbing
from toolvet.mcp.transport import HttpTarget

SERVER = Path(__file__).parents[1] / "tests" / "servers" / "over_http.py"
STYLES = ("fastmcp", "mcpserver", "lowlevel")


async def probed(url: str) -> HttpProbing:
    """The probes of both eras, sent once."""
    probing = HttpProbing(HttpTarget(url), eras=("legacy", "modern"), timeout=5)
    await probing.run()
    return probing


def main() -> None:
    rows = []
    for style in STYLES:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port: int = free.getsockname()[1]
        command = [sys.executable, str(SERVER), style, str(port)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                while True:
                    try:
                        socket.create_connection(("127.0.0.1", port), timeout=1).close()
                        break
                    except OSError:
                        time.sleep(0.05)
                runs = [asyncio.run(probed(f"http://127.0.0.1:{port}/mcp")) for _ in range(7)]
            finally:
                server.kill()
        taken = median(1000 * run.seconds for run in runs)
        rows.append([style, runs[0].requests, f"{taken:.0f} ms", f"{taken / runs[0].requests:.1f} ms"])
    with Report("http_probes", peers=["mcp", "fastmcp"]) as report:
        columns = ["server", "requests", "in all", "each"]
        report.table("The probes of the HTTP transport", columns, rows, about="by the clock, the median of 7")


if __name__ == "__main__":
    main()
