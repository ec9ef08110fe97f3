"""`toolvet batch arguments`: say of each row whether its call keeps the schema of its tool."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.batch.flags import BatchFlags, InputArgument, OutputArgument


def command(
    source: InputArgument,
    output: OutputArgument,
    /,
    *,
    arguments: Annotated[
        str | None,
        Parameter(help="The column of the arguments. [default: arguments, input or args, else the JSON line]"),
    ] = None,
    tools: Annotated[
        Path | None, Parameter(help="The tools' definitions as JSON of any API, a JSON Schema, or a list of tools.")
    ] = None,
    tool: Annotated[
        str | None, Parameter(help="The column of the tool's name. [default: tool, name or tool_name]")
    ] = None,
    schema: Annotated[
        str | None, Parameter(help="The column of the tool's JSON Schema, row by row. [default: schema]")
    ] = None,
    flags: BatchFlags | None = None,
) -> int:
    """Judge a column of arguments against the schemas of their tools, and offer the calls that were meant.

    toolvet batch arguments calls.parquet verdicts.parquet --tools tools.json --tool tool_name

    Run the same line again after Ctrl-C or a crash, and it goes on from where it was. Exits with 2 when rows could not
    be judged, such as those of a tool without a definition.
    """
    from toolvet.cli.commands.batch.run import run  # noqa: PLC0415 - the heavy half, for this command only

    columns = {"arguments": arguments, "tool": tool, "schema": schema}
    return run("arguments", source, output, flags or BatchFlags(), columns=columns, tools=tools)
