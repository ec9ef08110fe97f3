"""`RecordedTurn`: what a store knows of one turn."""

import msgspec

from toolvet.store.records import VerdictRecord


class RecordedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts under one trace id, in the order in which they happened."""

    trace: str
    verdicts: tuple[VerdictRecord, ...] = ()

    @property
    def began(self) -> float:
        """When the first call began or the first verdict was made, in seconds since the epoch."""
        return min(verdict.at for verdict in self.verdicts)

    @property
    def calls(self) -> tuple[VerdictRecord, ...]:
        """The calls."""
        return tuple(verdict for verdict in self.verdicts if verdict.kind == "call")

    @property
    def answers(self) -> tuple[VerdictRecord, ...]:
        """The answers that were handed in."""
        return tuple(verdict for verdict in self.verdicts if verdict.kind == "answer")
