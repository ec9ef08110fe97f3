"""The report on a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from rich.console import Console, Group as Stack, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Column, Table
from rich.text import Text

from toolvet.assess.report.document import Report, Status, Tool
from toolvet.assess.report.gate import count
from toolvet.assess.report.wording import (
    HINT_VALUE,
    STATUS,
    FindingGroup,
    cost,
    costliest,
    counted,
    framework_words,
    group_findings,
    legend,
    listed,
    not_called,
    not_exercised,
    note_line,
    number,
    origin,
    others,
    passed,
    reasons,
    response,
    score,
    severities,
    shown_confidence,
    subject,
    tally,
    times,
    title,
    transport,
    unwanted,
    worst_first,
)
from toolvet.assess.rules import cards
from toolvet.core.visible import one_line, shorten, visible
from toolvet.findings import Finding, Severity

MOST_FINDINGS: Final = 10
_SHOWN_PER_GROUP: Final = 3
_MOST_COSTS: Final = 5  # tools whose tokens are shown
_MOST_TOOLS: Final = 500  # rows; a terminal keeps no more, and laying out ten thousand takes many seconds
_BAR: Final = 20  # Characters of the bar that shows a score.
_MOST_REASONS: Final = 40
_EVIDENCE: Final = 400
_EVIDENCE_LINES: Final = 6
_WIDE: Final = 100  # columns, from which findings are counted in words
_NARROW: Final = 72  # columns, below which the facts of a tool go under its name

SEVERITY_STYLE: Final = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_SEVERITY_MARK: Final = {Severity.ERROR: "✖", Severity.WARNING: "▲", Severity.INFO: "●"}
_WORD: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_NOTE_WORDS: Final = dict.fromkeys(Severity, "{0}")
_NOTE_MARKS: Final = {severity: f"{mark} {{1}}" for severity, mark in _SEVERITY_MARK.items()}
STATUS_STYLE: Final[dict[Status, str]] = {
    "fully_working": "green",
    "partially_working": "yellow",
    "connectivity_only": "yellow",
    "broken": "red",
    "not_exercised": "yellow",
    "untested": "dim",
}


class _Verbatim(Text):
    """A line that is printed as it is, however long: a command that people copy has no line breaks of ours."""


def print_report(reports: Sequence[Report], console: Console, most: int | None = MOST_FINDINGS) -> None:
    """Print one report after the other, and with several of them a comparison at the end.

    Of a server at most `most` findings are shown, the worst first, and the notes of a check in one line; None shows all
    of them whole. Width and colours are those of `console`. Text of the server is never markup, and its control
    characters are shown, not obeyed.

    Example:
        print_report([report], rich.console.Console())
    """
    words = _NOTE_WORDS if console.width >= _WIDE else _NOTE_MARKS
    for position, report in enumerate(reports):
        if position:
            console.print()
        for part in _render_report(report, words, most, narrow=console.width < _NARROW):
            console.print(part, soft_wrap=isinstance(part, _Verbatim))
    if len(reports) > 1:
        console.print()
        console.print(Rule("Side by side", align="left", style="dim"))
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        table.add_column("Server", overflow="fold")
        table.add_column("Score", justify="right", no_wrap=True)
        table.add_column("Status", no_wrap=True)
        table.add_column("Tools", justify="right", no_wrap=True)
        table.add_column("Passed", justify="right", no_wrap=True)
        table.add_column("Findings", overflow="fold")
        for report in reports:
            style = STATUS_STYLE[report.status]
            table.add_row(
                Text(one_line(title(report))),
                Text(number(report.score), style=f"bold {style}" if report.is_graded else "dim"),
                Text(STATUS[report.status], style=style),
                f"{report.summary.tested}/{report.summary.tools}",
                f"{report.summary.passed}/{report.summary.scenarios}",
                severities(report.summary.findings),
            )
        console.print(table)
    if any(tool.skipped is None for report in reports for tool in report.tools):
        console.print()
        for word, meaning in legend(reports):
            console.print(Text.assemble((word, "bold dim"), (f": {meaning.replace('`', '')}", "dim")))


def _render_report(
    report: Report, words: Mapping[Severity, str], most: int | None, *, narrow: bool
) -> Iterator[RenderableType]:
    yield from _render_header(report)
    called = [tool for tool in report.tools if tool.skipped is None]
    if called:
        yield Text()
        shown = worst_first(called, report.findings, _MOST_TOOLS)
        yield _render_tools(shown, report.findings, words, narrow=narrow)
        if len(called) > len(shown):
            yield Text(f"and {counted(len(called) - len(shown), 'more tool')}, in the JSON report", style="dim")
    yield from _render_findings(report, most)
    idle = [tool for tool in report.tools if tool.not_exercised is not None]
    if idle:
        yield Text()
        yield Text.assemble(("Not exercised", "bold"), (f"  {counted(len(idle), 'tool')}", "dim"))
        yield from _list_reasons([(tool.not_exercised or "", tool.name) for tool in idle])
    idle_items = not_exercised(report)
    if idle_items:
        count = sum(len(names) for names in idle_items.values())
        yield Text()
        yield Text.assemble(("Resources and prompts not exercised", "bold"), (f"  {count:,}", "dim"))
        for reason, names in idle_items.items():
            shown_names = listed([shorten(one_line(name), 120) for name in names], 4)
            yield Padding.indent(Text.assemble(shown_names, (f"  {one_line(reason)}", "dim")), 2)
    skipped = not_called(report)
    if skipped:
        yield Text()
        yield Text.assemble(("Not called", "bold"), (f"  {counted(len(skipped), 'tool')}", "dim"))
        yield from _list_reasons(skipped)
    yield from _render_directories(report)
    if report.transport is not None:
        yield Text()
        yield Text.assemble(("Transport", "bold"), (f"  {one_line(transport(report.transport))}", "dim"))
        for probe in unwanted(report.transport):
            yield Padding.indent(Text.assemble(probe.sent, (f"  {response(probe)}", "dim")), 2)
    if cost(report):
        yield Text()
        yield Text.assemble(("Tokens", "bold"), (f"  {cost(report)}", "dim"))
        figures = ("Tokens", "Description", *(["Change"] if report.baseline is not None else []))
        columns = (Column(word, justify="right") for word in figures)
        table = Table("Tool", *columns, box=None, padding=(0, 2), header_style="dim")
        for name, *cells in costliest(report, None if most is None else _MOST_COSTS):
            table.add_row(Text(shorten(one_line(name), 80)), *cells[: len(figures)])
        yield table
    if report.baseline is not None and report.baseline.stale:
        stale = [one_line(f"{entry.id} ({subject(entry) or 'the server'})") for entry in report.baseline.stale]
        known = f"{counted(len(stale), 'known finding')} no longer there: {listed(stale, 6)}"
        yield Text()
        yield Text(f"Baseline {one_line(report.baseline.file)}: {known}", style="yellow")
    if said := framework_words(report):
        yield Text()
        yield Text(one_line(said), style="dim")


def _render_directories(report: Report) -> Iterator[RenderableType]:
    if report.hints:
        yield Text()
        yield Text("Hints, and what the calls show", style="bold")
        table = Table("Tool", "Hint", "Value", "Evidence", box=None, padding=(0, 2, 0, 0), header_style="dim")
        for hint in report.hints[:_MOST_TOOLS]:
            style = "red" if hint.verdict == "contradicted" else ""
            evidence = Text(one_line(hint.evidence.replace("`", "")), style)
            table.add_row(Text(shorten(one_line(hint.tool), 80)), hint.hint, HINT_VALUE[hint.value], evidence)
        yield table
        if len(report.hints) > _MOST_TOOLS:
            yield Text(f"and {counted(len(report.hints) - _MOST_TOOLS, 'more hint')}, in the JSON report", style="dim")
    for given in report.directories:
        yield Text()
        yield Text.assemble((f"{given.title} also asks for", "bold"), (f"  {given.source}, read {given.date}", "dim"))
        yield from (Padding.indent(Text(f"- {ask.replace('`', '')}"), 2) for ask in given.asks)


def _render_header(report: Report) -> Iterator[RenderableType]:
    heading = one_line(f"{title(report)} · {origin(report)}")
    yield Rule(Text(heading, style="bold"), align="left", style="dim")
    if report.server.command:
        yield _Verbatim(one_line(report.server.command), style="dim")
    yield Text()
    # A score that rests on too few of the tools is not a grade: it has neither a bar nor a colour.
    style = STATUS_STYLE[report.status] if report.is_graded else "dim"
    figure, _, basis = score(report).partition("/")
    line = Text.assemble(("Score ", "bold"), (figure, f"bold {style}"), (f"/{basis}" if basis else "", "dim"))
    if report.score is not None and report.is_graded:
        line.append("  ")
        filled = round(min(max(report.score, 0), 100) / 100 * _BAR)
        line.append_text(Text.assemble(("━" * filled, style), ("─" * (_BAR - filled), "bright_black")))
    yield line.append(f"  {STATUS[report.status]}", style=STATUS_STYLE[report.status])
    yield Text(tally(report), style="bold")
    if report.incomplete is not None:
        yield Text(f"Incomplete: {one_line(report.incomplete)}", style="bold yellow")


def _render_tools(
    tools: Sequence[Tool], findings: Sequence[Finding], words: Mapping[Severity, str], *, narrow: bool
) -> RenderableType:
    severities_of: dict[str, list[Severity]] = {}
    for finding in findings:
        for name in finding.concerns:
            severities_of.setdefault(name, []).append(finding.severity)
    if narrow:
        # A table would break the names: each name, and under it what counts most.
        lines: list[RenderableType] = []
        for tool in tools:
            facts = Text.assemble((STATUS[tool.status], STATUS_STYLE[tool.status]), f"  {passed(tool)} passed  ")
            facts.append_text(_count_severities(severities_of.get(tool.name, []), _NOTE_MARKS))
            lines += [Text(shorten(one_line(tool.name), 80)), Padding.indent(facts, 2)]
        return Stack(*lines)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("Tool", overflow="fold", ratio=None, min_width=12)
    table.add_column("Status", no_wrap=True)
    table.add_column("Confidence", justify="right", no_wrap=True)
    table.add_column("Error texts", justify="right", no_wrap=True)
    table.add_column("Passed", justify="right", no_wrap=True)
    table.add_column("Findings", overflow="fold")
    for tool in tools:
        style = STATUS_STYLE[tool.status]
        table.add_row(
            Text(shorten(one_line(tool.name), 80)),
            Text(STATUS[tool.status], style=style),
            number(shown_confidence(tool)),
            number(tool.error_message_score),
            passed(tool),
            _count_severities(severities_of.get(tool.name, []), words),
        )
    return table


def _count_severities(found: Sequence[Severity], words: Mapping[Severity, str]) -> Text:
    notes = [
        Text(words[severity].format(counted(found.count(severity), _WORD[severity]), found.count(severity)), style)
        for severity, style in SEVERITY_STYLE.items()
        if severity in found
    ]
    return Text("  ").join(notes)


def _render_findings(report: Report, most: int | None) -> Iterator[RenderableType]:
    shown, left, before = 0, list[Finding](), False
    for group in group_findings(report.findings):
        is_line = most is not None and group.severity is Severity.INFO
        room = len(group.findings) if most is None else min(most - shown, 1 if is_line else _SHOWN_PER_GROUP)
        if room <= 0:
            left += group.findings
            continue
        shown += min(room, len(group.findings))
        if not (is_line and before):
            yield Text()
        before = is_line
        if is_line:
            mark = (f"{_SEVERITY_MARK[group.severity]} ", SEVERITY_STYLE[group.severity])
            line = one_line(note_line(group, cards().get(group.id)))
            yield Text.assemble(mark, (f"{one_line(group.id)}  ", "bold"), line)
        else:
            yield from _render_group(group, room)
    if left:
        yield Text()
        yield Text(f"and {severities(count(left))} more: --all shows them", style="bold")


def _render_group(group: FindingGroup, room: int) -> Iterator[RenderableType]:
    style = SEVERITY_STYLE[group.severity]
    heading = Text.assemble((f"{_SEVERITY_MARK[group.severity]} ", f"bold {style}"), (one_line(group.id), "bold"))
    heading.append(f"  {group.severity.value}", style=style)
    if len(group.findings) > 1:
        count = counted(len(group.findings), "finding")
        heading.append(f"  {count} in {group.where}" if group.where else f"  {count}", style="dim")
    yield heading
    for finding in group.findings[:room]:
        yield Padding.indent(_render_finding(finding, group), 2)
        if finding.reproduce:
            yield _Verbatim.assemble(("    run  ", "dim"), (one_line(finding.reproduce), "cyan"))
    rest = group.findings[room:]
    if rest:
        yield Padding.indent(Text(one_line(others(rest, 6)), style="dim"), 2)
    if group.remedy:
        yield Padding.indent(_lay_out([("fix", Text(one_line(group.remedy)))]), 2)


def _render_finding(finding: Finding, group: FindingGroup) -> RenderableType:
    sentence = Text(one_line(finding.message))
    if whose := subject(finding):
        sentence = Text.assemble((one_line(whose), "bold"), ": ", sentence)
    if finding.occurrences > 1:
        sentence.append(f"  {times(finding.occurrences)}", style="dim")
    facts: list[tuple[str, Text]] = []
    place = Text(one_line(finding.pointer), style="dim")
    if finding.evidence:
        lines = shorten(visible(finding.evidence).strip(), _EVIDENCE).splitlines()
        more = len(lines) - _EVIDENCE_LINES
        if more > 0:
            lines[_EVIDENCE_LINES:] = [f"… ({counted(more, 'more line')})"]
        seen = Text("\n".join(lines), style="italic")
        if place and "\n" not in seen.plain:
            seen, place = Text.assemble(seen, ("  at ", "dim"), place), Text()
        facts.append(("seen", seen))
    if place:
        facts.append(("at", place))
    if finding.remedy and not group.remedy:
        facts.append(("fix", Text(one_line(finding.remedy))))
    return Stack(sentence, Padding.indent(_lay_out(facts), 2)) if facts else sentence


def _lay_out(facts: Sequence[tuple[str, Text]]) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(style="dim", no_wrap=True, min_width=4)
    grid.add_column(overflow="fold")
    for label, text in facts:
        grid.add_row(label, text)
    return grid


def _list_reasons(tools: Iterable[tuple[str, str]]) -> Iterator[RenderableType]:
    found = reasons(tools)
    for reason, names in islice(found.items(), _MOST_REASONS):
        shown = listed([one_line(name) for name in names], 8)
        yield Padding.indent(Text.assemble(shown, (f"  {one_line(reason)}", "dim")), 2)
    rest = [name for names in islice(found.values(), _MOST_REASONS, None) for name in names]
    if rest:
        yield Padding.indent(Text(f"and {counted(len(rest), 'more tool')}, in the JSON report", style="dim"), 2)
