"""What becomes of the report of a batch: `--report FORMAT=FILE`, checked before the work, and written after it."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from toolvet.batch.summary.options import SummaryOptions
from toolvet.cli.commands.batch.flags import SummaryFlags
from toolvet.errors import UsageError
from toolvet.report.batch.document import BatchReport, ComparisonReport
from toolvet.report.batch.terminal import print_batch, print_comparison
from toolvet.report.renderers.json import encode_document
from toolvet.store.private_file import write_private

Document = BatchReport | ComparisonReport


def _page(document: Document) -> str:
    from toolvet.report.batch.page import render_batch_page  # noqa: PLC0415 - the templates, only where they are wanted

    return render_batch_page(document)


_FORMATS: Final[Mapping[str, Callable[[Document], str]]] = {"html": _page, "json": encode_document}


def parse_reports(wanted: Sequence[str] | None) -> list[tuple[str, str]]:
    """Split each `FORMAT=FILE`. A missing folder is an error now, not after hours of judging."""
    writers: list[tuple[str, str]] = []
    for text in wanted or ():
        name, equals, file = text.partition("=")
        if name not in _FORMATS:
            raise UsageError(f"--report {text}: no report format is named '{name}'; use one of {', '.join(_FORMATS)}")
        if not equals or not file:
            raise UsageError(f"--report {text}: write it as {name}=FILE, or {name}=- for stdout")
        if file != "-" and not Path(file).resolve().parent.is_dir():
            raise UsageError(f"--report {text}: there is no folder {Path(file).resolve().parent}")
        if file != "-" and Path(file).is_dir():
            raise UsageError(f"--report {text}: {file} is a folder")
        writers.append((name, file))
    return writers


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
    for name, file in writers:
        text = _FORMATS[name](document)
        if file == "-":
            sys.stdout.write(text)
            continue
        try:
            private = write_private(Path(file), text)
        except OSError as error:
            raise UsageError(f"--report {name}={file}: {error.strerror}") from error
        if not private:
            sys.stderr.write(
                f"toolvet: --report {name}={file}: others can read it, and it is not ours to change that\n"
            )
        if not quiet:
            sys.stderr.write(f"{name} report: {file}\n")
