"""From a JSON Schema to violations, examples and repairs.

    compiled(schema).violations(value)       # the keywords that a value breaks
    valid_example(schema)                    # a value that breaks none
    invalid_examples(schema)                 # values that break exactly one
    repair(schema, value)                    # the nearest value that breaks none

Pure and total: any value that claims to be a schema is one, or has a `problem`. No reference is ever fetched.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
