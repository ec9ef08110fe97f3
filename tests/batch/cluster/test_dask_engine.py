"""Dask distributed: a scheduler and two workers of their own, which die, and the same bytes as without."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.batch.cluster.conftest import (
    IS_REQUIRED,
    install_hook,
    needed,
    reached,
    rows_of_kind,
    run_on,
    texts,
    write_parquet,
)
from tests.batch.conftest import GOOD, REFUSAL, Judge, rows_of

from toolvet.batch.run import Interrupted

distributed: Any = needed("distributed", "dask")
pytestmark = pytest.mark.usefixtures("many_ranges")
LONG = pytest.mark.skipif(not IS_REQUIRED, reason="starts many processes: make cluster")


@dataclass
class DaskCluster:
    """A scheduler's address, its workers, and the folder of the hook."""

    address: str
    folder: Path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    folder = tmp_path_factory.mktemp("dask")
    environment = {**os.environ, "PYTHONPATH": install_hook(folder), "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> None:
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
        with (folder / f"{words[0]}-{len(started)}.log").open("wb") as log:
            started.append(subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log))

    file = folder / "scheduler.json"
    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        address = ""
        # The file is there before it is written.
        while not address:
            assert started[0].poll() is None, (folder / "scheduler-0.log").read_text()
            time.sleep(0.05)
            with suppress(FileNotFoundError, ValueError):
                address = json.loads(file.read_text(encoding="utf-8"))["address"]
        for _ in range(2):
            start("worker", address, "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2)
        yield DaskCluster(address, folder)
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()


@pytest.fixture
def odd(cluster: DaskCluster) -> Iterator[Path]:
    """The folder in which processes say what they do, without what earlier tests left."""
    yield cluster.folder
    for each in [*cluster.folder.glob("reached-*"), cluster.folder / "go", cluster.folder / "murders"]:
        each.unlink(missing_ok=True)


def test_all_formats_give_the_bytes_of_the_local_engine(cluster: DaskCluster, tmp_path: Path, judge: Judge) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_parquet(folder / "a.parquet", texts(130))
    damaged = bytearray(write_parquet(tmp_path / "b.parquet", texts(200)).read_bytes())
    damaged[len(damaged) // 4] ^= 0xFF
    (folder / "b.parquet").write_bytes(damaged)
    lines = [json.dumps({"text": text}) for text in (GOOD, REFUSAL)]
    (folder / "c.jsonl").write_text("\n".join([*lines, "{", ""]), encoding="utf-8")
    (folder / "d.csv").write_text(f"text\n{GOOD}\n{REFUSAL}\n", encoding="utf-8")
    judge(folder, tmp_path / "local.parquet")
    outcome, figures = run_on("dask", cluster.address, folder, tmp_path / "dask.parquet")
    assert (tmp_path / "dask.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()
    assert outcome.tally.problems > 1
    assert (figures.retries, figures.failed) == (0, 0)
    # One file of lines is read here, and its rows are sent.
    judge(folder / "c.jsonl", tmp_path / "local.jsonl")
    run_on("dask", cluster.address, folder / "c.jsonl", tmp_path / "dask.jsonl")
    assert (tmp_path / "dask.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes()


@LONG
@pytest.mark.parametrize("kind", ["results", "arguments", "envelopes", "conversations"])
def test_each_kind_of_rows_gives_the_bytes_of_the_local_engine(
    kind: str, cluster: DaskCluster, tmp_path: Path, judge: Judge
) -> None:
    source = tmp_path / "in.parquet"
    pq.write_table(rows_of_kind(kind), source, row_group_size=30)
    outcome = judge(source, tmp_path / "local.parquet", kind=kind)
    assert (outcome.tally.rows, outcome.tally.problems) == (120, 0)
    assert outcome.tally.flagged >= 12
    _, figures = run_on("dask", cluster.address, source, tmp_path / "dask.parquet", kind=kind)
    assert (figures.retries, figures.failed) == (0, 0)
    assert (tmp_path / "dask.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()


@LONG
def test_workers_read_a_bucket_themselves(
    s3: Any, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    s3.create_dir("cluster")
    for name in ("a", "b"):
        with s3.open_output_stream(f"cluster/logs/{name}.parquet") as stream:
            stream.write(write_parquet(tmp_path / "in.parquet", texts(100)).read_bytes())
    judge("s3://cluster/logs", tmp_path / "local.parquet")
    # Workers that are started here have the credentials of this environment.
    _, figures = run_on("dask", None, "s3://cluster/logs", "s3://cluster/verdicts.parquet")
    assert (figures.retries, figures.failed) == (0, 0)
    written = s3.open_input_stream("cluster/verdicts.parquet").read()
    assert written == (tmp_path / "local.parquet").read_bytes()


def test_the_work_of_a_killed_worker_goes_to_another(
    cluster: DaskCluster, odd: Path, tmp_path: Path, judge: Judge
) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(400, waits=120))
    judge(source, tmp_path / "local.parquet")
    found: list[Any] = []
    run = threading.Thread(
        target=lambda: found.append(run_on("dask", cluster.address, source, tmp_path / "dask.parquet"))
    )
    run.start()
    os.kill(reached(odd)[0], signal.SIGKILL)
    (odd / "go").touch()
    run.join()
    outcome, figures = found[0]
    assert outcome.is_complete
    assert figures.retries >= 1
    assert figures.failed == 0
    assert (tmp_path / "dask.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()


@LONG
def test_a_row_that_ends_its_process_each_time_is_a_problem_of_that_row(
    cluster: DaskCluster, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(40, deadly=17), group=2)
    _, figures = run_on("dask", cluster.address, source, tmp_path / "dask.parquet")
    rows = rows_of(tmp_path / "dask.parquet")
    assert [row["row"] for row in rows if row["problem"]] == [18]
    assert rows[17]["problem"] == "the process that judged this row died"
    assert figures.retries > 1
    monkeypatch.setenv("PYTHONPATH", str(cluster.folder), prepend=os.pathsep)
    judge(source, tmp_path / "local.parquet", jobs=2)
    assert (tmp_path / "dask.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()


@LONG
def test_rows_that_kill_every_worker_are_judged_here(
    cluster: DaskCluster, odd: Path, tmp_path: Path, judge: Judge
) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(200, murderous=77))
    outcome, figures = run_on("dask", cluster.address, source, tmp_path / "dask.parquet")
    assert len(set((odd / "murders").read_text(encoding="ascii").split())) == 4
    assert outcome.is_complete
    assert figures.failed >= 1
    judge(source, tmp_path / "local.parquet")
    assert (tmp_path / "dask.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()


def test_a_killed_run_goes_on_on_another_engine(cluster: DaskCluster, odd: Path, tmp_path: Path, judge: Judge) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(400, waits=300))
    judge(source, tmp_path / "whole.parquet")
    words = ["batch", "answers", str(source), str(tmp_path / "out.parquet"), "--engine", "dask"]
    # A part for each chunk, so that there is something to go on from.
    code = (
        "from toolvet.batch import output; from toolvet.batch.reading import parquet; "
        "from toolvet.__main__ import main; output._PART_BYTES = parquet.RANGE_BYTES = parquet._MOST_RANGES = 1;"
        f"import sys; sys.argv = ['toolvet', *{words!r}, '--address', {cluster.address!r}]; main()"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    reached(odd)
    while not (tmp_path / ".out.parquet.toolvet-batch" / "part-00003").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    (odd / "go").touch()
    assert not (tmp_path / "out.parquet").exists()
    outcome = judge(source, tmp_path / "out.parquet")
    assert outcome.resumed
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@LONG
def test_a_stopped_run_gives_up_what_it_had_begun(cluster: DaskCluster, tmp_path: Path, judge: Judge) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(400))

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        run_on("dask", cluster.address, source, tmp_path / "out.parquet", limit=333, progress=stop)
    assert stopped.value.kept
    outcome, _ = run_on("dask", cluster.address, source, tmp_path / "out.parquet", limit=333)
    assert outcome.resumed
    assert outcome.tally.rows == 333
    judge(source, tmp_path / "whole.parquet", limit=333)
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
