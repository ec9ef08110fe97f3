"""Daft: on its own runner, and on a Ray cluster of two nodes, of which a worker and then a node are killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.assess.test_many import python, scripted
from tests.assess.test_many_cluster import MURDERER, configured, entry, toolvet, without_figures
from tests.batch.cluster.conftest import IS_REQUIRED, install_hook, needed, reached, rows_of_kind, texts, write_parquet
from tests.batch.conftest import Judge

needed("daft", "daft")


def started(source: Path, output: Path, *words: str, kind: str = "answers") -> subprocess.Popen[str]:
    """A run in a process of its own, because Daft has one runner in each. Each row group is a range."""
    line = ["toolvet", "batch", kind, str(source), str(output), "--json", "--engine", "daft", *words]
    code = (
        "from toolvet.batch.reading import parquet; parquet.RANGE_BYTES = parquet._MOST_RANGES = 1;"
        f"from toolvet.__main__ import main; import sys; sys.argv = {line!r}; main()"
    )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


def summary_of(run: subprocess.Popen[str]) -> dict[str, Any]:
    """The last report of a run."""
    _, said = run.communicate()
    assert run.returncode == 0, said
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def test_its_own_runner_gives_the_bytes_of_the_local_engine(tmp_path: Path, judge: Judge) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(400))
    judge(source, tmp_path / "local.parquet")
    summary = summary_of(started(source, tmp_path / "daft.parquet", "--jobs", "2"))
    assert summary["flagged"] == 40
    assert (summary["retries"], summary["failed_partitions"]) == (0, 0)
    assert (tmp_path / "daft.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()


@pytest.mark.parametrize("kind", ["results", "arguments", "envelopes", "conversations"])
def test_each_kind_of_rows_gives_the_bytes_of_the_local_engine(kind: str, tmp_path: Path, judge: Judge) -> None:
    source = tmp_path / "in.parquet"
    pq.write_table(rows_of_kind(kind), source, row_group_size=30)
    judge(source, tmp_path / "local.parquet", kind=kind)
    summary = summary_of(started(source, tmp_path / "daft.parquet", "--jobs", "2", kind=kind))
    assert (summary["rows"], summary["problems"], summary["failed_partitions"]) == (120, 0, 0)
    assert (tmp_path / "daft.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()


@dataclass
class RayCluster:
    """The address for clients, the cluster itself, and the folder of the hook."""

    address: str
    nodes: Any
    folder: Path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    if not IS_REQUIRED:
        pytest.skip("a Ray cluster needs the machine for itself: make cluster")
    utils: Any = import_module("ray.cluster_utils")
    folder = tmp_path_factory.mktemp("ray")
    before = dict(os.environ)
    os.environ["PYTHONPATH"] = install_hook(folder)
    # The head waits for its agent, which loads for long on a busy machine.
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")
    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    started = utils.Cluster(initialize_head=True, head_node_args={**node, "num_cpus": 0})
    try:
        for _ in range(2):
            started.add_node(**node)
        yield RayCluster(started.address, started, folder)
    finally:
        started.shutdown()
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
def odd(cluster: RayCluster) -> Iterator[Path]:
    """The folder in which processes say what they do, without what earlier tests left."""
    yield cluster.folder
    for each in [*cluster.folder.glob("reached-*"), cluster.folder / "go"]:
        each.unlink(missing_ok=True)


def parent_of(process: int) -> int:
    """The process that started another: of a worker of Ray, its node."""
    return int(Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])


@pytest.mark.timeout(900)
def test_servers_are_assessed_on_ray_and_one_whose_worker_is_lost_twice_is_told(
    cluster: RayCluster, tmp_path: Path
) -> None:
    murders = tmp_path / "murders"
    good = {name: entry(scripted(tmp_path, name)) for name in ("one", "two", "three")}
    configured(tmp_path, **good, murderer=entry(python("murderer", MURDERER % str(murders))))
    there = toolvet(tmp_path, "--engine", "daft", "--address", cluster.address, "--into", "there")
    assert there.returncode == 5, there.stderr
    assert murders.exists(), (tmp_path / "there" / "assessed.jsonl").read_text()
    assert murders.read_text() == "xx"
    configured(tmp_path, **good)
    here = toolvet(tmp_path, "--workers", "1", "--into", "here")
    assert here.returncode == 0
    found, wanted = (without_figures(tmp_path / name / "overview.json") for name in ("there", "here"))
    assert found["ranking"] == wanted["ranking"]
    assert [(row["name"], row["reason"]) for row in found["not_assessed"]] == [("murderer", "crashed")]
    assert "the worker that assessed it was lost, 2 times" in found["not_assessed"][0]["problem"]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("killed", ["nothing", "worker", "node"])
def test_the_work_of_what_is_killed_goes_to_another(
    killed: str, cluster: RayCluster, odd: Path, tmp_path: Path, judge: Judge
) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(400, waits=120))
    judge(source, tmp_path / "local.parquet")
    run = started(source, tmp_path / "daft.parquet", "--address", cluster.address)
    worker = reached(odd)[0]
    if killed != "nothing":
        os.kill(worker if killed == "worker" else parent_of(worker), signal.SIGKILL)
    (odd / "go").touch()
    summary = summary_of(run)
    assert (summary["rows"], summary["problems"], summary["failed_partitions"]) == (400, 0, 0)
    assert (tmp_path / "daft.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()
