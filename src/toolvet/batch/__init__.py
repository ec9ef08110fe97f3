"""Judges many rows: a file, a folder or a bucket of logs in, the verdicts on each row out.

    reading → job → kernel → verdict_file      rows become Arrow batches; a kernel adds the columns of the verdict
    engines       all cores of this machine, or a cluster of Dask or Daft (`cluster`, `executors`)
    summary       shares, intervals and examples over an output; comparing: what changed between two

    toolvet batch answers logs.parquet verdicts.parquet --text response

`BatchCheck` is the same as a function, for an engine of your own. Start reading at `run.py`, then `kernel/`.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
