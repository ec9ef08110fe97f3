"""docs/healing.md: the template with the figures of the last run."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.healing.calls import FAULTS

from toolvet.batch.summary.statistics import share

_HERE: Final = Path(__file__).parent
FIGURES: Final = _HERE / "figures.json"
TEMPLATE: Final = _HERE / "healing.template.md"
PAGE: Final = _HERE.parents[1] / "docs" / "healing.md"
HEALERS: Final = {"rules": "rules", "search": "search", "ranker": "learned"}
LENGTHS: Final = ["up to 120", "121 to 300", "301 to 900", "over 900"]

Figures = Mapping[str, Any]


def read() -> Figures:
    """The figures of the last run."""
    found: Figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found


def render(figures: Figures) -> str:
    """The page."""
    words = {
        "date": figures["date"],
        "calls": f"{figures['calls']:,}",
        "refused": f"{figures['refused by all']:,}",
        "leaderboard": f"{figures['leaderboard']:,}",
        "own": f"{figures['calls'] - figures['leaderboard']:,}",
        "tools": f"{figures['tools']:,}",
        "sha256": figures["sha256"],
        "versions": ", ".join(f"{name} {number}" for name, number in sorted(figures["versions"].items())),
        "faults": _faults(),
        "main": _main(figures),
        "all": _all(figures),
        "by fault": _by_fault(figures),
        "by length": _by_length(figures),
    }
    page = TEMPLATE.read_text(encoding="utf-8")
    for name, value in words.items():
        page = page.replace(f"{{{{{name}}}}}", value)

    def one(found: re.Match[str]) -> str:
        counts = figures["libraries"][found[1]]["healers"][found[2]]
        return _percent(counts[found[3]], figures["refused by all"])

    return re.sub(r"\{\{([^|{}]+)\|(\w+)\|([\w ]+)\}\}", one, page)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _share(count: int, of: int) -> str:
    """A share with its interval, in percent."""
    found = share(count, of)
    if found.low is None or found.high is None:
        return "-"
    return f"{_percent(count, of)} ({100 * found.low:.0f} to {100 * found.high:.0f})"


def _percent(count: int, of: int) -> str:
    return f"{100 * count / of:.0f} %"


def _rows(figures: Figures, cells: Callable[[Mapping[str, Any]], Sequence[str]]) -> Iterable[Sequence[str]]:
    return ([name, *cells(entry)] for name, entry in figures["libraries"].items())


def _main(figures: Figures) -> str:
    of = figures["refused by all"]

    def cells(entry: Mapping[str, Any]) -> Sequence[str]:
        healed = [entry["healers"][name] for name in HEALERS]
        in_each = [f"{_percent(each['in one'], of)}, {_share(each['in three'], of)}" for each in healed]
        wrong = ", ".join(f"{100 * each['not as meant'] / of:.0f}" for each in healed) + " %"
        return [f"{entry['characters'][1]:,}", *in_each, wrong]

    columns = [
        "error text of",
        "characters",
        *(f"{name}: in one, in three" for name in HEALERS.values()),
        "not as meant",
    ]
    return _table(columns, _rows(figures, cells))


def _all(figures: Figures) -> str:
    of = figures["calls"]

    def cells(entry: Mapping[str, Any]) -> Sequence[str]:
        at_once = [entry["at once, as meant"], entry["at once, not as meant"], entry["refused"]]
        return [*(f"{each:,}" for each in at_once), *(_share(entry["healers"][name]["of all"], of) for name in HEALERS)]

    columns = ["library", "accepted as meant", "accepted, not as meant", "refused"]
    columns += [f"in the end, {name}" for name in HEALERS.values()]
    return _table(columns, _rows(figures, cells))


def _by_fault(figures: Figures) -> str:
    """Healed in three steps, the mean of the three healers. Faults that some library always accepts are left out."""
    faults = {fault: of for fault, of in figures["faults"].items() if of}

    def cells(entry: Mapping[str, Any]) -> Sequence[str]:
        counted = {fault: sum(entry["healers"][name]["faults"][fault] for name in HEALERS) for fault in faults}
        return [f"{100 * counted[fault] / (len(HEALERS) * of):.0f}" for fault, of in faults.items()]

    return _table(["%", *(f"{fault} ({of})" for fault, of in faults.items())], _rows(figures, cells))


def _by_length(figures: Figures) -> str:
    def cells(entry: Mapping[str, Any]) -> Sequence[str]:
        return [f"{_percent(healed, of)} of {of // len(HEALERS):,}" if of else "-" for of, healed in entry["lengths"]]

    return _table(["error text of", *(f"{each} characters" for each in LENGTHS)], _rows(figures, cells))


def _faults() -> str:
    return _table(
        ["fault", "kinds", "ToolScan", "BFCL's checker"],
        (
            [fault, ", ".join(dict.fromkeys(f"`{kind}`" for kind in kinds)), *SOURCES[fault]]
            for fault, kinds in FAULTS.items()
        ),
    )


# The name of each fault in published taxonomies: ToolScan's patterns, and error types of the leaderboard's checker.
SOURCES: Final = {
    "wrong type": ("incorrect argument type", "`type_error:simple`"),
    "text for a structure": ("invalid format error", "`type_error:simple`"),
    "list or single value": ("incorrect argument type", "`type_error:nested`, `value_error:list/tuple`"),
    "not one of the choices": ("incorrect argument value", "`value_error:string`"),
    "wrong name": ("incorrect argument name", "`unexpected_param`, `missing_required`"),
    "wrong depth": ("invalid format error", "`value_error:dict_key`, `missing_required`"),
    "null or empty": ("incorrect argument value", "`type_error:simple`"),
    "format, pattern or bounds": ("incorrect argument value", "`value_error:others`"),
    "missing": ("incorrect argument value", "`missing_required`"),
    "unknown member": ("incorrect argument name", "`unexpected_param`"),
    "two at once": ("-", "-"),
}
