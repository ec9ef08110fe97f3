"""What all formats of a replay say alike."""

from typing import Final

import msgspec

from toolvet.assess.report.replay.document import Comparison, ReplayChange, ReplayedCall, ReplayReport
from toolvet.assess.report.wording import counted
from toolvet.core.visible import one_line, shorten

_WORST_FIRST: Final[tuple[Comparison, ...]] = ("worse", "changed", "better")
_ARGUMENTS: Final = 80


def shown_calls(report: ReplayReport) -> list[ReplayedCall]:
    """The calls in which anything changed, the worst first, else in the order of the record."""
    told = [call for call in report.calls if call.comparison != "same"]
    return sorted(told, key=lambda call: (_WORST_FIRST.index(call.comparison), call.number))


def change_words(change: ReplayChange) -> str:
    """One change in a line: `outcome: success → died: the server died`."""
    move = f" {change.old or '(none)'} → {change.new or '(none)'}" if change.old or change.new else ""
    head = f"{change.kind.replace('_', ' ')}:{move}"
    return f"{head}{':' if move else ''} {change.words}" if change.words else head


def said_of_arguments(call: ReplayedCall) -> str:
    """The arguments as short JSON."""
    return shorten(one_line(msgspec.json.encode(call.arguments).decode()), _ARGUMENTS)


def in_short(report: ReplayReport) -> str:
    """The counts in one line."""
    skipped = sum(each.calls for each in report.skipped)
    told = f"{report.same:,} same, {report.better:,} better, {report.changed:,} changed, {report.worse:,} worse"
    calls = counted(report.recorded, "recorded call")
    rest = f"; {skipped:,} not replayed" if skipped else ""
    return f"{report.replayed:,} of {calls} replayed against {one_line(report.command)}: {told}{rest}"
