"""`toolvet batch answers`: say of each row whether its answer can be shown."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.batch.flags import BatchFlags, InputArgument, OutputArgument


def command(
    source: InputArgument,
    output: OutputArgument,
    /,
    *,
    text: Annotated[
        str | None, Parameter(help="The column of the answers. [default: answer, text, response or content]")
    ] = None,
    question: Annotated[str | None, Parameter(help="The column of what was asked. [default: question]")] = None,
    calls: Annotated[
        str | None, Parameter(help="The column of the turn's tool calls. [default: calls or tool_calls]")
    ] = None,
    finish_reason: Annotated[
        str | None, Parameter(help="The column of why the model stopped. [default: finish_reason or stop_reason]")
    ] = None,
    packs: Annotated[
        str | None, Parameter(help="Look for the phrases of these fields as well: `medical,legal,finance,code`.")
    ] = None,
    languages: Annotated[
        str | None, Parameter(help="Look for the phrases of these languages only, as in `en,de`.")
    ] = None,
    strict: Annotated[
        bool | None, Parameter(negative="", help="Escalate below a score of 0.75 instead of 0.7.")
    ] = None,
    threshold: Annotated[float | None, Parameter(help="Escalate below this score.")] = None,
    min_length: Annotated[
        int | None, Parameter(help="How many characters an answer should at least have. [default: 20]")
    ] = None,
    flags: BatchFlags | None = None,
) -> int:
    """Judge a column of answers: refusals, shrugs, cut off, tool errors in disguise, claims without support.

    toolvet batch answers logs.parquet verdicts.parquet --text response

    The output has a row for each row of the input: its number in `row`, its `id`, `score`, `should_escalate`, `reason`,
    `signals` with their places and words, and `problem` where it could not be judged. Run the same line again after
    Ctrl-C or a crash, and it goes on from where it was. Exits with 2 when rows could not be judged.
    """
    from toolvet.cli.commands.batch.run import run, split  # noqa: PLC0415 - the heavy half, for this command only

    columns = {"text": text, "question": question, "calls": calls, "finish_reason": finish_reason}
    options = {
        "packs": split(packs),
        "languages": split(languages),
        "strict": strict,
        "threshold": threshold,
        "min_length": min_length,
    }
    return run("answers", source, output, flags or BatchFlags(), columns=columns, options=options)
