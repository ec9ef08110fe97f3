"""`open_executor`: the name of a cluster's engine → an executor on it, connected."""

from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from toolvet.batch.executors.on_daft import DaftExecutor
    from toolvet.batch.executors.on_dask import DaskExecutor


def open_executor(
    engine: str, address: str | None, workers: int | None, module: str
) -> Union["DaskExecutor", "DaftExecutor"]:
    """Return an executor on "dask" or "daft" whose workers run `answer` of this module; the caller closes it.

    Raises ImportError if the engine is not installed, and UnreachableError if the address does not answer.
    """
    # Both load half of the Python world.
    if engine == "dask":
        from toolvet.batch.executors.on_dask import DaskExecutor  # noqa: PLC0415

        return DaskExecutor(address, workers, module)
    from toolvet.batch.executors.on_daft import DaftExecutor  # noqa: PLC0415

    return DaftExecutor(address, workers, module)
