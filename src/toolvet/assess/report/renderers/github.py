"""GitHub annotations: workflow commands that a job prints to its log.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions: data escapes `%`, CR and LF; a property
also `:` and `,`. GitHub shows ten annotations of a kind per step, so findings of one check are one annotation.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from toolvet.assess.report.document import Report
from toolvet.assess.report.gate import why_failed
from toolvet.assess.report.renderers import Format
from toolvet.assess.report.wording import (
    STATUS,
    FindingGroup,
    group_findings,
    listed,
    note_line,
    others,
    score,
    subject,
    tally,
    title,
)
from toolvet.core.visible import one_line, shorten, visible
from toolvet.findings import Card, Severity

_COMMAND: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_SHOWN_PER_GROUP: Final = 5
_LONGEST: Final = 4_000  # characters; GitHub cuts what is longer in the middle of a line


def render(reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """One line per check and severity, worst first, then one per server with its score."""
    lines: list[str] = []
    for report in reports:
        server = report.server.name
        for group in group_findings(report.findings):
            card = cards.get(group.id)
            headline = f"{server}: {card.title if card is not None else group.id}"
            message = _write_message(group)
            if group.severity is Severity.INFO and len(group.findings) > 1:
                message = f"{note_line(group, card)}\nFix: {group.remedy or group.findings[0].remedy}\n({group.id})"
            lines.append(_write_command(_COMMAND[group.severity], headline, message))
        if report.baseline is not None and report.baseline.stale:
            stale = listed([f"{entry.id} ({subject(entry) or 'the server'})" for entry in report.baseline.stale], 10)
            lines.append(_write_command("warning", f"{server}: stale baseline", f"No longer found: {stale}"))
        lines += [_write_command("error", f"{server}: failed", f"Failed: {reason}") for reason in why_failed(report)]
        scored = f"score {score(report)}, " if report.score is not None else ""
        lines.append(_write_command("notice", title(report), f"{scored}{STATUS[report.status]}: {tally(report)}"))
    return "".join(f"{line}\n" for line in lines)


def _write_message(group: FindingGroup) -> str:
    lines: list[str] = []
    for finding in group.findings[:_SHOWN_PER_GROUP]:
        lines.append(f"{whose}: {finding.message}" if (whose := subject(finding)) else finding.message)
        if finding.evidence:
            lines.append(f"  Seen: {shorten(one_line(finding.evidence), 300)}")
        if finding.reproduce:
            lines.append(f"  Run: {one_line(finding.reproduce)}")
    rest = group.findings[_SHOWN_PER_GROUP:]
    if rest:
        lines.append(others(rest, 10))
    if group.remedy:
        lines.append(f"Fix: {group.remedy}")
    return "\n".join([*lines, f"({group.id})"])


def _write_command(name: str, headline: str, message: str) -> str:
    title = _escape_data(shorten(one_line(headline), 200)).replace(":", "%3A").replace(",", "%2C")
    return f"::{name} title={title}::{_escape_data(shorten(visible(message), _LONGEST))}"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


FORMAT = Format(name="github", suffix=".txt", render=render)
