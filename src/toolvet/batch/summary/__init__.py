"""Summarize a batch: the files of an output in, a document with shares, examples, drift and agreement out.

DuckDB counts, over Parquet (`database`); `describe` has a query for each figure, and `statistics` the intervals and
tests. `columns` says what is read of each kind of rows. The result does not depend on the order of files or rows.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
