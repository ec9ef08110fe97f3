"""The parts of the review queue: items, labels, changes, and sums."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.store.records import VerdictRecord

ItemState: TypeAlias = Literal["open", "leased", "done"]
"""An item is open while it wants reviewers, leased while all of these have it before them, then done."""

ChangeAction: TypeAlias = Literal["label", "skip", "undo", "settle"]
"""An action of a reviewer on an item."""


class ReviewLabel(msgspec.Struct, frozen=True, kw_only=True):
    """One reviewer's label of one item: of the verdict (`value`), and of its signals by their keys.

    `missed` are the faults that toolvet did not find: the words of the answer by the type of the fault, empty if no
    words show it. `final` marks the label of an adjudicator, which decides where reviewers differ. `at` is in
    seconds since the epoch, 0 for a label that is being handed in.
    """

    value: str
    note: str = ""
    signals: Mapping[str, str] = {}
    missed: Mapping[str, str] = {}
    final: bool = False
    reviewer: str = ""
    item: str = ""
    at: float = 0


NO_LABEL: Final = ReviewLabel(value="")
"""The label of a reviewer who has not labelled yet."""


class QueueItem(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict that people should see.

    `id` is that of the verdict. `rule` says why it is here. `wanted` is how many reviewers it wants, `labelled` how
    many have labelled it, `leased_to` who has it before them, `assigned` whom its free places are kept for. `labels`
    are those that the reader may see: all of them once their own is among them. `final` decides where they differ.
    """

    id: str
    seq: int
    at: float
    rule: str
    priority: int
    wanted: int
    labelled: int
    leased_to: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()
    until: float | None = None
    labels: tuple[ReviewLabel, ...] = ()
    final: ReviewLabel | None = None
    verdict: VerdictRecord | None = None

    @property
    def state(self) -> ItemState:
        """Whether it still wants reviewers."""
        if self.labelled >= self.wanted:
            return "done"
        return "leased" if self.labelled + len(self.leased_to) >= self.wanted else "open"

    @property
    def is_disputed(self) -> bool:
        """Whether its reviewers differ and no adjudicator has decided."""
        return self.state == "done" and self.final is None and len({label.value for label in self.labels}) > 1

    def may_be_taken_by(self, reviewer: str) -> bool:
        """Whether this reviewer has a place, or could lease one."""
        taken = self.labelled + len(self.leased_to) + len(self.assigned)
        mine = (*self.leased_to, *self.assigned, *(label.reviewer for label in self.labels))
        return reviewer in mine or taken < self.wanted


class LabelChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change: a reviewer labelled, skipped, or took that back. `undoes` is the `seq` of the change taken back."""

    seq: int
    item: str
    reviewer: str
    at: float
    action: ChangeAction
    before: ReviewLabel = NO_LABEL
    after: ReviewLabel = NO_LABEL
    undoes: int | None = None


class QueueProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far the queue is: numbers of items, and of labels by reviewer."""

    items: int = 0
    done: int = 0
    leased: int = 0
    labels: int = 0
    by_reviewer: Mapping[str, int] = {}

    @property
    def open(self) -> int:
        """How many items still want a reviewer."""
        return self.items - self.done
