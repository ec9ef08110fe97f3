"""What the client side raises; both are ToolvetErrors.

ToolvetError
├── InvalidArgumentsError    the guard: this call must not be made (also a ValueError)
└── NativeValidationError    `require_native`: the server's own verdict was wanted, and there is none
"""

from toolvet.client.validation import Validation
from toolvet.errors import ToolvetError


class InvalidArgumentsError(ToolvetError, ValueError):
    """The call must not be made. Its text is for whoever can mend the call; `validation` has the parts of it."""

    exit_code = 1

    def __init__(self, validation: Validation) -> None:
        self.validation = validation
        super().__init__(validation.to_text())


class NativeValidationError(ToolvetError):
    """The server's own verdict was required. `announced` tells a validator that failed from one that is not there."""

    exit_code = 4

    def __init__(self, reason: str, *, tool: str, announced: bool) -> None:
        self.reason = reason
        self.tool = tool
        self.announced = announced
        super().__init__(f"'{tool}' was not validated by its server: {reason}")
