"""Count the broken calls that `repair` restores: 5,000 calls of real tools, broken in some forty ways.

Run: python -m benchmarks.repair [FILE of JSON lines with a `schema` each | FOLDER of *.json] [--show KIND]
"""

import json
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from benchmarks.harness import Report, quartiles
from tests.core.schema.repair.breaking import Broken, broken_calls, real_schemas
from tests.core.schema.repair.own_schemas import OWN_SCHEMAS
from tests.core.schema.repair.ways import Text

from toolvet.core.json_value import same
from toolvet.core.schema import compiled, recover, repair

CALLS = 5_000
SEED = 20_260_101


def outcome(broken: Broken) -> tuple[str, str, Any, float]:
    """Return the outcome, the confidence, the repaired value, and the CPU time in microseconds."""
    value = broken.sent
    confidence = "high"
    start = time.thread_time()
    if isinstance(value, Text):
        recovered = recover(value)
        if recovered is None:
            return "none", "", None, (time.thread_time() - start) * 1e6
        value, confidence = recovered.value, recovered.confidence
    if not compiled(broken.schema).is_valid(value):
        found = repair(broken.schema, value)
        if found is None:
            return "none", "", None, (time.thread_time() - start) * 1e6
        value, confidence = found.arguments, max(confidence, found.confidence, key=["high", "medium", "low"].index)
    taken = (time.thread_time() - start) * 1e6
    return ("original" if same(value, broken.call) else "other"), confidence, value, taken


def schemas() -> list[Any]:
    given = [Path(word) for word in sys.argv[1:] if not word.startswith("--") and Path(word).exists()]
    if not given:
        return real_schemas() + OWN_SCHEMAS
    if given[0].is_dir():
        return [json.loads(path.read_bytes()) for path in sorted(given[0].rglob("*.json"))]
    return [json.loads(line)["schema"] for line in given[0].read_text().splitlines()]


def main() -> None:
    shown = sys.argv[sys.argv.index("--show") + 1] if "--show" in sys.argv else ""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    totals: Counter[str] = Counter()
    taken = []
    for broken in broken_calls(schemas(), CALLS, SEED):
        what, confidence, value, time_taken = outcome(broken)
        taken.append(time_taken)
        counts[broken.kind][f"{what} {confidence}".strip()] += 1
        totals["hopeless" if not broken.repairable else "repairable"] += 1
        totals[f"{'' if broken.repairable else 'hopeless '}{what}"] += 1
        if what == "other" and confidence == "high":
            totals["wrong and sure"] += 1
        if shown in (broken.kind, "all") and (what == "original") != broken.repairable:
            print(
                broken.kind,
                "sent",
                repr(broken.sent)[:300],
                "| call",
                repr(broken.call)[:300],
                "| got",
                confidence,
                value,
            )
    columns = ["original high", "original medium", "original low", "other high", "other medium", "other low", "none"]
    print(f"{'':24}" + "".join(f"{column:>16}" for column in columns))
    for kind, found in counts.items():
        print(f"{kind:24}" + "".join(f"{found[column] or '':>16}" for column in columns))
    summary(totals, sorted(taken))


def summary(totals: Counter[str], taken: list[float]) -> None:
    came, total, wrong = totals["original"], totals["repairable"], totals["wrong and sure"]
    low, middle, high = quartiles(taken)
    rows = [
        ["repairable calls that came back as the original", f"{came:,} of {total:,} ({came / total:.1%})"],
        ["a different valid call with confidence high", f"{wrong} ({wrong / CALLS:.2%} of all)"],
        ["hopeless calls that were left alone", f"{totals['hopeless none']:,} of {totals['hopeless']:,}"],
        ["CPU time, median (quartiles)", f"{middle:.0f} µs ({low:.0f} to {high:.0f})"],
        ["95 of 100 below, the longest", f"{taken[int(len(taken) * 0.95)]:,.0f} µs, {taken[-1]:,.0f} µs"],
    ]
    with Report("repair") as report:
        about = f"{CALLS:,} calls, broken in some forty ways; no peer repairs them"
        report.table("Broken calls repaired", ["", ""], rows, about=about)


if __name__ == "__main__":
    main()
