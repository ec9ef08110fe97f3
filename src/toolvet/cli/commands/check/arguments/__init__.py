"""`toolvet check arguments`: say whether calls are valid, and offer the valid calls that were meant."""

from typing import Annotated

from toolvet.cli.parameter import Parameter


def command(
    file: Annotated[str, Parameter(help="JSON, JSONL, CSV or Parquet; `-` is stdin.")] = "-",
    /,
    *,
    tool: Annotated[
        str,
        Parameter(metavar="PATH", help="The tool's definition as JSON of any API, a JSON Schema, or a list of tools."),
    ],
    name: Annotated[str | None, Parameter(help="Which tool of a list; not needed when there is one.")] = None,
    json: Annotated[bool, Parameter(negative="", help="One JSON report per call on stdout.")] = False,
    field: Annotated[str | None, Parameter(help="The column of a table that has the arguments.")] = None,
    max_chars: Annotated[int | None, Parameter(help="Cut the text for each call to so many characters.")] = None,
    settings: Annotated[
        str | None,
        Parameter(
            metavar="PATH",
            help="Own texts, as [checks.arguments] wording = FILE. "
            "[default: toolvet.toml, or tool.toolvet in pyproject.toml]",
        ),
    ] = None,
) -> int:
    """Check the arguments of calls against a tool's inputSchema, and say how to mend them.

    Each input object is the arguments of one call, or has them under `arguments` beside the tool's `name` (or `tool`)
    and perhaps an `id`, or is a tool call of OpenAI, Anthropic, Gemini, Bedrock, LangChain or MCP. Text that is no JSON
    is checked as what a model wrote: the report says what is malformed, and offers what was meant where that is clear.
    With --json the offer is `error.repair`, where secrets and long texts are masked. Exits with 1 when a call is not
    valid, and with 2 when one could not be checked, because the tool has no schema or one that cannot be used.
    """
    from toolvet.cli.commands.check.arguments.run import check_calls  # noqa: PLC0415 - the heavy half, for this command only

    return check_calls(file, tool, name, settings=settings, as_json=json, max_chars=max_chars, field=field)
