"""`toolvet batch envelopes`: say of each row whether its response envelope keeps the contract response-v2."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.batch.flags import BatchFlags, InputArgument, OutputArgument


def command(
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

    Run the same line again after Ctrl-C or a crash, and it goes on from where it was. Exits with 2 when rows could not
    be judged.
    """
    from toolvet.cli.commands.batch.run import run  # noqa: PLC0415 - the heavy half, for this command only

    return run("envelopes", source, output, flags or BatchFlags(), columns={"envelope": envelope})
