"""`/events`: what else happened: schemas that do not compile, lists that cannot be read, records that were dropped."""

from collections.abc import Mapping

from toolvet.server.dashboard.page import Page, Visit

_MOST = 300


def _fill(visit: Visit) -> Mapping[str, object]:
    return {"events": visit.site.store.events(_MOST), "most": _MOST}


PAGES = (Page("/events", "Events", "events.html.jinja", _fill, menu=(8, "Events")),)
