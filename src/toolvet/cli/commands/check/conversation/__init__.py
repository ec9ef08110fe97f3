"""`toolvet check conversation`: judge whole conversations, turn by turn."""

from typing import Annotated, Literal

from toolvet.cli.parameter import Parameter


def command(
    file: Annotated[str, Parameter(help="JSON, JSONL, CSV or Parquet; `-` is stdin.")] = "-",
    /,
    *,
    tools: Annotated[
        str | None,
        Parameter(metavar="PATH", help="The definitions of the tools as JSON, to check the arguments of calls."),
    ] = None,
    field: Annotated[str | None, Parameter(help="The column of a table that has the messages.")] = None,
    json: Annotated[bool, Parameter(negative="", help="Verdicts as JSONL on stdout.")] = False,
    fail_on: Annotated[
        Literal["escalate", "signal", "call", "never"],
        Parameter(
            help="Exit with 1 for an answer that should be escalated, or that has any signal; `call`: also for a call "
            "with invalid arguments or a failed result."
        ),
    ] = "escalate",
    settings: Annotated[
        str | None,
        Parameter(
            metavar="PATH",
            help="Options as TOML, under [checks.answer] and [checks.result]. [default: toolvet.toml, or tool.toolvet "
            "in pyproject.toml]",
        ),
    ] = None,
) -> int:
    """Judge each turn of conversations: the arguments of its calls, their results, and the answer against both.

    The messages are those of OpenAI, Anthropic, Gemini, Bedrock, LangChain, pydantic-ai or others, as a list or under
    `messages`, with the `tools` beside them if you have them. In JSONL a line that is a list or has `messages` is a
    conversation; where the first line is neither, all lines are the messages of one. Exits with 1 when an answer
    should be escalated.
    """
    from toolvet.cli.commands.check.conversation.run import check_conversations  # noqa: PLC0415 - the heavy half, for this command

    return check_conversations(file, fail_on, tools=tools, field=field, settings=settings, as_json=json)
