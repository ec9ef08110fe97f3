"""`toolvet batch report`: what an output of `toolvet batch` comes to."""

from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.batch.flags import KindFlag, SummaryFlags


def command(
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
    them there. Exits with 2 where there are labels and none of them says good or bad.
    """
    from toolvet.cli.commands.batch.report.run import run  # noqa: PLC0415 - the heavy half, for this command only

    return run(verdicts, flags or SummaryFlags(), kind=kind, as_json=json, quiet=quiet)
