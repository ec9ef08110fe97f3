"""Masks: the parts of a text that are not its author's own words, and why.

    masks('He said "no".').kind_at(8, 12)    # MaskKind.QUOTATION: not the author's own words

Code, logs, quotations, drafts for others and fiction are masked. `MaskState` gives the same masks chunk by chunk, while
the text is being written.
"""

from typing import TYPE_CHECKING

from toolvet.core.discover.names import named

if TYPE_CHECKING:
    from toolvet.core.prose.mask import Mask, MaskKind, Masks
    from toolvet.core.prose.masking import MaskState, masks

__all__ = ["Mask", "MaskKind", "MaskState", "Masks", "masks"]

if not TYPE_CHECKING:  # A type checker knows the names above, and should complain of others.
    # Importing a mask's type must not load what finds quotations and frames (start-up time).
    __getattr__ = named(__name__, {"mask": "Mask MaskKind Masks", "masking": "MaskState masks"})
