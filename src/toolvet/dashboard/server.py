"""Runs the application with Uvicorn until it is told to end."""

import errno
import socket
import sys
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from toolvet.errors import UsageError

_DRAIN_SECONDS = 3


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 lets the system choose. Raises UsageError where the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} of {host} is taken; --port 0 takes a free one") from error
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    listener.listen(1024)
    listener.setblocking(False)  # noqa: FBT003 - its only argument
    return listener


def run_app(app: Starlette, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT; requests under way get a few seconds to finish."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"toolvet: http://{shown}:{port}/ (Ctrl-C ends it)\n")
    sys.stderr.flush()
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
        # Behind a proxy the address of the peer is that proxy's; nothing is decided by it.
        proxy_headers=False,
        h11_max_incomplete_event_size=64 * 1024,
        limit_concurrency=512,
        lifespan="on",
    )
    _EndingServer(config, app).run(sockets=[listener])


class _EndingServer(uvicorn.Server):
    """Ends the streams of open pages at the signal: they would end by themselves only with their pages."""

    def __init__(self, config: uvicorn.Config, app: Starlette) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._app.state.live.end()
        super().handle_exit(sig, frame)
