"""Measure our share of an assessment's wall time, on a server that takes 5 ms for each answer. Target: under 10 %."""

import asyncio
import sys
from pathlib import Path
from statistics import median

from benchmarks.harness import Report

from toolvet.assess import assess
from toolvet.mcp.transport import StdioTarget

SERVER = StdioTarget(command=sys.executable, args=(str(Path(__file__).parent / "servers" / "five_ms.py"),))


def main() -> None:
    shares = []
    rows = []
    for _ in range(5):
        report = asyncio.run(assess(SERVER))
        share = report.summary.overhead_share or 0.0
        shares.append(share)
        ours = share * report.duration_ms / report.summary.calls
        rows.append([report.summary.calls, f"{report.duration_ms:.0f} ms", f"{share:.1%}", f"{ours:.2f} ms"])
    with Report("assess") as told:
        about = (
            f"of a server that takes 5 ms for each answer, by the clock; median share {median(shares):.1%}, goal 10 %"
        )
        told.table("An assessment", ["calls", "in all", "our share", "for a call"], rows, about=about)


if __name__ == "__main__":
    main()
