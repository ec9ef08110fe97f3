"""Run the study and write docs/healing.md: `make healing`, or python -m benchmarks.healing [--calls N].

With `--model NAME` (and `--base-url URL`; the key is OPENAI_API_KEY) a model is a further healer, whose figures are
printed and not written: they are another matter for each model and day. `--calls` looks at the first N and writes
nothing. `--page` writes the page again from the figures.
"""

import argparse
import asyncio
import datetime as dt
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from benchmarks.healing import calls, page
from benchmarks.healing.calls import Broken
from benchmarks.healing.libraries import Judged, Library, libraries
from benchmarks.healing.model import Model
from benchmarks.healing.study import HEALERS, Heal, Outcome, Study

BUILD: Final = Path(__file__).parents[2] / "build" / "healing"
LENGTHS: Final = [120, 300, 900]  # Characters: bounds of the classes of texts.


async def study(total: int, model: Model | None) -> dict[str, Any]:
    """The figures."""
    (BUILD / "models").mkdir(parents=True, exist_ok=True)
    pools = calls.tools(BUILD)
    rows = calls.build(pools)
    sha256 = calls.write(rows, pools, BUILD / "calls.jsonl.gz")
    rows = rows[:total]
    tools = [tool for tool, _ in pools]
    async with libraries(tools, BUILD / "models") as (found, versions):
        run = Study(tools, rows, found)
        first = {library.name: await run.first(library) for library in found}
        # The same calls for all: those that every library refuses.
        refused = [
            number for number in range(len(rows)) if all(each[number].text is not None for each in first.values())
        ]
        print(f"{len(rows)} calls, of which all refuse {len(refused)}; {versions}", flush=True)
        results: dict[str, Any] = {}
        healers = await _healers(run, model)
        for library in found:
            entry = results[library.name] = _accepted(first[library.name])
            made = {name: await run.outcomes(library, healer(library)) for name, healer in healers.items()}
            entry |= {"healers": {name: _counts(made[name], refused, rows) for name in made}}
            own = [made[name] for name in HEALERS_OF_THE_TABLE if name in made]
            entry["at once, as meant"] = sum(each.step == 0 and each.meant for each in own[0])
            entry["at once, not as meant"] = sum(each.step == 0 and not each.meant for each in own[0])
            entry["lengths"] = _by_length(first[library.name], own)
            print(library.name, _line(entry, len(refused)), flush=True)
    return {
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "versions": versions,
        "calls": len(rows),
        "refused by all": len(refused),
        "sha256": sha256,
        "leaderboard": sum(tools[row.tool].source == "leaderboard" for row in rows),
        "tools": len({row.tool for row in rows}),
        "faults": {fault: sum(rows[each].fault == fault for each in refused) for fault in calls.FAULTS},
        "libraries": results,
    }


HEALERS_OF_THE_TABLE: Final = ["rules", "search", "ranker"]


async def _healers(run: Study, model: Model | None) -> Mapping[str, Callable[[Library], Callable[[Broken], Heal]]]:
    def the_same(heal: Heal) -> Callable[[Library], Callable[[Broken], Heal]]:
        return lambda _: lambda _: heal

    found = {name: the_same(heal) for name, heal in HEALERS.items()}
    found["ranker"] = await run.rankers()
    if model is not None:
        found["model"] = the_same(lambda call, text, _: model.heal(call, text))
    return found


def _accepted(judged: Sequence[Judged]) -> dict[str, Any]:
    lengths = [len(each.text) for each in judged if each.text is not None]
    low, _, high = quantiles(lengths, n=4)
    return {"refused": len(lengths), "characters": [round(low), round(median(lengths)), round(high)]}


def _counts(outcomes: Sequence[Outcome], refused: Sequence[int], rows: Sequence[Broken]) -> dict[str, Any]:
    """Of the calls that all refuse: by step, not as meant, by fault. Of all calls: as meant in the end."""
    same = [outcomes[number] for number in refused]
    by_fault = {
        fault: sum(outcomes[each].meant for each in refused if rows[each].fault == fault) for fault in calls.FAULTS
    }
    return {
        "in one": sum(each.step == 1 and each.meant for each in same),
        "in three": sum(each.meant for each in same),
        "not as meant": sum(each.step is not None and not each.meant for each in same),
        "of all": sum(each.meant for each in outcomes),
        "faults": by_fault,
    }


def _by_length(judged: Sequence[Judged], made: Sequence[Sequence[Outcome]]) -> list[list[int]]:
    """For each class of lengths: the texts in it times the healers, and how many were healed."""
    found = [[0, 0] for _ in (*LENGTHS, None)]
    for number, each in enumerate(judged):
        if each.text is not None:
            place = sum(len(each.text) > bound for bound in LENGTHS)
            found[place][0] += len(made)
            found[place][1] += sum(outcomes[number].meant for outcomes in made)
    return found


def _line(entry: Mapping[str, Any], of: int) -> str:
    return " | ".join(
        f"{name} {each['in one'] / of:.1%} {each['in three'] / of:.1%}, not as meant {each['not as meant'] / of:.1%}"
        for name, each in entry["healers"].items()
    )


def main(words: Sequence[str] | None = None) -> None:
    """Run it, and write what it finds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=calls.CALLS)
    parser.add_argument("--model", help="the name of a model that heals, too")
    parser.add_argument(
        "--base-url", default="https://api.openai.com/v1", help="the address of its API, without /chat/completions"
    )
    parser.add_argument("--page", action="store_true", help="only write docs/healing.md again")
    given = parser.parse_args(words)
    if not given.page:
        model = Model(given.base_url, given.model, os.environ.get("OPENAI_API_KEY", "")) if given.model else None
        figures = asyncio.run(study(given.calls, model))
        if given.calls != calls.CALLS or model:
            return
        page.FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page.PAGE.write_text(page.render(page.read()), encoding="utf-8")


if __name__ == "__main__":
    main()
