"""The work of `toolvet check result`: records in, verdicts out, one line each."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson
from rich.console import Console
from rich.text import Text

from toolvet.checks.result import ResultVerdict
from toolvet.cli.commands.check.records import Record, read_records
from toolvet.cli.commands.check.tables import is_table, read_table, refuse_field
from toolvet.cli.table import new_table
from toolvet.schema.json_value import members
from toolvet.settings import load_settings

# From good to bad, as `--fail-on` counts.
_LADDER: Final = ("fully_working", "partially_working", "connectivity_only", "error", "broken")
_STYLE: Final = {
    "fully_working": "green",
    "partially_working": "yellow",
    "connectivity_only": "yellow",
    "error": "red",
    "broken": "red",
}


def check_results(file: str, fail_on: str, *, settings: Path | None, as_json: bool, field: str | None = None) -> int:
    """Judge every record; return 1 when one is as bad as `fail_on`, else 0."""
    check = load_settings(settings).result_check()
    worst = 0
    table = new_table("#", "tool", "classification", "state", "why", overflow="fold")
    for number, record in enumerate((record.members() for record in _read(file, field)), start=1):
        result = record.get("result", record if "content" in record or "structuredContent" in record else None)
        tool = record.get("tool")
        verdict = check(
            members(tool) or {"name": tool if isinstance(tool, str) else "tool"},
            members(record.get("arguments")),
            result,
        )
        worst = max(worst, _LADDER.index(verdict.classification))
        if as_json:
            identity = {"id": record["id"]} if "id" in record else {}
            sys.stdout.buffer.write(orjson.dumps({**identity, **verdict.to_dict()}) + b"\n")
        else:
            table.add_row(
                str(number),
                _tool_name(tool),
                Text(verdict.classification, style=_STYLE[verdict.classification]),
                verdict.state or "",
                Text(_reasons(verdict)),
            )
    if not as_json:
        Console().print(table)
    return int(fail_on != "never" and worst >= _LADDER.index(fail_on))


def _read(file: str, field: str | None) -> Iterator[Record]:
    """Read the records; of a table each row, in which a result may be a text alone."""
    if not is_table(file):
        refuse_field(file, field)
        yield from read_records(file)
        return
    for record in read_table(file, field, "result", ("id", "tool", "arguments")):
        result = record.members().get("result")
        blocks = {"content": [{"type": "text", "text": result}]} if isinstance(result, str) else result
        yield Record(record.place, {**record.members(), "result": blocks})


def _tool_name(tool: object) -> Text:
    name = members(tool).get("name", tool)
    return Text(name if isinstance(name, str) else "")


def _reasons(verdict: ResultVerdict) -> str:
    return "; ".join(verdict.issues or verdict.evidence)
