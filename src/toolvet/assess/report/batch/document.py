"""The summary of a batch and the comparison of two as documents, field by field, and their JSON Schemas.

Within version 1 fields are only added, never renamed or removed.
"""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from toolvet.assess.report.document import publish

BATCH_ID: Final = "toolvet-batch/1"
COMPARISON_ID: Final = "toolvet-batch-comparison/1"
RowsKind: TypeAlias = Literal["answers", "results", "arguments", "envelopes", "conversations"]
PeriodLength: TypeAlias = Literal["day", "week", "month"]
BATCH_FILE: Final = "toolvet-batch-1.schema.json"
COMPARISON_FILE: Final = "toolvet-batch-comparison-1.schema.json"


class ShareFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A share: `count` out of `of`. `low` and `high` are Wilson's interval for the share at 95 %; null if `of` is 0."""

    count: int
    of: int
    share: float | None = None
    low: float | None = None
    high: float | None = None


class BinCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many values are at least `low` and below `high` (in the last bin of a share: or equal to it)."""

    low: float
    high: float
    count: int


class NumberFigures(msgspec.Struct, frozen=True, kw_only=True):
    """How the numbers of a column are distributed. All figures are exact."""

    name: str
    title: str
    unit: str
    scale: Literal["share", "size"]
    count: int
    least: float | None = None
    most: float | None = None
    mean: float | None = None
    median: float | None = None
    p90: float | None = None
    p99: float | None = None
    bins: list[BinCount] = []


class CountedWord(msgspec.Struct, frozen=True, kw_only=True):
    """A word of a column, and how many of the judged rows have it."""

    word: str
    rows: ShareFigure


class WordFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a column, the most frequent first. `others` counts the rows with further ones."""

    name: str
    title: str
    words: list[CountedWord] = []
    others: int = 0


class RowExample(msgspec.Struct, frozen=True, kw_only=True):
    """A row in which a signal was found: its number in its file, its id, its score, and the words. Secrets are masked.

    `detail` has the words around, or a sentence about them.
    """

    row: int | None = None
    file: str | None = None
    id: str | None = None
    score: float | None = None
    evidence: str = ""
    detail: str = ""


class SignalFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A signal, a state, a kind of violation, a finding: in how many rows, how often, and its worst examples.

    `examples` have the lowest scores first, and no two have the same words.
    """

    name: str
    rows: ShareFigure
    found: int
    examples: list[RowExample] = []


class DriftPeriod(msgspec.Struct, frozen=True, kw_only=True):
    """A day, a week (from Monday) or a month: its first day, and how many of its rows were judged."""

    start: str
    rows: int


class DriftSeries(msgspec.Struct, frozen=True, kw_only=True):
    """The share of the rows with a signal, or of those that are flagged (`name` is null), in each period."""

    name: str | None
    points: list[ShareFigure]


class DriftChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change from one period to the next that is more than chance.

    `difference` is that of the shares, with its interval at 95 % (Newcombe). `p` is adjusted for all changes that were
    looked at (Holm).
    """

    name: str | None
    before: str
    after: str
    share_before: ShareFigure
    share_after: ShareFigure
    difference: float
    low: float
    high: float
    p: float


class DriftReport(msgspec.Struct, frozen=True, kw_only=True):
    """The shares over time. `per` is the length of the periods, and `series` has the shares of all rows first.

    `compared` changes from a period to the next were looked at, `too_few` others not: they rest on too few rows.
    `changes` has those that are more than chance, the largest first. `without_time` counts rows whose time is missing
    or cannot be read, `outside` those of periods that are too far from the others to be shown.
    """

    column: str
    per: PeriodLength
    periods: list[DriftPeriod] = []
    series: list[DriftSeries] = []
    changes: list[DriftChange] = []
    compared: int = 0
    too_few: int = 0
    without_time: int = 0
    outside: int = 0


class LabelledWord(msgspec.Struct, frozen=True, kw_only=True):
    """A label, what it was read as, and how many of its rows are flagged. `verdicts` counts their verdicts by word."""

    word: str
    meaning: Literal["bad", "good", "unknown"]
    flagged: ShareFigure
    verdicts: dict[str, int] = {}


class CalibrationBin(msgspec.Struct, frozen=True, kw_only=True):
    """The labelled rows with a number in this bin: what the number is on average, and the share that is good."""

    low: float
    high: float
    said: float
    good: ShareFigure


class CalibrationCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Is what the column says as often true? `ece` is the expected calibration error: the mean distance, by rows."""

    column: str
    rows: int
    ece: float
    bins: list[CalibrationBin] = []


class LabelReport(msgspec.Struct, frozen=True, kw_only=True):
    """How the verdicts agree with labels. A row is *found* if it is flagged, and *bad* if its label says so.

    `unlabelled` rows have no label, `unknown` ones a label that was not read as good or bad; neither count. `note` says
    what is missing if there are no figures.
    """

    column: str
    labelled: int
    unlabelled: int
    unknown: int
    words: list[LabelledWord] = []
    other_words: Annotated[int, Meta(description="Rows with labels beyond those in `words`.")] = 0
    flagged_bad: int = 0
    flagged_good: int = 0
    passed_bad: int = 0
    passed_good: int = 0
    precision: ShareFigure | None = None
    recall: ShareFigure | None = None
    false_alarms: Annotated[ShareFigure | None, Meta(description="The share of the good rows that are flagged.")] = None
    accuracy: ShareFigure | None = None
    f1: float | None = None
    kappa: Annotated[float | None, Meta(description="Cohen's kappa of verdicts and labels.")] = None
    calibration: list[CalibrationCurve] = []
    note: str = ""


class RowProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A row that could not be judged, and why."""

    row: int | None
    file: str | None
    problem: str


class BatchReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a batch. `rows` are all; those that could not be judged (`problems`) are in no share.

    `flag` says in words what `flagged` rows are.
    """

    schema: Literal["toolvet-batch/1"] = BATCH_ID
    kind: RowsKind
    source: str
    rows: int
    problems: int
    flag: str
    flagged: ShareFigure
    numbers: list[NumberFigures] = []
    words: list[WordFigures] = []
    signals: list[SignalFigures] = []
    other_signals: Annotated[int, Meta(description="How many more signals there are, each in fewer rows.")] = 0
    first_problems: list[RowProblem] = []
    drift: DriftReport | None = None
    labels: LabelReport | None = None
    toolvet_version: str = ""


class MoveExample(msgspec.Struct, frozen=True, kw_only=True):
    """A row whose verdict changed: its id, its number in the old and the new output, and what came and went."""

    id: str
    old_row: int | None = None
    new_row: int | None = None
    old_score: float | None = None
    new_score: float | None = None
    gained: list[str] = []
    lost: list[str] = []


class VerdictMove(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows went from one verdict to another. If both are the same verdict, other fields differ."""

    old: str
    new: str
    rows: int
    examples: list[MoveExample] = []


class SignalMove(msgspec.Struct, frozen=True, kw_only=True):
    """A signal: in how many rows before and now, and how many gained and lost it."""

    name: str
    old: int
    new: int
    gained: int
    lost: int


class ComparisonReport(msgspec.Struct, frozen=True, kw_only=True):
    """Two outputs, row by row. `by` says what joined the rows: their id, or their number.

    Of ids that are there twice on a side no row is compared: `old_double` and `new_double` count such rows. `same` rows
    have the same verdict, score and signals. `newly_flagged` and `no_longer_flagged` differ more than chance explains
    where `p` (McNemar's exact test) is small.
    """

    schema: Literal["toolvet-batch-comparison/1"] = COMPARISON_ID
    kind: RowsKind
    old: str
    new: str
    by: str
    old_rows: int
    new_rows: int
    compared: int
    same: int
    only_old: int
    only_new: int
    old_double: int
    new_double: int
    without_id: Annotated[int, Meta(description="Rows of either side without an id; they are not compared.")] = 0
    missing_ids: Annotated[list[str], Meta(description="The first ids that only the old output has.")] = []
    added_ids: Annotated[list[str], Meta(description="The first ids that only the new output has.")] = []
    double_ids: Annotated[list[str], Meta(description="The first ids that a side has twice.")] = []
    flag: str
    old_flagged: ShareFigure
    new_flagged: ShareFigure
    newly_flagged: int
    no_longer_flagged: int
    p: float | None = None
    moves: list[VerdictMove] = []
    signals: list[SignalMove] = []
    score_changes: Annotated[
        list[BinCount], Meta(description="Rows by new score less old score; unchanged ones are left out.")
    ] = []
    score_up: int = 0
    score_down: int = 0
    toolvet_version: str = ""


def batch_schema() -> dict[str, object]:
    """JSON Schema 2020-12 of a summary. Unknown fields are allowed: within version 1 fields are added."""
    return _schema(BatchReport, "urn:toolvet:batch:1", "toolvet batch, version 1", "`toolvet batch … --report json=`")


def comparison_schema() -> dict[str, object]:
    """JSON Schema 2020-12 of a comparison. Unknown fields are allowed, as in a summary."""
    title = "toolvet batch comparison, version 1"
    return _schema(ComparisonReport, "urn:toolvet:batch-comparison:1", title, "`toolvet batch compare --report json=`")


def _schema(kind: type[msgspec.Struct], name: str, title: str, written_by: str) -> dict[str, object]:
    (root,), definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    head: dict[str, object] = {"$id": name, "title": title, "description": f"What {written_by} writes.", **root}
    return publish(head, definitions, named={kind.__name__})
