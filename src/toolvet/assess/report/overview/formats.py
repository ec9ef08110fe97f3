"""The overview as a page that opens offline and leads to the page of each server, and on a terminal."""

from functools import cache
from typing import Final

from jinja2 import Template
from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolvet.assess.report import wording
from toolvet.assess.report.overview import ServersOverview
from toolvet.assess.report.page import load_template
from toolvet.assess.report.renderers.html import prose
from toolvet.assess.report.terminal import SEVERITY_STYLE, STATUS_STYLE
from toolvet.assess.report.wording import NONE, STATUS, counted, number, severities
from toolvet.core.visible import one_line, shorten

_PACKAGE: Final = "toolvet.assess.report.overview"
_PAGE: Final = "toolvet.assess.report.page"
_MOST_SERVERS: Final = 50
_MOST_CHECKS: Final = 12
_MOST_UNASSESSED: Final = 30
_PROBLEM: Final = 300


def render_page(overview: ServersOverview) -> str:
    """The page. The pages of the servers are expected as `servers/FILE.html` beside it."""
    return _load_template().render(o=overview)


@cache
def _load_template() -> Template:
    return load_template(
        _PACKAGE,
        "overview.html.jinja",
        styles=((_PAGE, "base.css"), (_PACKAGE, "overview.css")),
        scripts=((_PAGE, "theme.js"), (_PACKAGE, "overview.js")),
        names={"w": wording, "prose": prose},
    )


def print_overview(overview: ServersOverview, console: Console) -> None:
    """Print the ranking, what was found most often, and what could not be assessed.

    Width and colours are those of `console`. Text of a server is never markup.
    """
    if overview.ranking:
        table = _table()
        table.add_column("", justify="right", no_wrap=True)
        table.add_column("Server", overflow="fold")
        table.add_column("Score", justify="right", no_wrap=True)
        table.add_column("Status", no_wrap=True)
        table.add_column("Tools", justify="right", no_wrap=True)
        table.add_column("Findings", overflow="fold")
        for row in overview.ranking[:_MOST_SERVERS]:
            style = STATUS_STYLE[row.status]
            name = Text(one_line(row.name))
            if row.incomplete:
                name.append(f"  incomplete: {one_line(row.incomplete)}", style="yellow")
            table.add_row(
                NONE if row.rank is None else str(row.rank),
                name,
                Text(number(row.score), style=f"bold {style}" if row.is_graded else "dim"),
                Text(STATUS[row.status], style=style),
                f"{row.tested}/{row.tools}",
                severities(row.findings),
            )
        console.print(table)
        if len(overview.ranking) > _MOST_SERVERS:
            console.print(Text(f"and {counted(len(overview.ranking) - _MOST_SERVERS, 'more server')}", style="dim"))
    if overview.checks:
        console.print()
        table = _table()
        table.add_column("Found most often", overflow="fold")
        table.add_column("Servers", justify="right", no_wrap=True)
        table.add_column("Findings", justify="right", no_wrap=True)
        for check in overview.checks[:_MOST_CHECKS]:
            title = Text.assemble((check.title, ""), (f"  {check.id}", "dim"))
            share = Text(f"{check.servers:,} ({100 * check.share:.0f} %)", style=SEVERITY_STYLE[check.severity])
            table.add_row(title, share, f"{check.findings:,}")
        console.print(table)
        if len(overview.checks) > _MOST_CHECKS:
            console.print(Text(f"and {counted(len(overview.checks) - _MOST_CHECKS, 'more check')}", style="dim"))
    if overview.not_assessed:
        console.print()
        table = _table()
        table.add_column("Not assessed", overflow="fold")
        table.add_column("Why", overflow="fold")
        for server in overview.not_assessed[:_MOST_UNASSESSED]:
            problem = Text(shorten(one_line(server.problem), _PROBLEM), style="red")
            table.add_row(Text(one_line(server.name)), problem)
        console.print(table)
        if len(overview.not_assessed) > _MOST_UNASSESSED:
            more = counted(len(overview.not_assessed) - _MOST_UNASSESSED, "more server")
            console.print(Text(f"and {more}", style="dim"))
    console.print()
    median = f", median score {number(overview.median_score)}" if overview.median_score is not None else ""
    console.print(
        f"{overview.assessed:,} of {counted(overview.servers, 'server')} assessed{median}, "
        f"{counted(overview.calls, 'call')}, {severities(overview.findings)}",
        highlight=False,
    )


def _table() -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
