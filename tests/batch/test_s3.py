"""A bucket is read and written as a folder is, against a server of S3 in this process; and so are broken ones."""

import http.client
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from tests.batch.conftest import GOOD, REFUSAL, Judge, rows_of

from toolvet.batch.location import locate
from toolvet.batch.reading import lines
from toolvet.batch.summary.describe import SummaryOptions, summarise
from toolvet.errors import ToolvetError


def test_a_bucket_is_an_input_and_an_output(
    s3: Any, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    s3.create_dir("bucket")
    for name, text in (("a", GOOD), ("b", REFUSAL)):
        with s3.open_output_stream(f"bucket/logs/{name}.jsonl") as stream:
            stream.write(f"{json.dumps({'text': text})}\n".encode())
    outcome = judge("s3://bucket/logs", "s3://bucket/verdicts.parquet")
    assert outcome.is_complete
    (tmp_path / "out.parquet").write_bytes(s3.open_input_stream("bucket/verdicts.parquet").read())
    assert [row["score"] for row in rows_of(tmp_path / "out.parquet")] == [1.0, 0.25]
    (found,) = summarise([locate("s3://bucket/verdicts.parquet")], SummaryOptions(), source="out").signals
    assert (found.name, found.examples[0].file) == ("refusal", "s3://bucket/logs/b.jsonl")
    names = [each.path for each in s3.get_file_info(pafs.FileSelector("bucket"))]
    assert sorted(names) == ["bucket/logs", "bucket/verdicts.parquet"]


class Faults:
    """What goes wrong with the requests whose numbers are in `at`; `kind` is a status, `slow` or `cut`."""

    def __init__(self) -> None:
        self.kind = ""
        self.at: range = range(0)
        self.asked = 0
        self.met = 0


@contextmanager
def broken_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[Faults]:
    """A proxy between us and the server of S3 that fails on command."""
    behind = os.environ["AWS_ENDPOINT_URL"].partition("//")[2]
    faults, lock = Faults(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            with lock:
                is_faulty = faults.asked in faults.at
                faults.asked += 1
                faults.met += is_faulty
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            while self.headers.get("transfer-encoding") == "chunked" and (size := int(self.rfile.readline(), 16)):
                body += self.rfile.read(size)
                self.rfile.readline()
            if self.headers.get("transfer-encoding") == "chunked":
                self.rfile.readline()
                del self.headers["transfer-encoding"]
            if is_faulty and faults.kind in ("500", "503"):
                self.send_response(int(faults.kind))
                self.send_header("content-length", "0")
                self.end_headers()
                return
            connection = http.client.HTTPConnection(behind)
            connection.request(self.command, self.path, body, dict(self.headers))
            reply = connection.getresponse()
            content = reply.read()
            if is_faulty and faults.kind == "slow":
                time.sleep(0.2)
            self.send_response(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                    self.send_header(name, value)
            length = reply.getheader("content-length") if self.command == "HEAD" else len(content)
            self.send_header("content-length", str(length))
            self.end_headers()
            is_cut = is_faulty and faults.kind == "cut" and content
            with suppress(ConnectionError):
                self.wfile.write(content[: len(content) // 2] if is_cut else content)
            self.close_connection = bool(is_cut)
            connection.close()

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815 - what the library calls

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_address[1]}")
        yield faults
        server.shutdown()


ROWS = 120


def fill(s3: Any, form: str) -> None:
    # Buckets outlive their server.
    s3.create_dir("broken")
    s3.delete_dir_contents("broken")
    for name in ("a", "b", "c"):
        texts = [REFUSAL if row % 10 == 0 else f"{GOOD} Room {name}{row} is open, too." for row in range(ROWS)]
        with s3.open_output_stream(f"broken/logs/{name}.{form}") as stream:
            if form == "jsonl":
                stream.write("".join(f"{json.dumps({'text': text})}\n" for text in texts).encode())
            else:
                pq.write_table(pa.table({"text": texts}), stream, row_group_size=40)


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("kind", ["500", "503", "slow", "cut"])
def test_a_run_over_a_broken_network_loses_nothing(
    s3: Any, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch, *, kind: str, form: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # A file takes several requests.
    monkeypatch.setattr(lines, "CHUNK_BYTES", 4096)
    fill(s3, form)

    def is_written() -> bool:
        return bool(s3.get_file_info("broken/verdicts.jsonl").type != pafs.FileType.NotFound)

    def written() -> bytes:
        content: bytes = s3.open_input_stream("broken/verdicts.jsonl").read()
        s3.delete_file("broken/verdicts.jsonl")
        return content

    with broken_network(monkeypatch) as faults:
        assert judge("s3://broken/logs", "s3://broken/verdicts.jsonl").is_complete
        whole, requests = written(), faults.asked
        assert whole.count(b"\n") == 3 * ROWS
        faults.kind = kind
        ended = 0
        for first, length in [(1, 1), (5, 10_000), (requests // 2, 1), (requests // 2, 10_000), (requests - 3, 10_000)]:
            # From this request on the network is broken: for one request, or until the next run.
            faults.asked, faults.at = 0, range(first, first + length)
            with suppress(ToolvetError):
                judge("s3://broken/logs", "s3://broken/verdicts.jsonl")
            faults.at = range(0)
            if not is_written():
                ended += 1
                assert judge("s3://broken/logs", "s3://broken/verdicts.jsonl").is_complete
            assert written() == whole
        assert faults.met
        assert bool(ended) == (kind != "slow")
    # Nothing half is left.
    names = [each.path for each in s3.get_file_info(pafs.FileSelector("broken"))]
    assert names == ["broken/logs"]


def test_a_damaged_file_is_its_own_problem_there_too(
    s3: Any, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    fill(s3, "parquet")
    content = bytearray(s3.open_input_stream("broken/logs/b.parquet").read())
    content[len(content) // 3] ^= 0xFF
    with s3.open_output_stream("broken/logs/b.parquet") as stream:
        stream.write(bytes(content))
    outcome = judge("s3://broken/logs", "s3://broken/verdicts.jsonl")
    assert outcome.tally.problems
    assert outcome.tally.rows > 2 * ROWS
