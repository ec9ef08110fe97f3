"""Recorded calls beside a new version: the document `toolvet-replay/1`, its formats, and its summary on a terminal.

Within version 1 fields are only added, never renamed or removed.
"""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from jinja2 import Template
from msgspec import Meta
from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolvet.assess.report import wording
from toolvet.assess.report.document import Json, Milliseconds
from toolvet.assess.report.page import load_template
from toolvet.assess.report.renderers.json import encode_document
from toolvet.assess.report.renderers.markdown import escape
from toolvet.assess.report.wording import counted
from toolvet.core.visible import one_line, shorten, visible

REPLAY_ID: Final = "toolvet-replay/1"
Comparison: TypeAlias = Literal["same", "better", "worse", "changed"]
"""How the new end of a call compares with the recorded one.

`changed` is a success of another shape, or another error.
"""
_PACKAGE: Final = "toolvet.assess.report.replay"
_PAGE: Final = "toolvet.assess.report.page"
_MOST_ROWS: Final = 100
_MOST_SKIPPED: Final = 30
_STYLE: Final[dict[Comparison, str]] = {"same": "green", "better": "cyan", "changed": "yellow", "worse": "red"}
_WORST_FIRST: Final[tuple[Comparison, ...]] = ("worse", "changed", "better")
_ARGUMENTS: Final = 80


class CallEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended on one side. `words` are those of an error, secrets masked; null is not known."""

    ending: str
    state: str | None = None
    error_kind: str | None = None
    duration_ms: Milliseconds | None = None
    words: str = ""


class ReplayChange(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that changed.

    `kind` is `tool`, `arguments`, `outcome`, `error_kind`, `state`, `output_schema`, `contract`, `result` or `shape`.
    `old` and `new` are words for programs, `words` are for people.
    """

    kind: str
    comparison: Comparison
    old: str = ""
    new: str = ""
    words: str = ""


class ReplayedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded call and its new end. `calls` is the number of identical calls that it stands for.

    `new` is null for a tool that is gone.
    """

    number: Annotated[int, Meta(description="The place in the record, from 1.")]
    tool: str
    comparison: Comparison
    arguments: Json
    conversation: str = ""
    calls: int = 1
    changes: list[ReplayChange] = []
    old: CallEnd
    new: CallEnd | None = None
    reproduce: Annotated[str, Meta(description="A command line that makes this one call again.")] = ""


class SkippedCalls(msgspec.Struct, frozen=True, kw_only=True):
    """Recorded calls of one tool that were not made again, and why."""

    tool: str
    reason: str
    calls: int


class ReplayReport(msgspec.Struct, frozen=True, kw_only=True):
    """A record, replayed. `recorded` counts all of its calls, `replayed` those that were compared.

    `incomplete` says why a run ended early; the calls behind that point are neither compared nor skipped.
    """

    schema: Literal["toolvet-replay/1"] = REPLAY_ID
    record: str
    command: Annotated[str, Meta(description="The command line or the URL of the new version, secrets masked.")]
    server: str = ""
    server_version: str = ""
    protocol_version: str = ""
    recorded: int
    replayed: int
    same: int = 0
    better: int = 0
    changed: int = 0
    worse: int = 0
    calls: list[ReplayedCall] = []
    skipped: list[SkippedCalls] = []
    incomplete: str | None = None
    fail_on: Literal["worse", "changed", "never"] = "worse"
    toolvet_version: str = ""

    @property
    def fails(self) -> bool:
        """Whether the command exits with 1."""
        return self.fail_on != "never" and bool(self.worse or (self.fail_on == "changed" and self.changed))


def render_markdown(report: ReplayReport) -> str:
    """A summary for a pull request: the counts, what changed, and what was not replayed."""
    lines = ["# Replay", "", escape(summary_line(report)), ""]
    if report.incomplete:
        lines += [f"Incomplete: {escape(one_line(report.incomplete))}", ""]
    shown = changed_calls(report)
    if shown:
        lines += ["| call | tool | arguments | compared | what changed |", "|---:|---|---|---|---|"]
        for call in shown:
            changes = "; ".join(escape(one_line(change_words(each))) for each in call.changes)
            arguments = escape(short_arguments(call))
            lines.append(
                f"| {call.number} | {escape(one_line(call.tool))} | {arguments} | {call.comparison} | {changes} |"
            )
        lines.append("")
    if report.skipped:
        lines += ["| not replayed | calls | why |", "|---|---:|---|"]
        lines += [
            f"| {escape(one_line(each.tool))} | {each.calls} | {escape(one_line(each.reason))} |"
            for each in report.skipped
        ]
        lines.append("")
    return "\n".join(lines)


def render_junit(report: ReplayReport) -> str:
    """A test case for each call that was compared; a failure is what makes the command exit with 1."""
    failing = {"worse": {"worse"}, "changed": {"worse", "changed"}, "never": set[str]()}[report.fail_on]
    failures = sum(call.comparison in failing for call in report.calls)
    total = len(report.calls) + len(report.skipped)
    root = ET.Element("testsuites", name="toolvet replay", tests=str(total), failures=str(failures))
    suite = ET.SubElement(
        root,
        "testsuite",
        name=visible(report.server) or "server",
        tests=str(total),
        failures=str(failures),
        errors="0",
        skipped=str(len(report.skipped)),
    )
    for call in report.calls:
        seconds = (call.new.duration_ms or 0.0) / 1000 if call.new else 0.0
        case = ET.SubElement(
            suite, "testcase", classname=visible(call.tool), name=f"call {call.number}", time=f"{seconds:.3f}"
        )
        if call.comparison in failing:
            lines = [visible(change_words(change)) for change in call.changes]
            ET.SubElement(case, "failure", type=call.comparison, message=lines[0]).text = "\n".join(lines)
    for each in report.skipped:
        case = ET.SubElement(suite, "testcase", classname=visible(each.tool), name=f"{each.calls} calls not replayed")
        ET.SubElement(case, "skipped", message=visible(each.reason))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def render_page(report: ReplayReport) -> str:
    """One file that opens offline."""
    return _load_template().render(r=report)


@cache
def _load_template() -> Template:
    return load_template(
        _PACKAGE,
        "replay.html.jinja",
        styles=((_PAGE, "base.css"), (_PACKAGE, "replay.css")),
        scripts=((_PAGE, "theme.js"),),
        names={
            "w": wording,
            "change_words": change_words,
            "summary_line": summary_line,
            "short_arguments": short_arguments,
            "changed_calls": changed_calls,
        },
    )


REPLAY_FORMATS: Final[Mapping[str, Callable[[ReplayReport], str]]] = {
    "html": render_page,
    "json": encode_document,
    "junit": render_junit,
    "markdown": render_markdown,
}


"""What `--report FORMAT=FILE` writes, by the name of the format."""


def print_replay(report: ReplayReport, console: Console) -> None:
    """Print what changed, the worst first, what was skipped, and a line with the counts.

    Width and colours are those of `console`. Text of a server is never markup.
    """
    shown = changed_calls(report)
    if shown:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        for name in ("Call", "Compared", "What changed"):
            table.add_column(name, overflow="fold")
        for call in shown[:_MOST_ROWS]:
            again = f"  {call.calls} times" if call.calls > 1 else ""
            head = (f"{call.number} ", "dim"), (one_line(call.tool), ""), (again, "dim")
            table.add_row(
                Text.assemble(*head, (f"  {short_arguments(call)}", "dim")),
                Text(call.comparison, style=f"bold {_STYLE[call.comparison]}"),
                Text("\n".join(one_line(change_words(change)) for change in call.changes)),
            )
        console.print(table)
        if len(shown) > _MOST_ROWS:
            console.print(Text(f"and {counted(len(shown) - _MOST_ROWS, 'more call')}", style="dim"))
        console.print()
    if report.skipped:
        for each in report.skipped[:_MOST_SKIPPED]:
            line = f"not replayed: {one_line(each.tool)}, {counted(each.calls, 'call')}: {one_line(each.reason)}"
            console.print(Text(line, style="dim"))
        if len(report.skipped) > _MOST_SKIPPED:
            console.print(Text(f"and {counted(len(report.skipped) - _MOST_SKIPPED, 'more reason')}", style="dim"))
        console.print()
    if report.incomplete:
        console.print(Text(f"incomplete: {one_line(report.incomplete)}", style="yellow"))
    console.print(Text(summary_line(report)))


def changed_calls(report: ReplayReport) -> list[ReplayedCall]:
    """The calls in which anything changed, the worst first, else in the order of the record."""
    changed = [call for call in report.calls if call.comparison != "same"]
    return sorted(changed, key=lambda call: (_WORST_FIRST.index(call.comparison), call.number))


def change_words(change: ReplayChange) -> str:
    """One change in a line: `outcome: success → died: the server died`."""
    move = f" {change.old or '(none)'} → {change.new or '(none)'}" if change.old or change.new else ""
    head = f"{change.kind.replace('_', ' ')}:{move}"
    return f"{head}{':' if move else ''} {change.words}" if change.words else head


def short_arguments(call: ReplayedCall) -> str:
    """The arguments as short JSON."""
    return shorten(one_line(msgspec.json.encode(call.arguments).decode()), _ARGUMENTS)


def summary_line(report: ReplayReport) -> str:
    """The counts in one line."""
    skipped = sum(each.calls for each in report.skipped)
    counts = f"{report.same:,} same, {report.better:,} better, {report.changed:,} changed, {report.worse:,} worse"
    calls = counted(report.recorded, "recorded call")
    rest = f"; {skipped:,} not replayed" if skipped else ""
    return f"{report.replayed:,} of {calls} replayed against {one_line(report.command)}: {counts}{rest}"
