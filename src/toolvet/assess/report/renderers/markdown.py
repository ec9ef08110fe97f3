"""Markdown for a job summary (GitHub's `GITHUB_STEP_SUMMARY` takes up to 1 MiB), readable in any other place too."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from toolvet.assess.report.document import Report, Status, Tool
from toolvet.assess.report.gate import why_failed
from toolvet.assess.report.renderers import Format
from toolvet.assess.report.wording import (
    HINT_VALUE,
    ITEM,
    NONE,
    STATUS,
    FindingGroup,
    all_items,
    cost,
    costliest,
    counted,
    framework_words,
    group_findings,
    items_lines,
    legend,
    listed,
    note_line,
    number,
    origin,
    others,
    passed,
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
)
from toolvet.core.visible import one_line, shorten, visible
from toolvet.findings import Card, Finding, Severity

_LIMIT: Final = 1_000_000  # bytes; GitHub drops a summary of more than 1 MiB altogether
_SHOWN_PER_GROUP: Final = 20
_SHORT_EVIDENCE: Final = 120
_MOST_ITEMS: Final = 100
_MOST_HINTS: Final = 600
_MOST_TOOLS: Final = 200  # names in one finding
_STATUS_MARK: Final[dict[Status, str]] = {
    "fully_working": "✅",
    "partially_working": "⚠️",
    "connectivity_only": "⚠️",
    "broken": "❌",
    "not_exercised": "⚪",
    "untested": "⚪",
}
_SEVERITY_MARK: Final = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "💡"}

# What Markdown would read as its own: anywhere, at the edge of a word (an underscore), and at the start of a line,
# where a runner of workflows may read a command, too, in a log that shows this document.
_MARKUP: Final = re.compile(r"[\\`*\[\]~|$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[#+=-]|^:(?=:)|(?<=^\d)[.)]")


# Read as a heading, or as a command by the runner of a workflow, at the start of a line.
_LINE_START: Final = re.compile(r"^(\s*)([#:])", re.MULTILINE)
_TAG: Final = re.compile(r"<[A-Za-z!/?]")
_STEERING: Final = re.compile(rf"{_LINE_START.pattern}|{_TAG.pattern}", re.MULTILINE)


def render(reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """A comparison when there are several servers, then each in turn; what does not fit is counted at the end."""
    blocks = [block for report in reports for block in _render_report(report, cards)]
    if len(reports) > 1:
        rows = ["| Server | Score | Status | Tools tested | Passed | Findings |", "|:--|--:|:--|--:|--:|:--|"]
        for report in reports:
            cells = (
                escape(title(report)),
                number(report.score),
                f"{_STATUS_MARK[report.status]} {STATUS[report.status]}",
                f"{report.summary.tested}/{report.summary.tools}",
                f"{report.summary.passed}/{report.summary.scenarios}",
                severities(report.summary.findings),
            )
            rows.append(f"| {' | '.join(cells)} |")
        blocks.insert(0, "\n".join(rows) + "\n")
    if any(tool.skipped is None for report in reports for tool in report.tools):
        blocks.append(
            _fold("What the words mean", "\n".join(f"- **{word}**: {text}" for word, text in legend(reports)))
        )
    kept: list[str] = []
    size = 0
    for position, block in enumerate(blocks):
        size += len(block.encode()) + 1
        if size > _LIMIT:
            more = counted(len(blocks) - position, "more section")
            kept.append(f"_{more} would make this too long: see the HTML or the JSON report._\n")
            break
        kept.append(block)
    return "\n".join(kept)


def _render_report(report: Report, cards: Mapping[str, Card]) -> Iterator[str]:
    """Blocks, each complete in itself, so that the document can end after any of them."""
    scored = f"{score(report)}, " if report.score is not None else ""
    yield f"## {_STATUS_MARK[report.status]} {escape(title(report))}: {scored}{STATUS[report.status]}\n"
    yield f"{escape(origin(report))} · {tally(report)}\n"
    if said := framework_words(report):
        yield f"{escape(said)}.\n"
    for reason in why_failed(report):
        yield f"> **Failed:** {escape(reason)}\n"
    if report.incomplete is not None:
        yield f"> **Incomplete:** {escape(report.incomplete)}\n"
    called = [tool for tool in report.tools if tool.skipped is None]
    if called:
        yield from _render_tools(called, report.findings)
    for group in group_findings(report.findings):
        yield _render_group(group, cards)
    idle = [tool for tool in report.tools if tool.not_exercised is not None]
    if idle:
        lines = [f"- {_code(tool.name)}: {escape(tool.not_exercised or '')}" for tool in idle]
        yield _fold(f"⚪ {counted(len(idle), 'tool')} not exercised", "\n".join(lines))
    if all_items(report):
        yield _render_items(report)
    skipped = [tool for tool in report.tools if tool.skipped is not None]
    if skipped:
        lines = [f"- {_code(tool.name)}: {escape(tool.skipped or '')}" for tool in skipped]
        yield _fold(f"⚪ {counted(len(skipped), 'tool')} not called", "\n".join(lines))
    if cost(report):
        rows = ["| Tool | Tokens | Description | Change |", "|:--|--:|--:|--:|"]
        for name, *figures in costliest(report, 20):
            rows.append(f"| {_code(name).replace('|', '&#124;')} | {' | '.join(figures)} |")
        yield _fold(cost(report), "\n".join(rows))
    if report.hints:
        rows = ["| Tool | Hint | Value | What the calls show |", "|:--|:--|:--|:--|"]
        for hint in report.hints[:_MOST_HINTS]:
            cells = (
                _code(hint.tool).replace("|", "&#124;"),
                _code(hint.hint),
                HINT_VALUE[hint.value],
                _prose(hint.evidence),
            )
            rows.append(f"| {' | '.join(cells)} |")
        more = len(report.hints) - _MOST_HINTS
        yield _fold("Hints, and what the calls show", "\n".join(rows) + (f"\n\nand {more:,} more" if more > 0 else ""))
    for given in report.directories:
        lines = [f"- {_prose(ask)}" for ask in given.asks]
        yield _fold(f"{_escape_html(given.title)} also asks for (read {given.date})", "\n".join(lines))
    if report.transport is not None:
        lines = [f"- {escape(probe.sent)}: {escape(response(probe))}" for probe in unwanted(report.transport)]
        summary = f"Transport: {transport(report.transport)}"
        yield _fold(summary, "\n".join(lines)) if lines else f"{escape(summary)}\n"
    if report.baseline is not None and report.baseline.stale:
        lines = [f"- {_code(entry.id)} in {_code(subject(entry) or 'the server')}" for entry in report.baseline.stale]
        yield _fold(f"Baseline: {len(lines)} no longer found", "\n".join(lines))


def _render_tools(tools: Sequence[Tool], findings: Sequence[Finding]) -> Iterator[str]:
    """The table in blocks of fifty rows, so that a server with ten thousand tools still gets its first ones shown."""
    found = Counter(tool for finding in findings for tool in finding.concerns)
    for start in range(0, len(tools), 50):
        rows = [
            "| Tool | Status | Confidence | Error messages | Passed | Findings |",
            "|:--|:--|--:|--:|--:|--:|",
        ]
        for tool in tools[start : start + 50]:
            cells = (
                _code(tool.name).replace("|", "\\|"),
                f"{_STATUS_MARK[tool.status]} {STATUS[tool.status]}",
                number(shown_confidence(tool)),
                number(tool.error_message_score),
                passed(tool),
                str(found[tool.name] or NONE),
            )
            rows.append(f"| {' | '.join(cells)} |")
        yield "\n".join(rows) + "\n"


def _render_items(report: Report) -> str:
    items = all_items(report)
    found = Counter((finding.item_kind, name) for finding in report.findings for name in (*finding.items, finding.item))
    rows = ["| Resource or prompt | | Requests | Findings |", "|:--|:--|--:|--:|"]
    for item in items[:_MOST_ITEMS]:
        done = "✅ got" if item.kind == "prompt" else "✅ read"
        cells = (
            f"{ITEM[item.kind]} {_code(item.identity)}".replace("|", "\\|"),
            done if item.exercised else f"⚪ {escape(item.why_not or '')}",
            str(len(item.requests) or NONE),
            str(found[item.kind, item.identity] or NONE),
        )
        rows.append(f"| {' | '.join(cells)} |")
    more = f"\n\nand {len(items) - _MOST_ITEMS} more" if len(items) > _MOST_ITEMS else ""
    return _fold(_escape_html("; ".join(items_lines(report))), "\n".join(rows) + more)


def _render_group(group: FindingGroup, cards: Mapping[str, Card]) -> str:
    card = cards.get(group.id)
    headline = card.title if card is not None else group.findings[0].message
    word = "note" if group.severity is Severity.INFO else group.severity.value
    count = counted(len(group.findings), word)
    where = f"{count} in {listed(group.subjects, 4)}" if group.subjects else count
    if group.severity is Severity.INFO and len(group.findings) > 1:
        where = note_line(group, card)
    summary = f"{_SEVERITY_MARK[group.severity]} <b>{_escape_html(headline)}</b> · {_escape_html(where)}"
    parts = [f"{_code(group.id)}{': ' if group.why else ''}{_prose(group.why)}"]
    if group.remedy:
        parts.append(f"**Fix:** {_prose(group.remedy)}")
    parts.extend(_render_finding(finding, group) for finding in group.findings[:_SHOWN_PER_GROUP])
    if len(group.findings) > _SHOWN_PER_GROUP:
        parts.append(escape(others(group.findings[_SHOWN_PER_GROUP:], 20)))
    return _fold(summary, "\n\n".join(parts))


def _render_finding(finding: Finding, group: FindingGroup) -> str:
    line = _prose(finding.message)
    if together := finding.together:
        names = ", ".join(map(_code, together[:_MOST_TOOLS]))
        more = f" and {len(together) - _MOST_TOOLS:,} more" if len(together) > _MOST_TOOLS else ""
        noun = ITEM[finding.item_kind] if finding.item_kind else "tool"
        line = f"{counted(len(together), noun)} ({names}{more}): {line}"
    elif finding.subject is not None:
        line = f"{_code(finding.subject)}: {line}"
    if finding.pointer:
        line += f" At {_code(finding.pointer)}."
    if finding.occurrences > 1:
        line += f" {times(finding.occurrences)}"
    evidence = visible(finding.evidence).strip()
    if evidence and "\n" not in evidence and len(evidence) <= _SHORT_EVIDENCE:
        line += f" Seen: {_code(evidence)}"
        evidence = ""
    lines = [line]
    if evidence:
        lines.append(_block(shorten(evidence, 2_000), "text"))
    if finding.remedy and not group.remedy:
        lines.append(f"**Fix:** {_prose(finding.remedy)}")
    if finding.reproduce:
        command = shorten(visible(finding.reproduce), 4_000)
        lines.append(_block(command, "sh"))
    return "\n\n".join(lines)


def _fold(summary: str, body: str) -> str:
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>\n"


def _code(text: str) -> str:
    plain = shorten(one_line(text), 300) or " "
    if _TAG.search(plain):
        # An entity, because a table would read a bar even behind a backslash that something else has escaped.
        return f"<code>{escape(plain)}</code>".replace("\\|", "&#124;")
    delimiter = "`" * (_longest_run(plain) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{delimiter}{pad}{plain}{pad}{delimiter}"


def _block(text: str, language: str) -> str:
    """No fence for HTML, a heading or a workflow command (`::set-output`): a log that shows it would obey them."""
    if not _STEERING.search(text):
        # A fence longer than every run of backticks inside it cannot be closed by what it holds.
        fence = "`" * max(3, _longest_run(text) + 1)
        return f"{fence}{language}\n{text}\n{fence}"
    safe = html.escape(text, quote=False).replace("@", "&#64;")
    return f"<pre>{_LINE_START.sub(lambda found: f'{found[1]}&#{ord(found[2])};', safe)}</pre>"


def _prose(text: str) -> str:
    """A sentence of ours that may quote the server: its code spans (`isError`) stay code, all else is escaped."""
    parts = re.split(r"(?<!`)`([^`]+)`(?!`)", shorten(one_line(text), 1_000))
    shown = ""
    for position, part in enumerate(parts):
        if position % 2:
            shown += _code(part)
        elif part.strip():
            # `escape` drops the spaces at both ends.
            head, tail = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
            shown += f"{head}{escape(part)}{tail}"
        else:
            shown += part
    return shown


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def escape(text: str) -> str:
    """One line that shows as it is: no HTML, Markdown or table cell, and no mention of a GitHub user."""
    return _MARKUP.sub(r"\\\g<0>", _escape_html(text)).replace("@", "&#64;")


def _escape_html(text: str) -> str:
    """One line that shows as it is inside an HTML block, where Markdown does not apply."""
    return html.escape(shorten(one_line(text), 1_000), quote=False)


FORMAT = Format(name="markdown", suffix=".md", render=render)
