"""Measure the check of an answer against the calls of its turn: `python -m benchmarks.grounding [RUNS]`.

Processor time, the median of RUNS runs (default 31) and the quarters around it. "first" and "again" are the comparison
with the calls alone (`ground`), without the check of the answer's own text, which is done anyway: "first" the first one
of a turn, for which nothing is kept of an earlier one, "again" a further one of the same turn, as of another answer to
it. "whole" is all of `check_answer(text, calls=…)` for the first time: that check of the text, and the comparison.
With `PYTHONPATH` set to another version's `src` the same program measures that version.
"""

import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence

from benchmarks.harness import Report

from toolvet import check_answer
from toolvet.core.turn.ledger import ToolCall, ground

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
# Results as objects of Python, as SDKs hand them over, and an answer whose values are all different.
OBJECTS = [
    ToolCall("get_orders", {"page": page}, {"orders": [
        {"id": f"A-{page}{row}", "total": round(10 + row * 3.7 + page, 2), "status": "shipped", "city": "Rome",
         "note": "left at the door of the neighbour, who signed for it"}
        for row in range(12)
    ]})
    for page in range(3)
]  # fmt: skip
ORDERS = "Here is what I found. " + " ".join(
    f"Order A-{page}{row} was shipped to Rome for {round(10 + row * 3.7 + page, 2)} euros."
    for page in range(3)
    for row in range(5)
)
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
    """The processor time of one comparison, in microseconds."""
    begun = time.process_time_ns()
    ground(text, calls)
    return (time.process_time_ns() - begun) / 1e3


def timed_whole(text: str, calls: Sequence[object]) -> float:
    """The same of the comparison and the check of the answer's own text."""
    begun = time.process_time_ns()
    check_answer(text, calls=calls)
    return (time.process_time_ns() - begun) / 1e3


def case(name: str, text: str, calls: Sequence[ToolCall], runs: int) -> None:
    """Print one line, and keep it for the report."""
    found = len(ground(text, calls))
    first: list[float] = []
    again: list[float] = []
    whole: list[float] = []
    for serial in range(runs):
        turn = fresh(calls, serial)
        first.append(timed(text, turn))
        again.append(timed(text, turn))
        whole.append(timed_whole(text, fresh(calls, runs + serial)))
    figures = [_shown(each) for each in (first, again, whole)]
    print(f"{name:50}{len(text):>10,}{len(calls):>6}{''.join(figures)}{found:>10}")
    ROWS_TOLD.append([name, f"{len(text):,}", len(calls), *(each.strip() for each in figures), found])


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
    ROWS_TOLD.append([name, "", len(calls), _shown(every).strip(), "", "", ""])


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 31
    few = max(2, runs // 10)
    print(f"results of {len(RESULT):,} and of {len(LARGE):,} characters; microseconds of processor time")
    print(
        f"{'':50}{'characters':>10}{'calls':>6}{'first':>12}{'':24}{'again':>12}{'':24}{'whole':>12}{'':24}{'findings':>10}"
    )
    case("an answer without values", PLAIN * 10, CALLS, runs)
    case("an answer whose values stand in the results", SENTENCE * 10, CALLS, runs)
    case("the same with a total that follows from them", SENTENCE * 9 + DERIVED, CALLS, runs)
    case("the same of objects, every value another", ORDERS, OBJECTS, runs)
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
        columns = ["", "characters", "calls", "first, µs", "again, µs", "whole, µs", "findings"]
        about = (
            "CPU time, median (quartiles); first and again: beside the check of the answer's own text; first and "
            "whole: nothing is kept of an earlier check of the turn; whole: with the check of the text"
        )
        report.table("Answers held against their calls", columns, ROWS_TOLD, about=about)


if __name__ == "__main__":
    main()
