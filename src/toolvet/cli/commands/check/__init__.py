"""Check one step of a tool call. Reads JSON or JSONL, writes the same."""

from typing import Annotated, Final, Literal

from toolvet.cli.plain_words import Parameter

PLAIN_WORDS: Final = True
READS_STDIN: Final = True


def answer(
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
        int | None,
        Parameter(
            help="How many characters an answer should have. [default: 20; fewer if question or calls are given]"
        ),
    ] = None,
    languages: Annotated[
        str | None, Parameter(help="Look for the phrases of these languages only, as in `en,de`.")
    ] = None,
    advice: Annotated[bool, Parameter(negative="", help="Say what to tell the model before its next attempt.")] = False,
    lines: Annotated[bool, Parameter(negative="", help="Each line of a text is a separate answer.")] = False,
    field: Annotated[
        str | None, Parameter(help="The column of a table, or the key of an object, that has the answer.")
    ] = None,
    trace: Annotated[str | None, Parameter(help="The trace id of answers that do not name theirs.")] = None,
    store: Annotated[
        str | None,
        Parameter(
            help="Add the answers to this store, under their trace ids, and compare those without `calls` with the "
            "calls that it has there; `toolvet trace` prints their turns."
        ),
    ] = None,
) -> int:
    """Say whether answers are refusals, shrugs, cut off, tool errors in disguise or claims without support.

    A file of text is one answer. An object has it under `answer` (or `text`, `response`, `content`), and may have
    `question`, `calls` (the tool calls of the turn, with their results), `finish_reason`, `trace` (the trace id of
    the turn), `id`, and for the store `model`, `variant` and `conversation`. Each row of a table (`.csv`, `.tsv`, also
    with `.gz`, and `.parquet`) is read like an object.
    Exits with 1 when an answer should be escalated.
    """
    from toolvet.cli.commands.check.answers import Output, check_files  # noqa: PLC0415 - the heavy half, for this command

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


def arguments(
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
    max_chars: Annotated[int | None, Parameter(help="Cut the text for each call to this many characters.")] = None,
    settings: Annotated[
        str | None,
        Parameter(
            metavar="PATH",
            help="Your own wording, as [checks.arguments] wording = FILE. "
            "[default: toolvet.toml, or tool.toolvet in pyproject.toml]",
        ),
    ] = None,
) -> int:
    """Check the arguments of calls against a tool's inputSchema, and say how to fix them.

    Each input object is the arguments of one call, or has them under `arguments` beside the tool's `name` (or `tool`)
    and perhaps an `id`, or is a tool call of OpenAI, Anthropic, Gemini, Bedrock, LangChain or MCP. Text that is not
    JSON is checked as a model's text: the report says what is malformed, and offers what was meant if that is clear.
    With --json the offer is `error.repair`, where secrets and long texts are masked. Exits with 1 when a call is not
    valid, and with 2 when one could not be checked, because the tool has no schema or one that cannot be used.
    """
    from toolvet.cli.commands.check.calls import check_calls  # noqa: PLC0415 - the heavy half, for this command only

    return check_calls(file, tool, name, settings=settings, as_json=json, max_chars=max_chars, field=field)


def conversation(
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
    conversation; if the first line is neither, all lines are the messages of one. Exits with 1 when an answer
    should be escalated.
    """
    from toolvet.cli.commands.check.conversations import check_conversations  # noqa: PLC0415 - the heavy half, for this command

    return check_conversations(file, fail_on, tools=tools, field=field, settings=settings, as_json=json)


def envelope(
    file: Annotated[str, Parameter(help="JSON or JSONL; `-` is stdin.")] = "-",
    /,
    *,
    json: Annotated[bool, Parameter(negative="", help="Findings as JSONL on stdout, one line per envelope.")] = False,
    fail_on: Annotated[
        Literal["error", "warning", "info", "never"],
        Parameter(help="Exit with 1 for a finding of this severity or above."),
    ] = "error",
) -> int:
    """Check response envelopes (`success`, `data`, `error`, `meta`), and say how to fix them.

    Each input object is an envelope, has one under `envelope` beside an `id`, or is the result of a tool call with
    envelopes in it (as structured content, as JSON text, or under `_meta`).
    """
    from toolvet.cli.commands.check.envelopes import check_envelopes  # noqa: PLC0415 - the heavy half, for this command only

    return check_envelopes(file, fail_on, as_json=json)


def tool(
    file: Annotated[str, Parameter(help="The definition of a tool as JSON of any API, or a list of tools.")],
    /,
    *,
    provider: Annotated[
        str, Parameter(help="Model providers, as in `openai,anthropic-strict`; `all` for all that are known.")
    ],
    json: Annotated[
        bool, Parameter(negative="", help="One JSON object per tool and provider, with the rewritten definition.")
    ] = False,
    fail_on: Annotated[
        Literal["refuses", "ignores", "changes", "never"],
        Parameter(help="Exit with 1 if a provider refuses a definition; `ignores`: also a constraint; `changes`: all."),
    ] = "refuses",
) -> int:
    """Say what model providers refuse, ignore or change of tool definitions, and rewrite these with proof.

    toolvet check tool tools.json --provider openai,gemini

    Each line has the place in the definition. The rewritten definition is one that the provider takes. `proven` says
    that every call that it allows maps back to a call that the tool takes, but for the losses that are listed.
    """
    from toolvet.cli.commands.check.tools import check_tools  # noqa: PLC0415 - the heavy half, for this command only

    return check_tools(file, provider, fail_on, as_json=json)


def result(
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
            help="Your own phrases, under [checks.result]. [default: toolvet.toml, or tool.toolvet in pyproject.toml]",
        ),
    ] = None,
) -> int:
    """Say whether results are fully working, partially working, errors or broken, and why.

    Each input object has a `result` and may have `tool` (its definition, or its name), `arguments` and an `id`. A value
    without a `result` is itself taken as a result: a result of MCP, a message of OpenAI, Anthropic,
    Gemini, Bedrock or LangChain, an HTTP response, a text, any other JSON. The verdict names the recognized kind.
    """
    from toolvet.cli.commands.check.results import check_results  # noqa: PLC0415 - the heavy half, for this command only

    return check_results(file, fail_on, settings=settings, as_json=json, field=field)
