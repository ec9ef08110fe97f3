"""`/events`: what else happened: schemas that do not compile, lists that cannot be read, records that were dropped."""

from collections.abc import Mapping

from toolvet.server.dashboard.page import Page, RequestContext

_MOST = 300


def _fill(context: RequestContext) -> Mapping[str, object]:
    return {"events": context.server.store.events(_MOST), "most": _MOST}


PAGES = (Page("/events", "Events", "events.html.jinja", _fill, menu=(8, "Events")),)
