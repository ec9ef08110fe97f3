"""Bytes to the workers of a cluster, and bytes back: an `Executor` of Dask or Daft. It knows neither rows nor servers.

A worker answers each request with the function `answer(bytes) -> bytes` of the worker module, which is given by name.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
