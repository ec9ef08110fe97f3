"""How likely a verdict on whose fault an error was is right, by what it rests on.

`certainty.toml` has the share of right verdicts for each ground, measured on errors from sources that were left out
(`benchmarks/calibration` measures it again), and the counts behind the prior.
"""

from enum import StrEnum
from functools import cache

import msgspec

from toolvet.core.causes import ErrorKind
from toolvet.core.discover.toml import read_toml


class Ground(StrEnum):
    """What a verdict on an error rests on."""

    REFUSAL = "refusal"
    """A validation library's own words, a JSON-RPC code."""
    CALLER_TEXT = "caller_text"
    """An error of a text that the caller wrote."""
    ENVELOPE = "envelope"
    """The type or code of an envelope: the server says it itself."""
    PHRASE = "phrase"
    """A phrase of business logic."""
    VETO = "veto"
    """The words of a crash or of broken infrastructure."""
    STATUS = "status"
    """An HTTP status."""
    NAME = "name"
    """The code or the name of the error."""
    VAGUE = "vague"
    """A vague phrase with a second factor."""
    SENTENCE = "sentence"
    """A plain sentence with a second factor."""
    DOUBT = "doubt"
    """The name of an exception that everything is wrapped in."""

    # As of `State`.
    __hash__ = str.__hash__


class PriorCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `total` errors of one carrier whose words said nothing, `business` were the caller's."""

    business: int
    total: int
    carrier: str

    @property
    def words(self) -> str:
        """The count, in words."""
        return f"{self.business} of {self.total} errors whose words said nothing were the caller's ({self.carrier})"


class _Certainties(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    business: dict[Ground, float]
    tool_failure: dict[Ground, float]
    prior: dict[str, PriorCount]


def certainty_of(ground: Ground, kind: ErrorKind) -> float:
    """The share (0 to 1) of verdicts of this kind that are right where they rest on this ground."""
    table = _certainties()
    return (table.business if kind is ErrorKind.BUSINESS else table.tool_failure)[ground]


def prior_counts() -> dict[str, PriorCount]:
    """The counts of errors whose words said nothing, by carrier."""
    return _certainties().prior


@cache
def _certainties() -> _Certainties:
    return read_toml("toolvet.core.checks.result", "certainty.toml", _Certainties)
