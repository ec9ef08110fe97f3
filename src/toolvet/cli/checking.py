"""The heavy half of `toolvet check`: records in, verdicts out, one line each."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolvet.checks.result import ResultVerdict, check_result
from toolvet.errors import UsageError
from toolvet.schema.json_value import elements, is_object, members

# From good to bad, as `--fail-on` counts.
_LADDER = ("fully_working", "partially_working", "connectivity_only", "error", "broken")
_STYLE = {
    "fully_working": "green",
    "partially_working": "yellow",
    "connectivity_only": "yellow",
    "error": "red",
    "broken": "red",
}


def check_results(file: str, fail_on: str, *, as_json: bool) -> int:
    """Judge every record; 1 when one is as bad as `fail_on`."""
    worst = 0
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("#", "tool", "classification", "state", "why"):
        table.add_column(heading, overflow="fold")
    for number, record in enumerate(_records(file), start=1):
        result = record.get("result", record if "content" in record or "structuredContent" in record else None)
        tool = record.get("tool")
        verdict = check_result(
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
                Text(_why(verdict)),
            )
    if not as_json:
        Console().print(table)
    return int(fail_on != "never" and worst >= _LADDER.index(fail_on))


def _tool_name(tool: object) -> Text:
    name = members(tool).get("name", tool)
    return Text(name if isinstance(name, str) else "")


def _why(verdict: ResultVerdict) -> str:
    return "; ".join(verdict.issues or verdict.evidence)


def _records(file: str) -> Iterator[Mapping[str, object]]:
    """The JSON objects of a file: one, a list of them, or one per line. Raises UsageError with the line."""
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    name = "stdin" if file == "-" else file
    try:
        whole: object = orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    else:
        for position, entry in enumerate(elements(whole) or [whole], start=1):
            yield _record(entry, f"{name}, object {position}")
        return
    lines = [(number, line) for number, line in enumerate(content.splitlines(), start=1) if line.strip()]
    if not lines:
        raise UsageError(f"{name} is empty: give one JSON object, or one per line")
    for number, line in lines:
        try:
            parsed: object = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UsageError(f"{name}, line {number}: not JSON: {error}") from error
        yield _record(parsed, f"{name}, line {number}")


def _record(entry: object, place: str) -> Mapping[str, object]:
    if not is_object(entry):
        raise UsageError(f"{place}: must be a JSON object, not {type(entry).__name__}")
    return entry
