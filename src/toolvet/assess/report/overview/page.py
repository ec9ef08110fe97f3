"""The overview as a page: one file that opens offline and leads to the page of each server."""

from functools import cache
from typing import Final

from jinja2 import Template

from toolvet.assess.report import wording
from toolvet.assess.report.overview.document import ServersOverview
from toolvet.assess.report.page.template import load_template
from toolvet.assess.report.page.view import prose

_PACKAGE: Final = "toolvet.assess.report.overview"
_PAGE: Final = "toolvet.assess.report.page"


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
