"""Measure `check_result` beside a loop of the same phrases in `re`, and check that hostile texts take linear time.

In processor time, the median of many rounds.

python benchmarks/result.py
"""

import json
import re
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from toolvet.checks.result import check_result
from toolvet.checks.result.phrases import phrases
from toolvet.matching.dialect import translate
from toolvet.matching.engine_re import ReEngine

TOOL = {"name": "search_items", "inputSchema": {"type": "object"}}
PROSE = "The harbour was quiet in the morning, and the ferries waited for the tide while the town woke up slowly. "


def answer(text: str, *, is_error: bool = False) -> dict[str, object]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def items(size: int) -> str:
    rows = [{"id": number, "name": f"Item {number}", "status": "open", "error": None} for number in range(size // 62)]
    return json.dumps({"items": rows, "total": len(rows)})


PYTHON = (
    "Traceback (most recent call last):\n"
    + "".join(
        f'  File "/srv/app/lib/part_{n}.py", line {n + 10}, in step_{n}\n    return call({n})\n' for n in range(8)
    )
    + "KeyError: 'total'"
)
NODE = "TypeError: Cannot read properties of undefined (reading 'id')\n" + "\n".join(
    f"    at Object.step{n} (/app/node_modules/server/dist/index.js:{n + 100}:17)" for n in range(8)
)
JAVA = "java.lang.NullPointerException: name is null\n" + "\n".join(
    f"\tat com.example.items.ItemService.find{n}(ItemService.java:{n + 40})" for n in range(20)
)
CASES = {
    "shortest error": answer("Book 7 not found", is_error=True),
    "short error, HTTP status": answer("Request failed with status code 404: Not Found", is_error=True),
    "short error, protocol": answer("MCP error -32602: Invalid arguments for tool search_items", is_error=True),
    "short error, rate limit": answer("Rate limit exceeded. Please try again in 20 seconds.", is_error=True),
    "short error, no known word": answer("The lift is out of its mind again", is_error=True),
    "traceback of Python, .6 KB": answer(PYTHON, is_error=True),
    "stack of Node, .7 KB": answer(NODE, is_error=True),
    "stack of Java, 1.2 KB": answer(JAVA, is_error=True),
    "short error": answer("Error executing tool search_items: Item 4711 not found", is_error=True),
    "short error, crash": answer("TypeError: Cannot read properties of undefined (reading 'id')", is_error=True),
    "short error, JSON": answer('{"error": {"code": 404, "message": "Item not found"}}', is_error=True),
    "short success": answer("Item 4711 was found on shelf 3."),
    "10 KB success, JSON": answer(items(10_000)),
    "10 KB success, prose": answer(PROSE * (10_000 // len(PROSE))),
    "100 KB success, JSON": answer(items(100_000)),
    "100 KB success, prose": answer(PROSE * (100_000 // len(PROSE))),
    "10 KB error, prose": answer("Error: " + PROSE * (10_000 // len(PROSE)), is_error=True),
}
HOSTILE = {
    "letters": "a",
    "not not not": "not ",
    "errors": "Error: not found ",
    "paths": "/home/x ",
    "braces": '{"error":',
    "spaces": " ",
    "File quotes": 'File "',
    "apostrophes": "can\u2019t ",
}


def median_us(run: Callable[[], object], budget: float = 0.25) -> float:
    run()
    start = time.process_time()
    run()
    repeats = max(3, min(2_000, int(0.02 / max(time.process_time() - start, 1e-7))))
    rounds: list[float] = []
    end = time.process_time() + budget
    while time.process_time() < end or len(rounds) < 5:
        start = time.process_time()
        for _ in range(repeats):
            run()
        rounds.append((time.process_time() - start) / repeats)
    return statistics.median(rounds) * 1e6


def main() -> None:
    known = phrases().by_id.values()
    loop = ReEngine([translate(phrase.match, re.IGNORECASE, spans=False) for phrase in known])
    print(f"{len(known)} phrases\n{'':28}{'check_result':>14}{'re loop':>12}{'ratio':>9}")
    for name, result in CASES.items():
        text = result["content"][0]["text"]  # type: ignore[index]
        ours = median_us(partial(check_result, TOOL, {"query": "x"}, result))
        theirs = median_us(partial(loop.find, text), budget=0.1)
        print(f"{name:28}{ours:11.1f} µs{theirs:9.0f} µs{theirs / ours:8.0f}x")
    print(f"\nall phrases over hostile texts{'':10}25 KB      50 KB     100 KB     growth per doubling")
    for name, unit in HOSTILE.items():
        times = [
            median_us(partial(phrases().scan, unit * (size // len(unit))), 0.05) for size in (25_000, 50_000, 100_000)
        ]
        growth = " ".join(f"{after / before:.1f}" for before, after in pairwise(times))
        print(f"{name:36}" + "".join(f"{each:8.0f} µs" for each in times) + f"     {growth}")


if __name__ == "__main__":
    main()
