"""Before a call is made: ask the server whether it would do, or the tool's schema where the server does not say.

`Validator` works over anything connected; `negotiate_and_validate` over what an initialize or discover result and
tools/list said. Fallbacks are logged as warnings under `toolvet.client`.
"""

from toolvet.checks.capability import Announcement, Level, announcement, has_capability
from toolvet.client.validation import InvalidArgumentsError, Method, NativeValidationError, Validation
from toolvet.client.validator import Validator, negotiate_and_validate

__all__ = [
    "Announcement",
    "InvalidArgumentsError",
    "Level",
    "Method",
    "NativeValidationError",
    "Validation",
    "Validator",
    "announcement",
    "has_capability",
    "negotiate_and_validate",
]
