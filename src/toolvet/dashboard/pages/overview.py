"""`/`: how many calls and answers there were, what failed, and where."""

from collections.abc import Mapping

from toolvet.dashboard.page import Page, Visit


def _fill(visit: Visit) -> Mapping[str, object]:
    return {"store": visit.site.store.address.shown, "overview": visit.site.store.overview()}


PAGES = (Page("/", "Overview", "overview.html.jinja", _fill, menu=(1, "Overview")),)
