"""`open_engine`: the name of an engine → it, connected."""

from toolvet.batch.engine import BatchEngine
from toolvet.batch.executors.opening import open_executor
from toolvet.batch.pool import LocalEngine
from toolvet.errors import UsageError


def open_engine(name: str, address: str | None = None, jobs: int | None = None) -> BatchEngine:
    """Return the engine "local", "daft" or "dask", on the cluster at `address`; the caller closes it.

    Raises UsageError if it is not installed, and UnreachableError if the address does not answer.
    """
    if name == "local":
        if address is not None:
            raise UsageError("--address: give --engine daft or --engine dask, too")
        return LocalEngine(jobs)
    from toolvet.batch.cluster.engine import WORKER, ClusterEngine  # noqa: PLC0415 - slow to load

    return ClusterEngine(open_executor(name, address, jobs, WORKER))
