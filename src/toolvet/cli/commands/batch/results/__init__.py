"""`toolvet batch results`: say of each row whether its tool result is a success, an error or broken."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.batch.flags import BatchFlags, InputArgument, OutputArgument


def command(
    source: InputArgument,
    output: OutputArgument,
    /,
    *,
    result: Annotated[
        str | None, Parameter(help="The column of the results. [default: result or response, else the JSON line]")
    ] = None,
    tool: Annotated[
        str | None, Parameter(help="The column of the tool, by name or definition. [default: tool, name or tool_name]")
    ] = None,
    arguments: Annotated[str | None, Parameter(help="The column of what was sent. [default: arguments]")] = None,
    flags: BatchFlags | None = None,
) -> int:
    """Judge a column of tool results: fully working, partially working, an error (whose?) or broken.

    toolvet batch results tool-logs.jsonl verdicts.parquet --result output --tool tool_name

    A result is JSON of MCP or of a model's API, or a text. Run the same line again after Ctrl-C or a crash, and it goes
    on from where it was. Exits with 2 when rows could not be judged.
    """
    from toolvet.cli.commands.batch.run import run  # noqa: PLC0415 - the heavy half, for this command only

    columns = {"result": result, "tool": tool, "arguments": arguments}
    return run("results", source, output, flags or BatchFlags(), columns=columns)
