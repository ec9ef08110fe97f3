"""Count the broken calls that a program can fix with only the text of the argument report, without the schema.

Run: python -m benchmarks.healer [--show KIND]
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.harness import Report
from tests.core.schema.repair.blind_healer import heal, without_correction, without_examples
from tests.core.schema.repair.breaking import broken_calls, real_schemas
from tests.core.schema.repair.own_schemas import OWN_SCHEMAS
from tests.core.schema.repair.ways import Text

from toolvet import check_arguments
from toolvet.core.json_value import same

CALLS = 2_000
SEED = 20_260_102


MODES: dict[str, Callable[[str], str]] = {
    "whole text": str,
    "without the corrected call": without_correction,
    "without it and the examples": without_examples,
}


def main() -> None:
    shown = sys.argv[sys.argv.index("--show") + 1] if "--show" in sys.argv else ""
    totals: Counter[str] = Counter()
    failed: dict[str, Counter[str]] = defaultdict(Counter)
    for broken in broken_calls(real_schemas() + OWN_SCHEMAS, CALLS, SEED):
        tool = {"name": "tool", "description": "A tool.", "inputSchema": broken.schema}
        # A text that is not JSON never reaches a tool, and a call that is sent as a JSON text is read as JSON.
        if isinstance(broken.sent, Text) or check_arguments(tool, broken.sent).valid:
            continue
        totals["calls"] += 1
        for mode, read in MODES.items():
            found = heal(broken.sent, partial(report_of, tool, read))
            if found is None:
                failed[broken.kind][mode] += 1
                if shown in (broken.kind, "all"):
                    print(mode, broken.kind, repr(broken.sent)[:300])
                    print("" if shown == "all" else report_of(tool, read, broken.sent))
            else:
                totals[mode] += 1
                totals[f"{mode}, in round {found[1]}"] += 1
                totals[f"{mode}, as meant"] += same(found[0], broken.call)
    shares(totals)
    for kind, counts in sorted(failed.items()):
        print(f"{kind:24} not healed: {dict(counts)}")


def shares(totals: Counter[str]) -> None:
    calls = totals["calls"]
    rows = [
        [mode, f"{totals[mode] / calls:.1%}"]
        + [totals[f"{mode}, in round {turn}"] for turn in (1, 2, 3)]
        + [f"{totals[f'{mode}, as meant'] / calls:.1%}"]
        for mode in MODES
    ]
    about = f"{calls:,} broken calls, read and corrected by a program that sees the text of the report and no schema"
    with Report("healer") as report:
        columns = ["what it reads", "healed", "in round 1", "2", "3", "as meant"]
        report.table("Calls healed by the text of the report", columns, rows, about=about)


def report_of(tool: Any, read: Callable[[str], str], arguments: Any) -> str | None:
    """Return the text that the caller reads: None when the arguments are valid."""
    report = check_arguments(tool, arguments)
    return None if report.valid else read(report.to_text())


if __name__ == "__main__":
    main()
