"""What `make ratios` measures: each name has our way and a floor that no change of ours moves.

A floor is a peer's way of the same thing, or other work that a busy machine slows as much as ours. Small loops, such as
one regular expression over a text, are no such floor: they stay in the processor's first cache while our databases and
tables do not, and beside four programs that fill the caches a ratio to them moved by 60 %. One to `jsonschema`, which
walks through much Python code, moved by 20 %. The inputs stand here and nowhere else: a case whose input has changed is
landed again.
"""

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]
import jsonschema_rs
import orjson
from benchmarks import envelope, session
from benchmarks.harness import Way
from benchmarks.startup import started
from tests.core.schema.repair.own_schemas import OWN_SCHEMAS

from toolvet import AnswerStream, check_answer, check_arguments, check_envelope, check_result, fit_response
from toolvet.core.redact import SecretMask
from toolvet.core.schema import invalid_examples, valid_example
from toolvet.core.turn.ledger import ToolCall, ground

CLEAN: Final = (
    "The harbour was quiet in the morning, and the ferries waited for the tide while the town woke up slowly. "
    "Two of the boats had been repaired over the winter; their owners expect a good season and many visitors. "
) * 5
TYPICAL: Final = """\
Here is how I would go about it. However, the right choice depends on how many orders you expect in a day.

1. **Start small.** Put the orders into one table with an index on `customer_id`; although that sounds too simple, it
   carries a shop for years. I think that most teams split their tables far too early.
2. **Measure before you cache.** A page that takes 40 ms needs no cache; a wrong answer from a cache can't be undone.

```python
def total(orders: list[Order]) -> Decimal:
    # Rounded once, at the end: "half even" is what the bank does.
    return sum((order.amount for order in orders), Decimal(0)).quantize(Decimal("0.01"))
```

| orders a day | what to do |
|---|---|
| up to 10,000 | one table, one index |
| more | a partition for each month |

You might also look at the slow queries of last week. Unfortunately the log leaves out those below a second, so I can't
say from here which of them matter; let me know if you would like a script that collects them. For example, "SELECT *
FROM orders" without a limit is worth a look, and so is everything that sorts by a column that has no index.
"""
REFUSAL: Final = "I'm sorry, but I cannot help with that request. " + CLEAN[:300]
TOKENS: Final = re.findall(r"\s?\S{1,12}|\s", TYPICAL)
SEARCH: Final = {"name": "search_items", "inputSchema": {"type": "object"}}
MISSING: Final = {
    "content": [{"type": "text", "text": "Error executing tool search_items: Item 4711 not found"}],
    "isError": True,
}
ROWS: Final = [{"id": number, "name": f"Item {number}", "status": "open", "error": None} for number in range(160)]
LISTED: Final = json.dumps({"items": ROWS})
INVOICES: Final = [
    {"id": f"INV-{2000 + row}", "total": round(19.9 + row * 7.35, 2), "due": f"2026-11-{row + 1:02}"}
    for row in range(28)
]
CALLS: Final = [ToolCall(f"list_{page}", {"page": page}, json.dumps({"invoices": INVOICES})) for page in range(3)]
CLAIM: Final = "Invoice INV-2007 over $71.35 is due on November 8, 2026, and INV-2011 over $100.75 is due later. " * 5
ITEMS: Final = {"items": [{"id": f"item-{number}", "body": "x" * 80} for number in range(500)]}
WORD: Final = re.compile(r"\w+")
PARAGRAPH: Final = json.dumps(ROWS[:16])

Pair = tuple[Way, Way]


def beside_jsonschema(ours: Callable[[], object]) -> Pair:
    """Beside one look at an envelope with ten items."""
    return Way("ours", ours), Way("jsonschema, an envelope", partial(envelope.VALIDATOR.is_valid, envelope.page(10)))


def tools() -> list[dict[str, Any]]:
    return [{"name": f"tool_{number}", "inputSchema": schema} for number, schema in enumerate(OWN_SCHEMAS)]


def valid_arguments() -> Pair:
    inputs = [(tool, valid_example(tool["inputSchema"])) for tool in tools()]
    ready = [(jsonschema_rs.validator_for(tool["inputSchema"]), value) for tool, value in inputs]
    return (
        Way("ours", many=[partial(check_arguments, tool, value) for tool, value in inputs]),
        Way("jsonschema-rs", many=[partial(each.is_valid, value) for each, value in ready]),
    )


def wrong_arguments() -> Pair:
    inputs = [(tool, invalid_examples(tool["inputSchema"])[0].instance) for tool in tools()]
    ready = [(jsonschema.Draft202012Validator(tool["inputSchema"]), value) for tool, value in inputs]

    def errors(judge: Any, value: Any) -> list[Any]:
        return list(judge.iter_errors(value))

    def told(tool: dict[str, Any], value: Any) -> str:
        return check_arguments(tool, value).to_text()

    return (
        Way("ours", many=[partial(told, tool, value) for tool, value in inputs]),
        Way("jsonschema", many=[partial(errors, each, value) for each, value in ready]),
    )


def streamed() -> None:
    stream = AnswerStream()
    for token in TOKENS:
        stream.feed(token)


def through_session() -> Callable[[], object]:
    trip = session.each_in_turn(session.round_trip(session.session()))

    def passed() -> None:
        for _ in range(20):
            trip()

    return passed


def first_verdict() -> Pair:
    ours = "import toolvet; toolvet.check_answer('The sea was quiet in the morning.')"
    # As much of the standard library as a small program imports.
    floor = "import argparse, asyncio, dataclasses, json, logging, tempfile, urllib.request"
    python = [sys.executable, "-c"]
    return Way.timed("ours", [started([*python, ours])]), Way.timed("standard library", [started([*python, floor])])


def pair(ours: Callable[[], object], name: str, floor: Callable[[], object]) -> Pair:
    return Way("ours", ours), Way(name, floor)


def fitted() -> object:
    return fit_response(ITEMS, 20_000)


CASES: Final[dict[str, Callable[[], Pair]]] = {
    "a clean answer": lambda: beside_jsonschema(partial(check_answer, CLEAN)),
    "a typical answer": lambda: beside_jsonschema(partial(check_answer, TYPICAL)),
    "a refusal": lambda: beside_jsonschema(partial(check_answer, REFUSAL)),
    "a stream": lambda: beside_jsonschema(streamed),
    "valid arguments": valid_arguments,
    "wrong arguments, with text": wrong_arguments,
    "a short error": lambda: beside_jsonschema(partial(check_result, SEARCH, {}, MISSING)),
    "a result of 10 KB": lambda: pair(
        partial(check_result, SEARCH, {}, {"content": [{"type": "text", "text": LISTED}]}),
        "orjson",
        partial(orjson.loads, LISTED),
    ),
    "an answer and its calls": lambda: beside_jsonschema(partial(ground, CLAIM, CALLS)),
    "building an envelope": lambda: pair(envelope.by_toolvet, "a dataclass", envelope.by_dataclass),
    "checking an envelope": lambda: beside_jsonschema(partial(check_envelope, envelope.page(10))),
    "fitting a response": lambda: pair(fitted, "json", partial(json.dumps, ITEMS)),
    "a call through the session": lambda: beside_jsonschema(through_session()),
    "masking a quotation": lambda: pair(
        partial(SecretMask(()).text, PARAGRAPH), "its words, `re`", partial(WORD.findall, PARAGRAPH)
    ),
    "the first verdict of a process": first_verdict,
}
