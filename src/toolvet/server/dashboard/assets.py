"""The files that pages load, from the package: each has a name with its content's hash, so that browsers keep it."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from toolvet.core.discover import data_file, files_of

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
    return {name: _asset(name, content) for name, content in found.items()}


def _asset(name: str, content: bytes) -> Asset:
    digest = hashlib.sha256(content).hexdigest()[:_HASH]
    return Asset(content, _TYPES[PurePosixPath(name).suffix], f"/static/{digest}/{name}")


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
