"""Measure our share of an assessment's wall time, on a server that takes 5 ms for each answer. Target: under 10 %."""

import asyncio
import sys
from pathlib import Path
from statistics import median

from toolvet.assess import assess
from toolvet.transport import StdioTarget

SERVER = StdioTarget(command=sys.executable, args=(str(Path(__file__).parent / "servers" / "five_ms.py"),))


def main() -> None:
    shares = []
    for _ in range(5):
        report = asyncio.run(assess(SERVER))
        share = report.summary.overhead_share or 0.0
        shares.append(share)
        ours = share * report.duration_ms / report.summary.calls
        calls = f"{report.summary.calls} calls in {report.duration_ms:.0f} ms"
        print(f"{calls}, outside waiting {share:.1%} ({ours:.2f} ms a call)")
    print(f"median share outside waiting for the server: {median(shares):.1%} (target: under 10 %)")


if __name__ == "__main__":
    main()
