# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.prose.mask import (
    Mask as Mask,
    MaskKind as MaskKind,
    Masks as Masks,
)
from toolvet.core.prose.masking import (
    MaskState as MaskState,
    masks as masks,
)
