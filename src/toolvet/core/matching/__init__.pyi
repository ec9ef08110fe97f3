# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.matching.pattern import Hit as Hit, Pattern as Pattern, literal as literal
from toolvet.core.matching.patterns import (
    SEPARATOR as SEPARATOR,
    PatternSet as PatternSet,
    Reach as Reach,
    RowScan as RowScan,
)
from toolvet.core.matching.tree import UnsafePattern as UnsafePattern
