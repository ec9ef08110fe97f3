"""Masks: the parts of a text that are not its author's own words, and why.

    masks('He said "no".').kind_at(8, 12)    # MaskKind.QUOTATION: not the author's own words

Code, logs, quotations, drafts for others and fiction are masked. `MaskState` gives the same masks chunk by chunk, while
the text is being written.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
