"""The work of `toolvet batch report`."""

import sys

from rich.console import Console

from toolvet.assess.report import BatchReport
from toolvet.batch.location import input_files, locate
from toolvet.batch.summary import summarise
from toolvet.cli.commands.batch.flags import SummaryFlags
from toolvet.cli.commands.batch.writing import parse_reports, show_document, summary_options, write_reports
from toolvet.errors import UsageError

_BAD_INPUT = 2


def run(verdicts: str, flags: SummaryFlags, *, kind: str | None, as_json: bool, quiet: bool) -> int:
    """Summarise an output; return 2 where agreement was asked for and no label says good or bad."""
    if verdicts == "-":
        raise UsageError("verdicts are read from files, not from stdin")
    writers = parse_reports([*(flags.report or ()), *(["json=-"] if as_json else [])])
    options = summary_options(flags)
    report = summarise(input_files(locate(verdicts)), options, source=verdicts, kind=kind)
    if not quiet and not any(file == "-" for _, file in writers):
        show_document(report, Console(highlight=False))
    write_reports(report, writers, quiet=quiet)
    return label_problem(report)


def label_problem(report: BatchReport) -> int:
    """Say on stderr why there are no figures of agreement; return the exit code."""
    labels = report.labels
    if labels is None or labels.labelled or not labels.note:
        return 0
    sys.stderr.write(f"toolvet: --label {labels.column}: {labels.note}\n")
    return _BAD_INPUT
