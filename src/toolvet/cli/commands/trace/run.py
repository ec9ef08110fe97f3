"""The work of `toolvet trace`: a store and a trace id → the story of one turn, or a list of the latest turns."""

import sys
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec
import orjson
from rich.console import Console
from rich.text import Text

from toolvet.cli.commands.trace.story import story
from toolvet.cli.store import store_url
from toolvet.cli.table import new_table
from toolvet.core.causes import GOOD_OUTCOMES
from toolvet.core.visible import escape_unseen, one_line
from toolvet.store import RecordedTurn, Store, VerdictRecord

_SHOWN_ID = 16


def tell_turn(given: str | None, trace_id: str, *, as_json: bool) -> int:
    """Print the turn with this id, or the only one whose id begins so. Returns the exit code."""
    with Store(store_url(given), missing="refuse") as store:
        turn = store.turn(trace_id)
    if as_json:
        _write(_document(turn))
        return 0
    console = Console(highlight=False, soft_wrap=True)
    for line in story(turn):
        console.print(line)
    return 0


def list_turns(given: str | None, *, as_json: bool) -> int:
    """Print the latest turns, the newest first. Returns the exit code."""
    with Store(store_url(given), missing="refuse") as store:
        turns = store.latest_turns()
    if as_json:
        _write([_document(turn) for turn in turns])
        return 0
    console = Console(highlight=False, soft_wrap=True)
    if not turns:
        console.print(f"{store_url(given)} has no turns yet.")
        return 0
    table = new_table("began (UTC)", "turn", "calls", "went wrong", "answer")
    for column in table.columns[:2]:
        column.no_wrap = True
    for turn in turns:
        answers = ", ".join("escalate" if answer.escalate else "show" for answer in turn.answers)
        began = datetime.fromtimestamp(turn.began, UTC).strftime("%Y-%m-%d %H:%M:%S")
        table.add_row(began, Text(turn.trace[:_SHOWN_ID]), Text(_tools(turn)), Text(_faults(turn)), answers)
    console.print(table)
    console.print("\ntoolvet trace ID tells one of them.", style="dim")
    return 0


def _tools(turn: RecordedTurn) -> str:
    return _counted(Counter(one_line(call.tool or "") for call in turn.calls))


def _faults(turn: RecordedTurn) -> str:
    return _counted(Counter(call.outcome for call in turn.calls if call.outcome not in GOOD_OUTCOMES))


def _counted(counts: Counter[str]) -> str:
    return ", ".join(word if number == 1 else f"{number} {word}" for word, number in counts.items())


def _document(turn: RecordedTurn) -> Mapping[str, object]:
    """Return the JSON form of a turn: its calls and answers in the order in which they happened."""
    return {"trace_id": turn.trace, "began": turn.began, "entries": [_entry(verdict) for verdict in turn.verdicts]}


def _entry(verdict: VerdictRecord) -> Mapping[str, object]:
    fields: dict[str, object] = msgspec.structs.asdict(verdict)
    del fields["document"], fields["seq"]
    signals = [msgspec.structs.asdict(signal) for signal in verdict.signals]
    return {**fields, "signals": signals, "detail": verdict.detail}


def _write(document: object) -> None:
    sys.stdout.write(escape_unseen(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()) + "\n")
