"""Pages → routes: looks up who visits, fills the template, and answers in HTML."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from toolvet.dashboard.access.role import Person
from toolvet.dashboard.api.failures import ApiError
from toolvet.dashboard.assets import asset_path
from toolvet.dashboard.page import Page, Visit
from toolvet.dashboard.site import Site
from toolvet.discover import data_files, modules
from toolvet.report.visible import visible


def pages() -> list[Page]:
    """Return all pages, in the order of their paths."""
    found: list[Page] = []
    for module in modules("toolvet.dashboard.pages"):
        found.extend(module.PAGES)
    return sorted(found, key=lambda page: page.path)


def environment() -> Environment:
    """Return the templates. Every value is escaped; a name that nobody gave is an error."""
    sources = {name: text.decode() for name, text in data_files("toolvet.dashboard.templates", ".jinja")}
    made = Environment(
        loader=DictLoader(sources),
        autoescape=True,
        # No control character of a stored text reaches a page.
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["asset"] = asset_path
    return made


def page_routes(known: Sequence[Page], site: Site, person_of: Callable[[Request], Person | None]) -> list[Route]:
    """Return the routes of these pages."""
    templates = environment()
    menu = sorted((page for page in known if page.menu), key=lambda page: page.menu or (0, ""))
    return [Route(page.path, _handler(page, menu, templates, site, person_of)) for page in known]


def _handler(
    page: Page, menu: Iterable[Page], templates: Environment, site: Site, person_of: Callable[[Request], Person | None]
) -> Any:
    template = templates.get_template(page.template)

    async def handle(request: Request) -> Response:
        person = person_of(request)
        if person is None:
            return Response(status_code=303, headers={"location": f"/login?next={request.url.path}"})
        visit = Visit(request.query_params, request.path_params, person, site)

        def fill() -> str:
            values: Mapping[str, object] = page.fill(visit)
            return template.render(values, page=page, menu=menu, visit=visit, csrf="")

        try:
            return HTMLResponse(await run_in_threadpool(fill))
        except ApiError as error:
            failed = templates.get_template("failure.html.jinja")
            words = failed.render(page=page, menu=menu, visit=visit, csrf="", error=error)
            return HTMLResponse(words, error.status)

    return handle
