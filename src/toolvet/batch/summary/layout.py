"""`SummaryLayout`: which columns of an output a summary reads, for each kind of rows, and what they are."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from toolvet.assess.report import RowsKind
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.batch.kind import KINDS, RowKind
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
    """What a summary reads of an output. `words` maps columns of words to their titles.

    `marks` has the columns in which signals are, with their members that are read: one of them alone is much quicker
    to read than all. `probabilities` say how probable it is that a row is good. `flag` says what flagged rows are.
    """

    kind: RowsKind
    flag: str
    numbers: Sequence[NumberColumn]
    words: Mapping[str, str]
    marks: Mapping[str, Sequence[str]]
    score: str | None = None
    probabilities: Sequence[str] = ()

    @property
    def subject(self) -> RowKind:
        """The kind of the rows, as the engine knows it."""
        return KINDS[self.kind]

    def columns(self, there: Sequence[str] | None) -> dict[str, Sequence[str]]:
        """Return the columns that are read, with their members (none: the whole column).

        They are those of an output that has the columns `there`; None: of any output.
        """
        plain = [ROW, FILE, ID, PROBLEM, self.subject.flag, *(each.name for each in self.numbers), *self.words]
        names = dict.fromkeys([*plain, *self.probabilities])
        found: dict[str, Sequence[str]] = {**dict.fromkeys(names, ()), **self.marks}
        return {name: members for name, members in found.items() if there is None or name in there}


_SIGNAL: Final = ("type", "evidence", "context", "weight")
_LENGTH: Final = NumberColumn(LENGTH, "Length", "characters")

LAYOUTS: Final[Mapping[str, SummaryLayout]] = {
    layout.kind: layout
    for layout in (
        SummaryLayout(
            "answers",
            "to escalate",
            (NumberColumn("score", "Score", "", "share"), _LENGTH),
            {"action": "Action"},
            {"signals": _SIGNAL},
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
            {"state": (), "error_kind": (), "evidence": (), "issues": (), "certainty": ()},
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
            {"violations": ("keyword", "field", "problem", "received")},
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
            {"findings": ("id", "severity", "message", "evidence")},
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
            {"answers": (), "failed_calls": ("tool", "classification", "error_kind", "state")},
            "score",
            ("score",),
        ),
    )
}
"""What is read of each kind of output."""

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

    Raises UsageError where it is no output of `toolvet batch`.
    """
    told = next((kind for column, kind in _TELLING.items() if column in there), None)
    if given is not None and told not in (None, given):
        raise UsageError(f"{source} has verdicts on {told}, not on {given}")
    found = told or (given if PROBLEM in there or not there else None)
    if found is None:
        what = f"it has {', '.join(there[:40])}" if there else "it is empty: say with --kind what it would hold"
        raise UsageError(f"{source}: no output of `toolvet batch`; {what}")
    return LAYOUTS[found]
