"""Two outputs, row by row: the outputs of two runs in, which verdicts changed out.

Rows are joined by their id. They are first divided by the hash of their ids into files on disk, so that memory holds
one part of both sides, whatever the size of the outputs and the order of their rows.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
