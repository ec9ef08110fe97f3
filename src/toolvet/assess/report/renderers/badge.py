"""A badge: the score as JSON that shields.io draws (https://shields.io/badges/endpoint-badge).

![toolvet](https://img.shields.io/endpoint?url=https://…/badge.json)
"""

from collections.abc import Mapping, Sequence
from typing import Final

import orjson

from toolvet.assess.report.document import Report
from toolvet.assess.report.renderers import Format
from toolvet.assess.report.wording import grade, score
from toolvet.findings import Card

_COLOURS: Final = {"good": "brightgreen", "fair": "yellow", "poor": "red"}


def render(reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """The lowest score of the reports, grey if it is not a grade; or that there is none."""
    del cards
    scored = [report for report in reports if report.score is not None]
    worst = min(scored, key=lambda report: report.score or 0) if scored and len(scored) == len(reports) else None
    colour = grade(worst.score if worst is not None and worst.is_graded else None)
    badge = {
        "schemaVersion": 1,
        "label": "toolvet",
        "message": "no score" if worst is None else score(worst),
        "color": "lightgrey" if worst is None else _COLOURS.get(colour, "lightgrey"),
    }
    return orjson.dumps(badge, option=orjson.OPT_INDENT_2).decode() + "\n"


FORMAT = Format(name="badge", suffix=".badge.json", render=render)
