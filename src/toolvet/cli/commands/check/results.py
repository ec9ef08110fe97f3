"""The work of `toolvet check result`: records in, verdicts out, one line each."""

import sys
from typing import Final

from rich.console import Console
from rich.text import Text

from toolvet.cli.commands.check.tables import read_rows_or_records
from toolvet.cli.commands.check.verdicts import encode
from toolvet.cli.terminal import new_table
from toolvet.core.json_value import members
from toolvet.core.settings import load_settings
from toolvet.core.tools import view_of
from toolvet.errors import UsageError

# From good to bad, as `--fail-on` counts.
_NO_RESULT: Final = frozenset({"id", "tool", "arguments"})
_LADDER: Final = ("fully_working", "partially_working", "connectivity_only", "error", "broken")
_STYLE: Final = {
    "fully_working": "green",
    "partially_working": "yellow",
    "connectivity_only": "yellow",
    "error": "red",
    "broken": "red",
}


def check_results(file: str, fail_on: str, *, settings: str | None, as_json: bool, field: str | None = None) -> int:
    """Judge every record; return 1 when one is as bad as `fail_on`, else 0."""
    check = load_settings(settings).result_check()
    worst = 0
    table = new_table("#", "tool", "classification", "state", "why", overflow="fold")
    for number, row in enumerate(read_rows_or_records(file, field, "result", ("id", "tool", "arguments")), start=1):
        if row.malformed is not None:
            raise UsageError(f"{row.place}: not JSON: {row.malformed}")
        # The record about the call, and the result: its member `result`, or else the record itself.
        record, result = members(row.value), row.value
        if "result" in record and "jsonrpc" not in record:
            result = record["result"]
        elif record and _NO_RESULT.issuperset(record):
            result = None
        tool = record.get("tool")
        verdict = check(
            members(tool) or {"name": tool if isinstance(tool, str) else "tool"},
            members(record.get("arguments")),
            result,
        )
        worst = max(worst, _LADDER.index(verdict.classification))
        if as_json:
            identity = {"id": record["id"]} if "id" in record else {}
            sys.stdout.buffer.write(encode(verdict.to_dict(), identity))
        else:
            reasons = "; ".join(verdict.issues or verdict.evidence)
            taken_for = verdict.metadata.taken_for
            table.add_row(
                str(number),
                Text(view_of(tool).name),
                Text(verdict.classification, style=_STYLE[verdict.classification]),
                verdict.state or "",
                Text(f"{reasons} (taken for: {taken_for})" if taken_for else reasons),
            )
    if not as_json:
        Console().print(table)
    return int(fail_on != "never" and worst >= _LADDER.index(fail_on))
