"""Validation for the tools of a server: the schema first, then what the author knows and no schema can express.

    validation = ToolValidation()

    @validation.validator("book_flight", level="runtime")
    async def seats_are_left(arguments, context):
        if not await seats(arguments["flight"]):
            return "No seats are left on this flight."

Independent of frameworks: `toolvet.agents.integrations.fastmcp` and `toolvet.agents.integrations.sdk` put it into a
server.
"""

from toolvet.agents.integrations.validation.tool_validation import ToolValidation
from toolvet.agents.integrations.validation.validator import Problem

__all__ = ["Problem", "ToolValidation"]
