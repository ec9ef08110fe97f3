"""Write docs/performance.md from its template and the figures that stand: `python -m benchmarks.page`.

`benchmarks/performance.template.md` has the prose, which names no figure, and says by `{{figures PART}}` where the
tables of a part belong.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.figures import Figures, read
from benchmarks.harness import digits, shown

PAGE: Final = Path(__file__).parents[1] / "docs" / "performance.md"
TEMPLATE: Final = Path(__file__).parent / "performance.template.md"
PLACE: Final = re.compile(r"^\{\{figures (\w+)\}\}$", re.MULTILINE)
MACHINES: Final = "{{machines}}"
BUSY: Final = 0.5  # Processes per core that wanted to run; above, the clock says as much about them as about us.


def render(figures: Figures, template: str) -> str:
    """The page."""
    named = machines(figures)

    def part(found: re.Match[str]) -> str:
        return "\n\n".join(
            shown_table(title, table, named) for title, table in figures["parts"].get(found[1], {}).items()
        )

    page = PLACE.sub(part, template).replace(MACHINES, "\n".join(f"- {mark}: {each}" for each, mark in named.items()))
    return re.sub(r"\n{3,}", "\n\n", page)


def places(template: str) -> list[str]:
    """The parts that have a place in the page."""
    return PLACE.findall(template)


def machines(figures: Figures) -> dict[str, str]:
    """A letter for each machine, in the order of their first tables."""
    every = [table["taken"]["machine"] for part in figures["parts"].values() for table in part.values()]
    return {each: chr(ord("A") + number) for number, each in enumerate(dict.fromkeys(every))}


def shown_table(title: str, table: Mapping[str, Any], named: Mapping[str, str]) -> str:
    """A table with its title, how it was measured, when and where."""
    lines = [f"**{title}**" + (f": {table['about']}" if table["about"] else "")]
    if "text" in table:
        lines.append(table["text"])
    elif "cases" in table:
        lines.append("\n".join(_of_cases(table["cases"])))
    else:
        lines.append("\n".join(_rows(table["columns"], table["rows"])))
    return "\n\n".join([*lines, _taken(table["taken"], named)])


def _of_cases(cases: list[Mapping[str, Any]]) -> Iterator[str]:
    """One row for each way; a column for what was lost only where something was."""
    anything_lost = any(way["lost"] for case in cases for way in case["ways"])
    columns = ["", "by", "CPU time, median", "quartiles", "times ours", *(["lost"] if anything_lost else [])]
    rows = []
    for case in cases:
        name = case["case"] if case["inputs"] == 1 else f"{case['case']} ({case['inputs']}, geometric mean)"
        for number, way in enumerate(case["ways"]):
            row = [
                "" if number else name,
                way["name"] if number else f"**{way['name']}**",
                shown(way["median"]),
                f"{shown(way['low'])} – {shown(way['high'])}",  # noqa: RUF001 - a range
                digits(way["times"]) if number else "",
            ]
            rows.append([*row, *([way["lost"]] if anything_lost else [])])
    return _rows(columns, rows)


def _rows(columns: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield _row(columns)
    yield "|" + "---|" * len(columns)
    yield from map(_row, rows)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _taken(taken: Mapping[str, Any], named: Mapping[str, str]) -> str:
    """When and where, beside what."""
    words = f"{taken['date']}, machine {named[taken['machine']]}"
    if taken.get("load") is not None:
        words += f", load {taken['load']:g}"
    peers = ", ".join(f"{name} {version}" for name, version in taken.get("peers", {}).items())
    words += f"; {peers}" if peers else ""
    if taken.get("load") is not None and taken["load"] > BUSY * taken["cores"]:
        words += ". The machine was busy: take the ratios, not the microseconds"
    return f"<sub>{words}.</sub>"


def main() -> None:
    PAGE.write_text(render(read(), TEMPLATE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
