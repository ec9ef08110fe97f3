"""From a JSON Schema to violations, examples and repairs.

    compiled(schema).violations(value)       # the keywords that a value breaks
    valid_example(schema)                    # a value that breaks none
    invalid_examples(schema)                 # values that break exactly one
    repair(schema, value)                    # the nearest value that breaks none

Pure and total: any value that claims to be a schema is one, or has a `problem`. No reference is ever fetched.
"""

from typing import TYPE_CHECKING

from toolvet.core.discover.names import named

if TYPE_CHECKING:
    from toolvet.core.schema.boundary import BoundaryExample, boundary_examples
    from toolvet.core.schema.compilation import Schema, SchemaProblem, compiled
    from toolvet.core.schema.example import NoExampleFound, valid_example
    from toolvet.core.schema.invalid import InvalidExample, invalid_examples
    from toolvet.core.schema.repairs import Recovered, Repair, recover, repair
    from toolvet.core.schema.unsatisfiable import unsatisfiable_parts
    from toolvet.core.schema.violation import Violation

__all__ = [
    "BoundaryExample",
    "InvalidExample",
    "NoExampleFound",
    "Recovered",
    "Repair",
    "Schema",
    "SchemaProblem",
    "Violation",
    "boundary_examples",
    "compiled",
    "invalid_examples",
    "recover",
    "repair",
    "unsatisfiable_parts",
    "valid_example",
]

if not TYPE_CHECKING:  # A type checker knows the names above, and should complain of others.
    # Importing `json_value` must not load the engine (start-up time).
    __getattr__ = named(
        __name__,
        {
            "boundary": "BoundaryExample boundary_examples",
            "compilation": "Schema SchemaProblem compiled",
            "example": "NoExampleFound valid_example",
            "invalid": "InvalidExample invalid_examples",
            "repairs": "Recovered Repair recover repair",
            "unsatisfiable": "unsatisfiable_parts",
            "violation": "Violation",
        },
    )
