"""`compare_outputs`: two outputs → the report on what changed."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from toolvet.assess.report import ComparisonReport, SignalMove, VerdictMove
from toolvet.batch.comparing.changes import SIGNALS, Changes
from toolvet.batch.comparing.parts import RowParts, SideCounts, part_count
from toolvet.batch.comparing.rows import NameTable, VerdictRows
from toolvet.batch.location import Location
from toolvet.batch.plan import ID, ROW
from toolvet.batch.summary.folding import same_kind
from toolvet.batch.summary.layout import LAYOUTS
from toolvet.batch.summary.statistics import paired_change, share
from toolvet.batch.verdict_file import VerdictFile
from toolvet.errors import UsageError
from toolvet.version import __version__

_MOST_VERDICTS: Final = 64


def compare_outputs(
    old: Sequence[Location],
    new: Sequence[Location],
    *,
    old_name: str,
    new_name: str,
    kind: str | None = None,
    by: str | None = None,
) -> ComparisonReport:
    """Return what changed from one output to another.

    Args:
        old: The files of the earlier output.
        new: Those of the later one.
        old_name: The name of the earlier output.
        new_name: That of the later one.
        kind: The kind of the rows. None: what their columns say.
        by: "id" or "row": what joins the rows. None: the id, or without one the number.

    Raises:
        UsageError: A file is no output of `toolvet batch`, the two hold different verdicts, or one has no such column.
        OutputError: There is no room for the rows in the folder for temporary files.
    """
    sides = [VerdictFile(each) for each in old], [VerdictFile(each) for each in new]
    layout = LAYOUTS[same_kind([*sides[0], *sides[1]], kind)]
    by = _joined_by([*sides[0], *sides[1]], by)
    verdicts, signals = NameTable(_MOST_VERDICTS), NameTable(SIGNALS)
    rows = VerdictRows(layout, by, verdicts, signals)
    counts = [file.rows for side in sides for file in side]
    known = sum(count or 0 for count in counts) if None not in counts else None
    with tempfile.TemporaryDirectory(prefix="toolvet-compare-") as folder:
        parts = [RowParts(Path(folder), side, part_count(known)) for side in ("old", "new")]
        sums: list[SideCounts] = []
        for side, files in zip(parts, sides, strict=True):
            with side:
                sums.append(side.add(batch for file in files for batch in rows.batches(file)))
        changes = Changes(signals.names)
        for first, second in zip(*parts, strict=True):
            changes.add(first, second)
    before, after = sums
    return ComparisonReport(
        kind=layout.kind,
        old=old_name,
        new=new_name,
        by=by,
        old_rows=before.rows,
        new_rows=after.rows,
        compared=changes.compared,
        same=changes.same,
        only_old=changes.only_old,
        only_new=changes.only_new,
        old_double=changes.old_double,
        new_double=changes.new_double,
        without_id=before.without_id + after.without_id,
        missing_ids=changes.missing_ids,
        added_ids=changes.added_ids,
        double_ids=changes.double_ids,
        flag=layout.flag,
        old_flagged=share(before.flagged, before.judged),
        new_flagged=share(after.flagged, after.judged),
        newly_flagged=changes.newly,
        no_longer_flagged=changes.no_longer,
        p=_rounded(paired_change(changes.newly, changes.no_longer)),
        moves=_moves(changes, verdicts.names),
        signals=_signals(changes, signals.names),
        score_changes=changes.bins() if changes.score_up or changes.score_down else [],
        score_up=changes.score_up,
        score_down=changes.score_down,
        toolvet_version=__version__,
    )


def _joined_by(sides: Sequence[VerdictFile], given: str | None) -> str:
    for name in (ID, ROW) if given is None else (given,):
        if all(name in side.names or not side.names for side in sides):
            return name
    lacking = next(side for side in sides if (given or ROW) not in side.names)
    name = given or f"{ID} or {ROW}"
    raise UsageError(
        f"{lacking.given} has no column '{name}', which joins the rows; it has {', '.join(lacking.names[:40])}"
    )


def _moves(changes: Changes, names: list[str]) -> list[VerdictMove]:
    ordered = sorted(changes.moves.items(), key=lambda each: (each[0][0] == each[0][1], -each[1], each[0]))
    return [
        VerdictMove(
            old=names[before],
            new=names[after],
            rows=count,
            examples=[example for _, example in changes.examples[before, after]],
        )
        for (before, after), count in ordered
    ]


def _signals(changes: Changes, names: list[str]) -> list[SignalMove]:
    found = [
        SignalMove(name=names[place], old=int(had), new=int(has), gained=int(gained), lost=int(lost))
        for place, (had, has, gained, lost) in enumerate(np.transpose(changes.signals).tolist())
        if had or has
    ]
    return sorted(found, key=lambda each: (-each.gained - each.lost, -each.new, each.name))


def _rounded(chance: float | None) -> float | None:
    return None if chance is None else float(f"{chance:.3g}")
