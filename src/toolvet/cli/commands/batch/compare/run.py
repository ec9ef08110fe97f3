"""The work of `toolvet batch compare`."""

from collections.abc import Sequence

from rich.console import Console

from toolvet.batch.comparing import compare_outputs
from toolvet.batch.location import Location, input_files, locate
from toolvet.cli.commands.batch.writing import parse_reports, show_document, write_reports
from toolvet.errors import UsageError


def run(
    old: str,
    new: str,
    *,
    by: str | None,
    kind: str | None,
    reports: Sequence[str] | None,
    as_json: bool,
    quiet: bool,
    fail_on: str,
) -> int:
    """Compare two outputs; return 1 for changes where that was asked for."""
    writers = parse_reports([*(reports or ()), *(["json=-"] if as_json else [])])
    report = compare_outputs(_files(old), _files(new), old_name=old, new_name=new, kind=kind, by=by)
    if not quiet and not any(file == "-" for _, file in writers):
        show_document(report, Console(highlight=False))
    write_reports(report, writers, quiet=quiet)
    changed = report.newly_flagged if fail_on == "flagged" else report.compared - report.same
    return int(fail_on != "never" and changed > 0)


def _files(given: str) -> Sequence[Location]:
    if given == "-":
        raise UsageError("verdicts are read from files, not from stdin")
    return input_files(locate(given))
