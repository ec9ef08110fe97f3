"""The figures that stand: `benchmarks/figures.json`, from which docs/performance.md is written (benchmarks/page.py).

    {"parts": {part: {title of a table: {about, taken, cases | columns and rows | text}}}, "ratios": {name: {…}}}

`taken` says when, on which machine, beside which versions of its peers and under which load a table was measured. A run
of a part replaces that part's tables; those of other parts stay, and so do tables with `"kept": true`, which no program
measures (they were taken by hand, and say how).
"""

import json
import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

FIGURES: Final = Path(__file__).parent / "figures.json"

Table = dict[str, Any]
Figures = dict[str, dict[str, Any]]


def read(path: Path = FIGURES) -> Figures:
    """All of them."""
    empty: Figures = {"parts": {}, "ratios": {}}
    return {**empty, **json.loads(path.read_text(encoding="utf-8"))} if path.exists() else empty


def write(figures: Figures, path: Path = FIGURES) -> None:
    """Write the file, a row or a way on a line, so that a figure that changed is a line that changed."""
    new = path.with_suffix(".new")
    new.write_text(_pretty(figures) + "\n", encoding="utf-8")
    new.replace(path)


def merged(figures: Figures, told: Mapping[str, Any], taken: Mapping[str, Any]) -> Figures:
    """The figures with those of one report (benchmarks/harness.py) in the place of that part's earlier ones."""
    part = told["part"]
    before: dict[str, Table] = figures["parts"].get(part, {})
    stamp = {**taken, "peers": told["peers"]}
    new = {title: {"about": table["about"], "taken": stamp, **table} for title, table in told["tables"].items()}
    kept = {title: table for title, table in before.items() if table.get("kept") and title not in new}
    return {**figures, "parts": {**figures["parts"], part: {**new, **kept}}}


def machine() -> str:
    """This machine, in words."""
    cores = os.cpu_count() or 1
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.release().partition('-')[0]}"
    return f"{cores} {'core' if cores == 1 else 'cores'} of {_processor()}, {gib:.0f} GiB, {system}, {python}"


def _processor() -> str:
    """The name of the processor, with its family and model where the name alone says little."""
    found = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    fields = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", found.partition("\n\n")[0], re.MULTILINE))
    if "model name" not in fields:
        return platform.processor() or platform.machine()
    return f"{fields['model name']} (family {fields.get('cpu family')}, model {fields.get('model')})"


def load() -> float:
    """How many processes wanted to run in the last minute."""
    return round(os.getloadavg()[0], 1)


def _pretty(value: object, indent: str = "", depth: int = 0) -> str:
    """Indented JSON in which an object or array without nested ones takes one line, so that diffs are short."""
    inner = indent + "  "
    if isinstance(value, dict) and value and (depth < 2 or any(_has_parts(each) for each in value.values())):
        rows = [f"{inner}{json.dumps(key)}: {_pretty(each, inner, depth + 1)}" for key, each in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list) and any(_has_parts(each) for each in value):
        return "[\n" + ",\n".join(f"{inner}{_pretty(each, inner, depth + 1)}" for each in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def _has_parts(value: object) -> bool:
    return isinstance(value, (dict, list)) and bool(value)
