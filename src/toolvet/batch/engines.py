"""`open_engine`: the name of an engine → it, connected."""

from toolvet.batch.engine import BatchEngine
from toolvet.batch.pool import LocalEngine
from toolvet.errors import UsageError


def open_engine(name: str, address: str | None = None, jobs: int | None = None) -> BatchEngine:
    """Return the engine "local", "daft" or "dask", on the cluster at `address`; whoever asks for it closes it.

    Raises UsageError where it is not installed, and UnreachableError where nobody answers at the address.
    """
    if name == "local":
        if address is not None:
            raise UsageError("--address: give --engine daft or --engine dask, too")
        return LocalEngine(jobs)
    # Both load half of the Python world.
    from toolvet.batch.cluster.engine import STATION, ClusterEngine  # noqa: PLC0415

    if name == "dask":
        from toolvet.batch.executors.on_dask import DaskCarrier  # noqa: PLC0415

        return ClusterEngine(DaskCarrier(address, jobs, STATION))
    from toolvet.batch.executors.on_daft import DaftCarrier  # noqa: PLC0415

    return ClusterEngine(DaftCarrier(address, jobs, STATION))
