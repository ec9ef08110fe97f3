"""Judges many rows: a file, a folder or a bucket of logs in, the verdicts on each row out.

`toolvet batch` is its command; `BatchCheck` is the same as a function, for an engine of your own.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
