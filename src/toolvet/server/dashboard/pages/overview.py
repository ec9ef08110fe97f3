"""`/`: how many calls and answers there were, what failed, and where."""

import time
from collections.abc import Mapping

from toolvet.server.dashboard.page import Page, RequestContext
from toolvet.server.dashboard.view.figures import read_charts, read_split, slowest, tiles, worst
from toolvet.server.dashboard.view.period import read_period
from toolvet.store.reading import read_assessment_heads, read_progress

_MOST_TOOLS = 6
_MOST_ISSUES = 8


def _fill(context: RequestContext) -> Mapping[str, object]:
    store = context.server.store
    with store.reading() as connection:
        progress = read_progress(connection)
        assessments = read_assessment_heads(connection, limit=4)
    period = read_period(context.query, time.time())
    overview = store.overview(period.figures(), most=1_000)
    now, before = read_split(store, period), read_split(store, period.before)
    return {
        "address": store.address.shown,
        "is_empty": not (progress.verdicts or progress.assessments or progress.events),
        "period": period,
        "tiles": tiles(now, before, has_answers=bool(now.answers.verdicts or before.answers.verdicts)),
        "charts": read_charts(store, period),
        "worst": worst(overview.tools)[:_MOST_TOOLS],
        "slowest": slowest(overview.tools)[:_MOST_TOOLS],
        "issues": overview.issues[:_MOST_ISSUES],
        "total": overview.total.verdicts,
        "assessments": assessments,
    }


PAGES = (Page("/", "Overview", "overview.html.jinja", _fill, menu=(1, "Overview")),)
