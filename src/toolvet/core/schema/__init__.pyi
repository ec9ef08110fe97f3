# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.schema.boundary import (
    BoundaryExample as BoundaryExample,
    boundary_examples as boundary_examples,
)
from toolvet.core.schema.compilation import (
    Schema as Schema,
    SchemaProblem as SchemaProblem,
    compiled as compiled,
)
from toolvet.core.schema.document import subschemas as subschemas
from toolvet.core.schema.example import (
    NoExampleFound as NoExampleFound,
    unsatisfiable_parts as unsatisfiable_parts,
    valid_example as valid_example,
)
from toolvet.core.schema.invalid import (
    InvalidExample as InvalidExample,
    invalid_examples as invalid_examples,
)
from toolvet.core.schema.naming import (
    values_for_name as values_for_name,
    words_of as words_of,
)
from toolvet.core.schema.repairs import (
    Recovered as Recovered,
    Repair as Repair,
    recover as recover,
    recover_beginning as recover_beginning,
    repair as repair,
    repair_read as repair_read,
    repair_text as repair_text,
)
from toolvet.core.schema.violation import Violation as Violation
from toolvet.core.schema.weight import depth as depth
