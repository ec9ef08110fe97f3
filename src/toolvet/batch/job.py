"""`Job`: all that says how rows are judged, in a form that goes to other processes; and `Kernel`, which judges them."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from toolvet.batch.arrow import ArrowSchema, RecordBatch
from toolvet.batch.kind import KINDS, RowKind
from toolvet.core.settings import CheckSettings


class Kernel(Protocol):
    """Judges a batch: a record batch in, one with as many rows out."""

    @property
    def schema(self) -> ArrowSchema:
        """The columns of the verdicts."""
        ...

    def __call__(self, batch: RecordBatch, /) -> RecordBatch:
        """Return the verdicts."""
        ...


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """How rows are judged.

    `columns` are the names that the user gave for purposes, `keep` the columns that go into the output as they are.
    `checks` are the settings of the checks, `options` those of the check that the flags give; `tools` are definitions
    of tools by name. `sample` is the share of the rows that are judged. All of it is content, not names of files: other
    machines do not have these, and a run that goes on sees that one changed.
    """

    kind: str
    columns: Mapping[str, str] = {}
    keep: tuple[str, ...] = ()
    checks: CheckSettings = CheckSettings()
    options: Mapping[str, object] = {}
    tools: Mapping[str, object] | None = None
    sample: float | None = None

    @property
    def subject(self) -> RowKind:
        """The kind of the rows."""
        return KINDS[self.kind]
