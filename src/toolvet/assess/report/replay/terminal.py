"""A replay on a terminal."""

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolvet.assess.report.replay.document import Comparison, ReplayedCall, ReplayReport
from toolvet.assess.report.replay.words import change_words, in_short, said_of_arguments, shown_calls
from toolvet.assess.report.wording import counted
from toolvet.core.visible import one_line

_MOST_ROWS: Final = 100
_MOST_SKIPPED: Final = 30
_STYLE: Final[dict[Comparison, str]] = {"same": "green", "better": "cyan", "changed": "yellow", "worse": "red"}


def print_replay(report: ReplayReport, console: Console) -> None:
    """Print what changed, the worst first, what was skipped, and a line with the counts.

    Width and colours are those of `console`. Text of a server is never markup.
    """
    shown = shown_calls(report)
    if shown:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        for name in ("Call", "Compared", "What changed"):
            table.add_column(name, overflow="fold")
        for call in shown[:_MOST_ROWS]:
            table.add_row(_call(call), Text(call.comparison, style=f"bold {_STYLE[call.comparison]}"), _changes(call))
        console.print(table)
        if len(shown) > _MOST_ROWS:
            console.print(Text(f"and {counted(len(shown) - _MOST_ROWS, 'more call')}", style="dim"))
        console.print()
    if report.skipped:
        for each in report.skipped[:_MOST_SKIPPED]:
            told = f"not replayed: {one_line(each.tool)}, {counted(each.calls, 'call')}: {one_line(each.reason)}"
            console.print(Text(told, style="dim"))
        if len(report.skipped) > _MOST_SKIPPED:
            console.print(Text(f"and {counted(len(report.skipped) - _MOST_SKIPPED, 'more reason')}", style="dim"))
        console.print()
    if report.incomplete:
        console.print(Text(f"incomplete: {one_line(report.incomplete)}", style="yellow"))
    console.print(Text(in_short(report)))


def _call(call: ReplayedCall) -> Text:
    again = f"  {call.calls} times" if call.calls > 1 else ""
    return Text.assemble(
        (f"{call.number} ", "dim"), (one_line(call.tool), ""), (again, "dim"), (f"  {said_of_arguments(call)}", "dim")
    )


def _changes(call: ReplayedCall) -> Text:
    return Text("\n".join(one_line(change_words(change)) for change in call.changes))
