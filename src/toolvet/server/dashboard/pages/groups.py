"""`/servers` and `/tools`: each with its figures; `/server/{server}` and `/tool/{server}/{tool}`: one of them."""

import time
from collections.abc import Mapping
from functools import partial

from toolvet.core.envelope import not_found_error
from toolvet.server.dashboard.page import Page, RequestContext
from toolvet.server.dashboard.view.figures import SORTS, read_charts, read_split, sort_groups, tiles
from toolvet.server.dashboard.view.formats import read_segment
from toolvet.server.dashboard.view.period import read_period
from toolvet.server.failures import ApiError
from toolvet.store import VerdictFilter
from toolvet.store.reading import read_assessment_heads

_MOST = 500
_MOST_FAILURES = 10


def _list(context: RequestContext, what: str) -> Mapping[str, object]:
    store, period = context.server.store, read_period(context.query, time.time())
    sort = context.query.get("sort") or "calls"
    overview = store.groups(("server",) if what == "server" else ("server", "tool"), period.figures())
    named = [group for group in overview if (group.server if what == "server" else group.tool)]
    shown = sort_groups(named, sort)
    return {"what": what, "period": period, "groups": shown[:_MOST], "total": len(shown), "sort": sort, "sorts": SORTS}


def _fill_server(context: RequestContext) -> Mapping[str, object]:
    store, period = context.server.store, read_period(context.query, time.time())
    server = read_segment(context.path["server"])
    with store.reading() as connection:
        assessments = read_assessment_heads(connection, server, limit=10)
    if not assessments and not store.page(VerdictFilter(server=server), limit=1).verdicts:
        raise ApiError(404, not_found_error("server", server))
    overview = store.overview(period.figures(server=server), most=_MOST)
    now, before = read_split(store, period, server), read_split(store, period.before, server)
    return {
        "server": server,
        "tool": None,
        "period": period,
        "tiles": tiles(now, before, has_answers=False),
        "charts": read_charts(store, period, server),
        "groups": overview.tools,
        "issues": overview.issues[:12],
        "assessments": assessments,
        "failures": store.page(VerdictFilter(server=server, failed=True), limit=_MOST_FAILURES).verdicts,
        "events": [event for event in store.events(200) if event.server == server][:5],
    }


def _fill_tool(context: RequestContext) -> Mapping[str, object]:
    store, period = context.server.store, read_period(context.query, time.time())
    server, tool = read_segment(context.path["server"]), read_segment(context.path["tool"])
    latest = store.page(VerdictFilter(server=server, tool=tool), limit=_MOST_FAILURES).verdicts
    if not latest:
        raise ApiError(404, not_found_error("tool", f"{tool} of {server}" if server else tool))
    overview = store.overview(period.figures(server=server, tool=tool), most=12)
    now, before = read_split(store, period, server, tool), read_split(store, period.before, server, tool)
    return {
        "server": server,
        "tool": tool,
        "period": period,
        "tiles": tiles(now, before, has_answers=False),
        "charts": read_charts(store, period, server, tool),
        "figures": now.calls,
        "issues": overview.issues,
        "latest": latest,
        "failures": store.page(VerdictFilter(server=server, tool=tool, failed=True), limit=_MOST_FAILURES).verdicts,
    }


PAGES = (
    Page("/servers", "Servers", "groups.html.jinja", partial(_list, what="server"), menu=(5, "Servers")),
    Page("/tools", "Tools", "groups.html.jinja", partial(_list, what="tool"), menu=(4, "Tools")),
    Page("/server/{server}", "Server", "group.html.jinja", _fill_server, section="/servers"),
    Page("/tool/{server}/{tool}", "Tool", "group.html.jinja", _fill_tool, section="/tools"),
)
