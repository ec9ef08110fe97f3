"""The same secrets while toolvet runs: headers over HTTP, metrics, telemetry, stderr, process lists and tracebacks."""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException, IncompleteRead
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.serving import serving
from tests.test_secrets import ARGUMENT, ENV, HEADER, KINDS, NAMES, OPENING, SERVER, TOKEN, found, toolvet

from toolvet.assess.report import formats

LEAKY_HTTP = str(Path(__file__).parent / "servers" / "leaky_http.py")
# Given by the user; sent by a client; known only by the name of their header.
COOKIE, CALLER, LISTEN = "COOKIEVAL4242", "CALLERKEY8181", "LISTENTOKEN-616161"
ALL_NAMES = (
    "get_fails",
    "get_hides",
    "get_error",
    "get_good",
    "get_500",
    "get_401",
    "get_html",
    "get_broken",
    "get_cut",
)
KEYS = (COOKIE, CALLER, LISTEN)


def leaks(document: str) -> list[str]:
    return [*found(document), *(key for key in KEYS if key in document)]


@contextmanager
def collecting() -> Generator[tuple[str, list[bytes]]]:
    """The address of a collector of OpenTelemetry, and what it got."""
    got: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            got.append(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", got
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    (tmp_path / "secrets.json").write_text(json.dumps(list(KINDS.values())), encoding="utf-8")
    return [sys.executable, str(SERVER), str(tmp_path / "secrets.json"), "--token", TOKEN]


@pytest.fixture
def url() -> Iterator[str]:
    with serving(sys.executable, LEAKY_HTTP, "PORT") as address:
        yield address


def call(number: int, name: str, **meta: object) -> bytes:
    arguments = {"user": " ".join(KINDS.values()), "password": ARGUMENT}
    params = {"name": name, "arguments": arguments, "_meta": {"note": " ".join(KINDS.values()), **meta}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


def post(url: str, body: bytes, **fields: str) -> str:
    """Send a message, and return what came back."""
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = Request(url, body, {**sent, **{name.replace("_", "-"): value for name, value in fields.items()}})  # noqa: S310 - an address of ours
    try:
        with urlopen(request, timeout=30) as response:  # noqa: S310 - as above
            return f"{response.headers}{response.read().decode()}"
    except HTTPError as error:
        return f"{error.headers}{error.read().decode()}"
    except IncompleteRead as error:
        return error.partial.decode()
    except (OSError, HTTPException) as error:
        return str(error)


def counted(url: str, tool: str) -> str:
    """The metrics, once they have counted a call of this tool."""
    while True:
        request = Request(url, headers={"X-Toolvet-Token": LISTEN})  # noqa: S310 - an address of ours
        with urlopen(request, timeout=30) as response:  # noqa: S310 - as above
            metrics: str = response.read().decode()
        if f'tool="{tool}"' in metrics:
            return metrics


def children(pid: int) -> list[int]:
    """The process and everything it started."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    known = [pid]
    for one in known:
        known += [child for child, parent in pairs if parent == one]
    return known


def shown(pid: int) -> str:
    """The command lines that `ps` shows of a process and of everything it started."""
    listed = ",".join(map(str, children(pid)))
    return subprocess.run(["ps", "-ww", "-o", "args=", "-p", listed], capture_output=True, text=True, check=True).stdout


@contextmanager
def listening(*words: str, cwd: Path, **env: str) -> Generator[tuple[subprocess.Popen[str], str, list[str]]]:
    """A proxy over HTTP: its process, its URL, and in the end what it wrote to stderr."""
    command = [sys.executable, "-m", "toolvet", "proxy", "--listen", "127.0.0.1:0", *words]
    told: list[str] = []
    with subprocess.Popen(command, cwd=cwd, env={**os.environ, **env}, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            told.append(line)
            if "serving http" in line:
                break
        try:
            yield process, told[-1].split()[-1], told
        finally:
            process.send_signal(signal.SIGTERM)
            told.append(process.stderr.read())


@pytest.mark.parametrize("kept", ["verdicts", "calls"])
def test_no_output_of_a_listening_proxy_shows_a_header(url: str, tmp_path: Path, kept: str) -> None:
    (tmp_path / "toolvet.toml").write_text(f'[proxy]\nrecord = "{kept}"\n', encoding="utf-8")
    with collecting() as (collector, got):
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "TOOLVET_PROXY_TOKEN": LISTEN, "SHOP_KEY": HEADER}
        words = ("--header-env", "X-Api-Key=SHOP_KEY", "--store", "calls.db", "--otel", url)
        with listening(*words, cwd=tmp_path, **env) as (process, ours, told):
            sent = {"Cookie": f"sid={COOKIE}", "X_Shop_Token": CALLER, "X_Toolvet_Token": LISTEN}
            # It has no such tool: a name can be a secret by mistake.
            answers = [post(ours, call(91, f"get {KINDS['openai']} {HEADER}"), **sent)]
            answers += [post(ours, call(number, name), **sent) for number, name in enumerate(reversed(ALL_NAMES))]
            opening = {"jsonrpc": "2.0", "id": 90, "method": "initialize", "params": OPENING}
            answers.append(post(ours, json.dumps(opening).encode(), **sent))
            metrics = counted(ours.replace("/mcp", "/metrics"), ALL_NAMES[0])
            assert not leaks(shown(process.pid))
    passed = "".join(answers)
    assert HEADER in passed, "the server gets the header, and what passes is not changed"
    assert COOKIE in passed
    assert CALLER in passed
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("calls.db*") if file.is_file()).decode(
        errors="replace"
    )
    exported = b"".join(got).decode(errors="replace")
    assert written.count("get_hides") >= 1
    assert 'tool="get_hides"' in metrics
    assert "tools/call get_hides" in exported
    assert "gen_ai.evaluation.result" in exported
    for document in (written, metrics, exported, "".join(told)):
        assert not leaks(document)


def test_no_output_of_a_proxy_to_a_url_shows_a_header(url: str, tmp_path: Path) -> None:
    lines = [json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OPENING}).encode()]
    lines += [json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()]
    lines += [call(number, name) for number, name in enumerate(ALL_NAMES, 1)]
    with collecting() as (collector, got):
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "SHOP_KEY": HEADER}
        words = ("--header", "X-Api-Key: ${SHOP_KEY}", "--store", "calls.jsonl", "--otel", url)
        done = toolvet("proxy", *words, cwd=tmp_path, given=b"\n".join([*lines, b""]).decode(), **env)
    assert done.stdout.count('"id"') >= len(ALL_NAMES)
    assert HEADER in done.stdout
    written = (tmp_path / "calls.jsonl").read_text(encoding="utf-8")
    exported = b"".join(got).decode(errors="replace")
    assert "get_hides" in written
    assert "tools/call get_hides" in exported
    for document in (written, exported, done.stderr):
        assert not leaks(document)


def test_no_report_of_a_server_at_a_url_shows_a_header(url: str, tmp_path: Path) -> None:
    names = sorted(formats())
    reports = [f"--report={name}={tmp_path}/report.{name}" for name in names]
    options = ("--header", f"X-Api-Key: {HEADER}", "--fail-on=never", "--timeout=10")
    done = toolvet("assess", *options, *reports, url, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-500:]
    assert not leaks(done.stdout + done.stderr)
    assert "get_broken" in (tmp_path / "report.json").read_text(encoding="utf-8")
    for name in names:
        assert not leaks((tmp_path / f"report.{name}").read_text(encoding="utf-8")), name


def test_no_metric_and_no_span_of_a_proxy_on_pipes_shows_one(server: Sequence[str], tmp_path: Path) -> None:
    with socket.socket() as free, collecting() as (collector, got):
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        options = ["--env", f"SHOP_API_KEY={ENV}", "--metrics", address, "--otel"]
        command = [sys.executable, "-m", "toolvet", "proxy", *options, "--", *server]
        env = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector}
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=tmp_path, env=env, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            opening = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OPENING}).encode()
            state = {"tracestate": f"shop={KINDS['openai']}", "dev.toolvet/trace": f"turn:{KINDS['github']}"}
            parent = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
            wild = f"get bad key {ENV} --token {TOKEN}"
            calls = [call(number, name, **parent, **state) for number, name in enumerate((wild, *NAMES), 1)]
            calls[1] = call(2, NAMES[0], **state)
            process.stdin.write(b"\n".join([opening, *calls, b""]))
            process.stdin.flush()
            answers = [process.stdout.readline() for _ in range(len(calls) + 1)]
            metrics = counted(f"http://{address}/metrics", NAMES[-1])
            process.stdin.close()
            told = process.stderr.read().decode()
    assert all(b'"id"' in answer for answer in answers)
    exported = b"".join(got).decode(errors="replace")
    assert 'tool="get_hides"' in metrics
    assert "tools/call get_hides" in exported
    for document in (metrics, exported):
        assert not leaks(document)
    # The server's own stderr passes; what the user gave is not in it.
    assert "login failed" in told
    assert "bad key [redacted]" in told
    assert not [key for key in (ENV, TOKEN, HEADER, *KEYS) if key in told]


def test_what_a_server_behind_a_bridge_says_on_stderr_shows_nothing_that_was_given(
    server: Sequence[str], tmp_path: Path
) -> None:
    with listening("--env", f"SHOP_API_KEY={ENV}", "--", *server, cwd=tmp_path) as (_, ours, told):
        assert "leaky" in post(
            ours, json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OPENING}).encode()
        )
    words = "".join(told)
    assert "bad key [redacted]" in words
    assert not [key for key in (ENV, TOKEN) if key in words]


@pytest.mark.parametrize("program", ["assess", "proxy"])
def test_nothing_that_is_started_shows_a_secret_on_its_command_line(tmp_path: Path, program: str) -> None:
    """Given by the environment, a secret is on no command line: not on ours, nor on that of anything we start."""
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    slow = [sys.executable, str(SERVER.parent / "says_ready.py"), str(ready)]
    words = ["--env", "SHOP_API_KEY"] if program == "assess" else []
    command = [sys.executable, "-m", "toolvet", program, *words, "--", *slow]
    pipe = subprocess.PIPE
    env = {**os.environ, "SHOP_API_KEY": ENV}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        told = ready.read_text(encoding="utf-8")
        seen = shown(process.pid)
        process.kill()
    assert told == ENV, "the server has it"
    assert "says_ready.py" in seen
    assert not leaks(seen)


CRASH = """
import sys
from toolvet.cli import run
import toolvet.proxy.{room} as room
def fail(*_, **__):
    raise RuntimeError("at " + {words!r})
room.{name} = fail
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("room", "name"),
    [("stdio.loop", "run_stdio"), ("bridge.bridge", "run_bridge"), ("remote.loop", "run_stdio_to_http")],
)
def test_a_traceback_shows_none(server: Sequence[str], tmp_path: Path, room: str, name: str) -> None:
    given = ["--env", f"SHOP_API_KEY={ENV}", "--", *server]
    if room == "bridge.bridge":
        given = ["--listen", "127.0.0.1:0", *given]
    elif room == "remote.loop":
        given = ["--header", f"X-Api-Key: {ENV}", f"http://user@127.0.0.1:9/mcp?api_key={TOKEN}"]
    program = CRASH.format(room=room, name=name, words=f"{ENV} {TOKEN} {' '.join(KINDS.values())}")
    done = subprocess.run(
        [sys.executable, "-c", program, "proxy", *given],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 5
    assert "RuntimeError: at [redacted] [redacted]" in done.stderr
    assert not leaks(done.stderr)
