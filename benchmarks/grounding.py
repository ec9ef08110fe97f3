"""Measure the check of an answer against the calls of its turn: `python benchmarks/grounding.py`."""

import json
import time
from collections.abc import Callable, Sequence

from toolvet.turn.grounding import ToolCall, ground

ROWS = [
    {"id": f"INV-{2000 + row}", "total": round(19.9 + row * 7.35, 2), "due": f"2026-11-{row + 1:02}"}
    for row in range(28)
]
RESULT = json.dumps({"invoices": ROWS})
CALLS = [ToolCall(f"list_invoices_{page}", {"page": page}, RESULT) for page in range(3)]
SENTENCE = "Invoice INV-2007 over $71.35 is due on November 8, 2026, and INV-2011 over $100.75 on November 12, 2026. "
DERIVED = (
    f"Together the invoices come to ${sum(row['total'] for row in ROWS if isinstance(row['total'], float)):,.2f}. "
)
PLAIN = "I looked through the list and found that nothing there is overdue, so there is nothing to do for now. "


def best(run: Callable[[], object], rounds: int) -> float:
    """The shortest of `rounds` runs, in seconds."""
    shortest = float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        run()
        shortest = min(shortest, time.perf_counter() - begun)
    return shortest


def case(name: str, text: str, calls: Sequence[object], rounds: int = 200) -> None:
    """Print one line."""
    found = len(ground(text, calls))
    seconds = best(lambda: ground(text, calls), rounds)
    print(f"{name:58} {len(text):>9,} characters {len(calls):>5} calls {seconds * 1e6:>12,.0f} µs   {found} findings")


def main() -> None:
    print(f"three results of {len(RESULT):,} characters each")
    case("an answer without values", PLAIN * 10, CALLS)
    case("an answer whose values stand in the results", SENTENCE * 10, CALLS)
    case("the same with a total that follows from them", SENTENCE * 9 + DERIVED, CALLS)
    case("no call at all", PLAIN * 10, [])
    numbers = " ".join(str(10_007 + each * 7) for each in range(150_000))
    case("1 MB answer of numbers", numbers, CALLS, 3)
    case("1 MB result", SENTENCE * 10, [ToolCall("dump", {}, json.dumps(ROWS * 600))], 3)
    case("1 MB result of numbers, an unsupported number", "It costs $4,711.23.", [ToolCall("dump", {}, numbers)], 3)
    case(
        "1,000 calls",
        SENTENCE * 10 + DERIVED,
        [ToolCall("list_invoices", {"page": each}, RESULT) for each in range(1000)],
        3,
    )
    case("1 MB of one claim", "I sent the email. " * 55_000, [], 3)
    case("1 MB of one letter", "a" * 1_000_000, CALLS, 3)
    case("1 MB of hyphens and letters", "a-" * 500_000, CALLS, 3)
    case("1 MB of quotation marks", '"' * 1_000_000, CALLS, 3)


if __name__ == "__main__":
    main()
