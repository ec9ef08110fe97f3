"""Reports as documents: JSON, HTML, Markdown, JUnit, SARIF, GitHub annotations, and the terminal.

Data in, text out: no server, no engine, no files.
"""

from toolvet.report.baseline import apply_baseline
from toolvet.report.format import Format, formats, render
from toolvet.report.gate import why_failed
from toolvet.report.published import load, schema
from toolvet.report.terminal import print_report

__all__ = ["Format", "apply_baseline", "formats", "load", "print_report", "render", "schema", "why_failed"]
