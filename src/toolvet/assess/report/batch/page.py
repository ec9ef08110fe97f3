"""The summary of a batch and the comparison of two as pages: each is one file that opens offline."""

from functools import cache
from typing import Final

from jinja2 import Template

from toolvet.assess.report import wording
from toolvet.assess.report.batch import words
from toolvet.assess.report.batch.document import BatchReport, ComparisonReport
from toolvet.assess.report.page.template import load_template

_PACKAGE: Final = "toolvet.assess.report.batch"
_PAGE: Final = "toolvet.assess.report.page"


def render_batch_page(report: BatchReport | ComparisonReport) -> str:
    """The page of a summary, or of a comparison."""
    if isinstance(report, BatchReport):
        return _load_template("batch.html.jinja").render(r=report)
    return _load_template("comparison.html.jinja").render(c=report)


@cache
def _load_template(name: str) -> Template:
    return load_template(
        _PACKAGE,
        name,
        styles=((_PAGE, "base.css"), (_PACKAGE, "batch.css")),
        scripts=((_PAGE, "theme.js"),),
        names={"w": wording, "b": words},
    )
