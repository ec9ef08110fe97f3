"""`/metrics` and `/healthz` for a proxy on stdin and stdout, which has no HTTP server of its own."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from toolvet.errors import UsageError
from toolvet.proxy.record.metrics import CONTENT_TYPE


class MetricsServer:
    """Serves while its `with` block lasts, at `address`; port 0 takes a free one.

    `render` returns the text for /metrics. Raises UsageError for an address that is taken.
    """

    def __init__(self, host: str, port: int, render: Callable[[], str]) -> None:
        try:
            # Its threads are daemons: a slow reader does not keep the proxy from ending.
            self._server = ThreadingHTTPServer((host, port), _handler_class(render))
        except OSError as error:
            raise UsageError(f"--metrics {host}:{port}: {error.strerror or error}") from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="toolvet-metrics", daemon=True)

    @property
    def address(self) -> tuple[str, int]:
        """The host and port of the server."""
        host, port = self._server.server_address[:2]
        return str(host), int(port)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler_class(render: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 5

        def do_GET(self) -> None:
            if self.path == "/metrics":
                self._reply(200, CONTENT_TYPE, render())
            elif self.path == "/healthz":
                self._reply(200, "text/plain; charset=utf-8", "ok\n")
            else:
                self._reply(404, "text/plain; charset=utf-8", "only /metrics and /healthz are here\n")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in http.server
            """Nothing: stderr is the server's."""

        def _reply(self, status: int, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
