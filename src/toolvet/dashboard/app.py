"""The application: the API and the pages behind the guard."""

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolvet.dashboard.access.gate import Gate
from toolvet.dashboard.access.guard import BrowserGuard
from toolvet.dashboard.api.endpoint import Endpoint
from toolvet.dashboard.api.openapi import document
from toolvet.dashboard.api.routing import routes
from toolvet.dashboard.assets import serve_asset
from toolvet.dashboard.failures import failure, json_response
from toolvet.dashboard.live import LiveUpdates
from toolvet.dashboard.rendering import page_routes, pages
from toolvet.dashboard.site import Site
from toolvet.discover import modules
from toolvet.envelope import error_response, internal_error, not_found_error
from toolvet.version import __version__


def endpoints() -> list[Endpoint[Any]]:
    """Return all endpoints of the API, in the order of their paths."""
    found: list[Endpoint[Any]] = []
    for module in modules("toolvet.dashboard.api.endpoints"):
        found.extend(module.ENDPOINTS)
    return sorted(found, key=lambda each: (each.path, each.method))


def make_app(site: Site, gate: Gate, *, host: str = "127.0.0.1", hosts: tuple[str, ...] = ()) -> Starlette:
    """Return the application for a site that listens on `host`, and that is also reached by the names `hosts`."""
    known = endpoints()
    described = document(known)

    async def openapi(_: Request) -> Response:
        return json_response(described)

    async def healthz(_: Request) -> Response:
        return json_response({"status": "ok", "version": __version__})

    live = LiveUpdates(site, gate)
    app = Starlette(
        routes=[
            *page_routes(pages(), site, gate),
            *routes(known, site, gate),
            Route("/static/{digest}/{name:path}", serve_asset),
            Route("/openapi.json", openapi),
            Route("/healthz", healthz),
            Route("/live", live.serve),
        ],
        middleware=[Middleware(BrowserGuard, host=host, hosts=hosts)],
        exception_handlers={HTTPException: _http_failure, Exception: _bug},
    )
    app.state.live = live
    return app


async def _http_failure(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == 404:
        return failure(404, not_found_error("page", request.url.path))
    return failure(error.status_code, error_response(error.detail), error.headers)


async def _bug(_: Request, error: Exception) -> Response:
    # Starlette raises it again afterwards, so that the log has it; the caller gets no internals.
    del error
    return failure(500, internal_error())
