"""Measure `check_result` beside a loop of the same phrases in `re`, and check that hostile texts take linear time.

python -m benchmarks.result
"""

import json
import re
from functools import partial
from itertools import pairwise

import orjson
from benchmarks.harness import Report, Way, here, shown

from toolvet.core.checks.result import check_result
from toolvet.core.checks.result.phrases import phrases
from toolvet.core.matching.dialect import translate
from toolvet.core.matching.engine_re import ReEngine

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
YARDSTICK = items(10_000)
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


def main() -> None:
    known = phrases().by_id.values()
    loop = ReEngine([translate(phrase.match, re.IGNORECASE, spans=False) for phrase in known])
    # How fast the machine is: a figure of another one is compared by it.
    yardstick = Way("orjson, 10 KB of JSON read", partial(orjson.loads, YARDSTICK), lost="checks nothing")
    with Report("result", peers=["orjson"]) as report:
        for name, result in CASES.items():
            text = result["content"][0]["text"]  # type: ignore[index]
            message = orjson.dumps(result)
            ways = [
                Way("toolvet", partial(check_result, TOOL, {"query": "x"}, result)),
                Way("the same phrases, `re`", partial(loop.find, text), lost="no verdict"),
                Way("orjson, the result read", partial(orjson.loads, message), lost="checks nothing"),
                yardstick,
            ]
            report.compare("One result", name, ways, about=f"{len(known)} phrases", case_s=5)
        rows = []
        for name, unit in HOSTILE.items():
            texts = [unit * (size // len(unit)) for size in (25_000, 50_000, 100_000)]
            times = [min(here(partial(phrases().scan, text))(1).cpu for _ in range(5)) * 1e6 for text in texts]
            growth = ", ".join(f"{after / before:.1f}" for before, after in pairwise(times))
            rows.append([name, *map(shown, times), growth])
        columns = ["of", "25 KB", "50 KB", "100 KB", "growth"]
        report.table("All phrases over hostile texts", columns, rows, about="CPU time, the least of five")


if __name__ == "__main__":
    main()
