"""Measure `fit_response` beside the loop that most people write first, which drops one item and dumps again.

python benchmarks/fit.py
"""

import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from toolvet import ContentArchive, fit_response

COUNT = 10_000
ITEMS = [
    {"id": f"item-{n}", "title": f"Title number {n}", "score": (n * 7919) % 997 / 997, "body": "x" * 80}
    for n in range(COUNT)
]
DATA = {"items": ITEMS, "total": COUNT}


def naive(data: dict[str, Any], budget: int) -> dict[str, Any]:
    """No checks, no order of importance, no hint at what is missing but a count; and still it measures every time."""
    kept = list(data["items"])
    while True:
        response = {
            "success": True,
            "data": {**data, "items": kept},
            "error": None,
            "meta": {
                "version": "response-v2",
                "content_fidelity": "partial",
                "dropped": len(data["items"]) - len(kept),
            },
        }
        if len(json.dumps(response)) <= budget:
            return response
        kept.pop()


def tokens(text: str) -> int:
    """As slow as a fast tokeniser is not; what matters is how often it is asked."""
    return len(text) // 4 + 1


def took(run: Callable[[], object], rounds: int) -> float:
    """Milliseconds of processor time, the median of several runs."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times) * 1000


def main() -> None:
    print(f"fit_response, {COUNT:,} items, {len(json.dumps(DATA)):,} characters of JSON")
    cases: dict[str, dict[str, Any]] = {
        "from the end": {},
        "by a member": {"importance": "score"},
        "by a function": {"importance": lambda item: item["score"]},
        "into an archive": {"archive": ContentArchive()},
        "by a counter": {"counter": tokens},
        "with summaries": {"summarise": lambda item: {"id": item["id"]}},
    }
    for budget in (2_000, 20_000, 200_000):
        for name, options in cases.items():
            fitted = fit_response(DATA, budget, **options)
            assert (tokens if "counter" in options else len)(fitted.to_json().decode()) <= budget
            kept = len(fitted.data["items"])
            ours = took(partial(fit_response, DATA, budget, **options), 7)
            print(f"  budget {budget:>9,}  {name:16}{ours:9.1f} ms   {kept:>6,} items kept")
    whole = took(partial(fit_response, DATA, 10_000_000), 7)
    print(f"  nothing to do             {whole:9.1f} ms")
    # The loop needs minutes for all items: its time grows with the square of what it drops.
    few = {"items": ITEMS[:500], "total": 500}
    theirs, ours = took(partial(naive, few, 20_000), 3), took(partial(fit_response, few, 20_000), 7)
    print(f"500 items to 20,000 characters: toolvet {ours:.1f} ms, drop one and dump again {theirs:.1f} ms")
    theirs = took(partial(naive, DATA, 1_600_000), 1)
    ours = took(partial(fit_response, DATA, 1_600_000), 3)
    print(f"{COUNT:,} items to 1,600,000 characters: toolvet {ours:.1f} ms, drop one and dump again {theirs:.0f} ms")


if __name__ == "__main__":
    main()
