"""What several programs find in one server: the document `toolvet-peers/1`, its formats, and the tables for a terminal.

Within version 1 fields are only added, never renamed or removed.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Final, Literal

import msgspec
from jinja2 import Template
from msgspec import Meta
from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolvet.assess.report.page import load_template
from toolvet.assess.report.renderers.json import encode_document
from toolvet.assess.report.renderers.markdown import escape
from toolvet.core.visible import one_line

PEERS_ID: Final = "toolvet-peers/1"
_PACKAGE: Final = "toolvet.assess.report.peers"
_PAGE: Final = "toolvet.assess.report.page"
_RUN_HEAD: Final = ("program", "version", "exit code", "seconds", "score", "findings", "")


class PeerRun(msgspec.Struct, frozen=True, kw_only=True):
    """How one program ran. `problem` is why it has no findings to show, "" if it has some.

    `tested` is the version whose output the table of peers was read from; another one may be read wrongly.
    """

    name: str
    outcome: Literal["ran", "failed", "not_installed"]
    version: str = ""
    tested: str = ""
    exit_code: int | None = None
    seconds: float = 0.0
    score: str = ""
    findings: int = 0
    problem: str = ""
    install: str = ""


class SharedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What one or several programs found. `check` is our check; null if no check of ours looks for it.

    `found_by` counts the findings of each program by its name; `words` are those of the first of them.
    """

    check: str | None
    found_by: dict[str, int]
    words: Annotated[str, Meta(description="In the words of the first program that found it, secrets masked.")] = ""
    theirs: list[str] = []


class PeersReport(msgspec.Struct, frozen=True, kw_only=True):
    """One server, looked at by several programs. What all found comes first, what one alone found last."""

    schema: Literal["toolvet-peers/1"] = PEERS_ID
    command: str
    runs: list[PeerRun]
    findings: list[SharedFinding]
    toolvet_version: str = ""


def run_cells(run: PeerRun) -> tuple[str, ...]:
    """One program in the cells of a row."""
    if run.outcome == "not_installed":
        return (run.name, "", "", "", "", "", f"not installed: {run.install}")
    code = "" if run.exit_code is None else str(run.exit_code)
    note = one_line(run.problem)
    if run.tested and run.version and run.tested not in run.version:
        note = f"{note}; its output was read from version {run.tested}".removeprefix("; ")
    count = "" if run.outcome == "failed" else str(run.findings)
    return (run.name, one_line(run.version), code, f"{run.seconds:.1f}", run.score, count, note)


def finding_cells(report: PeersReport) -> list[tuple[str, ...]]:
    """Each finding in the cells of a row: the check, then how often each program that ran found it, then the words."""
    names = [run.name for run in report.runs if run.outcome == "ran"]
    return [
        (
            each.check or ", ".join(map(one_line, each.theirs)),
            *(str(each.found_by.get(name, "")) for name in names),
            one_line(each.words),
        )
        for each in report.findings
    ]


def finding_head(report: PeersReport) -> tuple[str, ...]:
    """The names of these columns."""
    return ("finding", *(run.name for run in report.runs if run.outcome == "ran"), "in words")


def print_peers(report: PeersReport, console: Console) -> None:
    """Print who ran, and who found what. Text of a server or a program is never markup."""
    for head, rows in (
        (_RUN_HEAD, [run_cells(run) for run in report.runs]),
        (finding_head(report), finding_cells(report)),
    ):
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        for name in head:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
        console.print()


def render_markdown(report: PeersReport) -> str:
    """Both tables."""
    lines = ["# Compared with peers", "", escape(report.command), ""]
    for head, rows in (
        (_RUN_HEAD, [run_cells(run) for run in report.runs]),
        (finding_head(report), finding_cells(report)),
    ):
        lines += [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
        lines += [f"| {' | '.join(map(escape, row))} |" for row in rows]
        lines.append("")
    return "\n".join(lines)


def render_page(report: PeersReport) -> str:
    """One file that opens offline."""
    return _load_template().render(
        r=report,
        tables=[
            (_RUN_HEAD, [run_cells(run) for run in report.runs]),
            (finding_head(report), finding_cells(report)),
        ],
    )


@cache
def _load_template() -> Template:
    return load_template(
        _PACKAGE,
        "peers.html.jinja",
        styles=((_PAGE, "base.css"), ("toolvet.assess.report.replay", "replay.css")),
        scripts=((_PAGE, "theme.js"),),
        names={},
    )


PEERS_FORMATS: Final[Mapping[str, Callable[[PeersReport], str]]] = {
    "html": render_page,
    "json": encode_document,
    "markdown": render_markdown,
}


"""What `--report FORMAT=FILE` writes, by the name of the format."""
