"""HTML: one file that opens offline and holds everything, script and style included."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from jinja2 import Template

from toolvet.assess.report import wording
from toolvet.assess.report.document import Report
from toolvet.assess.report.format import Format
from toolvet.assess.report.gate import why_failed
from toolvet.assess.report.page.template import load_template
from toolvet.assess.report.page.view import block, brief, log, payload, prose, views
from toolvet.findings import Card

_PACKAGE: Final = "toolvet.assess.report.page"


def render(reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """The page. Long payloads are cut to keep it below about 3 MB; the JSON report has all that was recorded."""
    return _load_template().render(servers=views(reports, cards), legend=wording.legend(reports), why_failed=why_failed)


@cache
def _load_template() -> Template:
    return load_template(
        _PACKAGE,
        "page.html.jinja",
        styles=((_PACKAGE, "base.css"), (_PACKAGE, "style.css")),
        scripts=((_PACKAGE, "theme.js"), (_PACKAGE, "script.js")),
        names={"w": wording, "block": block, "brief": brief, "log": log, "payload": payload, "prose": prose},
    )


FORMAT = Format(name="html", suffix=".html", render=render)
