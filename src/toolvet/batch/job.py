"""`Job`: all that says how rows are judged, in a form that goes to other processes; and `Kernel`, which judges them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from toolvet.batch.arrow import ArrowSchema, RecordBatch
from toolvet.batch.kind import KINDS, RowKind


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
    `settings` is the file of settings, `options` are those of the check that the flags give; `tools` is a file of tool
    definitions. `sample` is the share of the rows that are judged.
    """

    kind: str
    columns: Mapping[str, str] = {}
    keep: tuple[str, ...] = ()
    settings: str | None = None
    options: Mapping[str, object] = {}
    tools: str | None = None
    sample: float | None = None

    @property
    def subject(self) -> RowKind:
        """The kind of the rows."""
        return KINDS[self.kind]

    def settings_path(self) -> Path | None:
        """The file of settings."""
        return None if self.settings is None else Path(self.settings)
