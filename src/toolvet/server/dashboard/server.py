"""Runs the application with Uvicorn until it should end."""

import asyncio
import errno
import os
import signal
import socket
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from toolvet.core.envelope import unavailable_error
from toolvet.errors import UsageError
from toolvet.server.failures import failure, refusal

# Together with the store's last second, SIGTERM ends the process within 3.5 s: few supervisors wait for much longer.
_DRAIN_SECONDS: Final = 2
END_SECONDS: Final = 3.25  # The process itself needs the rest.
# As of a process that was ended by SIGTERM.
CUT_SHORT: Final = 128 + signal.SIGTERM
# How long a client may take for the head of a request, from its first byte or from the beginning of the connection.
HEAD_SECONDS: Final = 10.0
# More connections than this are answered with 503, and more than that are closed at once: files are scarcer.
_MOST_CONNECTIONS: Final = 512
_MOST_OPEN: Final = 768
# How long a client may take for a response that is complete on our side.
_TAKE_SECONDS: Final = 120.0
_MOST_HEAD: Final = 64 * 1024


class HeadLimit(H11Protocol):
    """HTTP/1.1 whose clients have a limited time for a head: Uvicorn alone would wait for it for ever.

    It would also throw away for ever the rest of a body whose request is answered, and keep for ever a response that
    no client reads. h11 and not httptools, even if that is installed: llhttp has no limit for the length of a head.
    """

    seconds = HEAD_SECONDS
    most = _MOST_CONNECTIONS
    _timer: asyncio.TimerHandle | None = None
    _app: ASGIApp

    @property
    def app(self) -> ASGIApp:
        """Return the application for the next request, or a 503 if there are too many connections."""
        if len(self.connections) <= self.most:
            return self._app
        headers = {"retry-after": "5", "connection": "close"}
        return failure(503, unavailable_error("too many connections are open; try again later"), headers)

    @app.setter
    def app(self, app: ASGIApp) -> None:
        self._app = app

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        if len(self.connections) > _MOST_OPEN:
            transport.abort()
            return
        self._timer = self.loop.call_later(self.seconds, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Read on; half a head of a further request has to be complete in time, too."""
        super().data_received(data)
        is_waiting = self.conn.their_state is h11.IDLE
        if not is_waiting and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif is_waiting and self._timer is None and not self.transport.is_closing():
            self._timer = self.loop.call_later(self.seconds, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Go on with the next request, and watch over what is left of this one."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self.loop.call_later(self.seconds, self._stop_discarding, self.cycle)
        if self.transport.get_write_buffer_size():
            self.loop.call_later(_TAKE_SECONDS, self._stop_sending, self.cycle)

    def _stop_discarding(self, cycle: object) -> None:
        if self.cycle is cycle and self.conn.their_state is h11.SEND_BODY:
            self.transport.close()

    def _stop_sending(self, cycle: object) -> None:
        if self.cycle is cycle and self.transport.get_write_buffer_size():
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP in the envelope of this project, and close."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            refused = refusal(400, f"{msg} This speaks HTTP/1.1.").envelope.to_json().encode()
            headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
            events = (h11.Response(status_code=400, headers=headers), h11.Data(data=refused), h11.EndOfMessage())
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()

    def _give_up(self) -> None:
        self._timer = None
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE:
            self.transport.close()


class _EndingServer(uvicorn.Server):
    """Tells the streams of events that the server ends, so that it need not wait for them; a second signal ends all.

    Uvicorn takes a second SIGTERM for the first, and would raise the signal again when it has ended: the store would
    then not be closed.
    """

    def __init__(self, config: uvicorn.Config, app: Starlette, ending: threading.Event) -> None:
        super().__init__(config)
        self._app = app
        self._ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        del frame
        if self.should_exit:
            # Every acknowledged request is in the spool.
            os._exit(128 + sig)
        self._ending.set()
        self._app.state.live.end()
        self.should_exit = True


@contextmanager
def bounded_end(ending: threading.Event, seconds: float = END_SECONDS) -> Generator[None]:
    """End the process `seconds` after `ending` was set where the block is not over by then: a thread may hang."""
    over = threading.Event()

    def watch() -> None:
        ending.wait()
        if not over.wait(seconds):
            sys.stderr.write("toolvet: something does not end; what was acknowledged is safe in the spool\n")
            sys.stderr.flush()
            os._exit(CUT_SHORT)

    threading.Thread(target=watch, name="toolvet-end", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 lets the system choose. Raises UsageError if the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OverflowError as error:
        listener.close()
        raise UsageError(f"--port {port}: a port is a number up to 65535") from error
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} of {host} is taken; --port 0 takes a free one") from error
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    listener.listen(1024)
    listener.setblocking(False)  # noqa: FBT003 - its only argument
    return listener


def make_server(app: Starlette, ending: threading.Event | None = None) -> uvicorn.Server:
    """Return the server of this application, with its limits. `ending` is set as soon as it should end."""
    config = uvicorn.Config(
        app,
        http=HeadLimit,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
        # Behind a proxy the address of the peer is that proxy's; nothing is decided by it.
        proxy_headers=False,
        h11_max_incomplete_event_size=_MOST_HEAD,
        lifespan="on",
    )
    return _EndingServer(config, app, ending or threading.Event())


def run_app(app: Starlette, listener: socket.socket, ending: threading.Event | None = None) -> None:
    """Serve until SIGTERM or SIGINT; requests under way get two seconds to finish. A second signal ends the process."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"toolvet: http://{shown}:{port}/ (Ctrl-C ends it)\n")
    sys.stderr.flush()
    make_server(app, ending).run(sockets=[listener])
