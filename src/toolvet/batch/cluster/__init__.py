"""Engines for more than one machine: bytes go to workers, the verdicts come back, and the run does the rest.

`ClusterEngine` stands on a `Executor`, of which Dask and Daft are two: it hands requests to workers, and yields their
replies in the order of the requests. What a worker does with a request is in `on_worker`.
"""
