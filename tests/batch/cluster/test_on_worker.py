"""The answers of a worker, and the error of an engine that cannot be used: in words, and at once."""

import socket
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import msgspec
import pytest
from tests.batch.cluster.conftest import texts, write_parquet
from tests.batch.conftest import Judge

from toolvet.batch import cluster
from toolvet.batch.cluster import Reply, WorkRequest, batch_identity
from toolvet.batch.engines import open_engine
from toolvet.batch.executors.executor import EngineFigures, task
from toolvet.batch.job import Job
from toolvet.batch.run import run_batch
from toolvet.errors import MissingExtraError, UnreachableError, UsageError


class InThisProcess:
    """A executor without a cluster: `changed` makes of a request what arrives, and `answered` what comes back."""

    def __init__(self, changed: Any = None, answered: Any = None) -> None:
        self._changed = changed or (lambda request: request)
        self._answered = answered or (lambda _, reply: reply)
        self.requests: list[WorkRequest] = []

    def carried(self, requests: Iterator[bytes], figures: EngineFigures) -> Generator[bytes | str]:
        del figures
        for request in requests:
            self.requests.append(msgspec.msgpack.decode(request, type=WorkRequest))
            yield self._answered(len(self.requests) - 1, cluster.answer(self._changed(request)))

    def close(self) -> None:
        pass


def run(executor: InThisProcess, source: Path, output: Path, **options: Any) -> EngineFigures:
    made = cluster.ClusterEngine(executor)
    try:
        run_batch(Job(kind="answers"), str(source), str(output), engine=made, **options)
        return made.figures
    finally:
        made.close()


def altered(**members: object) -> Any:
    """What changes a member of each request."""

    def change(request: bytes) -> bytes:
        found = msgspec.msgpack.decode(request, type=WorkRequest)
        return msgspec.msgpack.encode(msgspec.structs.replace(found, **members))

    return change


def test_a_worker_of_another_version_does_not_judge(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(10))
    other = InThisProcess(altered(identity=batch_identity().replace("rules ", "rules 0")))
    with pytest.raises(UsageError, match=r"has toolvet .*\(rules .*; here is toolvet .*must not mix"):
        run(other, source, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_a_worker_without_toolvet_says_so() -> None:
    code = "import sys, cloudpickle; print(cloudpickle.loads(sys.stdin.buffer.read())(b'request').decode())"
    # -I: neither the project's folder nor PYTHONPATH; and no .pth that leads to it.
    places = [str(Path(cloudpickle.__file__).parent.parent)]
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path += {places!r}\n{code}"]
    done = subprocess.run(command, input=cloudpickle.dumps(task(cluster.WORKER)), capture_output=True, check=False)
    assert done.stdout.startswith(b"!"), done.stderr
    assert b"No module named 'toolvet'" in done.stdout


def test_what_a_worker_without_toolvet_says_reaches_the_user(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(10))
    lacking = InThisProcess(answered=lambda *_: b"!far: No module named 'toolvet'")
    with pytest.raises(UsageError, match=r"far: No module named 'toolvet'. Install the same toolvet"):
        run(lacking, source, tmp_path / "out.parquet")


def test_a_file_that_a_worker_does_not_see_is_named(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(10))

    def elsewhere(request: bytes) -> bytes:
        found = msgspec.msgpack.decode(request, type=WorkRequest)
        assert found.file_range is not None
        moved = msgspec.structs.replace(found.file_range, location="/nowhere/in.parquet")
        changed: bytes = altered(file_range=moved)(request)
        return changed

    with pytest.raises(UsageError, match=r"/nowhere/in.parquet.*file system that every worker sees.*s3://.*process"):
        run(InThisProcess(elsewhere), source, tmp_path / "out.parquet")


@pytest.mark.usefixtures("many_ranges")
def test_what_all_tries_fail_with_is_judged_here(tmp_path: Path, judge: Judge) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(200))
    failing = InThisProcess(answered=lambda number, reply: "died" if number == 2 else reply)
    assert run(failing, source, tmp_path / "out.parquet").failed == 1
    judge(source, tmp_path / "local.parquet")
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()


@pytest.mark.usefixtures("many_ranges")
def test_workers_that_only_fail_end_the_run_which_goes_on_later(tmp_path: Path, judge: Judge) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(200), group=10)
    failing = InThisProcess(answered=lambda number, reply: "died" if number >= 2 else reply)
    with pytest.raises(UnreachableError, match="fail again and again: died"):
        run(failing, source, tmp_path / "out.parquet")
    assert judge(source, tmp_path / "out.parquet").resumed


def test_each_stretch_is_asked_for_once_and_all_of_them_are_the_file(tmp_path: Path, judge: Judge) -> None:
    source = write_parquet(tmp_path / "in.parquet", texts(1_000), group=100)
    executor = InThisProcess()
    with pytest.MonkeyPatch.context() as patch:
        # Row groups of some kilobytes: several in a range, and with the last line one in several.
        patch.setattr("toolvet.batch.reading.parquet.RANGE_BYTES", 2_000)
        run(executor, source, tmp_path / "out.parquet")
        write_parquet(tmp_path / "one.parquet", texts(1_000), group=1_000)
        patch.setattr("toolvet.batch.reading.parquet.CHUNK_BYTES", 1_500)
        run(executor, tmp_path / "one.parquet", tmp_path / "parts.parquet")
        judge(tmp_path / "one.parquet", tmp_path / "local.parquet")
    assert (tmp_path / "parts.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()
    places = [
        (each.file_range.start.at, each.file_range.end) for each in executor.requests if each.file_range is not None
    ]
    assert len(places) == len(executor.requests) > 6
    ends = [end for _, end in places]
    assert [start for start, _ in places] == [0, *[0 if end == 1_000 else end for end in ends[:-1]]]
    assert ends.count(1_000) == 2


@pytest.mark.parametrize(
    ("engine", "address", "error", "words"),
    [
        ("local", "tcp://127.0.0.1:1", UsageError, "--engine daft or --engine dask"),
        ("dask", "nonsense", UsageError, "give the host and port"),
        ("dask", "tcp://127.0.0.1:{port}", UnreachableError, "the scheduler does not answer: Connection refused"),
        ("daft", "ray://127.0.0.1:{port}", UnreachableError, "the Ray cluster does not answer: Connection refused"),
    ],
)
def test_an_address_that_does_not_answer_is_an_error_at_once(
    engine: str, address: str, error: type[Exception], words: str
) -> None:
    if engine == "dask":
        pytest.importorskip("distributed", reason="pip install 'toolvet[dask]'")
    if engine == "daft":
        pytest.importorskip("ray", reason="pip install 'toolvet[ray]'")
        pytest.importorskip("daft", reason="pip install 'toolvet[daft]'")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(error, match=words):
        open_engine(engine, address.format(port=port))


@pytest.mark.parametrize(("engine", "module", "extra"), [("dask", "distributed", "dask"), ("daft", "daft", "daft")])
def test_an_engine_that_is_not_installed_says_how_to(
    engine: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError) as found:
        open_engine(engine)
    assert f"toolvet[{extra}]" in str(MissingExtraError.of(found.value))


def test_a_reply_names_its_worker(tmp_path: Path) -> None:
    reply = msgspec.msgpack.decode(cluster.answer(msgspec.msgpack.encode(WorkRequest("other", b""))), type=Reply)
    assert socket.gethostname() in reply.worker
    assert reply.problem is not None
    assert not list(tmp_path.iterdir())
