"""Measure the check of an answer against the calls of its turn: `python -m benchmarks.grounding [RUNS]`.

Processor time, the median of RUNS runs (default 31) and the quarters around it. "first" is the first check of a turn,
for which nothing is kept of an earlier one; "again" is a further check of the same turn, as of another answer to it.
With `PYTHONPATH` set to another version's `src` the same program measures that version.
"""

import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence

from benchmarks.harness import Report

from toolvet.turn.grounding import ToolCall, ground

ROWS = [
    {"id": f"INV-{2000 + row}", "total": round(19.9 + row * 7.35, 2), "due": f"2026-11-{row + 1:02}"}
    for row in range(28)
]
RESULT = json.dumps({"invoices": ROWS})
LARGE_ROWS = [
    {
        "id": f"INV-{20_000 + row}",
        "total": round(19.9 + row * 7.35, 2),
        "due": f"2026-{row % 12 + 1:02}-{row % 28 + 1:02}",
    }
    for row in range(1_700)
]
LARGE = json.dumps({"invoices": LARGE_ROWS})
CALLS = [ToolCall(f"list_invoices_{page}", {"page": page}, RESULT) for page in range(3)]
SENTENCE = "Invoice INV-2007 over $71.35 is due on November 8, 2026, and INV-2011 over $100.75 on November 12, 2026. "
DERIVED = (
    f"Together the invoices come to ${sum(row['total'] for row in ROWS if isinstance(row['total'], float)):,.2f}. "
)
PLAIN = "I looked through the list and found that nothing there is overdue, so there is nothing to do for now. "
LARGE_TOTAL = sum(row["total"] for row in LARGE_ROWS[:40] if isinstance(row["total"], float))

ROWS_TOLD: list[list[object]] = []


def fresh(calls: Sequence[ToolCall], serial: int) -> list[ToolCall]:
    """The same calls with another argument: a turn of which nothing can be kept."""
    return [ToolCall(call.name, {"page": index, "serial": serial}, call.result) for index, call in enumerate(calls)]


def timed(text: str, calls: Sequence[object]) -> float:
    """The processor time of one check, in microseconds."""
    begun = time.process_time_ns()
    ground(text, calls)
    return (time.process_time_ns() - begun) / 1e3


def case(name: str, text: str, calls: Sequence[ToolCall], runs: int) -> None:
    """Print one line, and keep it for the report."""
    found = len(ground(text, calls))
    first: list[float] = []
    again: list[float] = []
    for serial in range(runs):
        turn = fresh(calls, serial)
        first.append(timed(text, turn))
        again.append(timed(text, turn))
    print(f"{name:50}{len(text):>10,}{len(calls):>6}{_shown(first)}{_shown(again)}{found:>10}")
    ROWS_TOLD.append([name, f"{len(text):,}", len(calls), _shown(first).strip(), _shown(again).strip(), found])


def _shown(found: list[float]) -> str:
    low, middle, high = statistics.quantiles(found, n=4) if len(found) > 1 else found * 3
    return f"{middle:>12,.0f} ({low:,.0f} to {high:,.0f})".ljust(36)


def ten_answers() -> Iterator[str]:
    """Ten answers to one question, each with values of the results and a sum of them."""
    for number in range(10):
        row = LARGE_ROWS[number * 37]
        yield f"Invoice {row['id']} over ${row['total']} is one of them; the first 40 come to ${LARGE_TOTAL:,.2f}. " * 3


def turn_of_ten(name: str, calls: Sequence[ToolCall], runs: int) -> None:
    """Print the time of ten answers that are held against the same calls."""
    every: list[float] = []
    for serial in range(runs):
        turn = fresh(calls, serial)
        every.append(sum(timed(text, turn) for text in ten_answers()))
    print(f"{name:50}{'':>10}{len(calls):>6}{_shown(every)}")
    ROWS_TOLD.append([name, "", len(calls), _shown(every).strip(), "", ""])


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 31
    few = max(2, runs // 10)
    print(f"results of {len(RESULT):,} and of {len(LARGE):,} characters; microseconds of processor time")
    print(f"{'':50}{'characters':>10}{'calls':>6}{'first':>12}{'':24}{'again':>12}{'':24}{'findings':>10}")
    case("an answer without values", PLAIN * 10, CALLS, runs)
    case("an answer whose values stand in the results", SENTENCE * 10, CALLS, runs)
    case("the same with a total that follows from them", SENTENCE * 9 + DERIVED, CALLS, runs)
    case("no call at all", PLAIN * 10, [], runs)
    case("a result of 100 KB, without values", PLAIN * 10, [ToolCall("list_invoices", {}, LARGE)], runs)
    case("a result of 100 KB, with values and a sum", next(ten_answers()), [ToolCall("list_invoices", {}, LARGE)], runs)
    turn_of_ten("ten answers, a result of 100 KB", [ToolCall("list_invoices", {}, LARGE)], few)
    turn_of_ten("ten answers, three results of 100 KB", [ToolCall("list_invoices", {}, LARGE)] * 3, few)
    numbers = " ".join(str(10_007 + each * 7) for each in range(150_000))
    case("1 MB answer of numbers", numbers, CALLS, few)
    case("1 MB result", SENTENCE * 10, [ToolCall("dump", {}, json.dumps(ROWS * 600))], few)
    case("1 MB result of numbers, an unsupported number", "It costs $4,711.23.", [ToolCall("dump", {}, numbers)], few)
    many = [ToolCall("list_invoices", {"page": each}, RESULT) for each in range(1000)]
    case("1,000 calls", SENTENCE * 10 + DERIVED, many, few)
    case("1 MB of one claim", "I sent the email. " * 55_000, [], few)
    case("1 MB of one letter", "a" * 1_000_000, CALLS, few)
    case("1 MB of hyphens and letters", "a-" * 500_000, CALLS, few)
    case("1 MB of quotation marks", '"' * 1_000_000, CALLS, few)
    with Report("grounding") as report:
        columns = ["", "characters", "calls", "first, µs", "again, µs", "findings"]
        about = "CPU time, median (quartiles); first: nothing is kept of an earlier check of the turn"
        report.table("Answers held against their calls", columns, ROWS_TOLD, about=about)


if __name__ == "__main__":
    main()
