"""A failure on its way up: raised deep inside a tool, answered at its edge."""

from typing import cast

from toolvet.envelope.response import Envelope
from toolvet.errors import EnvelopeError, EnvelopeTypeError, ToolvetError


class ResponseError(ToolvetError):
    """`raise ResponseError(not_found_error("Ship", name))`: the tool answers with that response.

    Raises EnvelopeError for a response that is no failure.
    """

    exit_code = 1

    def __init__(self, response: Envelope) -> None:
        if not isinstance(cast("object", response), Envelope):
            raise EnvelopeTypeError("response", f"must be an Envelope, not {type(response).__name__}")
        if response.success:
            raise EnvelopeError("response", "must be a failure: return a success instead")
        self.response = response
        super().__init__(response.error)
