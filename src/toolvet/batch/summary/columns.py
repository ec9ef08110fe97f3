"""`SummaryLayout`: the columns that a summary reads, for each kind of rows, and the SQL that finds the signals."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from toolvet.assess.report import RowsKind
from toolvet.batch.job import KINDS, RowKind
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.batch.plan import FILE, ID, LENGTH, ROW
from toolvet.errors import UsageError


class NumberColumn(msgspec.Struct, frozen=True):
    """A column of numbers, or of lists, of which the lengths are the numbers.

    A "share" is from 0 to 1, a "size" a count of something.
    """

    name: str
    title: str
    unit: str
    scale: Literal["share", "size"] = "size"


class SummaryLayout(msgspec.Struct, frozen=True):
    """The columns of an output that a summary reads. `words` maps columns of words to their titles.

    `marks` is SQL: the list of what was found in a row, each with its name, evidence, detail and weight. It reads the
    columns `marked`. `probabilities` say how probable it is that a row is good. `flag` says what flagged rows are.
    """

    kind: RowsKind
    flag: str
    numbers: Sequence[NumberColumn]
    words: Mapping[str, str]
    marks: str
    marked: Sequence[str]
    score: str | None = None
    probabilities: Sequence[str] = ()

    @property
    def subject(self) -> RowKind:
        """The kind of the rows, as the engine knows it."""
        return KINDS[self.kind]

    @property
    def columns(self) -> Sequence[str]:
        """The columns that are read."""
        plain = [ROW, FILE, ID, PROBLEM, self.subject.flag, *(each.name for each in self.numbers), *self.words]
        return tuple(dict.fromkeys([*plain, *self.probabilities, *self.marked]))


_SIGNALS: Final = "[{name: s.type, evidence: s.evidence, detail: s.context, weight: s.weight} FOR s IN %s]"
_LENGTH: Final = NumberColumn(LENGTH, "Length", "characters")

LAYOUTS: Final[Mapping[str, SummaryLayout]] = {
    layout.kind: layout
    for layout in (
        SummaryLayout(
            "answers",
            "to escalate",
            (NumberColumn("score", "Score", "", "share"), _LENGTH),
            {"action": "Action"},
            _SIGNALS % "signals",
            ("signals",),
            "score",
            ("likely_good", "score"),
        ),
        SummaryLayout(
            "results",
            "errors or broken",
            (NumberColumn("certainty", "Certainty of the kind of error", "", "share"), _LENGTH),
            {
                "classification": "Classification",
                "error_kind": "Whose error",
                "retry": "Worth calling again",
                "framework": "Framework that wrote it",
            },
            """
            CASE WHEN coalesce(state, error_kind) IS NOT NULL
            THEN [{
                name: coalesce(state, error_kind), evidence: evidence[1], detail: issues[1], weight: certainty
            }] END
            """,
            ("state", "error_kind", "evidence", "issues", "certainty"),
        ),
        SummaryLayout(
            "arguments",
            "not valid",
            (
                NumberColumn("violations", "Violations in a row", "violations"),
                NumberColumn("repair_certainty", "Certainty of the repair", "", "share"),
                _LENGTH,
            ),
            {"repair_confidence": "Repair", "unchecked": "Not checked"},
            """
            [{
                name: v.keyword,
                evidence: v.received,
                detail: concat_ws(': ', nullif(v.field, ''), v.problem),
                weight: 1.0
            } FOR v IN violations]
            """,
            ("violations",),
        ),
        SummaryLayout(
            "envelopes",
            "not valid",
            (
                NumberColumn("envelopes", "Envelopes in a row", "envelopes"),
                NumberColumn("findings", "Findings in a row", "findings"),
                _LENGTH,
            ),
            {},
            """
            [{
                name: f.id,
                evidence: f.evidence,
                detail: f.message,
                weight: -coalesce(list_position(['error', 'warning', 'info'], f.severity), 4)
            } FOR f IN findings]
            """,
            ("findings",),
        ),
        SummaryLayout(
            "conversations",
            "to escalate",
            (
                NumberColumn("score", "Score of the worst answer", "", "share"),
                NumberColumn("turns", "Turns", "turns"),
                NumberColumn("calls", "Calls", "calls"),
                NumberColumn("failed_calls", "Failed calls", "calls"),
                _LENGTH,
            ),
            {},
            f"""
            list_concat({_SIGNALS % "flatten([a.signals FOR a IN answers])"}, [{{
                name: 'failed_call',
                evidence: c.tool,
                detail: coalesce(nullif(c.state, ''), nullif(c.error_kind, ''), c.classification),
                weight: 1.0
            }} FOR c IN failed_calls])
            """,
            ("answers", "failed_calls"),
            "score",
            ("score",),
        ),
    )
}
"""The layout of each kind of output."""

# A column that no other kind has.
_TELLING: Final = {
    "likely_good": "answers",
    "error_without_flag": "results",
    "violations": "arguments",
    "envelopes": "envelopes",
    "turns": "conversations",
}


def layout_of(there: Sequence[str], given: str | None, *, source: str) -> SummaryLayout:
    """Return the layout of an output with these columns; `given` is the kind where that is known.

    Raises UsageError if it is not an output of `toolvet batch`.
    """
    known = next((kind for column, kind in _TELLING.items() if column in there), None)
    if given is not None and known not in (None, given):
        raise UsageError(f"{source} has verdicts on {known}, not on {given}")
    found = known or (given if PROBLEM in there or not there else None)
    if found is None:
        what = f"it has {', '.join(there[:40])}" if there else "it is empty: say with --kind what it would hold"
        raise UsageError(f"{source}: not an output of `toolvet batch`; {what}")
    return LAYOUTS[found]
