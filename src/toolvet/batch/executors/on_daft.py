"""`DaftExecutor`: requests are rows of a query of Daft, on this machine, or on a Ray cluster."""

import os
import threading
import uuid
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from typing import Any, Final

from toolvet.batch.executors.executor import EngineFigures, cores, knock, task
from toolvet.errors import UnreachableError, UsageError

_TRIES: Final = 3
_ROUND: Final = 32  # Requests of a query for each core: a core that is done early waits for the last of them.
_MOST_BYTES: Final = 64 * 2**20  # Of the requests of a query; those for ranges are small.
_START_SECONDS: Final = 120


class DaftExecutor:
    """Daft on the Ray cluster at `address`. Without an address, on its own runner with `jobs` threads."""

    def __init__(self, address: str | None, jobs: int | None, module: str) -> None:
        # Daft tells its makers of each query, unless it is asked not to.
        os.environ["DO_NOT_TRACK"] = "1"
        os.environ["DAFT_PROGRESS_BAR"] = "0"
        self._daft: Any = import_module("daft")
        self._ray: Any = None
        if address is None:
            self._width = jobs or cores()
            self._daft.set_runner_native(num_threads=self._width)
        else:
            self._ray = import_module("ray")
            knock(address, "the Ray cluster", "ray://127.0.0.1:10001")
            try:
                self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
                self._daft.set_runner_ray(noop_if_initialized=True, worker_startup_timeout=_START_SECONDS)
            except Exception as error:
                # Of many kinds, down to RuntimeError for another version of Python.
                words = " ".join(f"{error}".split())
                raise UnreachableError(f"--address {address}: cannot use this Ray cluster: {words}") from error
            self._width = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._judge = _function(self._daft, task(module))
        self._judge_counted: Any = None
        self._asking = threading.Lock()
        self._module = module

    def carried(self, requests: Iterator[bytes], figures: EngineFigures) -> Generator[bytes | str]:
        """As of `Executor`."""
        for group in _rounds(requests, _ROUND * self._width):
            done = tries = 0
            while done < len(group):
                try:
                    for reply in self._query(group[done:]):
                        yield reply
                        done, tries = done + 1, 0
                except Exception as error:  # noqa: BLE001 - of many kinds, where workers or nodes go away
                    why = f"{type(error).__name__}: {error}".strip().splitlines()[0]
                    self._check_alive(why)
                    tries += 1
                    figures.retries += 1
                    if tries == _TRIES:
                        yield why
                        done, tries = done + 1, 0

    def width(self) -> int:
        """As of `RequestExecutor`: the cores of the cluster."""
        return self._width

    def asked(self, request: bytes, tries: int) -> bytes | str:
        """As of `RequestExecutor`: a query for each request, so that what a lost worker had is known."""
        if self._ray is None:
            raise UsageError("--engine daft: single requests need a Ray cluster")
        with self._asking:
            if self._judge_counted is None:
                self._judge_counted = _function(self._daft, self._counted())
        head = f"{uuid.uuid4().hex} {tries} ".encode()
        try:
            found = next(self._query([head + request], self._judge_counted))
        except Exception as error:  # noqa: BLE001 - of many kinds, where workers or nodes go away
            why = f"{type(error).__name__}: {error}".strip().splitlines()[0]
            self._check_alive(why)
            return why
        return found or "the worker died"

    def close(self) -> None:
        """As of `Executor`."""
        if self._ray is not None:
            self._ray.shutdown()

    def _counted(self) -> Callable[[bytes], bytes]:
        """Return the task that does not begin a request more often than its head says: then the reply is empty.

        Daft gives the task of a worker that died to the next one, without an end, and reports nothing. So the task
        itself asks an actor how often it was begun; that takes no core.
        """
        name = f"toolvet-{uuid.uuid4().hex}"
        # Held, because it ends with the last reference.
        self._counter = self._ray.remote(num_cpus=0, max_restarts=-1)(_begun_class()).options(name=name).remote()
        # Until it answers, workers may not find it.
        self._ray.get(self._counter.begin.remote(b""))
        answer = task(self._module)

        def run(request: bytes) -> bytes:
            ray: Any = import_module("ray")
            key, tries, rest = request.split(b" ", 2)
            begun: Any = ray.get(ray.get_actor(name).begin.remote(key))
            return b"" if begun > int(tries) else answer(rest)

        return run

    def _query(self, requests: list[bytes], judge: Any = None) -> Iterator[bytes]:
        column = self._daft.col("request")
        frame = self._daft.from_pydict({"request": requests})
        if self._ray is not None:
            # A partition is what goes to a worker, and to another one when that dies.
            frame = frame.into_partitions(len(requests))
        parts = frame.select((judge or self._judge)(column).alias("reply")).iter_partitions(
            results_buffer_size=self._width
        )
        for part in parts:
            found = self._ray.get(part) if self._ray is not None else part
            yield from found.to_pydict()["reply"]

    def _check_alive(self, why: str) -> None:
        if self._ray is None:
            return
        try:
            alive = any(node["Alive"] for node in self._ray.nodes())
        except Exception as error:
            raise UnreachableError(f"the Ray cluster does not answer any more: {why}") from error
        if not alive:
            raise UnreachableError(f"no node of the Ray cluster is alive: {why}")


def _begun_class() -> type:
    """The class of the actor that counts; made in here, as the task is, so that it is sent as code."""

    class _Begun:
        def __init__(self) -> None:
            self.times: dict[bytes, int] = {}

        def begin(self, key: bytes) -> int:
            self.times[key] = self.times.get(key, 0) + 1
            return self.times[key]

    return _Begun


def _function(daft: Any, judge: Callable[[bytes], bytes]) -> Any:
    def judge_all(requests: Any) -> Any:
        arrow: Any = import_module("pyarrow")
        return arrow.array([judge(each) for each in requests.to_pylist()], arrow.binary())

    # Each request is a batch of its own, and waits for a process, so threads of Daft's are enough.
    return daft.func.batch(return_dtype=daft.DataType.binary(), use_process=False, batch_size=1)(judge_all)


def _rounds(requests: Iterator[bytes], most: int) -> Iterator[list[bytes]]:
    for first in requests:
        group, size = [first], len(first)
        while len(group) < most and size < _MOST_BYTES and (more := next(requests, None)) is not None:
            group.append(more)
            size += len(more)
        yield group
