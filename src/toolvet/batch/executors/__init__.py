"""Bytes to the workers of a cluster, and bytes back: a `Carrier` of Dask or Daft. It knows neither rows nor servers.

What a worker does with a request is said by the name of a module with a function `answer(bytes) -> bytes`: its station.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
