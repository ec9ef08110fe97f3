"""What becomes of the report of a batch: `--report FORMAT=FILE`, checked before the work, and written after it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rich.console import Console

from toolvet.assess.report import BatchReport, ComparisonReport, encode_document, print_batch, print_comparison
from toolvet.batch.summary import SummaryOptions
from toolvet.cli import documents
from toolvet.cli.commands.batch.flags import SummaryFlags
from toolvet.errors import UsageError

Document = BatchReport | ComparisonReport


def _page(document: Document) -> str:
    from toolvet.assess.report import render_batch_page  # noqa: PLC0415 - the templates, only where they are wanted

    return render_batch_page(document)


_FORMATS: Final[Mapping[str, Callable[[Document], str]]] = {"html": _page, "json": encode_document}


def parse_reports(wanted: Sequence[str] | None) -> list[tuple[str, str]]:
    """Split each `FORMAT=FILE`. A missing folder is an error now, not after hours of judging."""
    return documents.parse_reports(wanted, tuple(_FORMATS))


def summary_options(flags: SummaryFlags) -> SummaryOptions:
    """Return what a report looks at. Raises UsageError for words without a column."""
    if flags.label is None and (flags.bad or flags.good):
        raise UsageError("--bad and --good say what labels mean: give --label COLUMN, too")
    if flags.time is None and flags.per is not None:
        raise UsageError(f"--per {flags.per}: give --time COLUMN, too")
    bad, good = _words(flags.bad), _words(flags.good)
    both = set(bad or ()) & set(good or ())
    if both:
        raise UsageError(f"--bad and --good both have '{min(both)}'")
    return SummaryOptions(time=flags.time, per=flags.per, label=flags.label, bad=bad, good=good)


def _words(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(each.strip() for each in text.split(",") if each.strip())


def show_document(document: Document, console: Console) -> None:
    """Print a report for people."""
    if isinstance(document, BatchReport):
        print_batch(document, console)
    else:
        print_comparison(document, console)


def write_reports(document: Document, writers: Sequence[tuple[str, str]], *, quiet: bool) -> None:
    """Write all documents: those for stdout there, the others into files that only their owner can read."""
    documents.write_documents(document, writers, _FORMATS, quiet=quiet)
