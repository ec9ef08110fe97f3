"""Inputs of many ranges, and runs on an engine whose workers can be killed at a known moment."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.batch.conftest import GOOD, REFUSAL

from toolvet.batch.engines import open_engine
from toolvet.batch.executors.executor import EngineFigures
from toolvet.batch.job import Job
from toolvet.batch.run import BatchOutcome, InputRows, run_batch

IS_REQUIRED = os.environ.get("TOOLVET_CLUSTER") == "required"
"""Whether a test of an engine that is not installed fails, and does not skip."""


def needed(module: str, extra: str) -> Any:
    """A module that an engine needs; without it the test is skipped."""
    return __import__(module) if IS_REQUIRED else pytest.importorskip(module, reason=f"pip install 'toolvet[{extra}]'")


def texts(rows: int, **odd: int) -> list[str]:
    """Some number of answers; `deadly=7` makes the row with the index 7 one that the hook knows."""
    found = [REFUSAL if row % 10 == 0 else f"{GOOD} Room {row} is open, too." for row in range(rows)]
    for word, row in odd.items():
        # The colon at the end lets the screen pass it on to `AnswerCheck`.
        found[row] = f"The {word} one:"
    return found


def write_parquet(path: Path, found: list[str], group: int = 50) -> Path:
    pq.write_table(pa.table({"id": list(range(len(found))), "text": found}), path, row_group_size=group)
    return path


def rows_of_kind(kind: str, rows: int = 120) -> pa.Table:
    """Rows of another kind than answers, some of them with something to find."""
    error = {"isError": True, "content": [{"type": "text", "text": "connect ECONNREFUSED 127.0.0.1:5432"}]}
    fine = {"content": [{"type": "text", "text": "42"}]}
    schema = {"type": "object", "required": ["port"], "properties": {"port": {"enum": ["Lisbon", "Porto"]}}}
    answer = {"role": "assistant"}
    asked = {"role": "user", "content": "Please mail the report to Ann."}
    two: dict[str, tuple[object, object]] = {
        "results": (fine, error),
        "arguments": ({"port": "Lisbon"}, {"port": "Oslo"}),
        "envelopes": ({"status": "success", "data": 1}, {"status": "error"}),
        "conversations": ([asked, {**answer, "content": GOOD}], [asked, {**answer, "content": REFUSAL}]),
    }
    column = {"results": "result", "arguments": "arguments", "envelopes": "envelope", "conversations": "messages"}[kind]
    found = {"id": list(range(rows)), column: [json.dumps(two[kind][row % 10 == 0]) for row in range(rows)]}
    if kind == "arguments":
        found["schema"] = [json.dumps(schema)] * rows
    return pa.table(found)


@pytest.fixture
def many_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row group is a range of its own."""
    monkeypatch.setattr("toolvet.batch.reading.parquet.RANGE_BYTES", 1)
    monkeypatch.setattr("toolvet.batch.reading.parquet._MOST_RANGES", 1)


def install_hook(folder: Path) -> str:
    """Put the hook into a folder, and return the PYTHONPATH with which processes have it."""
    shutil.copy(Path(__file__).parent / "hook.py", folder / "toolvet_test_hook.py")
    (folder / "sitecustomize.py").write_text(
        "import sys\nif 'toolvet.batch.process' in sys.orig_argv:\n    import toolvet_test_hook\n", encoding="utf-8"
    )
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


def reached(folder: Path, count: int = 1) -> list[int]:
    """Wait until this many processes are at a text that waits, and return the ids of their workers."""
    while len(found := sorted(folder.glob("reached-*"))) < count:
        time.sleep(0.02)
    return [int(each.read_text(encoding="ascii")) for each in found]


Run = Callable[..., tuple[BatchOutcome, EngineFigures]]


def run_on(engine: str, address: str | None, source: object, output: object, **options: Any) -> Any:
    """A run on an engine, with what it came to and what the engine did."""
    how = {name: options.pop(name) for name in ("kind", "columns") if name in options}
    opened = open_engine(engine, address, options.pop("jobs", 2))
    try:
        outcome = run_batch(Job(**{"kind": "answers", **how}), str(source), str(output), engine=opened, **options)
        return outcome, opened.figures
    finally:
        opened.close()


__all__ = ["InputRows", "install_hook", "needed", "reached", "rows_of_kind", "run_on", "texts", "write_parquet"]
