# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.core.matching.pattern import Hit as Hit, Pattern as Pattern, literal as literal
from toolvet.core.matching.patterns import (
    SEPARATOR as SEPARATOR,
    PatternSet as PatternSet,
    Reach as Reach,
    RowScan as RowScan,
)
from toolvet.core.matching.tree import UnsafePattern as UnsafePattern
