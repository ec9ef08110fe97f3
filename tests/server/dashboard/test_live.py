"""`/live`: the stream that tells open pages of something new."""

import http.client
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient
from tests.server.dashboard.browser import served
from tests.server.dashboard.filled import more, today

from toolvet.server.access.gate import Gate
from toolvet.server.access.people import People
from toolvet.server.access.role import Person, Role
from toolvet.server.access.session import Sessions
from toolvet.server.context import ServerContext
from toolvet.server.dashboard import live
from toolvet.server.dashboard.app import make_app
from toolvet.store import Store

VISITOR = Person("ada", Role.VIEWER)


@contextmanager
def listening(url: str) -> Iterator[http.client.HTTPResponse]:
    """An open stream."""
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)) as connection:
        connection.request("GET", "/live")
        with connection.getresponse() as answer:
            assert answer.status == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield answer


def test_a_page_is_told_when_a_verdict_comes_from_another_process(tmp_path: Path) -> None:
    path = tmp_path / "toolvet.db"
    with served(path) as url, listening(url) as stream:
        assert stream.readline() == b"retry: 3000\n"
        assert _said(stream) == b"data: 0-0-0-0\n"
        more(path, today(), count=1)
        assert _said(stream) == b"data: 1-0-0-0\n"


def _said(stream: http.client.HTTPResponse) -> bytes:
    """How far the store is, as the next event says."""
    while stream.readline() != b"event: changed\n":
        pass
    return stream.readline()


def test_open_pages_do_not_hold_up_the_end_of_the_server(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "toolvet", "serve", "--port", "0", "--store", str(tmp_path / "toolvet.db")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        url = process.stderr.readline().split()[1].rstrip("/")
        with ExitStack() as stack:
            streams = [stack.enter_context(listening(url)) for _ in range(5)]
            for stream in streams:
                stream.readline()
            process.send_signal(signal.SIGTERM)
            # Ended by us, not cut off: no stream lacks the end of its last chunk.
            for stream in streams:
                stream.read()
        assert process.wait(30) in (0, -signal.SIGTERM)
        assert "Traceback" not in process.stderr.read()


def test_who_may_not_look_may_not_listen(tmp_path: Path) -> None:
    with Store(tmp_path / "toolvet.db") as store:
        app = make_app(ServerContext(store), Gate(People(token="t" * 20), Sessions()))
        assert TestClient(app, base_url="http://127.0.0.1").get("/live").status_code == 401


def test_streams_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_LISTENERS", 0)
    with Store(tmp_path / "toolvet.db") as store:
        app = make_app(ServerContext(store), Gate(People(local=VISITOR), Sessions()))
        answer = TestClient(app, base_url="http://127.0.0.1").get("/live")
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "30"
