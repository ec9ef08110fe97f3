"""Rows to judge, and a run in a folder of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
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
