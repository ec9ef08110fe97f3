"""A badge: the score as JSON that shields.io draws (https://shields.io/badges/endpoint-badge).

![toolvet](https://img.shields.io/endpoint?url=https://…/badge.json)
"""

from collections.abc import Mapping, Sequence
from typing import Final

import orjson

from toolvet.assess.report.document import Report
from toolvet.assess.report.renderers import Format
from toolvet.assess.report.wording import grade, number
from toolvet.findings import Card

_COLOURS: Final = {"good": "brightgreen", "fair": "yellow", "poor": "red"}


def render(reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """The lowest score of the reports; without any score, that there is none."""
    del cards
    scores = [report.score for report in reports if report.score is not None]
    lowest = min(scores) if scores and len(scores) == len(reports) else None
    badge = {
        "schemaVersion": 1,
        "label": "toolvet",
        "message": "no score" if lowest is None else f"{number(lowest)}/100",
        "color": "lightgrey" if lowest is None else _COLOURS.get(grade(lowest), "lightgrey"),
    }
    return orjson.dumps(badge, option=orjson.OPT_INDENT_2).decode() + "\n"


FORMAT = Format(name="badge", suffix=".badge.json", render=render)
