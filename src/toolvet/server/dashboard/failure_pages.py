"""Failures as pages, for those who read them in a browser: what happened, where, and what to do now.

StoreError("/var/shop.db: database is locked") → StoreOutage("Another program holds the database.", …)
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jinja2 import Environment
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response

from toolvet.core.envelope import unavailable_error
from toolvet.errors import StoreError
from toolvet.server.access.role import Role
from toolvet.server.dashboard.page import Page, RequestContext
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


@dataclass(frozen=True)
class StoreOutage:
    """Why the store cannot be read: `what` happened, what to do `now`, and the database's own words as `reason`."""

    what: str
    now: str
    reason: str


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
        """Return a page for a browser that wants one, else the envelope: a program reads it."""
        if reads_pages(request.headers) and not request.url.path.startswith("/v1/"):
            return self.show(error)
        return failure(error.status, error.envelope, error.headers)

    def refuse(self, headers: Headers, error: ApiError) -> Response:
        """Return the same for a host that gets no files of ours: a page that needs none."""
        if not reads_pages(headers):
            return failure(error.status, error.envelope, error.headers)
        return HTMLResponse(self._refused.render(words=error.envelope.error), error.status)

    def outage(self, error: StoreError, context: RequestContext, csrf: str, *, is_sent: bool) -> Response:
        """Return the page for a store that cannot be read. `is_sent` says that a form was on its way."""
        # The reason may name files and hosts: it is for the log, and for admins.
        sys.stderr.write(f"toolvet: {error}\n")
        known = ApiError(503, unavailable_error("The store cannot be reached."), _RETRY)
        return self.show(known, context, csrf, outage=outage_of(error), is_sent=is_sent)

    def show(
        self,
        error: ApiError,
        context: RequestContext | None = None,
        csrf: str = "",
        *,
        outage: StoreOutage | None = None,
        is_sent: bool = False,
    ) -> Response:
        """Return the page for a failure, for this context."""
        words = self._page.render(
            error=error,
            title=_TITLES.get(error.status, "This did not work"),
            context=context,
            page=None,
            menu=self.menu,
            csrf=csrf,
            may_leave=False,
            seen="",
            outage=outage,
            is_sent=is_sent,
            sees_reason=context is not None and context.person.may(Role.ADMIN),
        )
        return HTMLResponse(words, error.status, headers=error.headers)


def reads_pages(headers: Headers) -> bool:
    """Whether a browser asks for a page: programs ask for anything, or for JSON."""
    return "text/html" in headers.get("accept", "")


_WAITS: Final = (
    "This page looks again every five seconds. What programs hand in meanwhile is not lost: it waits beside the store."
)
_RESTORE: Final = (
    "Run toolvet store check: it says what is wrong. Put a copy in its place, or move the damaged file away; the next"
    " start begins a new one, and takes in what waits beside it."
)


# Words of SQLite, PostgreSQL and the system. The first row that has one of them counts.
_KINDS: Final[Sequence[tuple[tuple[str, ...], str, str]]] = (
    (
        ("malformed", "not a database", "is damaged", "disk image", "corrupt", "could not decode to utf-8"),
        "The database is damaged.",
        _RESTORE,
    ),
    (
        ("locked", "busy"),
        "Another program holds the database.",
        f"{_WAITS} If it stays like this, end the program that holds the file.",
    ),
    (
        ("disk is full", "no space left", "quota"),
        "The disk of the store is full.",
        "Make room. toolvet store prune removes what is old.",
    ),
    (
        ("unable to open", "permission denied", "readonly", "read-only", "disk i/o"),
        "The file of the store cannot be opened.",
        f"See that it is there, and that this server may read and write it. {_WAITS}",
    ),
    (
        ("later release", "another program", "not toolvet's"),
        "This database is not one that this release of toolvet reads.",
        "Upgrade toolvet, or give it a database of its own with --store.",
    ),
    (
        ("connect", "server closed", "terminating", "shutting down", "starting up", "recovery", "host name", "timeout"),
        "The database server does not answer.",
        f"See that it runs and can be reached. {_WAITS}",
    ),
)


def outage_of(error: StoreError) -> StoreOutage:
    """Return what an error of the store means.

    >>> outage_of(StoreError("/var/shop.db: database is locked")).what
    'Another program holds the database.'
    """
    reason = f"{error}"
    words = reason.lower()
    for signs, what, now in _KINDS:
        if any(sign in words for sign in signs):
            return StoreOutage(what, now, reason)
    return StoreOutage("The store cannot be reached.", _WAITS, reason)
