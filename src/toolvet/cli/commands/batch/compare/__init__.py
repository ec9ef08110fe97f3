"""`toolvet batch compare`: which verdicts changed from one output to another."""

from typing import Annotated, Literal

from cyclopts import Parameter

from toolvet.cli.commands.batch.flags import KindFlag, ReportFlag


def command(
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
        Parameter(help="Exit with 1 where a verdict changed, or where a row is newly flagged."),
    ] = "never",
) -> int:
    """Compare two runs, or two versions of the rules, row by row: which verdicts changed, from what to what.

    toolvet batch compare old.parquet new.parquet --report html=changes.html

    Rows are joined by their ids. Ids that are missing on a side, or there twice, are told. Memory stays bounded,
    whatever the size of the outputs: rows wait in the folder for temporary files.
    """
    from toolvet.cli.commands.batch.compare.run import run  # noqa: PLC0415 - the heavy half, for this command only

    return run(old, new, by=by, kind=kind, reports=report, as_json=json, quiet=quiet, fail_on=fail_on)
