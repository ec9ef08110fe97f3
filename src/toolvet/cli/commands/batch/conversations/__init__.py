"""`toolvet batch conversations`: judge each row's conversation, turn by turn."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.batch.flags import BatchFlags, InputArgument, OutputArgument


def command(
    source: InputArgument,
    output: OutputArgument,
    /,
    *,
    messages: Annotated[
        str | None, Parameter(help="The column of the messages. [default: messages, else the JSON line]")
    ] = None,
    tools: Annotated[
        Path | None, Parameter(help="The tools' definitions as JSON; else those in a column or member `tools`.")
    ] = None,
    system: Annotated[str | None, Parameter(help="The column of the system prompt. [default: system]")] = None,
    strict: Annotated[
        bool | None, Parameter(negative="", help="Escalate below a score of 0.75 instead of 0.7.")
    ] = None,
    threshold: Annotated[float | None, Parameter(help="Escalate below this score.")] = None,
    flags: BatchFlags | None = None,
) -> int:
    """Judge conversations: each answer against the calls of its turn, each result, and the arguments of calls.

    toolvet batch conversations transcripts.jsonl verdicts.parquet

    Messages are those of OpenAI, Anthropic, Gemini, Bedrock, LangChain, ShareGPT and others. Run the same line again
    after Ctrl-C or a crash, and it goes on from where it was. Exits with 2 when rows could not be judged.
    """
    from toolvet.cli.commands.batch.run import run  # noqa: PLC0415 - the heavy half, for this command only

    columns = {"messages": messages, "system": system}
    options = {"strict": strict, "threshold": threshold}
    return run("conversations", source, output, flags or BatchFlags(), columns=columns, options=options, tools=tools)
