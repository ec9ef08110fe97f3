"""The options that all of `toolvet batch` have."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

InputArgument: TypeAlias = Annotated[
    str,
    Parameter(
        help=".parquet, .jsonl (or .json, a row to a line), .csv or .tsv (also .gz, .zst …), a folder of them, a URL, "
        "or `-` for JSONL on stdin."
    ),
]
OutputArgument: TypeAlias = Annotated[
    str, Parameter(help=".parquet, .jsonl or .csv, a folder (with / at the end), a URL, or `-` for JSONL on stdout.")
]

KindFlag: TypeAlias = Annotated[
    Literal["answers", "results", "arguments", "envelopes", "conversations"] | None,
    Parameter(help="The kind of rows, if the columns do not show it (an empty file)."),
]
ReportFlag: TypeAlias = Annotated[
    list[str] | None, Parameter(negative="", help="`FORMAT=FILE` (`-` is stdout): html, json; may be repeated.")
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SummaryFlags:
    """The input and the destination of a batch's report."""

    report: ReportFlag = None
    time: Annotated[str | None, Parameter(help="The report looks for drift over time by this column.")] = None
    per: Annotated[
        Literal["day", "week", "month"] | None, Parameter(help="The periods of --time. [default: what fits]")
    ] = None
    label: Annotated[str | None, Parameter(help="The report compares verdicts with the labels in this column.")] = None
    bad: Annotated[
        str | None, Parameter(help="The labels that say a row is bad, as in `wrong,refused`. [default: usual words]")
    ] = None
    good: Annotated[str | None, Parameter(help="The labels that say a row is good; all others are bad then.")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class BatchFlags:
    """What all kinds of rows have in common."""

    id: Annotated[str | None, Parameter(help="The column that goes into the output as `id`. [default: id]")] = None
    keep: Annotated[
        str | None, Parameter(help="Further columns that go into the output as they are, as in `model,created`.")
    ] = None
    limit: Annotated[int | None, Parameter(help="Judge at most this many rows.")] = None
    sample: Annotated[
        float | None, Parameter(help="Judge this share of the rows (0.01: one in a hundred), always the same ones.")
    ] = None
    jobs: Annotated[int | None, Parameter(help="How many processes judge. [default: one for each core]")] = None
    engine: Annotated[
        Literal["local", "daft", "dask"],
        Parameter(help="Where rows are judged: processes here, Daft (also on a Ray cluster), or Dask distributed."),
    ] = "local"
    address: Annotated[
        str | None,
        Parameter(help="The cluster: `ray://HOST:10001` for Daft, `tcp://HOST:8786` for Dask. [default: this machine]"),
    ] = None
    format: Annotated[
        Literal["parquet", "jsonl", "csv"] | None,
        Parameter(help="The output's format, if its name does not show it."),
    ] = None
    restart: Annotated[bool, Parameter(negative="", help="Start over instead of resuming an interrupted run.")] = False
    fail_on: Annotated[
        Literal["flagged", "never"],
        Parameter(help="Exit with 1 if a row is flagged, such as an answer to escalate."),
    ] = "never"
    json: Annotated[bool, Parameter(negative="", help="The summary as JSON on stderr.")] = False
    quiet: Annotated[bool, Parameter(negative="", help="No progress and no summary.")] = False
    summary: SummaryFlags = field(default_factory=SummaryFlags)
    settings: Annotated[
        Path | None, Parameter(help="Options as TOML. [default: toolvet.toml, or tool.toolvet in pyproject.toml]")
    ] = None
