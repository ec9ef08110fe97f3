"""Failures as pages, for those who read them in a browser: what happened, where, and what to do now."""

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from jinja2 import Environment
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response

from toolvet.core.envelope import unavailable_error
from toolvet.errors import StoreError
from toolvet.server.access.role import Role
from toolvet.server.dashboard.page import Page, Visit
from toolvet.server.dashboard.view.outage import StoreOutage, outage_of
from toolvet.server.failures import ApiError, failure

_TITLES: Final[Mapping[int, str]] = {
    400: "This cannot be read",
    403: "Not for you",
    404: "Not found",
    405: "Not here",
    409: "Not now",
    413: "Too long",
    415: "Not a form",
    422: "This address asks for something that cannot be",
    429: "Too often",
    500: "Something broke in this server",
    503: "The store cannot be read",
}
_RETRY: Final = {"retry-after": "5"}


class FailurePages:
    """Shows what went wrong.

    Args:
        templates: The templates of pages.
        menu: The pages of the menu.
    """

    def __init__(self, templates: Environment, menu: Sequence[Page]) -> None:
        self._page = templates.get_template("failure.html.jinja")
        self._refused = templates.get_template("refused.html.jinja")
        self.templates = templates
        self.menu = menu

    def answer(self, request: HTTPConnection, error: ApiError) -> Response:
        """Return a page for a browser that wants one, else the envelope: nobody is known to look."""
        if reads_pages(request.headers) and not request.url.path.startswith("/v1/"):
            return self.show(error)
        return failure(error.status, error.envelope, error.headers)

    def refuse(self, headers: Headers, error: ApiError) -> Response:
        """Return the same for a host that gets no files of ours: a page that needs none."""
        if not reads_pages(headers):
            return failure(error.status, error.envelope, error.headers)
        return HTMLResponse(self._refused.render(words=error.envelope.error), error.status)

    def outage(self, error: StoreError, visit: Visit, csrf: str, *, is_sent: bool) -> Response:
        """Return the page for a store that cannot be read. `is_sent` says that a form was on its way."""
        # The reason may name files and hosts: it is for the log, and for admins.
        sys.stderr.write(f"toolvet: {error}\n")
        known = ApiError(503, unavailable_error("The store cannot be reached."), _RETRY)
        return self.show(known, visit, csrf, outage=outage_of(error), is_sent=is_sent)

    def show(
        self,
        error: ApiError,
        visit: Visit | None = None,
        csrf: str = "",
        *,
        outage: StoreOutage | None = None,
        is_sent: bool = False,
    ) -> Response:
        """Return the page for a failure, for this visit."""
        words = self._page.render(
            error=error,
            title=_TITLES.get(error.status, "This did not work"),
            visit=visit,
            page=None,
            menu=self.menu,
            csrf=csrf,
            may_leave=False,
            seen="",
            outage=outage,
            is_sent=is_sent,
            sees_reason=visit is not None and visit.person.may(Role.ADMIN),
        )
        return HTMLResponse(words, error.status, headers=error.headers)


def reads_pages(headers: Headers) -> bool:
    """Whether a browser asks for a page: programs ask for anything, or for JSON."""
    return "text/html" in headers.get("accept", "")
