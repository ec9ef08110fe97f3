"""Rows to judge, and a run in a folder of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from toolvet.batch.job import Job
from toolvet.batch.run import BatchOutcome, run_batch

REFUSAL = "I cannot help with that request."
GOOD = "The museum opens at nine and closes at six."


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A Parquet file of 300 answers in three row groups; every tenth is a refusal."""
    texts = [REFUSAL if row % 10 == 0 else f"{GOOD} Room {row} is open, too." for row in range(300)]
    table = pa.table({"id": list(range(300)), "response": texts, "model": ["m"] * 300})
    path = tmp_path / "logs.parquet"
    pq.write_table(table, path, row_group_size=100)
    return path


Judge = Callable[..., BatchOutcome]


@pytest.fixture
def judge() -> Judge:
    """Run the engine in this process, on answers unless told otherwise."""

    def run(source: object, output: object, **options: Any) -> BatchOutcome:
        how = {name: options.pop(name) for name in ("kind", "columns", "keep", "sample", "tools") if name in options}
        return run_batch(Job(**{"kind": "answers", **how}), str(source), str(output), **{"jobs": 1, **options})

    return run


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file."""
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A server of S3 in this process, and a client of it; the environment names its address."""
    moto = pytest.importorskip("moto.server")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    yield pafs.S3FileSystem(
        endpoint_override=f"{host}:{port}", scheme="http", region="us-east-1", allow_bucket_creation=True
    )
    server.stop()
