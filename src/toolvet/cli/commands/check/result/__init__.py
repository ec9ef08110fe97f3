"""`toolvet check result`: say whether tools' results are successes, errors or broken."""

from typing import Annotated, Literal

from toolvet.cli.parameter import Parameter


def command(
    file: Annotated[str, Parameter(help="JSON, JSONL, CSV or Parquet; `-` is stdin.")] = "-",
    /,
    *,
    json: Annotated[bool, Parameter(negative="", help="Verdicts as JSONL on stdout.")] = False,
    fail_on: Annotated[
        Literal["partially_working", "connectivity_only", "error", "broken", "never"],
        Parameter(help="Exit with 1 for a result classified as this or worse."),
    ] = "error",
    field: Annotated[str | None, Parameter(help="The column of a table that has the result.")] = None,
    settings: Annotated[
        str | None,
        Parameter(
            metavar="PATH",
            help="Own words as TOML, under [checks.result]. [default: toolvet.toml, or tool.toolvet in pyproject.toml]",
        ),
    ] = None,
) -> int:
    """Say whether results are fully working, partially working, errors or broken, and why.

    Each input object has a `result` (what came back) and may have `tool` (its definition, or its name), `arguments` and
    an `id`. A value without a `result` is taken as a result itself: a result of MCP, a message of OpenAI, Anthropic,
    Gemini, Bedrock or LangChain, an HTTP response, a text, any other JSON. The verdict says what it was taken for.
    """
    from toolvet.cli.commands.check.result.run import check_results  # noqa: PLC0415 - the heavy half, for this command only

    return check_results(file, fail_on, settings=settings, as_json=json, field=field)
