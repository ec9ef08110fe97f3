"""The check of the tool's schema where the server does not judge: `check_arguments` in the form of a reply."""

import asyncio
import logging
from typing import Final, NamedTuple

from toolvet.core.checks import ArgumentReport, Message, ValidationReply, check_arguments
from toolvet.core.json_value import is_object, type_name
from toolvet.mcp.client.catalogue import ToolDefinitions
from toolvet.mcp.client.connection import reason_of

_LOG: Final = logging.getLogger("toolvet.mcp.client")


class SchemaVerdict(NamedTuple):
    """The reply of the schema check, and its report where a tool was found."""

    reply: ValidationReply
    report: ArgumentReport | None = None


async def validate_by_schema(catalogue: ToolDefinitions, tool: str, arguments: object, timeout: float) -> SchemaVerdict:  # noqa: ASYNC109 - in seconds; reported, not raised.
    """The verdict of the tool's inputSchema.

    A call of a tool that is not in the list is not valid, and neither is any call while the list cannot be read. A tool
    without an inputSchema, or with one that does not compile, lets every object pass, with a warning.
    """
    try:
        async with asyncio.timeout(timeout):
            definition = await catalogue.find(tool)
    except Exception as error:  # noqa: BLE001 - any exception of a foreign client means that the list was not read.
        reason = f"no answer within {timeout:g} s" if isinstance(error, TimeoutError) else reason_of(error)
        return _refuse(f"The tool list could not be read, so nothing is known of '{tool}': {reason}")
    if definition is None:
        similar = " or ".join(f"'{name}'" for name in catalogue.similar(tool))
        return _refuse(f"The server has no tool '{tool}'" + (f"; did you mean {similar}?" if similar else "."))
    report = check_arguments(definition, arguments, unchecked="pass")
    if report.valid and not is_object(arguments):
        return _refuse(f"The arguments of '{tool}' must be an object, not {type_name(arguments)}.")
    return SchemaVerdict(_reply(tool, report), report)


def log_fallback(tool: str) -> None:
    """Write to the log that only the schema was checked, because the server announces no validation of its own."""
    _LOG.info("'%s' was checked by its schema only: the server announces no toolValidation", tool)


def _refuse(error: str) -> SchemaVerdict:
    return SchemaVerdict(ValidationReply(valid=False, messages=(Message(error),)))


def _reply(tool: str, report: ArgumentReport) -> ValidationReply:
    errors = [
        Message(f"{issue.field}: {issue.problem}. {issue.fix}", "error", issue.pointer) for issue in report.issues
    ]
    unchecked = [f"The arguments of '{tool}' were not checked: {report.unchecked}."] if report.unchecked else []
    warnings = [Message(text, "warn") for text in unchecked]
    suggestions = [Message(suggestion, "info") for suggestion in report.suggestions]
    return ValidationReply(valid=report.valid, messages=(*errors, *warnings, *suggestions))
