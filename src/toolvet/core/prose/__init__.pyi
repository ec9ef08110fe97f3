# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.core.prose.mask import (
    Mask as Mask,
    MaskKind as MaskKind,
    Masks as Masks,
)
from toolvet.core.prose.masking import (
    MaskState as MaskState,
    masks as masks,
)
