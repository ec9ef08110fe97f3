"""The comparison of recorded calls with a new version as a document: the format `toolvet-replay/1`, field by field.

Within version 1 fields are only added, never renamed or removed.
"""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from toolvet.assess.report.document import Json, Milliseconds

REPLAY_ID: Final = "toolvet-replay/1"

Comparison: TypeAlias = Literal["same", "better", "worse", "changed"]
"""How the new end of a call compares with the recorded one.

`changed` is a success of another shape, or another error.
"""


class CallEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended on one side. `words` are those of an error, secrets masked; null is not known."""

    ending: str
    state: str | None = None
    error_kind: str | None = None
    duration_ms: Milliseconds | None = None
    words: str = ""


class ReplayChange(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that changed.

    `kind` is `tool`, `arguments`, `outcome`, `error_kind`, `state`, `output_schema`, `result` or `shape`. `old` and
    `new` are words for programs, `words` are for people.
    """

    kind: str
    comparison: Comparison
    old: str = ""
    new: str = ""
    words: str = ""


class ReplayedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded call and its new end. `calls` is the number of identical calls that it stands for.

    `new` is null for a tool that is gone.
    """

    number: Annotated[int, Meta(description="The place in the record, from 1.")]
    tool: str
    comparison: Comparison
    arguments: Json
    conversation: str = ""
    calls: int = 1
    changes: list[ReplayChange] = []
    old: CallEnd
    new: CallEnd | None = None
    reproduce: Annotated[str, Meta(description="A command line that makes this one call again.")] = ""


class SkippedCalls(msgspec.Struct, frozen=True, kw_only=True):
    """Recorded calls of one tool that were not made again, and why."""

    tool: str
    reason: str
    calls: int


class ReplayReport(msgspec.Struct, frozen=True, kw_only=True):
    """A record, replayed. `recorded` counts all of its calls, `replayed` those that were compared.

    `incomplete` says why a run ended early; the calls behind that point are neither compared nor skipped.
    """

    schema: Literal["toolvet-replay/1"] = REPLAY_ID
    record: str
    command: Annotated[str, Meta(description="The command line or the URL of the new version, secrets masked.")]
    server: str = ""
    server_version: str = ""
    protocol_version: str = ""
    recorded: int
    replayed: int
    same: int = 0
    better: int = 0
    changed: int = 0
    worse: int = 0
    calls: list[ReplayedCall] = []
    skipped: list[SkippedCalls] = []
    incomplete: str | None = None
    fail_on: Literal["worse", "changed", "never"] = "worse"
    toolvet_version: str = ""

    @property
    def fails(self) -> bool:
        """Whether the command exits with 1."""
        return self.fail_on != "never" and bool(self.worse or (self.fail_on == "changed" and self.changed))
