"""Markdown for a job summary (GitHub's `GITHUB_STEP_SUMMARY` takes up to 1 MiB), readable in any other place too."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.report.document import Report, Status, Tool
from toolvet.report.format import Format
from toolvet.report.group import Group, grouped
from toolvet.report.visible import one_line, shortened, visible
from toolvet.report.wording import STATUS, counted, listed, number, origin, passed, severities, tally

_LIMIT: Final = 1_000_000  # bytes; GitHub drops a summary of more than 1 MiB altogether
_SHOWN_PER_GROUP: Final = 20
_PUNCTUATION: Final = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")
_STATUS_MARK: Final[dict[Status, str]] = {
    "fully_working": "✅",
    "partially_working": "⚠️",
    "connectivity_only": "⚠️",
    "broken": "❌",
    "untested": "➖",
}
_SEVERITY_MARK: Final = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "ℹ️"}  # noqa: RUF001 - the information sign


def render(reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """A comparison when there are several servers, then each in turn; what does not fit is counted at the end."""
    blocks = [block for report in reports for block in _report(report, cards)]
    if len(reports) > 1:
        blocks.insert(0, _comparison(reports))
    kept: list[str] = []
    size = 0
    for position, block in enumerate(blocks):
        size += len(block.encode()) + 1
        if size > _LIMIT:
            kept.append(f"_{len(blocks) - position:,} more sections did not fit: see the HTML or the JSON report._\n")
            break
        kept.append(block)
    return "\n".join(kept)


def _report(report: Report, cards: Mapping[str, Card]) -> Iterator[str]:
    """Blocks, each complete in itself, so that the document can end after any of them."""
    name = _escaped(" ".join([report.server.name, report.server.version]).strip())
    yield f"## {_STATUS_MARK[report.status]} {name}: {number(report.score)}/100, {STATUS[report.status]}\n"
    yield f"{_escaped(origin(report))} · {tally(report)}\n"
    if report.incomplete is not None:
        yield f"> **Incomplete:** {_escaped(report.incomplete)}\n"
    called = [tool for tool in report.tools if tool.skipped is None]
    if called:
        yield _tool_table(called, report.findings)
    for group in grouped(report.findings):
        yield _group(group, cards)
    skipped = [tool for tool in report.tools if tool.skipped is not None]
    if skipped:
        lines = [f"- `{_code(tool.name)}`: {_escaped(tool.skipped or '')}" for tool in skipped]
        yield _folded(f"{counted(len(skipped), 'tool')} not called", "\n".join(lines))
    if report.baseline is not None and report.baseline.stale:
        lines = [f"- {_escaped(entry.id)}: {_escaped(entry.tool or 'the server')}" for entry in report.baseline.stale]
        yield _folded(f"{len(lines)} of the baseline no longer found", "\n".join(lines))


def _tool_table(tools: Sequence[Tool], findings: Sequence[Finding]) -> str:
    rows = [
        "| Tool | Status | Confidence | Error messages | Passed | Findings |",
        "|:--|:--|--:|--:|--:|--:|",
    ]
    for tool in tools:
        found = sum(finding.tool == tool.name for finding in findings)
        cells = (
            f"<code>{_escaped(tool.name)}</code>",
            f"{_STATUS_MARK[tool.status]} {STATUS[tool.status]}",
            number(tool.confidence) if tool.scenarios else "–",
            number(tool.error_message_score),
            f"{passed(tool)}/{len(tool.scenarios)}",
            str(found or "–"),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _group(group: Group, cards: Mapping[str, Card]) -> str:
    card = cards.get(group.id)
    title = f"{_SEVERITY_MARK[group.severity]} <b>{_escaped(card.title if card else group.findings[0].message)}</b>"
    where = f" in {listed([_escaped(name) for name in group.tools], 4)}" if group.tools else ""
    summary = f"{title} ({counted(len(group.findings), group.severity.value)}{where})"
    parts = [f"<code>{_escaped(group.id)}</code>" + (f": {_escaped(group.why)}" if group.why else "")]
    if group.remedy:
        parts.append(f"**Fix:** {_escaped(group.remedy)}")
    parts.extend(_finding(finding, group) for finding in group.findings[:_SHOWN_PER_GROUP])
    if len(group.findings) > _SHOWN_PER_GROUP:
        parts.append(f"… and {len(group.findings) - _SHOWN_PER_GROUP:,} more.")
    return _folded(summary, "\n\n".join(parts))


def _finding(finding: Finding, group: Group) -> str:
    where = f"<code>{_escaped(finding.tool)}</code>: " if finding.tool is not None else ""
    times = f" (×{finding.occurrences})" if finding.occurrences > 1 else ""
    at = f" at <code>{_escaped(finding.pointer)}</code>" if finding.pointer else ""
    lines = [f"{where}{_escaped(finding.message)}{at}{times}"]
    if finding.evidence:
        lines.append(_fenced(shortened(visible(finding.evidence), 2_000), "text"))
    if finding.remedy and not group.remedy:
        lines.append(f"**Fix:** {_escaped(finding.remedy)}")
    if finding.reproduce:
        lines.append(_fenced(shortened(visible(finding.reproduce), 4_000), "sh"))
    return "\n\n".join(lines)


def _comparison(reports: Sequence[Report]) -> str:
    rows = ["| Server | Score | Status | Tools tested | Passed | Findings |", "|:--|--:|:--|--:|--:|:--|"]
    for report in reports:
        cells = (
            _escaped(f"{report.server.name} {report.server.version}".strip()),
            number(report.score),
            f"{_STATUS_MARK[report.status]} {STATUS[report.status]}",
            f"{report.summary.tested}/{report.summary.tools}",
            f"{report.summary.passed}/{report.summary.scenarios}",
            severities(report.summary.findings),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _folded(summary: str, body: str) -> str:
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>\n"


def _fenced(text: str, language: str) -> str:
    """A fence longer than every run of backticks inside it cannot be closed by what it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _escaped(text: str) -> str:
    """One line that shows as it is: no HTML, no Markdown, no table cell, no mention of somebody."""
    plain = shortened(one_line(text), 1_000)
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    return _PUNCTUATION.sub(r"\\\1", plain)


def _code(text: str) -> str:
    """Inside a code span nothing is escaped, so a backtick in it becomes an apostrophe."""
    return shortened(one_line(text), 200).replace("`", "'")


FORMAT = Format(name="markdown", suffix=".md", render=render)
