"""`/events`: what else happened: schemas that do not compile, lists that cannot be read, records that were dropped."""

from toolvet.server.dashboard.page import Page

_MOST = 300


PAGES = (
    Page(
        "/events",
        "Events",
        "events.html.jinja",
        lambda context: {"events": context.server.store.events(_MOST), "most": _MOST},
        menu=(8, "Events"),
    ),
)
