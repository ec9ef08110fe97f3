"""pyarrow, which has no types, behind one door. Importing this raises `UsageError` where it is not installed."""

from importlib import import_module
from typing import Any, cast

from toolvet.errors import UsageError

Array = Any
"""A `pyarrow.Array`."""
RecordBatch = Any
"""A `pyarrow.RecordBatch`."""
ArrowSchema = Any
"""A `pyarrow.Schema`."""
ArrowType = Any
"""A `pyarrow.DataType`."""


def load(name: str) -> Any:
    """Return a module of pyarrow. Raises `UsageError`, which says how to install it, where it is missing."""
    try:
        return cast("Any", import_module(name))
    except ImportError as error:
        raise UsageError("batch needs pyarrow and numpy: pip install 'toolvet[batch]'") from error


load("numpy")
pa = load("pyarrow")
compute = load("pyarrow.compute")
