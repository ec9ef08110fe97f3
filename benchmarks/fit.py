"""Measure `fit_response` beside the loop that most people write first, which drops one item and dumps again.

python -m benchmarks.fit
"""

import json
from functools import partial
from typing import Any

from benchmarks.harness import Report, Way

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


OPTIONS: dict[str, dict[str, Any]] = {
    "from the end": {},
    "by a member": {"importance": "score"},
    "by a function": {"importance": lambda item: item["score"]},
    "into an archive": {"archive": ContentArchive()},
    "by a counter": {"counter": tokens},
    "with summaries": {"summarise": lambda item: {"id": item["id"]}},
}
LOOP = "drop one and dump again"
LOST = "no order of importance, no hint at what is missing but a count"


def main() -> None:
    with Report("fit") as report:
        about = f"{COUNT:,} items, {len(json.dumps(DATA)):,} characters of JSON"
        for budget in (2_000, 20_000, 200_000, 10_000_000):
            ways = []
            for name, options in OPTIONS.items():
                fitted = fit_response(DATA, budget, **options)
                assert (tokens if "counter" in options else len)(fitted.to_json()) <= budget
                ways.append(Way(f"toolvet, {name}", partial(fit_response, DATA, budget, **options)))
            ways.append(Way("`json.dumps` of all", partial(json.dumps, DATA), lost="fits nothing"))
            report.compare("`fit_response`", f"to {budget:,} characters", ways, about=about)
        # The loop needs minutes for all items: its time grows with the square of what it drops.
        few = {"items": ITEMS[:500], "total": 500}
        for name, data, budget in (("500 items", few, 20_000), (f"{COUNT:,} items", DATA, 1_600_000)):
            ways = [
                Way("toolvet", partial(fit_response, data, budget)),
                Way(LOOP, partial(naive, data, budget), lost=LOST),
            ]
            report.compare("Beside a loop", f"{name} to {budget:,} characters", ways, case_s=10)


if __name__ == "__main__":
    main()
