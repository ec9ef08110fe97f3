"""`DaskExecutor`: requests are tasks of Dask distributed, on a cluster, or on processes of this machine."""

import logging
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from importlib import import_module
from typing import Any, Final, cast

from toolvet.batch.executors.executor import CONNECT_SECONDS, EngineFigures, cores, knock, task
from toolvet.errors import UnreachableError

_WORKER_SECONDS: Final = 60.0  # How long to wait for a worker if there is none.
_POLL_SECONDS: Final = 5.0
_TRIES: Final = 3
_AHEAD: Final = 3  # Requests that wait for each thread of a worker.
_MOST_BYTES: Final = 64 * 2**20  # Of requests that are under way; those for ranges are small.


class DaskExecutor:
    """A client of the scheduler at `address`. Without an address, of one that it starts here with `jobs` workers."""

    def __init__(self, address: str | None, jobs: int | None, module: str) -> None:
        self._dask: Any = import_module("distributed")
        # It prints each connection that breaks, with its traceback; toolvet reports the failures that matter.
        for name in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._cluster: Any = None
        if address is None:
            self._cluster = self._dask.LocalCluster(
                n_workers=jobs or cores(),
                threads_per_worker=1,
                processes=True,
                # Its HTTP server starts without a dashboard, too: on a free port, for this machine alone.
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,
            )
        else:
            knock(address, "the scheduler", "tcp://127.0.0.1:8786")
        try:
            self._client: Any = self._dask.Client(
                self._cluster or address, timeout=CONNECT_SECONDS, set_as_default=False, name="toolvet-batch"
            )
        except (OSError, ValueError, RuntimeError, TimeoutError) as error:
            raise UnreachableError(f"--address {address}: no Dask scheduler answers there: {error}") from error
        self._task = task(module)
        self._counted_task = _counted(self._task)
        self._keys: set[str] = set()
        self._threads, self._counted = 0, 0.0
        self._await_worker()

    def carried(self, requests: Iterator[bytes], figures: EngineFigures) -> Generator[bytes | str]:
        """As of `Executor`."""
        waiting: deque[tuple[bytes, Any]] = deque()
        size = 0
        try:
            for request in requests:
                while waiting and (len(waiting) >= self._window() or size + len(request) > _MOST_BYTES):
                    size -= len(waiting[0][0])
                    yield self._result(*waiting[0], figures)
                    waiting.popleft()
                waiting.append((request, self._submitted(request)))
                size += len(request)
            while waiting:
                yield self._result(*waiting[0], figures)
                waiting.popleft()
            # Those of our tasks that were on workers that went away, and were begun again by the scheduler.
            with suppress(OSError, TimeoutError, RuntimeError):
                events = self._client.get_events("all")
                gone = [each for _, each in events if each.get("action") == "remove-worker"]
                of_gone = [map(str, each.get("processing-tasks", ())) for each in gone]
                figures.retries += sum(len(self._keys.intersection(tasks)) for tasks in of_gone)
                self._keys.clear()
        finally:
            # Where all was well, none is left.
            self._client.cancel([future for _, future in waiting])

    def width(self) -> int:
        """As of `RequestExecutor`: the threads of all workers that are there now."""
        return max(1, sum(int(each["nthreads"]) for each in self._workers().values()))

    def asked(self, request: bytes, tries: int) -> bytes | str:
        """As of `RequestExecutor`."""
        name = f"toolvet-{uuid.uuid4().hex}"
        begun = self._dask.Variable(name, client=self._client)
        try:
            begun.set(0)
            future = self._client.submit(self._counted_task, request, name, tries, pure=False, retries=0)
            return cast("bytes | str", self._awaited(future))
        except self._dask.scheduler.KilledWorker:
            # With a scheduler that allows fewer deaths than we do.
            return "the worker died"
        except (CancelledError, OSError, RuntimeError) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            with suppress(CancelledError, OSError, RuntimeError, TimeoutError):
                begun.delete()

    def close(self) -> None:
        """As of `Executor`."""
        with suppress(OSError, TimeoutError, CancelledError):
            self._client.close()
        if self._cluster is not None:
            with suppress(OSError, TimeoutError, CancelledError):
                self._cluster.close()

    def _submitted(self, request: bytes) -> Any:
        future = self._client.submit(self._task, request, pure=False, retries=0)
        self._keys.add(future.key)
        return future

    def _result(self, request: bytes, future: Any, figures: EngineFigures) -> bytes | str:
        why = ""
        for attempt in range(_TRIES):
            if attempt:
                figures.retries += 1
                future = self._submitted(request)
            try:
                return cast("bytes", self._awaited(future))
            except self._dask.scheduler.KilledWorker as error:
                # The scheduler has tried it on several workers, and each died.
                return f"KilledWorker: {error}"
            except (CancelledError, OSError, RuntimeError) as error:
                why = f"{type(error).__name__}: {error}"
        return why

    def _awaited(self, future: Any) -> object:
        while True:
            try:
                return future.result(timeout=_POLL_SECONDS)
            except TimeoutError:
                self._await_worker()

    def _await_worker(self) -> None:
        until = time.monotonic() + _WORKER_SECONDS
        while not self._workers():
            if time.monotonic() > until:
                raise UnreachableError(
                    f"the Dask scheduler at {self._client.scheduler.address} has no worker, and none came within"
                    f" {_WORKER_SECONDS:.0f} s"
                )
            time.sleep(0.2)

    def _workers(self) -> Any:
        try:
            return self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, KeyError, TimeoutError):
            return {}

    def _window(self) -> int:
        """How many requests may be under way; workers come and go, so they are counted again now and then."""
        if not self._threads or time.monotonic() - self._counted > _POLL_SECONDS:
            self._threads = sum(int(each["nthreads"]) for each in self._workers().values())
            self._counted = time.monotonic()
        return max(2, _AHEAD * self._threads)


def _counted(answer: Callable[[bytes], bytes]) -> Callable[[bytes, str, int], bytes | str]:
    """Return `answer` as a task that does not begin more than `tries` times.

    The scheduler gives the task of a worker that died to the next one, as often as it likes, and reports nothing. So
    the task itself counts, in a variable that the scheduler keeps.
    """

    def run(request: bytes, name: str, tries: int) -> bytes | str:
        dask: Any = import_module("distributed")
        begun = dask.Variable(name, client=dask.get_client())
        before = int(begun.get())
        if before >= tries:
            return "the worker died"
        begun.set(before + 1)
        return answer(request)

    return run
