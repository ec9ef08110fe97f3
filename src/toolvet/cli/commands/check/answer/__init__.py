"""`toolvet check answer`: say whether answers can be shown."""

from typing import Annotated, Literal

from toolvet.cli.parameter import Parameter


def command(
    *files: Annotated[str, Parameter(help="Text, JSON, JSONL, CSV or Parquet; `-` is stdin.")],
    json: Annotated[bool, Parameter(negative="", help="Verdicts as JSONL on stdout.")] = False,
    fail_on: Annotated[
        Literal["escalate", "signal", "never"],
        Parameter(help="Exit with 1 for an answer that should be escalated, or that has any signal."),
    ] = "escalate",
    settings: Annotated[
        str | None,
        Parameter(
            metavar="PATH",
            help="Options as TOML, under [checks.answer]. [default: toolvet.toml, or tool.toolvet in pyproject.toml]",
        ),
    ] = None,
    packs: Annotated[
        str | None, Parameter(help="Look for the phrases of these fields as well: `medical,legal,finance,code`.")
    ] = None,
    strict: Annotated[
        bool | None, Parameter(negative="", help="Escalate below a score of 0.75 instead of 0.7.")
    ] = None,
    threshold: Annotated[float | None, Parameter(help="Escalate below this score.")] = None,
    min_length: Annotated[
        int | None, Parameter(help="How many characters an answer should at least have. [default: 20]")
    ] = None,
    languages: Annotated[
        str | None, Parameter(help="Look for the phrases of these languages only, as in `en,de`.")
    ] = None,
    advice: Annotated[bool, Parameter(negative="", help="Say what to tell the model before its next attempt.")] = False,
    lines: Annotated[bool, Parameter(negative="", help="Every line of a text is an answer of its own.")] = False,
    field: Annotated[
        str | None, Parameter(help="The column of a table, or the key of an object, that has the answer.")
    ] = None,
    trace: Annotated[str | None, Parameter(help="The trace id of answers that do not name theirs.")] = None,
    store: Annotated[
        str | None,
        Parameter(help="Add the answers to this store, under their trace ids; `toolvet trace` prints their turns."),
    ] = None,
) -> int:
    """Say whether answers are refusals, shrugs, cut off, tool errors in disguise or claims without support.

    A file of text is one answer. An object has it under `answer` (or `text`, `response`, `content`), and may have
    `question`, `calls` (the tool calls of the turn, with their results), `finish_reason`, `trace` (the trace id of
    the turn), `id`, and for the store `model`, `variant` and `conversation`. Each row of a table (`.csv`, `.tsv`, also
    with `.gz`, and `.parquet`) is read like an object.
    Exits with 1 when an answer should be escalated.
    """
    from toolvet.cli.commands.check.answer.run import Output, check_files  # noqa: PLC0415 - the heavy half, for this command

    given = {
        "min_length": min_length,
        "strict": strict,
        "threshold": threshold,
        "packs": _split(packs),
        "languages": _split(languages),
    }
    return check_files(
        files or ("-",),
        fail_on,
        settings=settings,
        given=given,
        output=Output(json=json, advice=advice, lines=lines, field=field, store=store, trace=trace),
    )


def _split(names: str | None) -> list[str] | None:
    return None if names is None else [each.strip() for each in names.split(",") if each.strip()]
