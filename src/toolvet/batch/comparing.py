"""`compare_outputs`: the outputs of two runs, row by row → the report on which verdicts changed.

DuckDB joins the rows by their id. What does not fit into its memory is in a temporary folder, so outputs may be of any
size and have their rows in any order.
"""

from collections.abc import Sequence
from typing import Final

from toolvet.assess.report import BinCount, ComparisonReport, MoveExample, SignalMove, VerdictMove
from toolvet.batch.location import Location
from toolvet.batch.plan import ID, ROW
from toolvet.batch.summary.columns import LAYOUTS, SummaryLayout
from toolvet.batch.summary.database import NOT_JUDGED, VerdictDatabase, verdict_database
from toolvet.batch.summary.describe import quoted, same_kind
from toolvet.batch.summary.statistics import paired_change, share
from toolvet.batch.verdict_file import VerdictFile
from toolvet.errors import UsageError
from toolvet.version import __version__

_EXAMPLES: Final = 5
_NAMED: Final = 10
_BARS: Final = 20

_BY: Final = {ID: "left(id, 200)", ROW: "CASE WHEN row IS NOT NULL THEN concat_ws(', row ', file, row) END"}

_ROWS: Final = """
CREATE VIEW {side}_rows AS
SELECT {key} AS key, row, verdict, is_flagged, {score} AS score,
    CASE WHEN len(names) > 0 THEN list_sort(list_distinct(names)) ELSE [] END AS names
FROM {side}
"""

_SIDE: Final = """
SELECT count(*), count(*) FILTER (verdict <> $not_judged), count(*) FILTER (is_flagged), count(*) FILTER (key IS NULL)
FROM {side}_rows
"""

# Keys that are not once on both sides.
_ODD: Final = """
CREATE TEMP TABLE odd AS
SELECT key, count(*) FILTER (side = 'old') AS olds, count(*) FILTER (side = 'new') AS news
FROM (SELECT key, 'old' AS side FROM old_rows UNION ALL SELECT key, 'new' FROM new_rows)
WHERE key IS NOT NULL
GROUP BY key HAVING olds <> 1 OR news <> 1
"""

_ODD_COUNTS: Final = """
SELECT coalesce(CAST(sum({side}s) AS BIGINT), 0), count(*) FILTER ({side}s = 1 AND {other}s = 0),
    coalesce(CAST(sum({side}s) FILTER ({side}s > 1) AS BIGINT), 0)
FROM odd
"""

# A key that is there twice on one side is reported as such, and not as missing on the other.
_IDS: Final = {
    which: f"SELECT key FROM odd WHERE {condition} ORDER BY key LIMIT {_NAMED}"  # noqa: S608 - our own words
    for which, condition in (
        ("missing", "olds = 1 AND news = 0"),
        ("added", "olds = 0 AND news = 1"),
        ("double", "olds > 1 OR news > 1"),
    )
}

# The rows of both sides in which something was found or changed.
_PAIRS: Final = """
CREATE TEMP TABLE pairs AS
SELECT
    key,
    o.row AS old_row, n.row AS new_row, o.verdict AS old, n.verdict AS new,
    o.score AS old_score, n.score AS new_score,
    coalesce(n.score - o.score, 0) AS change, abs(change) > 1e-9 AS is_moved,
    o.is_flagged AS was_flagged, n.is_flagged AS is_flagged,
    o.names AS old_names, n.names AS new_names,
    [name FOR name IN n.names IF NOT list_contains(o.names, name)] AS gained,
    [name FOR name IN o.names IF NOT list_contains(n.names, name)] AS lost,
    old = new AND NOT is_moved AND gained = [] AND lost = [] AND (old_score IS NULL) = (new_score IS NULL) AS is_same
FROM (FROM old_rows ANTI JOIN odd USING (key)) AS o JOIN new_rows AS n USING (key)
WHERE NOT is_same OR old_names <> []
"""

_CHANGED: Final = """
SELECT count(*) FILTER (NOT is_same), count(*) FILTER (is_flagged AND NOT was_flagged),
    count(*) FILTER (was_flagged AND NOT is_flagged), count(*) FILTER (is_moved AND change > 0),
    count(*) FILTER (is_moved AND change < 0)
FROM pairs
"""

_MOVES: Final = """
SELECT old, new, count(*) AS rows FROM pairs WHERE NOT is_same GROUP BY old, new ORDER BY old = new, rows DESC, old, new
"""

# The rows whose score changed most, then those with most signals that came or went.
_MOVED: Final = """
SELECT old, new, key, old_row, new_row, old_score, new_score, gained, lost FROM pairs WHERE NOT is_same
QUALIFY row_number() OVER (PARTITION BY old, new ORDER BY abs(change) DESC, len(gained) + len(lost) DESC, key) <= $most
ORDER BY old, new, abs(change) DESC, len(gained) + len(lost) DESC, key
"""

