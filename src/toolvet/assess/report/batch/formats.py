"""The summary of a batch and the comparison of two, as a page that opens offline and on a terminal."""

from functools import cache
from typing import Final

from jinja2 import Template
from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolvet.assess.report import wording
from toolvet.assess.report.batch import words
from toolvet.assess.report.batch.document import BatchReport, ComparisonReport, DriftReport, LabelReport
from toolvet.assess.report.page import load_template
from toolvet.assess.report.wording import NONE, counted
from toolvet.core.visible import one_line, shorten

_PACKAGE: Final = "toolvet.assess.report.batch"
_PAGE: Final = "toolvet.assess.report.page"
_MOST: Final = 12
_EXAMPLE: Final = 70


def render_batch_page(report: BatchReport | ComparisonReport) -> str:
    """The page of a summary, or of a comparison."""
    if isinstance(report, BatchReport):
        return _load_template("batch.html.jinja").render(r=report)
    return _load_template("comparison.html.jinja").render(c=report)


@cache
def _load_template(name: str) -> Template:
    return load_template(
        _PACKAGE,
        name,
        styles=((_PAGE, "base.css"), (_PACKAGE, "batch.css")),
        scripts=((_PAGE, "theme.js"),),
        names={"w": wording, "b": words},
    )


def print_batch(report: BatchReport, console: Console) -> None:
    """Print the summary of a batch. Words of rows are never markup."""
    console.print(
        Text.assemble(
            (f"{report.rows:,} {report.kind}", "bold"), f": {words.figure(report.flagged)} {one_line(report.flag)}"
        )
    )
    if report.problems:
        console.print(Text(f"{counted(report.problems, 'row')} not judged", style="red"))
    if report.rows and not report.flagged.of:
        console.print("No row could be judged.")
    elif report.rows and not report.flagged.count and not report.signals:
        few = report.flagged.of < words.SMALL
        console.print(
            "Nothing was found" + ("." if few else f": at most {words.percent(report.flagged.high)} are flagged.")
        )
    for each in report.numbers:
        if each.count < words.SMALL:
            continue
        console.print(Text(f"{each.title}: {words.number_words(each)}", style="dim"))
    if report.signals:
        console.print()
        table = _table()
        table.add_column("Found")
        table.add_column("Rows", justify="right", no_wrap=True)
        table.add_column("Share", justify="right", no_wrap=True)
        table.add_column("The worst", overflow="fold")
        for signal in report.signals[:_MOST]:
            shown = Text("")
            if signal.examples:
                example = signal.examples[0]
                shown = Text(f"{words.place(example)}  ", style="dim")
                shown.append(shorten(one_line(example.evidence or example.detail), _EXAMPLE), style="default")
            share = f"{words.percent(signal.rows.share)}"
            table.add_row(Text(one_line(signal.name)), f"{signal.rows.count:,}", share, shown)
        console.print(table)
        more = len(report.signals) - _MOST + report.other_signals
        if more > 0:
            console.print(Text(f"and {more:,} more", style="dim"))
    if report.drift is not None:
        console.print()
        _print_drift(report.drift, report.flag, console)
    if report.labels is not None:
        console.print()
        _print_labels(report.labels, report.flag, console)


