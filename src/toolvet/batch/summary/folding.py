"""`summarise`: the files of an output → their report."""

from collections.abc import Sequence

from toolvet.assess.report import BatchReport, RowsKind
from toolvet.batch.location import Location
from toolvet.batch.summary.describe import describe
from toolvet.batch.summary.fold import BatchSummary
from toolvet.batch.summary.layout import layout_of
from toolvet.batch.summary.options import SummaryOptions
from toolvet.batch.verdict_file import VerdictFile
from toolvet.errors import UsageError


def summarise(
    files: Sequence[Location], options: SummaryOptions, *, source: str, kind: str | None = None
) -> BatchReport:
    """Return the report of an output.

    Args:
        files: The files of the output, one behind the other.
        options: What is looked at beside the verdicts.
        source: The name of the output.
        kind: The kind of its rows. None: what its columns say.

    Raises:
        UsageError: A file is no output of `toolvet batch`, cannot be read to its end, lacks a column, or holds other
            verdicts than the first one.
    """
    asked = {name: flag for name, flag in ((options.time, "--time"), (options.label, "--label")) if name is not None}
    opened = [VerdictFile(each) for each in files]
    found = same_kind(opened, kind)
    summary = BatchSummary(found, time=options.time, label=options.label)
    for file in opened:
        file.require(asked)
        for batch in file.batches(summary.columns(file.names, are_all=not file.is_lines), found):
            summary.add(batch)
        file.require(asked, is_read=True)
    return describe(summary, options, source)


def same_kind(files: Sequence[VerdictFile], given: str | None) -> RowsKind:
    """Return the kind of the rows of all files. Raises UsageError where they are of several, or none can be told."""
    # A file without rows may not say what it would hold.
    kinds: list[tuple[VerdictFile, RowsKind]] = [
        (each, layout_of(each.names, given, source=each.given).kind) for each in files if each.names
    ]
    if not kinds:
        return layout_of((), given, source=files[0].given).kind
    first, kind = kinds[0]
    for file, other in kinds:
        if other != kind:
            raise UsageError(f"{file.given} has verdicts on {other}, and {first.given} on {kind}")
    return kind
