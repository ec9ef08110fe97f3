"""Looks at the dashboard: any path and query gets a page or a refusal, never a fault of ours, and no foreign markup."""

import asyncio
import atexit
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote, unquote, urlencode

import msgspec
from fuzz.draw import Draw
from fuzz.holds import holds
from starlette.types import ASGIApp
from tests.server.dashboard.filled import TRACE, fill

from toolvet.server.access.gate import Gate
from toolvet.server.access.people import People
from toolvet.server.access.role import Person, Role
from toolvet.server.access.session import Sessions
from toolvet.server.context import ServerContext
from toolvet.server.dashboard import rendering
from toolvet.server.dashboard.api import routing
from toolvet.server.dashboard.app import endpoints, make_app
from toolvet.server.dashboard.rendering import pages
from toolvet.server.dashboard.view.formats import segment
from toolvet.store import Store

QUERY = (
    *("period", "since", "until", "kind", "server", "tool", "order", "failed", "min_score", "q", "signal", "page"),
    *("after", "before", "sort", "a", "b", "by", "next", "limit", "cursor", "offset", "group_by", "seconds", "state"),
    *("text", "rule"),
)
VALUES = (
    *("1h", "90d", "all", "2026-11-22", "0001-01-01", "9999-12-31", "1", "0", "5", "-1", "999999999999", "nan"),
    *("call", "answer", "newest", "lowest_score", "slowest", "a", "b", "model", "variant", "shop", "find", TRACE),
    *("refusal", "open"),
)
STATUSES = {200, 204, 303, 308, 400, 401, 403, 404, 405, 408, 413, 415, 422}
# Markup in every text of the filled store, and in the query.
FOREIGN = (b"<script>alert", b"<img src=x", b"\x1b", "\u202e".encode())
_LOOP = asyncio.new_event_loop()


class _Dashboard:
    """The application over a store that has one of everything, and the ids that are in it."""

    def __init__(self) -> None:
        folder = tempfile.TemporaryDirectory()
        path = Path(folder.name, "store.db")
        fill(path, time.time() - 1000)
        store = Store(path)
        atexit.register(folder.cleanup)
        atexit.register(store.close)
        site = ServerContext(store)
        self.app: ASGIApp = make_app(site, Gate(People(local=Person("anna", Role.ADMIN)), Sessions()))
        # What judges by a body is for the target "bodies"; /live does not end.
        api = [each.path for each in endpoints() if each.method == "GET"]
        self.paths = sorted({*(page.path for page in pages()), *api, "/login", "/openapi.json", "/nothing"})
        ids = [verdict.id for verdict in store.verdicts()] + [each.id for each in store.assessments()]
        self.names = (*ids, TRACE, TRACE[:8], "shop", "find", "..", "", "\x00", "a/b", "anna")


_dashboard = cache(_Dashboard)


def check(draw: Draw) -> None:
    """One look."""
    site = _dashboard()
    path = draw.one(site.paths)
    while "{" in path:
        before, _, rest = path.partition("{")
        name = draw.one(site.names) if draw.byte() < 200 else draw.text()
        path = before + segment(name) + rest.partition("}")[2]
    query = {
        draw.one(QUERY): draw.one((*VALUES, *site.names)) if draw.byte() < 200 else draw.text()
        for _ in range(draw.byte() % 4)
    }
    if draw.byte() > 240:
        query["q"] = query["server"] = "<script>alert(1)</script>"
    written = urlencode({name: value.encode("utf-8", "replace") for name, value in query.items()})
    status, fields, body = _LOOP.run_until_complete(_looked(site.app, path, written))
    holds(status in STATUSES, f"{path}?{written} has the status {status}")
    kind = fields.get(b"content-type", b"")
    if kind.startswith(b"text/html"):
        for foreign in FOREIGN:
            holds(foreign not in body, f"{path}?{written} has foreign markup")
        holds(b"content-security-policy" in fields, "a page without its policy")
    elif kind.startswith(b"application/json") and body:
        msgspec.json.decode(body)


async def _looked(app: ASGIApp, path: str, query: str) -> tuple[int, dict[bytes, bytes], bytes]:
    status, fields, parts = 0, dict[bytes, bytes](), list[bytes]()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            fields.update(message["headers"])
        else:
            parts.append(message.get("body", b""))

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "raw_path": quote(path, safe="/~%").encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 80),
    }
    with patch.object(rendering, "run_in_threadpool", _direct), patch.object(routing, "run_in_threadpool", _direct):
        await app(scope, receive, send)
    return status, fields, b"".join(parts)


async def _direct(function: Any, *arguments: Any) -> Any:
    """Call it here: a thread for each look would cost more than the look."""
    return function(*arguments)
