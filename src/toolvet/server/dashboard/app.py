"""The application: the API and the pages behind the guard."""

import asyncio
import math
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Container
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolvet.core.discover import modules
from toolvet.core.envelope import internal_error, not_found_error
from toolvet.errors import StoreError
from toolvet.server.access.gate import Gate
from toolvet.server.access.guard import BrowserGuard
from toolvet.server.context import ServerContext
from toolvet.server.dashboard.api.endpoint import Endpoint
from toolvet.server.dashboard.api.openapi import document
from toolvet.server.dashboard.api.routing import routes
from toolvet.server.dashboard.failure_pages import FailurePages
from toolvet.server.dashboard.live import LiveUpdates
from toolvet.server.dashboard.rendering import failure_pages, page_routes, pages, serve_asset
from toolvet.server.failures import ApiError, json_response, refusal
from toolvet.store import Store


def endpoints() -> list[Endpoint[Any]]:
    """Return all endpoints of the API, in the order of their paths."""
    found: list[Endpoint[Any]] = []
    for module in modules("toolvet.server.dashboard.api.endpoints"):
        found.extend(module.ENDPOINTS)
    return sorted(found, key=lambda each: (each.path, each.method))


def make_app(server: ServerContext, gate: Gate, *, host: str = "127.0.0.1", hosts: tuple[str, ...] = ()) -> Starlette:
    """Return the application for a server that listens on `host`, and that is also reached by the names `hosts`."""
    known = endpoints()
    described = msgspec.json.encode(document(known))

    async def openapi(_: Request) -> Response:
        return Response(described, media_type="application/json")

    live = LiveUpdates(server, gate)
    shown = pages()
    failures = failure_pages(shown)
    paths = [
        *page_routes(shown, server, gate, failures),
        *routes(known, server, gate),
        Route("/static/{digest}/{name:path}", serve_asset),
        Route("/openapi.json", openapi),
        Route("/healthz", health_check(server.store)),
        Route("/live", live.serve),
    ]
    app = Starlette(
        routes=paths,
        middleware=[
            Middleware(BrowserGuard, server=server, host=host, hosts=hosts, refuse=failures.refuse),
            Middleware(_BugShield, failures=failures),
        ],
        exception_handlers={HTTPException: _http_failure({route.path for route in paths}, failures)},
    )
    # Starlette would redirect to a whole URL, whose scheme and host it cannot know behind a proxy.
    app.router.redirect_slashes = False
    app.state.live = live
    return app


def health_check(store: Store, clock: Callable[[], float] = time.monotonic) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers `/healthz`: 200, or 503 where the store cannot be reached.

    Probes carry no token, so it says nothing else, and asks the store at most once a second.
    """
    asked, reached = -math.inf, False
    lock = asyncio.Lock()

    async def answer(_: Request) -> Response:
        nonlocal asked, reached
        async with lock:
            if clock() - asked >= 1:
                reached = await run_in_threadpool(_is_reached, store)
                asked = clock()
        if reached:
            return json_response({"status": "ok"})
        return json_response({"status": "unavailable"}, 503, {"retry-after": "5"})

    return answer


def _is_reached(store: Store) -> bool:
    try:
        with store.reading() as connection:
            connection.exec_driver_sql("SELECT 1")
    except StoreError:
        return False
    return True


def _http_failure(paths: Container[str], failures: FailurePages) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        path = request.url.path
        if error.status_code == 404:
            # As people and clients write it. No path of ours begins with two slashes: that would be another host.
            if path.endswith("/") and path.rstrip("/") in paths:
                query = f"?{request.url.query}" if request.url.query else ""
                return RedirectResponse(path.rstrip("/") + query, 308)
            return failures.answer(request, ApiError(404, not_found_error("page", path)))
        allow = (error.headers or {}).get("Allow", "")
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"allow": f"{allow}, OPTIONS"})
        refused = refusal(error.status_code, f"{path} takes {allow}, and no {request.method}", {"allow": allow})
        return failures.answer(request, refused)

    return answer


class _BugShield:
    """ASGI middleware: a bug of ours becomes a 500 without internals, and its traceback a message in the log.

    Starlette's own handler raises it again, and Uvicorn then closes the connection under the client's next request.
    """

    def __init__(self, app: ASGIApp, failures: FailurePages) -> None:
        self._app = app
        self._failures = failures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def send_noticed(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_noticed)
        except Exception:
            if has_begun or scope["type"] != "http":
                raise
            sys.stderr.write(f"toolvet: {scope['method']} {scope['path']!r}\n{traceback.format_exc()}")
            shown = self._failures.answer(Request(scope), ApiError(500, internal_error()))
            await shown(scope, receive, send)
