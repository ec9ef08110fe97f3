"""Pages → routes: looks up who visits, fills the template, and answers in HTML; and the files that pages load.

Each file has a name with its content's hash, so that browsers keep it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from jinja2 import DictLoader, Environment, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from toolvet.core.discover import data_file, data_files, files_of, modules
from toolvet.core.envelope import forbidden_error, validation_error
from toolvet.core.visible import visible
from toolvet.errors import StoreError
from toolvet.server.access.gate import FORM_FIELD, FORM_HEADER, Gate, Sender, address_of
from toolvet.server.access.guard import note_refusal
from toolvet.server.access.login import LoginPages, read_form
from toolvet.server.context import ServerContext
from toolvet.server.dashboard.api.routing import allowed
from toolvet.server.dashboard.failure_pages import FailurePages
from toolvet.server.dashboard.page import Page, RequestContext
from toolvet.server.dashboard.view.formats import FILTERS, conversation_path, queried, server_path, tool_path, turn_path
from toolvet.server.failures import ApiError, refusal
from toolvet.store.reading import read_progress


def pages() -> list[Page]:
    """Return all pages, in the order of their paths."""
    found: list[Page] = []
    for module in modules("toolvet.server.dashboard.pages"):
        found.extend(module.PAGES)
    return sorted(found, key=lambda page: page.path)


def environment() -> Environment:
    """Return the templates. Every value is escaped; an undefined name is an error."""
    sources = {name: text.decode() for name, text in data_files("toolvet.server.dashboard.templates", ".jinja")}
    made = Environment(
        loader=DictLoader(sources),
        autoescape=True,
        # No control character of a stored text reaches a page.
        finalize=_make_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names: dict[str, Any] = {
        "asset": asset_path,
        "queried": queried,
        "tool_path": tool_path,
        "server_path": server_path,
        "turn_path": turn_path,
        "conversation_path": conversation_path,
    }
    made.globals.update(names)
    made.filters.update(FILTERS)
    return made


def _make_visible(value: object) -> object:
    return visible(value) if type(value) is str else value


def failure_pages(known: Sequence[Page]) -> FailurePages:
    """Return what shows failures within the frame of these pages: their templates and their menu."""
    return FailurePages(environment(), sorted((page for page in known if page.menu), key=lambda page: page.menu or ()))


def page_routes(known: Sequence[Page], server: ServerContext, gate: Gate, failures: FailurePages) -> list[Route]:
    """Return the routes of these pages, of the login page, and of the way out."""
    shown = [Route(page.path, _handler(page, server, gate, failures), methods=["GET", "POST"]) for page in known]
    return [*shown, *LoginPages(failures.templates, gate, server).routes()]


def _handler(page: Page, server: ServerContext, gate: Gate, failures: FailurePages) -> Any:
    template = failures.templates.get_template(page.template)

    async def handle(request: Request) -> Response:
        caller = Sender(None, None)
        # A browser that sends a wrong token may log in instead.
        with suppress(ApiError):
            caller = gate.caller(request)
        if caller.person is None:
            query = f"?{request.url.query}" if request.url.query and request.method == "GET" else ""
            return RedirectResponse(f"/login?{urlencode({'next': request.url.path + query})}", 303)
        # A person who is let in without a login cannot leave either.
        may_leave = gate.people.local is None and caller.session is not None
        session, cookie = caller.session, None
        if session is None:
            # The user of this machine gets a session, too, so that every form carries the token of its page.
            session, cookie = gate.sessions.begin(caller.person.name)
        csrf = gate.sessions.form_token(session)
        context = RequestContext(
            request.query_params, request.path_params, caller.person, server, address=address_of(request)
        )
        shown = {"context": context, "page": page, "menu": failures.menu, "csrf": csrf, "may_leave": may_leave}

        def fill() -> str:
            # Read before the rest: what comes while the page is made is news to it.
            with server.store.reading() as connection:
                seen = read_progress(connection).mark
            return template.render(page.fill(context), seen=seen, **shown)

        try:
            gate.slow_down(request, caller)
            allowed(caller.person, page.role)
            _check_texts(request.query_params)
            if request.method == "POST":
                return await _post(page, request, context, gate, caller)
            response: Response = HTMLResponse(await run_in_threadpool(fill))
        except ApiError as error:
            if error.status == 403:
                await note_refusal(server, request, error.envelope.error or "", who=caller.person.name)
            response = failures.show(error, context, csrf)
        except StoreError as error:
            response = failures.outage(error, context, csrf, is_sent=request.method == "POST")
        if cookie is not None:
            gate.keep(response, cookie)
        response.headers["cache-control"] = "no-store"
        return response

    return handle


def _check_texts(given: Mapping[str, str]) -> None:
    """Raise ApiError with 422 for a NUL, which no database takes."""
    wrong = next((name for name, value in given.items() if "\x00" in name or "\x00" in value), None)
    if wrong is not None:
        name = wrong.replace("\x00", "")
        raise ApiError(422, validation_error(f"{name} must not have a NUL", field=name or None))


async def _post(page: Page, request: Request, context: RequestContext, gate: Gate, caller: Sender) -> Response:
    if page.post is None:
        raise refusal(405, "this page takes no form", {"allow": "GET"})
    form = await read_form(request)
    if caller.session is None:
        raise ApiError(403, forbidden_error("the form has no session; load the page again"))
    gate.check_form(caller, request.headers.get(FORM_HEADER) or form.get(FORM_FIELD, ""))
    _check_texts(form)
    sent = replace(context, form={name: value for name, value in form.items() if name != FORM_FIELD})
    return RedirectResponse(await run_in_threadpool(page.post, sent), 303)


_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HASH: Final = 10


class Asset(NamedTuple):
    """One file: its bytes, its media type, and the path under which pages load it."""

    content: bytes
    media_type: str
    path: str


@cache
def assets() -> Mapping[str, Asset]:
    """Return the files by their names, such as `site.css` or `vendor/uPlot.min.css`."""
    found = {name: content for kind in _TYPES for name, content in files_of("toolvet.server.dashboard.static", kind)}
    # The colours and the first rules are those of the reports.
    found["base.css"] = data_file("toolvet.assess.report.page", "base.css")
    made: dict[str, Asset] = {}
    for name, content in found.items():
        digest = hashlib.sha256(content).hexdigest()[:_HASH]
        made[name] = Asset(content, _TYPES[PurePosixPath(name).suffix], f"/static/{digest}/{name}")
    return made


def asset_path(name: str) -> str:
    """Return the path under which pages load a file. Raises KeyError for a file that does not exist."""
    return assets()[name].path


async def serve_asset(request: Request) -> Response:
    """Answer a request for a file; one of another version is not there."""
    name = request.path_params["name"]
    known = assets().get(name)
    if known is None or known.path != request.url.path:
        return Response(status_code=404)
    return Response(
        known.content, media_type=known.media_type, headers={"cache-control": "public, max-age=31536000, immutable"}
    )
