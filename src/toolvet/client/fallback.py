"""The schema check that stands in where no server judges: all of `check_arguments`, in the form of a reply."""

import asyncio
from typing import NamedTuple

from toolvet.checks.arguments import ArgumentReport, check_arguments
from toolvet.checks.capability import Message, ValidationReply
from toolvet.client.catalogue import ToolDefinitions
from toolvet.client.connection import reason_of
from toolvet.schema.json_value import is_object, type_name


class SchemaVerdict(NamedTuple):
    """A reply of our own, and the report behind it where there was a schema to check."""

    reply: ValidationReply
    report: ArgumentReport | None = None


async def by_schema(catalogue: ToolDefinitions, tool: str, arguments: object, timeout: float) -> SchemaVerdict:  # noqa: ASYNC109 - in seconds, and told, not raised.
    """The verdict of the tool's inputSchema.

    A tool that the list does not have is not valid, nor is any while the list cannot be read: nothing is known then.
    A tool without inputSchema, or with one that does not compile, lets every object pass, with a warning.
    """
    try:
        async with asyncio.timeout(timeout):
            definition = await catalogue.find(tool)
    except Exception as error:  # noqa: BLE001 - whatever a foreign client raises, the list was not read.
        reason = f"no answer within {timeout:g} s" if isinstance(error, TimeoutError) else reason_of(error)
        return _refused(f"The tool list could not be read, so nothing is known of '{tool}': {reason}")
    if definition is None:
        similar = " or ".join(f"'{name}'" for name in catalogue.similar(tool))
        return _refused(f"The server has no tool '{tool}'" + (f"; did you mean {similar}?" if similar else "."))
    report = check_arguments(definition, arguments)
    if report.valid and not is_object(arguments):
        return _refused(f"The arguments of '{tool}' must be an object, not {type_name(arguments)}.")
    return SchemaVerdict(_reply(tool, report), report)


def _refused(error: str) -> SchemaVerdict:
    return SchemaVerdict(ValidationReply(valid=False, messages=(Message(error),)))


def _reply(tool: str, report: ArgumentReport) -> ValidationReply:
    errors = [
        Message(f"{issue.field}: {issue.problem}. {issue.fix}", "error", issue.pointer) for issue in report.issues
    ]
    unchecked = [f"The arguments of '{tool}' were not checked: {report.unchecked}."] if report.unchecked else []
    warnings = [Message(told, "warn") for told in unchecked]
    suggestions = [Message(suggestion, "info") for suggestion in report.suggestions]
    return ValidationReply(valid=report.valid, messages=(*errors, *warnings, *suggestions))
