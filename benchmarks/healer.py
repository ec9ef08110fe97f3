"""How many broken calls a program heals that sees only the text of the argument report, never the schema.

Run: python benchmarks/healer.py [--show KIND]
"""

import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.schema.repair.blind_healer import heal, without_correction
from tests.schema.repair.breaking import Text, broken_calls, real_schemas
from tests.schema.repair.own_schemas import OWN_SCHEMAS

from toolvet import check_arguments
from toolvet.schema.json_value import same

CALLS = 2_000
SEED = 20_260_102


def main() -> None:
    shown = sys.argv[sys.argv.index("--show") + 1] if "--show" in sys.argv else ""
    totals: Counter[str] = Counter()
    failed: dict[str, Counter[str]] = defaultdict(Counter)
    for broken in broken_calls(real_schemas() + OWN_SCHEMAS, CALLS, SEED):
        if isinstance(broken.sent, Text):
            continue
        tool = {"name": "tool", "description": "A tool.", "inputSchema": broken.schema}
        totals["calls"] += 1
        for mode in ("with", "without"):

            def report_of(arguments: Any, mode: str = mode, tool: Any = tool) -> str | None:
                report = check_arguments(tool, arguments)
                if report.valid:
                    return None
                return report.to_text() if mode == "with" else without_correction(report.to_text())

            found = heal(broken.sent, report_of)
            if found is None:
                failed[broken.kind][mode] += 1
                if shown in (broken.kind, "all") and mode == "without":
                    print(broken.kind, repr(broken.sent)[:300])
                    print(report_of(broken.sent)[:1500] if shown != "all" else "")
            else:
                totals[mode] += 1
                totals[f"{mode}, in round {found[1]}"] += 1
                totals[f"{mode}, as meant"] += same(found[0], broken.call)
    calls = totals["calls"]
    for mode in ("with", "without"):
        rounds = ", ".join(f"{totals[f'{mode}, in round {turn}']} in round {turn}" for turn in (1, 2, 3))
        print(
            f"{mode} the corrected call: {totals[mode]} of {calls} healed ({totals[mode] / calls:.1%}; {rounds}), "
            f"{totals[f'{mode}, as meant']} as meant"
        )
    for kind, counts in sorted(failed.items()):
        print(f"{kind:24} not healed: {dict(counts)}")


if __name__ == "__main__":
    main()
