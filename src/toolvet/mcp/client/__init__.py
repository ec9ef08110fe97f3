"""Validate a call before it is made: by the server where it offers that, else by the tool's schema.

`Validator` works with any connected client; `negotiate_and_validate` needs only the capabilities, the tool list and a
function that makes calls. Fallbacks are logged as warnings under `toolvet.mcp.client`.

    connection.py   clients of every library behind one interface
    native.py       what the server offers to validate, and questions to its own validator
    validation.py   the verdict, and the exceptions that carry one
    validator.py    the public thing: all of it together, and the check of the tool's schema instead
"""

from toolvet.core.checks import Announcement, Level, announcement, has_capability
from toolvet.mcp.client.validation import (
    InvalidArgumentsError,
    Method,
    NativeValidationError,
    Validation,
    ValidationProgress,
)
from toolvet.mcp.client.validator import Validator, negotiate_and_validate

__all__ = [
    "Announcement",
    "InvalidArgumentsError",
    "Level",
    "Method",
    "NativeValidationError",
    "Validation",
    "ValidationProgress",
    "Validator",
    "announcement",
    "has_capability",
    "negotiate_and_validate",
]
