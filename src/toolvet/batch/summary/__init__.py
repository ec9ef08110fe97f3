"""What a batch came to: the record batches of an output in, a document with shares, examples, drift and agreement out.

A fold: `BatchSummary.add` takes one record batch after the other, `merge` what another process made of its own. The
result does not depend on how the rows were divided, and its size does not depend on how many there are.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
