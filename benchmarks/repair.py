"""Count the broken calls that `repair` restores: 5,000 calls of real tools, broken in some forty ways.

Run: python benchmarks/repair.py [FILE of JSON lines with a `schema` each | FOLDER of *.json] [--show KIND]
"""

import json
import statistics
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.schema.repair.breaking import Broken, broken_calls, real_schemas
from tests.schema.repair.own_schemas import OWN_SCHEMAS
from tests.schema.repair.ways import Text

from toolvet.schema import compiled, recover, repair
from toolvet.schema.json_value import same

CALLS = 5_000
SEED = 20_260_101


def outcome(broken: Broken) -> tuple[str, str, Any, float]:
    """Return the outcome, the confidence, the repaired value, and the time in microseconds."""
    value = broken.sent
    confidence = "high"
    start = time.perf_counter()
    if isinstance(value, Text):
        recovered = recover(value)
        if recovered is None:
            return "none", "", None, (time.perf_counter() - start) * 1e6
        value, confidence = recovered.value, recovered.confidence
    if not compiled(broken.schema).is_valid(value):
        found = repair(broken.schema, value)
        if found is None:
            return "none", "", None, (time.perf_counter() - start) * 1e6
        value, confidence = found.arguments, max(confidence, found.confidence, key=["high", "medium", "low"].index)
    taken = (time.perf_counter() - start) * 1e6
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
    came, total = totals["original"], totals["repairable"]
    print(f"\n{total} repairable: {came} came back as the original call ({came / total:.1%})")
    wrong = totals["wrong and sure"]
    print(f"different valid call with confidence high: {wrong} ({wrong / CALLS:.2%} of all)")
    print(f"{totals['hopeless']} hopeless: {totals['hopeless none']} were left alone")
    taken.sort()
    high = taken[int(len(taken) * 0.95)]
    print(f"time: median {statistics.median(taken):.0f} µs, 95 of 100 below {high:.0f} µs, longest {taken[-1]:.0f} µs")


if __name__ == "__main__":
    main()
