"""TLS with real certificates: a private CA, a wrong name, one that expired; for loopback names as for all others."""

import asyncio
import json
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from toolvet.errors import UnreachableError, UsageError
from toolvet.mcp.transport import HttpTarget
from toolvet.mcp.transport.origin import Origin, describe_error
from toolvet.mcp.transport.target import check_certificates

PAST = datetime(2020, 1, 1, tzinfo=UTC)
TOOL = {"name": "list_days", "description": "List the days.", "inputSchema": {"type": "object", "properties": {}}}
RESULTS: Mapping[str, object] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "days", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [{"type": "text", "text": "Monday"}]},
}


class Days(BaseHTTPRequestHandler):
    """An MCP server that answers every request with JSON."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        result = RESULTS.get(message.get("method"))
        answer = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode() if "id" in message else b""
        self.send_response(200 if body else 202)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in http.server
        pass


class Listener(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust us hangs up; that is what is tested."""


@contextmanager
def tls(authority: trustme.CA, name: str, *, expires: datetime | None = None) -> Iterator[str]:
    """The URL of a TLS server on the loopback, by a certificate for `name`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if expires is None:
        authority.issue_cert(name).configure_cert(context)
    else:
        authority.issue_cert(name, not_before=PAST, not_after=expires).configure_cert(context)
    with Listener(("127.0.0.1", 0), Days) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"https://localhost:{server.server_address[1]}/mcp"
        finally:
            server.shutdown()


@pytest.fixture(autouse=True)
def nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """A private CA that the environment names."""
    made = trustme.CA()
    made.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    return made


def ask(url: str) -> int | str:
    """The status of one request, or why there is none."""

    async def go() -> int | str:
        origin = Origin(HttpTarget(url))
        try:
            async with origin.send("POST", {}, b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}') as response:
                return response.status_code
        except Exception as error:  # noqa: BLE001 - whatever it is, its words are compared
            return describe_error(error)
        finally:
            await origin.close()

    return asyncio.run(go())


def toolvet(*words: str, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "toolvet", *words],
        env={**os.environ, **env},
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_private_authority_is_trusted_where_the_environment_names_it(authority: trustme.CA) -> None:
    with tls(authority, "localhost") as url:
        assert ask(url) == 200


@pytest.mark.usefixtures("authority")
def test_another_authority_is_not_trusted() -> None:
    with tls(trustme.CA(), "localhost") as url:
        assert "not trusted" in str(ask(url))


def test_a_certificate_for_another_name_is_refused(authority: trustme.CA) -> None:
    with tls(authority, "books.example") as url:
        assert "Hostname mismatch" in str(ask(url))


def test_a_certificate_that_expired_is_refused(authority: trustme.CA) -> None:
    with tls(authority, "localhost", expires=datetime(2021, 1, 1, tzinfo=UTC)) as url:
        assert "certificate has expired" in str(ask(url))


def test_assess_and_proxy_trust_it_as_programs(authority: trustme.CA) -> None:
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    given = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}) + "\n"
    with tls(authority, "localhost") as url:
        assert "list_days" in toolvet("assess", "--json", "--fail-on=never", url).stdout
        assert '"name": "days"' in toolvet("proxy", url, given=given).stdout
    with tls(authority, "books.example") as url:
        done = toolvet("assess", url)
        assert (done.returncode, "Hostname mismatch" in done.stderr) == (UnreachableError.exit_code, True)


@pytest.mark.parametrize("words", [("assess",), ("proxy",), ("proxy", "--listen", "127.0.0.1:0")], ids=" ".join)
@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_a_path_that_does_not_exist_is_one_sentence(words: tuple[str, ...], name: str) -> None:
    done = toolvet(*words, "https://localhost:9/mcp", **{name: "/nonexistent"})
    sentence = f"toolvet: the certificates of {name}=/nonexistent cannot be read: No such file or directory\n"
    assert (done.returncode, done.stderr) == (2, sentence)


def test_one_folder_of_several_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", os.pathsep.join(["/nonexistent", str(tmp_path)]))
    check_certificates()
    monkeypatch.setenv("SSL_CERT_DIR", "/nonexistent")
    with pytest.raises(UsageError, match="SSL_CERT_DIR=/nonexistent"):
        check_certificates()