_SIGNALS: Final = """
SELECT name, count(*) FILTER (list_contains(old_names, name)) AS olds, count(*) FILTER (list_contains(new_names, name)),
    count(*) FILTER (list_contains(gained, name)) AS came, count(*) FILTER (list_contains(lost, name)) AS went
FROM (SELECT *, unnest(list_distinct(list_concat(old_names, new_names))) AS name FROM pairs)
GROUP BY name ORDER BY came + went DESC, olds - went + came DESC, name
"""

_CHANGES: Final = """
SELECT CAST(greatest(0, least($bars - 1, floor((change + 1) / 2 * $bars + 1e-9))) AS INTEGER) AS bin, count(*)
FROM pairs WHERE is_moved GROUP BY bin
"""


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
        UsageError: A file is not an output of `toolvet batch`, the two hold different verdicts, or one has no such
            column.
        OutputError: There is no room for the rows in the folder for temporary files.
    """
    sides = {"old": [VerdictFile(each) for each in old], "new": [VerdictFile(each) for each in new]}
    opened = [*sides["old"], *sides["new"]]
    layout = LAYOUTS[same_kind(opened, kind)]
    by = _joined_by(opened, by)
    with verdict_database() as database:
        for side, files in sides.items():
            database.add(side, files, layout)
            database.run(_ROWS.format(side=side, key=_BY[by], score=layout.score or "CAST(NULL AS DOUBLE)"))
        database.run(_ODD)
        database.run(_PAIRS)
        return _compare(database, layout, old_name, new_name, by)


def _joined_by(sides: Sequence[VerdictFile], given: str | None) -> str:
    for name in (ID, ROW) if given is None else (given,):
        if all(name in side.names or not side.names for side in sides):
            return name
    lacking = next(side for side in sides if (given or ROW) not in side.names)
    name = given or f"{ID} or {ROW}"
    raise UsageError(
        f"{lacking.given} has no column '{name}' to join the rows by; it has {', '.join(lacking.names[:40])}"
    )


def _compare(rows: VerdictDatabase, layout: SummaryLayout, old: str, new: str, by: str) -> ComparisonReport:
    before, after = (rows.run(_SIDE.format(side=side), not_judged=NOT_JUDGED)[0] for side in ("old", "new"))
    ((odd, only_old, old_double),) = rows.run(_ODD_COUNTS.format(side="old", other="new"))
    ((_, only_new, new_double),) = rows.run(_ODD_COUNTS.format(side="new", other="old"))
    ((changed, newly, no_longer, up, down),) = rows.run(_CHANGED)
    compared = before[0] - before[3] - odd
    chance = paired_change(newly, no_longer)
    return ComparisonReport(
        kind=layout.kind,
        old=old,
        new=new,
        by=by,
        old_rows=before[0],
        new_rows=after[0],
        compared=compared,
        same=compared - changed,
        only_old=only_old,
        only_new=only_new,
        old_double=old_double,
        new_double=new_double,
        without_id=before[3] + after[3],
        missing_ids=_ids(rows, "missing"),
        added_ids=_ids(rows, "added"),
        double_ids=_ids(rows, "double"),
        flag=layout.flag,
        old_flagged=share(before[2], before[1]),
        new_flagged=share(after[2], after[1]),
        newly_flagged=newly,
        no_longer_flagged=no_longer,
        p=None if chance is None else float(f"{chance:.3g}"),
        moves=_moves(rows),
        signals=[
            SignalMove(name=name, old=had, new=has, gained=gained, lost=lost)
            for name, had, has, gained, lost in rows.run(_SIGNALS)
        ],
        score_changes=_score_changes(rows),
        score_up=up,
        score_down=down,
        toolvet_version=__version__,
    )


def _ids(rows: VerdictDatabase, which: str) -> list[str]:
    return [quoted(key) for (key,) in rows.run(_IDS[which])]


def _moves(rows: VerdictDatabase) -> list[VerdictMove]:
    examples: dict[tuple[str, str], list[MoveExample]] = {}
    for old, new, key, old_row, new_row, old_score, new_score, gained, lost in rows.run(_MOVED, most=_EXAMPLES):
        example = MoveExample(
            id=quoted(key),
            old_row=old_row,
            new_row=new_row,
            old_score=None if old_score is None else round(old_score, 6),
            new_score=None if new_score is None else round(new_score, 6),
            gained=gained,
            lost=lost,
        )
        examples.setdefault((old, new), []).append(example)
    return [
        VerdictMove(old=old, new=new, rows=count, examples=examples[old, new]) for old, new, count in rows.run(_MOVES)
    ]


def _score_changes(rows: VerdictDatabase) -> list[BinCount]:
    counts: dict[int, int] = dict(rows.run(_CHANGES, bars=_BARS))
    width = 2 / _BARS
    return [
        BinCount(low=round(place * width - 1, 6), high=round((place + 1) * width - 1, 6), count=counts.get(place, 0))
        for place in range(_BARS if counts else 0)
    ]
