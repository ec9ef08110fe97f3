"""Judge millions of rows: Parquet, JSONL or CSV in, the verdict on each row out."""

from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter

from toolvet.cli.commands.batch.flags import (
    BatchFlags,
    InputArgument,
    KindFlag,
    OutputArgument,
    ReportFlag,
    SummaryFlags,
)

READS_STDIN: Final = True


def answers(
    source: InputArgument,
    output: OutputArgument,
    /,
    *,
    text: Annotated[
        str | None, Parameter(help="The column of the answers. [default: answer, text, response or content]")
    ] = None,
    question: Annotated[str | None, Parameter(help="The column of the questions. [default: question]")] = None,
    calls: Annotated[
        str | None, Parameter(help="The column of the turn's tool calls. [default: calls or tool_calls]")
    ] = None,
    finish_reason: Annotated[
        str | None, Parameter(help="The column of the finish reasons. [default: finish_reason or stop_reason]")
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
        int | None,
        Parameter(
            help="How many characters an answer should have. [default: 20; fewer if question or calls are given]"
        ),
    ] = None,
    flags: BatchFlags | None = None,
) -> int:
    """Judge a column of answers: refusals, shrugs, cut off, tool errors in disguise, claims without support.

    toolvet batch answers logs.parquet verdicts.parquet --text response

    The output has a row for each row of the input: its number in `row`, its `id`, `score`, `should_escalate`, `reason`,
    `signals` with their places and words, and `problem` where it could not be judged. After Ctrl-C or
    a crash, run the same line again to resume. Exits with 2 when rows could not be judged.
    """
    from toolvet.cli.commands.batch.run import judge_rows, split  # noqa: PLC0415 - the heavy half

    columns = {"text": text, "question": question, "calls": calls, "finish_reason": finish_reason}
    options = {
        "packs": split(packs),
        "languages": split(languages),
        "strict": strict,
        "threshold": threshold,
        "min_length": min_length,
    }
    return judge_rows("answers", source, output, flags or BatchFlags(), columns=columns, options=options)


def arguments(
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
    """Judge a column of arguments against the schemas of their tools, and suggest the calls that were meant.

    toolvet batch arguments calls.parquet verdicts.parquet --tools tools.json --tool tool_name

    After Ctrl-C or a crash, run the same line again to resume. Exits with 2 when rows could not be judged, such as
    those of a tool without a definition.
    """
    from toolvet.cli.commands.batch.run import judge_rows  # noqa: PLC0415 - the heavy half

    columns = {"arguments": arguments, "tool": tool, "schema": schema}
    return judge_rows("arguments", source, output, flags or BatchFlags(), columns=columns, tools=tools)


def compare(
    old: Annotated[str, Parameter(help="The earlier output of `toolvet batch`.")],
    new: Annotated[str, Parameter(help="The later one, of the same kind of rows.")],
    /,
    *,
    by: Annotated[
        Literal["id", "row"] | None,
        Parameter(help="What joins the rows. [default: id, or row where an output has no ids]"),
    ] = None,
    kind: KindFlag = None,
    report: ReportFlag = None,
    json: Annotated[
        bool, Parameter(negative="", help="The report as JSON on stdout instead of the one for people.")
    ] = False,
    quiet: Annotated[bool, Parameter(negative="", help="Write the files of --report, and nothing else.")] = False,
    fail_on: Annotated[
        Literal["changed", "flagged", "never"],
        Parameter(help="Exit with 1 if a verdict changed, or if a row is newly flagged."),
    ] = "never",
) -> int:
    """Compare two runs, or two versions of the rules, row by row: which verdicts changed, from what to what.

    toolvet batch compare old.parquet new.parquet --report html=changes.html

    Rows are joined by their ids. Ids that are missing on one side or occur twice are reported. Memory stays bounded,
    whatever the size of the outputs: rows wait in the folder for temporary files.
    """
    from toolvet.cli.commands.batch.run import compare_verdicts  # noqa: PLC0415 - the heavy half

    return compare_verdicts(old, new, by=by, kind=kind, reports=report, as_json=json, quiet=quiet, fail_on=fail_on)


def conversations(
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

    Messages are those of OpenAI, Anthropic, Gemini, Bedrock, LangChain, ShareGPT and others. After Ctrl-C or
    a crash, run the same line again to resume. Exits with 2 when rows could not be judged.
    """
    from toolvet.cli.commands.batch.run import judge_rows  # noqa: PLC0415 - the heavy half

    columns = {"messages": messages, "system": system}
    options = {"strict": strict, "threshold": threshold}
    return judge_rows(
        "conversations", source, output, flags or BatchFlags(), columns=columns, options=options, tools=tools
    )


def envelopes(
    source: InputArgument,
    output: OutputArgument,
    /,
    *,
    envelope: Annotated[
        str | None, Parameter(help="The column of the envelopes. [default: envelope or response, else the JSON line]")
    ] = None,
    flags: BatchFlags | None = None,
) -> int:
    """Judge a column of response envelopes (`success`, `data`, `error`, `meta`), or of results that hold such.

    toolvet batch envelopes responses.jsonl verdicts.jsonl

    After Ctrl-C or a crash, run the same line again to resume. Exits with 2 when rows could not be judged.
    """
    from toolvet.cli.commands.batch.run import judge_rows  # noqa: PLC0415 - the heavy half

    return judge_rows("envelopes", source, output, flags or BatchFlags(), columns={"envelope": envelope})


def report(
    verdicts: Annotated[
        str, Parameter(help="The output of `toolvet batch`: .parquet, .jsonl or .csv, a folder of them, or a URL.")
    ],
    /,
    *,
    kind: KindFlag = None,
    json: Annotated[
        bool, Parameter(negative="", help="The report as JSON on stdout instead of the one for people.")
    ] = False,
    quiet: Annotated[bool, Parameter(negative="", help="Write the files of --report, and nothing else.")] = False,
    flags: SummaryFlags | None = None,
) -> int:
    """Summarise verdicts: shares, distributions, the worst rows of each signal, drift, agreement with labels.

    toolvet batch report verdicts.parquet --report html=report.html

    toolvet batch report verdicts.parquet --time created --label checked --bad wrong,refused

    The columns of `--time` and `--label` must be in the output: `toolvet batch answers … --keep created,checked` puts
    them there. Exits with 2 if there are labels and none of them says good or bad.
    """
    from toolvet.cli.commands.batch.run import report_verdicts  # noqa: PLC0415 - the heavy half

    return report_verdicts(verdicts, flags or SummaryFlags(), kind=kind, as_json=json, quiet=quiet)


def results(
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
    arguments: Annotated[str | None, Parameter(help="The column of the arguments sent. [default: arguments]")] = None,
    lock: Annotated[
        Path | None, Parameter(help="A file of `toolvet contract`: results that leave their contract get an issue.")
    ] = None,
    flags: BatchFlags | None = None,
) -> int:
    """Judge a column of tool results: fully working, partially working, an error (whose?) or broken.

    toolvet batch results tool-logs.jsonl verdicts.parquet --result output --tool tool_name

    A result is JSON of MCP or of a model's API, or a text. After Ctrl-C or a crash, run the same line again to
    resume. Exits with 2 when rows could not be judged.
    """
    from toolvet.cli.commands.batch.run import judge_rows  # noqa: PLC0415 - the heavy half

    columns = {"result": result, "tool": tool, "arguments": arguments}
    return judge_rows("results", source, output, flags or BatchFlags(), columns=columns, lock=lock)
