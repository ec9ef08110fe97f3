"""Which verdicts to read: `VerdictFilter`."""

import msgspec

from toolvet.store.records import VerdictKind


class VerdictFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which verdicts are wanted: those for which all members that are given hold.

    `signal` is the type of one of its signals, `signals_from` … see `toolvet store`. `since` and `until` are seconds
    since the epoch, `until` excluded. `text` are words to search for. `trace` and `conversation` are whole ids.
    """

    kind: VerdictKind | None = None
    server: str | None = None
    tool: str | None = None
    model: str | None = None
    variant: str | None = None
    signal: str | None = None
    outcome: str | None = None
    state: str | None = None
    failed: bool | None = None
    escalated: bool | None = None
    blocked: bool | None = None
    min_score: float | None = None
    max_score: float | None = None
    since: float | None = None
    until: float | None = None
    text: str | None = None
    trace: str | None = None
    conversation: str | None = None


EVERYTHING = VerdictFilter()
"""No condition."""
