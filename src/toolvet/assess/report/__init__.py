"""Reports as documents: JSON, HTML, Markdown, JUnit, SARIF, GitHub annotations, and the terminal.

Data in, text out: no server, no engine, no files.
"""

from typing import TYPE_CHECKING

from toolvet.core.discover.names import named

if TYPE_CHECKING:
    from toolvet.assess.report.baseline import apply_baseline
    from toolvet.assess.report.format import Format, formats, render
    from toolvet.assess.report.gate import why_failed
    from toolvet.assess.report.published import load, schema
    from toolvet.assess.report.terminal import print_report

__all__ = ["Format", "apply_baseline", "formats", "load", "print_report", "render", "schema", "why_failed"]

if not TYPE_CHECKING:  # A type checker knows the names above, and should complain of others.
    # Who only wants to show a text safely (`visible`), such as `check answer` and the dashboard, needs neither rich nor
    # the reports, and none of the rules, which load the schema engine.
    __getattr__ = named(
        __name__,
        {
            "baseline": "apply_baseline",
            "format": "Format formats render",
            "gate": "why_failed",
            "published": "load schema",
            "terminal": "print_report",
        },
    )