def print_comparison(report: ComparisonReport, console: Console) -> None:
    """Print what changed between two outputs."""
    changed = report.compared - report.same
    console.print(
        Text.assemble(
            (f"{changed:,} of {report.compared:,} verdicts on {report.kind} changed", "bold"),
            f", joined by {report.by}",
        )
    )
    for name, count, ids in (
        ("only old", report.only_old, report.missing_ids),
        ("only new", report.only_new, report.added_ids),
        ("with an id that a side has twice", report.old_double + report.new_double, report.double_ids),
        ("without an id", report.without_id, []),
    ):
        if count:
            named = f": {shorten(', '.join(map(one_line, ids)), 2 * _EXAMPLE)}" if ids else ""
            console.print(Text(f"{counted(count, 'row')} {name}{named}", style="yellow"))
    chance = f" ({words.chance(report.p)})" if report.p is not None else ""
    console.print(
        Text(
            f"{report.flag}: {words.percent(report.old_flagged.share)} → {words.percent(report.new_flagged.share)}; "
            f"{report.newly_flagged:,} newly, {report.no_longer_flagged:,} no longer{chance}"
        )
    )
    if report.score_up or report.score_down:
        console.print(Text(f"score: {report.score_up:,} up, {report.score_down:,} down"))
    if report.moves:
        console.print()
        table = _table()
        table.add_column("Old")
        table.add_column("New")
        table.add_column("Rows", justify="right", no_wrap=True)
        table.add_column("Such as", overflow="fold")
        for move in report.moves[:_MOST]:
            same = move.old == move.new
            such_as = shorten(", ".join(one_line(each.id) for each in move.examples[:3]), _EXAMPLE)
            new = Text("the same, other signals or score", style="dim") if same else Text(one_line(move.new))
            table.add_row(Text(one_line(move.old)), new, f"{move.rows:,}", Text(such_as, style="dim"))
        console.print(table)
    gained = [each for each in report.signals if each.gained or each.lost]
    if gained:
        console.print()
        table = _table()
        for heading in ("Signal", "Old", "New", "Gained", "Lost"):
            table.add_column(heading, justify="left" if heading == "Signal" else "right")
        for signal in gained[:_MOST]:
            numbers = (signal.old, signal.new, signal.gained, signal.lost)
            table.add_row(Text(one_line(signal.name)), *(f"{number:,}" for number in numbers))
        console.print(table)


def _print_drift(drift: DriftReport, flag: str, console: Console) -> None:
    console.print(Text(f"Over time, per {drift.per} (column {one_line(drift.column)})", style="bold"))
    console.print(Text(words.drift_verdict(drift)))
    for change in drift.changes[:_MOST]:
        style = "red" if change.difference > 0 else "green"
        line = Text(f"  {words.points(change.difference)}  ", style=style)
        line.append(f"{one_line(words.change_words(change, flag))}, {words.chance(change.p)}", style="default")
        console.print(line)
    if len(drift.changes) > _MOST:
        console.print(Text(f"  and {len(drift.changes) - _MOST:,} more", style="dim"))
    for count, what in (
        (drift.without_time, "no time that can be read"),
        (drift.outside, "a time too far from the others"),
    ):
        if count:
            console.print(Text(f"  {counted(count, 'row')} with {what}", style="dim"))


def _print_labels(labels: LabelReport, flag: str, console: Console) -> None:
    console.print(Text(f"Agreement with labels, column {one_line(labels.column)}", style="bold"))
    if labels.note:
        console.print(Text(shorten(f"{one_line(labels.note)}", 400), style="yellow"))
    if labels.labelled:
        table = _table()
        for heading in ("", "labelled bad", "labelled good"):
            table.add_column(heading, justify="right" if heading else "left")
        table.add_row(one_line(flag), f"{labels.flagged_bad:,}", f"{labels.flagged_good:,}")
        table.add_row("others", f"{labels.passed_bad:,}", f"{labels.passed_good:,}")
        console.print(table)
        for name, share in (
            ("precision", labels.precision),
            ("recall", labels.recall),
            ("false alarms", labels.false_alarms),
        ):
            if share is not None:
                console.print(Text(f"{name} {words.figure(share)}"))
        kappa = NONE if labels.kappa is None else f"{labels.kappa:.3f}"
        console.print(Text(f"F1 {NONE if labels.f1 is None else f'{labels.f1:.3f}'}, kappa {kappa}"))
        for curve in labels.calibration:
            console.print(Text(f"calibration error of {curve.column}: {curve.ece:.3f} over {curve.rows:,} rows"))
    for count, what in ((labels.unknown, "a label that says neither good nor bad"), (labels.unlabelled, "no label")):
        if count:
            console.print(Text(f"{counted(count, 'row')} with {what}", style="dim"))


def _table() -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
